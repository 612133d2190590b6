"""What to import first, of classes and of numbers: a vote of kernel machines with learned metrics."""

from ._classifier import AutoClassifier
from ._classifier import vote_of as vote_of  # for inspection
from ._regressor import AutoRegressor

__all__ = ["AutoClassifier", "AutoRegressor"]
