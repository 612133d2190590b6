"""The similarity matrix S that a spectral kernel starts from, in the cheapest form that its kernel allows.

Each form knows the row sums of S and an operator for ``diag(s) S diag(s)``:

* `LinearSimilarity`, S = X X^T: never formed, S v = X (X^T v);
* `GaussianSimilarity`, S_ij = exp(-|x_i - x_j|^2 / (2 h^2)): never formed, S v is a kernel sum;
* `StoredSimilarity`: S itself, given or formed from X.
"""

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel
from sklearn.utils import check_array, gen_batches

from ._standin import GramOperator, KernelOperator
from ..kernels import kernel_sums

_BLOCK_ENTRIES = 2**22  # entries of S(Q, X) that exist at a time


class LinearSimilarity:
    """S = X X^T, X dense or CSR; S has no negative entry where X has none."""

    def __init__(self, X):
        self.X = X
        self.rank_bound = min(X.shape)

    def degrees(self):
        totals = np.asarray(self.X.sum(axis=0, dtype=np.float64)).ravel()
        return self.X @ totals

    def scaled(self, scale):
        return GramOperator(_scale_rows(self.X, scale))


class GaussianSimilarity:
    """S_ij = exp(-|x_i - x_j|^2 / (2 h^2)) of a dense X, through sums over kernel values that are not kept."""

    def __init__(self, X, bandwidth, n_jobs):
        self.X, self.bandwidth, self.n_jobs = X, bandwidth, n_jobs
        self.rank_bound = len(X)

    def degrees(self):
        sums = kernel_sums(self.X, self.X, bandwidth=self.bandwidth, n_jobs=self.n_jobs)
        return sums.astype(np.float64)

    def scaled(self, scale):
        return KernelOperator(self.X, bandwidth=self.bandwidth, scale=scale)


class StoredSimilarity:
    """S as a dense or CSR matrix that belongs to this object."""

    def __init__(self, S):
        self.S = S
        self.rank_bound = S.shape[0]

    def degrees(self):
        degrees = np.asarray(self.S.sum(axis=1, dtype=np.float64)).ravel()
        check_degrees(degrees, self.S)
        return degrees

    def scaled(self, scale):
        scaled = _scale_rows(self.S, scale)
        if sp.issparse(scaled):
            scaled.data *= scale.astype(scaled.dtype)[scaled.indices]
        else:
            scaled *= scale.astype(scaled.dtype)
        return scaled


def check_degrees(degrees, S):
    """Raise where a row of similarities adds up to zero or less although it is not empty."""
    largest = np.maximum(_dense_vector(S.max(axis=1)), -_dense_vector(S.min(axis=1)))
    rounding = S.shape[1] * np.finfo(S.dtype).eps * largest
    wrong = np.flatnonzero((degrees <= rounding) & (largest > 0))
    if len(wrong):
        raise ValueError(
            f"Negative values in data: the similarities of row {wrong[0]} add up to {degrees[wrong[0]]:.3g}, and a "
            "degree has to be positive. Use transformation='identity', or a kernel that has no negative values, "
            "such as 'gaussian'."
        )


def check_symmetric(S):
    """Raise unless S is square and equal to its transpose, to rounding."""
    if S.shape[0] != S.shape[1]:
        raise ValueError(f"A precomputed similarity matrix has to be square in fit, got shape {S.shape}.")
    difference, largest = abs(S - S.T).max(), abs(S).max()
    if difference > 1e3 * np.finfo(S.dtype).eps * largest:
        raise ValueError(
            f"The precomputed similarity matrix is not symmetric: entries differ by up to {difference:.3g} from those "
            "of its transpose. Pass (S + S.T) / 2 if that is what you mean."
        )


def form_similarity(Q, X, *, kernel, bandwidth, degree, coef0):
    """The dense matrix S(Q, X), Q and X dense or sparse."""
    if kernel == "gaussian":
        return rbf_kernel(Q, X, gamma=0.5 / bandwidth**2)
    if kernel == "polynomial":
        S = polynomial_kernel(Q, X, degree=degree, gamma=1, coef0=coef0)
    else:
        with np.errstate(over="ignore"):
            S = linear_kernel(Q, X)
            np.exp(S, out=S)
    if not np.isfinite(S).all():
        raise ValueError(f"The {kernel} kernel overflows on these data: scale the rows of X to unit length.")
    return S


def formed_row_products(Q, X, weights, *, checked, **kernel):
    """S(Q, X) weights, block by block of rows; `checked`: the last column holds degrees, which must not be negative."""
    products = np.empty((Q.shape[0], weights.shape[1]), dtype=weights.dtype)
    for block in gen_batches(Q.shape[0], max(1, _BLOCK_ENTRIES // X.shape[0])):
        S = form_similarity(Q[block], X, **kernel)
        products[block] = S @ weights
        if checked:
            check_degrees(products[block][:, -1], S)
    return products


def _scale_rows(X, scale):
    """A new matrix diag(scale) X of the dtype and kind of X."""
    scale = scale.astype(X.dtype)
    if not sp.issparse(X):
        return X * scale[:, None]
    X = X.copy()
    X.data *= np.repeat(scale, np.diff(X.indptr))
    return X


def _dense_vector(v):
    return v.toarray().ravel() if sp.issparse(v) else np.asarray(v).ravel()
