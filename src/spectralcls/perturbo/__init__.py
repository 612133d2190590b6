"""PerTurbo: the class whose kernel span a query perturbs least."""

from ._class_model import fit_class as fit_class  # of one class, for other machines
from ._classifier import PerTurboClassifier
from ._explained import log_explained as log_explained
from ._explained import perturbation as perturbation
from ._explained import seen_by_classes as seen_by_classes
from ._pool import ActivePool
from ._query import margin, query_boundary

__all__ = ["ActivePool", "PerTurboClassifier", "margin", "query_boundary"]
