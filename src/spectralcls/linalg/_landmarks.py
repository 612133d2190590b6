"""Low-rank factors of kernel matrices of many points, K ~= F F^T, whose rows are computed when needed and never stored.

A row of F is ``k(x, landmarks) L^-T``, where ``L L^T`` is the kernel matrix of the landmarks. Products with F are thus
kernel sums over the landmarks, and only the Gram matrix of F takes O(r^2) operations for each point.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, get_blas_funcs, solve_triangular
from sklearn.utils import check_random_state

from .._utils.copies import random_keys
from .._utils.typing import Array, RandomState
from ..kernels import kernel_matrix, kernel_sums
from ._low_rank import rpcholesky

# Landmarks are drawn among at most this many points, or twice their number if that is more.
SAMPLE = 20_000
_PANEL = 4096  # points whose rows of F are in memory at once


@dataclass(frozen=True)
class Landmarks:
    """Landmarks of the points of a kernel matrix.

    Attributes
    ----------
    points : (r, d)
    weights : (r,) float64, weights of the landmarks, with those of their copies
    triangle : (r, r) L
    """

    points: Array
    weights: Array
    triangle: Array
    kernel: str
    bandwidth: float
    n_jobs: int | None = None

    @classmethod
    def of(
        cls,
        X: Array,
        weights: Array,
        rank: int,
        *,
        kernel: str,
        bandwidth: float,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> "Landmarks":
        """Draw up to `rank` landmarks among the distinct rows of X by randomly pivoted Cholesky.

        They depend on the values of the rows, but not on their order or on the numbers of copies.
        """
        rng = check_random_state(0 if random_state is None else random_state)
        keys = random_keys(X, int(rng.randint(np.iinfo(np.int32).max)))
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        rows = first[: max(SAMPLE, 2 * rank)]
        low = rpcholesky(X[rows], rank, kernel=kernel, bandwidth=bandwidth, random_state=rng, n_jobs=n_jobs)
        own = np.bincount(group, weights)[low.pivots].astype(np.float64)
        triangle = np.tril(low.factor[low.pivots])
        return cls(X[rows[low.pivots]], own, triangle, kernel, bandwidth, n_jobs)

    @property
    def _form(self) -> dict:
        return {"kernel": self.kernel, "bandwidth": self.bandwidth, "n_jobs": self.n_jobs}

    def compress(self, B: Array) -> Array:
        """``L^-T B``, float64: the row of F at x times B is ``k(x, landmarks) L^-T B``."""
        return solve_triangular(self.triangle.astype(np.float64), B, lower=True, trans="T", check_finite=False)

    def products(self, X: Array, compressed: Array) -> Array:
        """F B for the rows of F at the points X, (n, c), from ``compress(B)``."""
        return kernel_sums(X, self.points, weights=compressed.astype(X.dtype), **self._form)

    def row_sums(self, X: Array, weights: Array) -> tuple[Array, Array]:
        """Weighted row sums of F F^T, (n,), at least 1e-30, and coefficients (r, 2) that extend them to new points.

        The row sums may be negative for a poor factor. They are raised to a lower bound: the contribution of the
        landmarks to the row sums of K. At points so far from all landmarks that this bound applies, the rows of F are
        small even relative to the square root of the bound. The row sum of a new point x is the larger entry of
        ``k(x, landmarks) @ coefficients``.
        """
        sums = kernel_sums(self.points, X, weights=weights.astype(X.dtype), **self._form).astype(np.float64)
        total = solve_triangular(self.triangle.astype(np.float64), sums, lower=True, check_finite=False)
        coefficients = np.column_stack([self.compress(total), self.weights])
        return np.maximum(self.products(X, coefficients).max(axis=1), X.dtype.type(1e-30)), coefficients

    def spectrum(self, X: Array, squares: Array, weights: Array, k: int | None) -> tuple[Array, Array, float]:
        """The k leading eigenpairs of ``F^T diag(squares) F``, largest first, and the relative residual.

        The matrix has the nonzero eigenvalues of ``S F F^T S`` with the squares of S. Pairs whose eigenvalue is lost in
        rounding are left out. The residual is trace(W (K - F F^T)) / trace(W K), with the weights of the points.
        """
        rank = len(self.points)
        (trsm,) = get_blas_funcs(["trsm"], [self.triangle, X])
        triangle = np.asfortranarray(self.triangle)
        gram, left = np.zeros((rank, rank)), 0.0
        for start in range(0, len(X), _PANEL):
            panel = slice(start, start + _PANEL)
            rows = kernel_matrix(self.points, X[panel], **self._form)
            rows = trsm(1.0, triangle, rows.T, side=1, lower=1, trans_a=1, overwrite_b=1).T
            left += weights[panel] @ np.maximum(1 - np.einsum("ij,ij->j", rows, rows, dtype=np.float64), 0.0)
            rows *= np.sqrt(squares[panel]).astype(rows.dtype)
            gram += rows @ rows.T  # NumPy computes one triangle of it
        values, basis = eigh(gram, check_finite=False)
        sound = int(np.sum(values > 10 * np.sqrt(rank) * np.finfo(X.dtype).eps * values[-1]))
        k = sound if k is None else min(k, sound)
        return values[::-1][:k], basis[:, ::-1][:, :k], float(left / weights.sum())
