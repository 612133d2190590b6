"""Regression with kernels: local means and local lines, and ridge regression as a classifier."""

from ._choice import Choice as Choice  # these for the regression on Dask collections
from ._choice import candidates as candidates
from ._choice import chosen as chosen
from ._form import RegressionForm as RegressionForm
from ._logistic_classifier import KernelLogisticClassifier
from ._moments import Moments as Moments
from ._regressor import KernelRegressor
from ._ridge_classifier import KernelRidgeClassifier
from ._targets import TargetUnits as TargetUnits

__all__ = ["KernelLogisticClassifier", "KernelRegressor", "KernelRidgeClassifier"]
