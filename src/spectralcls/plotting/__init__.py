"""Displays in scikit-learn's style; they need matplotlib (the extra ``plot``)."""

from .bandwidth_path import BandwidthPathDisplay
from .comparison import ComparisonDisplay
from .embedding import EmbeddingDisplay, EmbeddingErrorDisplay
from .perturbation import ActiveLearningDisplay, PerturbationDisplay
from .sample_weights import SampleWeightsDisplay
from .spectral_map import SpectralMapDisplay

__all__ = [
    "ActiveLearningDisplay",
    "BandwidthPathDisplay",
    "ComparisonDisplay",
    "EmbeddingDisplay",
    "EmbeddingErrorDisplay",
    "PerturbationDisplay",
    "SampleWeightsDisplay",
    "SpectralMapDisplay",
]
