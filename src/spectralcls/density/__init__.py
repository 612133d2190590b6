"""Parzen's density estimate, the points that it finds unlikely, and its modes (mean shift)."""

from ._mean_shift import KernelMeanShift
from ._outliers import ParzenOutlierDetector
from ._parzen import ParzenDensity

__all__ = ["KernelMeanShift", "ParzenDensity", "ParzenOutlierDetector"]
