"""PerTurbo: the class whose kernel span a query perturbs least."""

from ._class_model import fit_class as fit_class  # of one class, for other machines
from ._class_model import log_explained as log_explained
from ._classifier import PerTurboClassifier

__all__ = ["PerTurboClassifier"]
