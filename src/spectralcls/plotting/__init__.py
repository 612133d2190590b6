"""Displays in scikit-learn's style; they need matplotlib (the extra ``plot``)."""

from .bandwidth_path import BandwidthPathDisplay

__all__ = ["BandwidthPathDisplay"]
