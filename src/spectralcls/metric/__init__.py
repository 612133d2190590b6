"""Learned metrics: linear maps under which kernel methods classify better."""

from ._gradient_metric import GradientMetric
from ._kernel_metric import KernelMetric
from ._mixin import MetricMixin as MetricMixin  # for estimators with a parameter `metric`
from ._mixin import apply as apply

__all__ = ["GradientMetric", "KernelMetric"]
