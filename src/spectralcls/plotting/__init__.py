"""Displays in scikit-learn's style, which need matplotlib (the extra ``plot``)."""

from ._bandwidth_path_display import BandwidthPathDisplay
from ._embedding_display import EmbeddingDisplay
from ._feature_effect_display import FeatureEffectDisplay

__all__ = ["BandwidthPathDisplay", "EmbeddingDisplay", "FeatureEffectDisplay"]
