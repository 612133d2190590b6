"""Logarithms of kernel values."""

import numpy as np
from scipy.spatial.distance import cdist

from ..kernels import kernel_matrix


def log_kernel(Q, X, kernel, bandwidth):
    """log k(q, x), (m, n) float64, without underflow for kernels that are positive everywhere."""
    if kernel not in ("gaussian", "laplace"):
        with np.errstate(divide="ignore"):
            return np.log(kernel_matrix(Q.astype(np.float64), X.astype(np.float64), kernel=kernel, bandwidth=bandwidth))
    squared = cdist(Q, X, "sqeuclidean")
    return squared / (-2 * bandwidth**2) if kernel == "gaussian" else np.sqrt(squared) / -bandwidth
