"""Displays in scikit-learn's style; they need matplotlib (the extra ``plot``)."""

from .bandwidth_path import BandwidthPathDisplay
from .comparison import ComparisonDisplay

__all__ = ["BandwidthPathDisplay", "ComparisonDisplay"]
