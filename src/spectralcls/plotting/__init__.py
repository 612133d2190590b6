"""Displays in scikit-learn's style; they need matplotlib (the extra ``plot``)."""

from ._bandwidth_path import BandwidthPathDisplay
from ._density import DensityDisplay
from ._doubt import InfluenceDisplay, LabelQualityDisplay, ReliabilityDisplay
from ._embedding import EmbeddingDisplay
from ._metric import MetricDisplay
from ._regression import RegressionDisplay
from ._vote import VoteDisplay

__all__ = [
    "BandwidthPathDisplay",
    "DensityDisplay",
    "EmbeddingDisplay",
    "InfluenceDisplay",
    "LabelQualityDisplay",
    "MetricDisplay",
    "RegressionDisplay",
    "ReliabilityDisplay",
    "VoteDisplay",
]
