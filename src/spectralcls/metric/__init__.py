"""Learned metrics: linear maps under which kernel methods classify better."""

from ._kernel_metric import KernelMetric

__all__ = ["KernelMetric"]
