"""Kernel matrices for the solvers of penalized expansions: products and preconditioners.

The classes have ``product(V)``, which is K V with the accuracy that an iteration needs; ``accurate_product(V)`` in
float64; and ``preconditioner(ridge, weights)``, which returns a function that solves ``(ridge + W K) Z = V``
approximately, where W is the diagonal matrix of the weights. `LowRankKernel` has only the last.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from .._core.interrupt import matmul, slices
from .._utils.cached import cached_property
from ..kernels import kernel_sums
from ..linalg import LowRankFactor, inverse_in_place, rpcholesky
from ..linalg.ridge import factor_in_place

# if the residual trace, relative to the trace, is below this, further columns of a float32 factor are rounding errors
_RESOLVED = 1e-4
# Rounding error of a Gram matrix relative to its trace, in multiples of eps. It is added to the diagonal, so that a
# Cholesky factor exists.
_ROUNDING = 4.2


@dataclass(frozen=True)
class DenseKernel:
    """A matrix K in memory, with memory of the same size for factors, and the rank of the preconditioner."""

    K: np.ndarray
    memory: np.ndarray
    rank: int

    def product(self, V):
        return matmul(self.K, V)

    accurate_product = product

    @cached_property
    def _approximate(self):
        try:
            low_rank = rpcholesky(self.K, self.rank, kernel="precomputed", tol=_RESOLVED, random_state=0)
        except ValueError as error:  # indefinite
            raise np.linalg.LinAlgError(str(error)) from None
        return LowRankKernel.of(low_rank, self.K.diagonal())

    def preconditioner(self, ridge, weights):
        return self._approximate.preconditioner(ridge, weights)

    def inverse_diagonal(self, ridge, weights):
        """The diagonal of ``(ridge + W^1/2 K W^1/2)^-1``."""
        root = np.sqrt(weights)
        for rows in slices(len(self.K)):
            np.multiply(self.K[rows], root, out=self.memory[rows])
            self.memory[rows] *= root[rows, None]
        inverse = inverse_in_place(factor_in_place(self.memory, ridge, ridge))
        return np.einsum("ij,ij->i", inverse, inverse)


@dataclass(frozen=True)
class LowRankKernel:
    """F F^T plus a diagonal in place of the kernel matrix K.

    The diagonal is that of K - F F^T. It stands for the many small eigenvalues that F misses: those of the Laplace
    kernel decrease slowly.
    """

    low_rank: LowRankFactor
    remainder: np.ndarray  # (n,)

    @classmethod
    def of(cls, low_rank, diagonal):
        explained = np.einsum("ij,ij->i", low_rank.factor, low_rank.factor)
        return cls(low_rank, np.maximum(diagonal - explained.astype(np.float64), 0.0))

    def preconditioner(self, ridge, weights):
        """The preconditioner by the Woodbury identity; weights (n, k) differ for the k columns of V."""
        F, weights = self.low_rank.factor, weights.reshape(len(self.remainder), -1)
        diagonal = ridge + weights * self.remainder[:, None]
        share = weights / diagonal
        factors = [self._factor(column) for column in share.T]

        def precondition(V):
            Z = V / diagonal
            inner = (F.T @ Z.astype(F.dtype)).astype(np.float64)
            if len(factors) == 1:
                inner = cho_solve(factors[0], inner, check_finite=False)
            else:
                each = zip(factors, inner.T, strict=True)
                inner = np.column_stack([cho_solve(factor, column, check_finite=False) for factor, column in each])
            return Z - share * (F @ inner.astype(F.dtype))

        return precondition

    def _factor(self, share):
        """A Cholesky factor of I + F^T diag(share) F."""
        return factor_of_identity_plus(self.low_rank.weighted_gram(share), self.low_rank.factor.dtype)


def factor_of_identity_plus(gram, dtype):
    """A Cholesky factor of I + `gram` (r, r), which is overwritten; `gram` is float64, computed from numbers of a
    dtype.
    """
    gram.flat[:: len(gram) + 1] += 1 + _ROUNDING * np.finfo(dtype).eps * gram.trace()
    return cho_factor(gram, overwrite_a=True, check_finite=False)


@dataclass(frozen=True)
class SummedKernel:
    """Kernel sums over the points X instead of a matrix, in float32 except for accurate products."""

    X: np.ndarray
    kernel: str
    bandwidth: float
    approximate: LowRankKernel
    n_jobs: int | None

    @classmethod
    def of(cls, X, kernel, bandwidth, rank, rng, n_jobs):
        """Precondition with a factor F of `rank` columns from randomly pivoted Cholesky, which captures the leading
        eigenvalues of K that make the system ill-conditioned."""
        X = X - X.mean(axis=0)  # float32 is most accurate near zero
        single = np.ascontiguousarray(X, dtype=np.float32)
        form = {"kernel": kernel, "bandwidth": bandwidth, "n_jobs": n_jobs}
        low_rank = rpcholesky(single, min(rank, len(X)), tol=_RESOLVED, random_state=rng, **form)
        return cls(X, kernel, bandwidth, LowRankKernel.of(low_rank, 1.0), n_jobs)

    @cached_property
    def points(self):
        return {dtype: np.ascontiguousarray(self.X, dtype=dtype) for dtype in (np.float32, np.float64)}

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
