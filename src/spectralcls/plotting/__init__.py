"""Displays in scikit-learn's style; they need matplotlib (the extra ``plot``)."""

from ._bandwidth_path import BandwidthPathDisplay
from ._density import DensityDisplay
from ._effect import FeatureEffectDisplay
from ._embedding import EmbeddingDisplay
from ._metric import MetricDisplay

__all__ = ["BandwidthPathDisplay", "DensityDisplay", "EmbeddingDisplay", "FeatureEffectDisplay", "MetricDisplay"]
