"""Kernel matrices for the solvers of penalized expansions: products and preconditioners.

The classes have ``product(V)``, which is K V with the accuracy that conjugate gradients need; ``accurate_product(V)``
in float64; and ``preconditioner(ridge, weights)``, which returns a function that solves ``(ridge + W K) Z = V`` exactly
or approximately, where W is the diagonal matrix of the weights. `FactoredKernel` has only the last. Creating a
preconditioner takes as long as `n_iterations` iterations of conjugate gradients.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from .._core.interrupt import matmul, slices
from .._utils.cached import cached_property
from ..kernels import kernel_matrix, kernel_sums
from ..linalg import LowRankFactor, inverse_in_place, rpcholesky, solve_by_factor
from ..linalg.ridge import factor_in_place

# residual trace, relative to the trace, below which further columns of a float32 factor are rounding errors
_RESOLVED = 1e-4
# lower bounds on a ridge in float32: resolution of a factor, and rounding relative to the trace
_LEAST, _SHARE = 2e-6, 5e-7


@dataclass(frozen=True)
class DenseKernel:
    """A matrix K in memory, with memory of the same size for factors."""

    K: np.ndarray
    memory: np.ndarray

    @property
    def n_iterations(self):
        return _iterations_of_a_factor(len(self.K))

    def product(self, V):
        return matmul(self.K, V)

    accurate_product = product

    def preconditioner(self, ridge, weights):
        n = len(self.K)
        single = self.memory.reshape(-1).view(np.float32)[: n * n].reshape(n, n)
        return _by_factor(_weighted(self.K, weights, single), ridge, weights)

    def inverse_diagonal(self, ridge, weights):
        """The diagonal of ``(ridge + W^1/2 K W^1/2)^-1``."""
        inverse = inverse_in_place(factor_in_place(_weighted(self.K, weights, self.memory), ridge, ridge))
        return np.einsum("ij,ij->i", inverse, inverse)


@dataclass(frozen=True)
class FactoredKernel:
    """A float32 Cholesky factor of the kernel matrix of points X, recomputed for each preconditioner."""

    X: np.ndarray
    kernel: str
    bandwidth: float
    n_jobs: int | None

    @property
    def n_iterations(self):
        return _iterations_of_a_factor(len(self.X))

    @cached_property
    def _memory(self):
        return np.empty((len(self.X), len(self.X)), dtype=np.float32)

    def preconditioner(self, ridge, weights):
        form = {"kernel": self.kernel, "bandwidth": self.bandwidth, "n_jobs": self.n_jobs}
        K = kernel_matrix(self.X, out=self._memory, **form)
        return _by_factor(_weighted(K, weights, K), ridge, weights)


def _iterations_of_a_factor(n):
    """Number of iterations that take as long as a factor: its n^3 operations are limited by arithmetic, the n^2 of an
    iteration by memory.

    A solution for 10 000 points and five classes took 31 s if this function returned 15, and 20 s with 40.
    """
    return max(5, n // 250)


def _weighted(K, weights, out):
    """``W^1/2 K W^1/2`` in the memory of `out`."""
    root = np.sqrt(weights)
    for rows in slices(len(K)):
        np.multiply(K[rows], root, out=out[rows], casting="same_kind")
        out[rows] *= root[rows, None].astype(out.dtype)
    return out


def _by_factor(M, ridge, weights):
    """A preconditioner from a float32 Cholesky factor, computed in the memory of ``W^1/2 K W^1/2``."""
    ridge, root = max(ridge, _LEAST, _SHARE * weights.sum()), np.sqrt(weights)[:, None]
    factor = factor_in_place(M, ridge, ridge)
    return lambda V: root * solve_by_factor(factor, V / root)


@dataclass(frozen=True)
class LowRankKernel:
    """F F^T in place of the kernel matrix K."""

    low_rank: LowRankFactor
    n_iterations = 10

    def product(self, V):
        F = self.low_rank.factor
        return (F @ (F.T @ V.astype(F.dtype))).astype(np.float64)

    accurate_product = product

    def preconditioner(self, ridge, weights):
        """The preconditioner, computed by the Woodbury identity from the eigenpairs of F^T W F."""
        F, weights = self.low_rank.factor, np.asarray(weights)
        values, basis = eigh(self.low_rank.weighted_gram(weights), check_finite=False)
        inner = (basis / (np.maximum(values, 0.0) + ridge)) @ basis.T

        def precondition(V):
            small = inner @ (F.T @ V.astype(F.dtype)).astype(np.float64)
            return (V - weights[:, None] * (F @ small.astype(F.dtype))) / ridge

        return precondition


@dataclass(frozen=True)
class SummedKernel:
    """Kernel sums over the points X instead of a matrix, in float32 except for accurate products."""

    X: np.ndarray
    kernel: str
    bandwidth: float
    approximate: LowRankKernel | FactoredKernel
    n_jobs: int | None

    @classmethod
    def of(cls, X, kernel, bandwidth, rank, rng, n_jobs):
        """Precondition with a factor F of `rank` columns from randomly pivoted Cholesky, which captures the leading
        eigenvalues of K that make the system ill-conditioned. If `rank` is None, use a factor of the whole matrix."""
        X = X - X.mean(axis=0)  # float32 resolves small numbers best
        single = np.ascontiguousarray(X, dtype=np.float32)
        form = {"kernel": kernel, "bandwidth": bandwidth, "n_jobs": n_jobs}
        if rank is None:
            approximate = FactoredKernel(single, **form)
        else:
            approximate = LowRankKernel(rpcholesky(single, min(rank, len(X)), tol=_RESOLVED, random_state=rng, **form))
        return cls(X, kernel, bandwidth, approximate, n_jobs)

    @cached_property
    def points(self):
        return {dtype: np.ascontiguousarray(self.X, dtype=dtype) for dtype in (np.float32, np.float64)}

    @property
    def n_iterations(self):
        return self.approximate.n_iterations

    def product(self, V):
        return self._sums(V, np.float32)

    def accurate_product(self, V):
        return self._sums(V, np.float64)

    def _sums(self, V, dtype):
        points, V = self.points[dtype], np.ascontiguousarray(V, dtype=dtype)
        options = {"kernel": self.kernel, "bandwidth": self.bandwidth, "n_jobs": self.n_jobs}
        return kernel_sums(points, points, weights=V, **options).astype(np.float64)

    def preconditioner(self, ridge, weights):
        return self.approximate.preconditioner(ridge, weights)
