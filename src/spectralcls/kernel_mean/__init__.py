"""Classifiers that compare a query with class means in the feature space of a kernel."""

from ._cauchy_schwarz import CauchySchwarzClassifier
from ._ise import ISEClassifier
from ._kernel_mean_classifier import (
    KernelMeanClassifier as KernelMeanClassifier,  # base class for further classifiers
)
from ._laplacian_ise import LaplacianISEClassifier
from ._parzen_classifier import ParzenClassifier
from ._reduction import reduce_training_set

__all__ = [
    "CauchySchwarzClassifier",
    "ISEClassifier",
    "LaplacianISEClassifier",
    "ParzenClassifier",
    "reduce_training_set",
]
