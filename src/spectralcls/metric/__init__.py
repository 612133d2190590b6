"""Learned metrics: linear maps under which kernel methods classify better."""

from ._gradient_metric import GradientMetric
from ._kernel_metric import KernelMetric

__all__ = ["GradientMetric", "KernelMetric"]
