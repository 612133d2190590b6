"""The default classifier and regressor: votes of kernel machines with learned metrics."""

from ._auto import vote_of as vote_of  # for inspection
from ._auto_classifier import AutoClassifier
from ._auto_regressor import AutoRegressor

__all__ = ["AutoClassifier", "AutoRegressor"]
