"""Displays in scikit-learn's style; they need matplotlib."""

from .comparison import ComparisonDisplay

__all__ = ["ComparisonDisplay"]
