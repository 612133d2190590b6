"""The classifier to import first: a vote of kernel machines with learned metrics."""

from ._classifier import AutoClassifier

__all__ = ["AutoClassifier"]
