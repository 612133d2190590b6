"""Kernel matrices without subnormal numbers, and their exponents."""

import numpy as np
from scipy.spatial.distance import cdist

from ..kernels import kernel_matrix

KERNELS = ("gaussian", "laplace")  # exp(-u^2 / 2) and exp(-u): positive definite, and positive everywhere
# Smaller values are negligible compared with the shares, and products of a few of them would be subnormal numbers,
# which make linear algebra a hundred times slower.
_NEGLIGIBLE = 1e-70


def without_subnormals(K):
    """``K`` itself, with values below 1e-70 set to 0."""
    if K.min(initial=1.0) < _NEGLIGIBLE:
        np.copyto(K, 0.0, where=K < _NEGLIGIBLE)
    return K


def kernel_values(Q, X=None, *, kernel, bandwidth, out=None, n_jobs=None):
    """`spectralcls.kernels.kernel_matrix`, with values below 1e-70 set to 0."""
    return without_subnormals(kernel_matrix(Q, X, kernel=kernel, bandwidth=bandwidth, out=out, n_jobs=n_jobs))


def exponents(X, Q, kernel, bandwidth):
    """log k between points and queries, (n, m), without underflow."""
    with np.errstate(over="ignore"):
        X, Q = X / bandwidth, Q / bandwidth
    return cdist(X, Q, "sqeuclidean") / -2 if kernel == "gaussian" else -cdist(X, Q)
