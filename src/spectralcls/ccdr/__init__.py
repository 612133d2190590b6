"""Classification-constrained dimensionality reduction."""

from ._ccdr import CCDR
from ._classifier import CCDRClassifier

__all__ = ["CCDR", "CCDRClassifier"]
