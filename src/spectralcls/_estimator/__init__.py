"""The skeleton of every estimator: a fit that happens as a whole or not at all, and shared parameters."""

from .base import Classifier, Estimator, coordinates, finite_scores, log_posterior, transactional
from .parameters import ATTRIBUTES, PARAMETERS

__all__ = [
    "ATTRIBUTES",
    "PARAMETERS",
    "Classifier",
    "Estimator",
    "coordinates",
    "finite_scores",
    "log_posterior",
    "transactional",
]
