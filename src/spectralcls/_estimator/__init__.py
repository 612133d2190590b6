"""The base classes of the estimators: a fit that succeeds completely or changes nothing, and shared parameters."""

from .base import (
    Estimator,
    affine,
    at_end,
    columns,
    coordinates,
    drawn,
    fitted_form,
    fitted_in_memory,
    integrates_missing,
    is_on_workers,
    transactional,
    user_rows,
)
from .classifier import (
    Classifier,
    finite_scores,
    has_probabilities,
    log_posterior,
    refuse_many_classes,
    temperature,
)
from .expansion_classifier import ExpansionClassifier
from .parameters import CONSTRAINTS, with_parameters
from .prediction_sets import leave_one_out
from .regressor import Regressor
from .steps import fit_steps
from .wrapped import mapped, names_after, within
