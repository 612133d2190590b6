"""Gaussian kernel matrices without subnormal numbers."""

import numpy as np

from ..kernels import kernel_matrix

# Smaller values are negligible compared with the shares that are used, and products of a few of them would be subnormal
# numbers, on which linear algebra is a hundred times slower.
_NEGLIGIBLE = 1e-70


def without_subnormals(K):
    """``K`` itself, its values below 1e-70 set to 0."""
    if K.min(initial=1.0) < _NEGLIGIBLE:
        np.copyto(K, 0.0, where=K < _NEGLIGIBLE)
    return K


def gaussian(Q, X=None, *, bandwidth, out=None, n_jobs=None):
    """`spectralcls.kernels.kernel_matrix` of the Gaussian kernel, its values below 1e-70 set to 0."""
    return without_subnormals(kernel_matrix(Q, X, bandwidth=bandwidth, out=out, n_jobs=n_jobs))
