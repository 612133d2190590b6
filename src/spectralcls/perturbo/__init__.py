"""PerTurbo: the class whose kernel span a query perturbs least."""

from ._class_model import fit_class as fit_class  # these fit classes on the workers of a cluster
from ._classes import FittedClasses as FittedClasses
from ._classes import asked as asked
from ._classes import fit_classes as fit_classes
from ._classes import summaries as summaries
from ._classes import summary as summary
from ._explained import seen_by_classes as seen_by_classes
from ._perturbo_classifier import PerTurboClassifier
from ._pool import ActivePool

__all__ = ["ActivePool", "PerTurboClassifier"]
