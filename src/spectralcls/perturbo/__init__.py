"""PerTurbo: the class whose kernel span a query perturbs least."""

from ._classifier import PerTurboClassifier

__all__ = ["PerTurboClassifier"]
