"""Learned metrics: linear maps under which kernel methods classify better."""

from ._gradient_metric import GradientMetric
from ._kernel_metric import KernelMetric
from ._learned_map import LearnedMap as LearnedMap  # for estimators with a parameter `metric`
from ._learned_map import answers as answers
from ._learned_map import fitted_map as fitted_map

__all__ = ["GradientMetric", "KernelMetric"]
