"""PerTurbo: the class whose kernel span a query perturbs least."""

from ._classes import of_classes as of_classes  # fits classes on the workers of a cluster, too
from ._perturbo_classifier import PerTurboClassifier
from ._pool import ActivePool

__all__ = ["ActivePool", "PerTurboClassifier"]
