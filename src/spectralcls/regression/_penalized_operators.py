"""Kernel matrices for the solvers of penalized expansions: products and preconditioners.

Each has ``product(V)``, K V to the accuracy that conjugate gradients need, ``accurate_product(V)`` in float64, and
``preconditioner(ridge, weights)``, a function that solves ``(ridge + W K) Z = V`` exactly or approximately.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, lapack

from .._core.interrupt import matmul, slices
from .._utils.cached import cached_property
from ..kernels import kernel_sums
from ..linalg import LowRankFactor, inverse_in_place, rpcholesky
from ..linalg.ridge import factor_in_place

_RESOLVED = 1e-4  # share of the trace below which a factor in float32 is rounding


@dataclass(frozen=True)
class DenseKernel:
    """A matrix K in memory, and memory of its size for factors."""

    K: np.ndarray
    memory: np.ndarray

    def product(self, V):
        return matmul(self.K, V)

    accurate_product = product

    def preconditioner(self, ridge, weights):
        factor, root = self._factor(ridge, weights)
        return lambda V: root * lapack.dpotrs(factor, V / root, lower=False)[0]

    def inverse_diagonal(self, ridge, weights):
        """The diagonal of ``(ridge + W^1/2 K W^1/2)^-1``."""
        inverse = inverse_in_place(self._factor(ridge, weights)[0])
        return np.einsum("ij,ij->i", inverse, inverse)

    def _factor(self, ridge, weights):
        root = np.sqrt(weights)
        for rows in slices(len(self.K)):
            np.multiply(self.K[rows], root, out=self.memory[rows])
            self.memory[rows] *= root[rows, None]
        return factor_in_place(self.memory, ridge, ridge), root[:, None]


@dataclass(frozen=True)
class LowRankKernel:
    """F F^T in place of K."""

    low_rank: LowRankFactor

    def product(self, V):
        F = self.low_rank.factor
        return (F @ (F.T @ V.astype(F.dtype))).astype(np.float64)

    accurate_product = product

    def preconditioner(self, ridge, weights):
        """Computed by the Woodbury identity on the eigenpairs of F^T W F."""
        F, weights = self.low_rank.factor, np.asarray(weights)
        values, basis = eigh(self.low_rank.weighted_gram(weights), check_finite=False)
        inner = (basis / (np.maximum(values, 0.0) + ridge)) @ basis.T

        def precondition(V):
            small = inner @ (F.T @ V.astype(F.dtype)).astype(np.float64)
            return (V - weights[:, None] * (F @ small.astype(F.dtype))) / ridge

        return precondition


@dataclass(frozen=True)
class SummedKernel:
    """Kernel sums over the points X instead of a matrix; products in float32 unless they have to be accurate."""

    X: np.ndarray
    kernel: str
    bandwidth: float
    low_rank: LowRankKernel
    n_jobs: int | None

    @classmethod
    def of(cls, X, kernel, bandwidth, rank, rng, n_jobs):
        """With F of `rank` columns from randomly pivoted Cholesky: exact on the leading eigenvectors of K, whose
        eigenvalues make systems ill conditioned."""
        single = np.ascontiguousarray(X, dtype=np.float32)
        rank = min(rank, len(X))
        options = {"kernel": kernel, "bandwidth": bandwidth, "random_state": rng, "n_jobs": n_jobs}
        return cls(X, kernel, bandwidth, LowRankKernel(rpcholesky(single, rank, tol=_RESOLVED, **options)), n_jobs)

    @cached_property
    def _points(self):
        return {dtype: np.ascontiguousarray(self.X, dtype=dtype) for dtype in (np.float32, np.float64)}

    def product(self, V):
        return self._sums(V, np.float32)

    def accurate_product(self, V):
        return self._sums(V, np.float64)

    def _sums(self, V, dtype):
        points, V = self._points[dtype], np.ascontiguousarray(V, dtype=dtype)
        options = {"kernel": self.kernel, "bandwidth": self.bandwidth, "n_jobs": self.n_jobs}
        return kernel_sums(points, points, weights=V, **options).astype(np.float64)

    def preconditioner(self, ridge, weights):
        return self.low_rank.preconditioner(ridge, weights)
