"""Regression with kernels: ridge regression and classification, local means and lines."""

from ._by_others import predictions_left_out as predictions_left_out  # for AutoRegressor
from ._by_others import target_weights as target_weights  # for inspection
from ._expanded import expanded_targets as expanded_targets  # for storage
from ._form import nearest_if_nan as nearest_if_nan  # for points on the workers of a cluster
from ._kernel_regressor import KernelRegressor
from ._kernel_ridge import smoother_of as smoother_of  # for inspection
from ._ridge_classifier import KernelRidgeClassifier
from ._ridge_regressor import KernelRidgeRegressor

__all__ = ["KernelRegressor", "KernelRidgeClassifier", "KernelRidgeRegressor"]
