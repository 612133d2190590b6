"""The similarity matrix S of a spectral kernel, in the cheapest form that its kernel allows.

Each form computes the weighted row sums of S, its empty rows, and the leading eigenpairs of
``diag(s) S diag(s)``:

* `LinearSimilarity`: S = X X^T, never formed; S v = X (X^T v).
* `StoredSimilarity`: S as a matrix, given or formed from X.

The Gaussian kernel of dense X needs neither: its spectrum is that of a `KernelOperator`, or of landmarks.
"""

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.metrics.pairwise import euclidean_distances, linear_kernel, polynomial_kernel
from sklearn.utils import gen_batches
from sklearn.utils.extmath import safe_sparse_dot

from ..linalg import GramOperator, top_eigenpairs

_BLOCK_ENTRIES = 2**22  # entries of S(Q, X) in memory at a time
_DENSE_SIDE = 5000  # for a dense X with at most this many rows or columns, X X^T or X^T X is formed


class LinearSimilarity:
    """S = X X^T, for X dense or CSR; S has no negative entries if X has none."""

    def __init__(self, X):
        self.X = X
        self.rank_bound = min(X.shape)

    def degrees(self, weights):
        with np.errstate(over="ignore", invalid="ignore"):
            degrees = self.X @ (self.X.T @ weights)
        if not np.isfinite(degrees).all():
            raise ValueError("The similarities overflow on these data: scale the rows of X to unit length.")
        return degrees

    def empty_rows(self):
        return _largest_in_rows(self.X) == 0

    def eigenpairs(self, scale, k, **options):
        # B B^T and B^T B have the same positive eigenvalues, so the smaller of the two is decomposed.
        B = _scale_rows(self.X, scale)
        transposed = B.shape[0] > B.shape[1]
        side = B.T if transposed else B
        if sp.issparse(B) or side.shape[0] > _DENSE_SIDE:
            gram = GramOperator(side)
        else:
            gram = side @ side.T
        values, vectors = _leading(gram, k, **options)
        if transposed:
            vectors = B @ (vectors / np.sqrt(np.maximum(values, np.finfo(values.dtype).tiny)).astype(B.dtype))
        return values, vectors


class StoredSimilarity:
    """S as a dense or CSR matrix."""

    def __init__(self, S):
        self.S = S
        self.rank_bound = S.shape[0]

    def degrees(self, weights):
        degrees = self.S @ weights
        check_degrees(degrees, self.S)
        return degrees

    def empty_rows(self):
        return _largest_in_rows(self.S) == 0

    def eigenpairs(self, scale, k, **options):
        scaled = _scale_rows(self.S, scale)
        scale = scale.astype(scaled.dtype)
        if sp.issparse(scaled):
            scaled.data *= scale[scaled.indices]
        else:
            scaled *= scale
        return _leading(scaled, k, **options)


def _leading(A, k, **options):
    """The k leading eigenpairs of A; all eigenpairs if k is its dimension."""
    if k < A.shape[0]:
        found = top_eigenpairs(A, k, **options)
        return found.values, found.vectors
    values, vectors = scipy.linalg.eigh(A if isinstance(A, np.ndarray) else A.toarray())
    return values[::-1], vectors[:, ::-1]


def check_degrees(degrees, S):
    """Raise if a nonempty row of similarities adds up to zero or less."""
    largest = _largest_in_rows(S)
    rounding = S.shape[1] * np.finfo(S.dtype).eps * largest
    wrong = np.flatnonzero((degrees <= rounding) & (largest > 0))
    if len(wrong):
        raise ValueError(
            f"Negative values in data: the similarities of row {wrong[0]} add up to {degrees[wrong[0]]:.3g}, "
            "but a degree must be positive. Use weighting=None, or a kernel without negative "
            "values, such as 'gaussian'."
        )


def check_symmetric(S):
    """Raise unless S is square and equal to its transpose, up to rounding."""
    if S.shape[0] != S.shape[1]:
        raise ValueError(f"A precomputed similarity matrix must be square in fit, got shape {S.shape}.")
    difference, largest = abs(S - S.T).max(), abs(S).max()
    if difference > 1e3 * np.finfo(S.dtype).eps * largest:
        raise ValueError(
            f"The precomputed similarity matrix is not symmetric: entries differ by up to {difference:.3g} "
            "from those of its transpose. Pass (S + S.T) / 2 to make it symmetric."
        )


def form_similarity(Q, X, *, kernel, bandwidth, degree):
    """The dense matrix S(Q, X), for Q and X dense or sparse."""
    with np.errstate(over="ignore"):
        if kernel == "polynomial":
            S = polynomial_kernel(Q, X, degree=degree, gamma=1, coef0=1)
        else:
            S = _log_similarity(Q, X, kernel, bandwidth)
            np.exp(S, out=S)
    return _refuse_overflow(S, kernel)


def _refuse_overflow(S, kernel):
    if not np.isfinite(S).all():
        raise ValueError(f"The {kernel} kernel overflows on these data: scale the rows of X to unit length.")
    return S


def rescaled(products, log_scale, kernel):
    """exp(log_scale) * products; raises if the similarities by `kernel` overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        return _refuse_overflow(products * np.exp(log_scale).astype(products.dtype)[:, None], kernel)


def _log_similarity(Q, X, kernel, bandwidth):
    if kernel == "exponential":
        return linear_kernel(Q, X)
    return euclidean_distances(Q, X, squared=True) * (-0.5 / bandwidth**2)


def row_products(Q, X, weights, *, checked, **parameters):
    """The product S(Q, X) weights as exp(log_scale) * products, computed in blocks of rows.

    X is None if Q holds rows of S, or if the weights belong to the features. With `checked`, the last column holds
    degrees, which must be positive.
    """
    if X is None:
        return np.zeros(Q.shape[0]), safe_sparse_dot(Q, weights)
    products = np.empty((Q.shape[0], weights.shape[1]), dtype=weights.dtype)
    log_scale = np.zeros(Q.shape[0])
    for block in gen_batches(Q.shape[0], max(1, _BLOCK_ENTRIES // X.shape[0])):
        if parameters["kernel"] == "polynomial":
            S = form_similarity(Q[block], X, **parameters)
        else:
            S = _log_similarity(Q[block], X, parameters["kernel"], parameters["bandwidth"])
            largest = S.max(axis=1)
            S = np.exp(S - largest[:, None])
            log_scale[block] = largest
        products[block] = S @ weights
        if checked:
            check_degrees(products[block][:, -1], S)
    return log_scale, products


def _scale_rows(X, scale):
    """A new matrix diag(scale) X of the dtype and type of X."""
    scale = scale.astype(X.dtype)
    if not sp.issparse(X):
        return X * scale[:, None]
    X = X.copy()
    X.data *= np.repeat(scale, np.diff(X.indptr))
    return X


def _largest_in_rows(S):
    """Largest absolute value in each row."""
    extremes = S.max(axis=1), S.min(axis=1)
    high, low = (v.toarray().ravel() if sp.issparse(v) else np.asarray(v).ravel() for v in extremes)
    return np.maximum(high, -low)


def inverse_root(degrees):
    """d^-1/2, and 0 for a sample without similar samples."""
    return np.where(degrees > 0, degrees, np.inf) ** -0.5
