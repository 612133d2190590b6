"""The skeleton of every estimator: a fit that happens as a whole or not at all, and shared parameters."""

from .base import Classifier, Estimator, coordinates, finite_scores, log_posterior, transactional
from .parameters import CONSTRAINTS

__all__ = [
    "CONSTRAINTS",
    "Classifier",
    "Estimator",
    "coordinates",
    "finite_scores",
    "log_posterior",
    "transactional",
]
