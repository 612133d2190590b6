"""The classifier to import first: a vote of kernel machines with learned metrics."""

from ._classifier import AutoClassifier
from ._classifier import vote_of as vote_of  # for inspection

__all__ = ["AutoClassifier"]
