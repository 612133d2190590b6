"""Predictions of a regression as sums over training points."""

from typing import NamedTuple

import numpy as np

from .._estimator import fitted_form
from ._kernel_regressor import KernelRegressor
from ._ridge_regressor import KernelRidgeRegressor


class ExpandedTargets(NamedTuple):
    """Predictions ``factor * v + offset``, where v are sums of kernel values times columns, divided by the first sum if
    `are_means`."""

    points: np.ndarray  # (n, d)
    kernel: str
    bandwidth: float
    columns: np.ndarray  # (n, k); for means (n, 1 + k)
    are_means: bool
    factor: np.ndarray  # (k,)
    offset: np.ndarray  # (k,)
    is_vector: bool  # whether y was a vector


def expanded_targets(estimator):
    """The `ExpandedTargets` of a fitted regression; raises ValueError if there are none."""
    form, are_means = fitted_form(estimator)[0], isinstance(estimator, KernelRegressor) and estimator.degree_ == 0
    if are_means:
        form, back = estimator._form, estimator._units.back
    elif isinstance(estimator, KernelRidgeRegressor) and form is not None:
        back = estimator._standardization.back
    else:
        raise ValueError(
            f"The predictions of this {type(estimator).__name__} are neither sums nor means over its training points; "
            "those of KernelRidgeRegressor with up to 20 000 samples and of KernelRegressor(degree=0) are."
        )
    k = form.columns.shape[1] - are_means
    offset = back(np.zeros((1, k)))[0]
    return ExpandedTargets(
        points=form.points.X,
        kernel=form.kernel,
        bandwidth=form.bandwidth,
        columns=form.columns,
        are_means=are_means,
        factor=back(np.ones((1, k)))[0] - offset,
        offset=offset,
        is_vector=vars(estimator)["_one_output"],
    )
