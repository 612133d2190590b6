"""Predictions of the training samples of a fitted regression by the other samples."""

from ._kernel_regressor import KernelRegressor
from ._ridge_regressor import KernelRidgeRegressor


def predictions_left_out(estimator):
    """Prediction of each training sample by a regression of all others, (n, k); None if it has no closed form."""
    known = isinstance(estimator, KernelRegressor | KernelRidgeRegressor)
    return estimator._predictions_left_out() if known else None
