"""What leaving out one training point tells about a fitted classifier: doubtful labels, reasons, other populations.

Prediction sets come from the same sums and are methods of the classifiers: ``predict_set`` and ``conformal_p_values``.
"""

from ._explained import Influence, feature_effect, influence, label_quality
from ._priors import Priors, PriorShiftClassifier, estimate_priors, with_priors

__all__ = [
    "Influence",
    "PriorShiftClassifier",
    "Priors",
    "estimate_priors",
    "feature_effect",
    "influence",
    "label_quality",
    "with_priors",
]
