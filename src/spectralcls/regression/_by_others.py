"""What the training samples contribute to predictions, and predictions without each sample."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ._kernel_regressor import KernelRegressor
from ._ridge_regressor import KernelRidgeRegressor

_KINDS = KernelRegressor | KernelRidgeRegressor


class TargetWeights(NamedTuple):
    """Predictions as sums over training samples: ``baseline + weights(Q) @ targets``."""

    weights: Callable  # from coordinates (m, d) to (m, n)
    targets: np.ndarray  # (n, k) minus the baseline; or coefficients, if there is no factor of the system
    baseline: np.ndarray  # (k,)
    samples: np.ndarray  # (n,) first training sample of each point


def target_weights(estimator):
    """The `TargetWeights` of a fitted regression; None if its predictions are no such sums."""
    found = estimator._target_weights() if isinstance(estimator, _KINDS) else None
    return None if found is None else TargetWeights(*found)


def predictions_left_out(estimator):
    """Prediction of each training sample by a regression of all others, (n, k); None if it has no closed form."""
    return estimator._predictions_left_out() if isinstance(estimator, _KINDS) else None
