"""Modes of a density, and what climbs to them: mean shift."""

from ._mean_shift import KernelMeanShift

__all__ = ["KernelMeanShift"]
