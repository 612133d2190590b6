"""The skeleton of every estimator: a fit that happens as a whole or not at all, shared parameters, shared checks."""

from .base import Estimator, ScoreClassifier, finite_scores, log_posterior, transactional
from .parameters import ATTRIBUTES, PARAMETERS
from .tables import TableMixin

__all__ = [
    "ATTRIBUTES",
    "PARAMETERS",
    "Estimator",
    "ScoreClassifier",
    "TableMixin",
    "finite_scores",
    "log_posterior",
    "transactional",
]
