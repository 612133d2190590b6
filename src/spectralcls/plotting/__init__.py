"""Displays in scikit-learn's style; they need matplotlib (the extra ``plot``)."""

from .bandwidth_path import BandwidthPathDisplay
from .comparison import ComparisonDisplay
from .sample_weights import SampleWeightsDisplay
from .spectral_map import SpectralMapDisplay

__all__ = ["BandwidthPathDisplay", "ComparisonDisplay", "SampleWeightsDisplay", "SpectralMapDisplay"]
