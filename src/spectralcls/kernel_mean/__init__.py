"""Classifiers that compare a query with class means in the feature space of a kernel."""

from .cauchy_schwarz import CauchySchwarzClassifier
from .ise import ISEClassifier
from .laplacian_ise import LaplacianISEClassifier
from .parzen import ParzenClassifier

__all__ = ["CauchySchwarzClassifier", "ISEClassifier", "LaplacianISEClassifier", "ParzenClassifier"]
