"""Inspect a fitted classifier by leaving out training points or replacing features: doubtful labels, reasons for
predictions, other populations.

All functions accept pipelines and searches. Prediction sets use the same sums as label quality; they are also methods
of the classifiers, ``predict_set`` and ``conformal_p_values``.
"""

from ._feature_effect import FeatureEffect, feature_effect
from ._influence import Influence, influence
from ._label_quality import label_quality, predict_set
from ._priors import Priors, PriorShiftClassifier, estimate_priors, with_priors

__all__ = [
    "FeatureEffect",
    "Influence",
    "PriorShiftClassifier",
    "Priors",
    "estimate_priors",
    "feature_effect",
    "influence",
    "label_quality",
    "predict_set",
    "with_priors",
]
