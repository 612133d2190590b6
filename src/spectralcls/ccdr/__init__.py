"""Classification-constrained dimensionality reduction."""

from ._ccdr import CCDR
from ._ccdr_classifier import CCDRClassifier

__all__ = ["CCDR", "CCDRClassifier"]
