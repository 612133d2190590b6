"""Displays in scikit-learn's style, which need matplotlib (the extra ``plot``)."""

from ._bandwidth_path_display import BandwidthPathDisplay
from ._density_display import DensityDisplay
from ._embedding_display import EmbeddingDisplay
from ._feature_effect_display import FeatureEffectDisplay
from ._metric_display import MetricDisplay

__all__ = ["BandwidthPathDisplay", "DensityDisplay", "EmbeddingDisplay", "FeatureEffectDisplay", "MetricDisplay"]
