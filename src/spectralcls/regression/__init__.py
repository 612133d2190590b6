"""Kernel regression: local means and local lines."""

from ._regressor import KernelRegressor

__all__ = ["KernelRegressor"]
