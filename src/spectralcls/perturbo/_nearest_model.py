"""PerTurbo's model of a class of many samples: for each query, the span of the samples nearest to it.

The images of samples many bandwidths away are orthogonal to the query's. The samples around the query thus explain
nearly the same share of it as all samples, whose factor needs n^2 numbers.
"""

from dataclasses import dataclass, replace

import numpy as np

from .._core.interrupt import interruptible_pool
from .._core.threads import effective_n_threads, serial_blas
from .._utils.cached import cached_property
from .._utils.copies import equal_rows, random_keys
from ..kernels import PackedPoints
from ..kernels.neighbor_search import knn
from ._kernel import without_subnormals
from ._span import LOWEST, Span

_ENTRIES = 1 << 17  # kernel values of a block of queries, which then stay in cache
_WIDER = 4  # factor of the neighbors with which the residual is measured
_JUDGED = 32  # samples at which it is measured


@dataclass(frozen=True, kw_only=True)
class NearestModel(Span):
    """One class, of which only the `rank` distinct samples nearest to a query explain the query.

    Attributes
    ----------
    points : (m, d) distinct samples
    squares : (m,) total weight of each one's copies, or None for ones
    rank : int
    trace_residual : mean share of a sample, without itself, that its `rank` nearest samples leave unexplained but
        `_WIDER` times as many explain
    """

    points: np.ndarray
    squares: np.ndarray | None
    rank: int
    trace_residual: float = 0.0

    grows, single = False, None

    @classmethod
    def of(cls, rank, random_state=None, n_jobs=None, *, samples, weights, regularization, **span):
        first, group = equal_rows(samples)
        points, squares = samples[first], weights
        if regularization.kind is not None and (weights is not None or len(points) < len(samples)):
            squares = np.bincount(group, weights).astype(float)
        form = {"samples": samples, "weights": weights, "regularization": regularization, **span}
        model = cls(points=points, squares=squares, rank=min(rank, len(points)), **form)
        seed = random_state if isinstance(random_state, int) else 0
        rows = np.argsort(random_keys(points, seed), kind="stable")[:_JUDGED]
        sizes = np.minimum([model.rank, _WIDER * model.rank], len(points) - 1)
        if not sizes[0]:
            return model
        few, many = (np.exp(model._log_shares(points[rows], size, n_jobs, others=1)) for size in sizes)
        return replace(model, trace_residual=float(np.maximum(many - few, 0.0).mean()))

    def explained(self, Q, n_jobs=None):
        """1 - tau for each query."""
        return np.exp(self.log_explained_far(Q, n_jobs))

    def log_explained_far(self, Q, n_jobs=None):
        """log(1 - tau) for each query, at any distance."""
        return np.nan_to_num(self._log_shares(Q, self.rank, n_jobs), nan=LOWEST, neginf=LOWEST)

    @cached_property
    def _packed(self):
        return PackedPoints(self.points)

    def _log_shares(self, Q, size, n_jobs, others=0):
        """log(1 - tau) from the `size` samples nearest to each query, after the nearest `others`."""
        near = knn(Q, self._packed, size + others, n_jobs=n_jobs)[1][:, others:]
        step = max(1, _ENTRIES // size**2)
        blocks = [slice(start, start + step) for start in range(0, len(Q), step)]
        n_threads = min(effective_n_threads(n_jobs), max(len(blocks), 1))
        with interruptible_pool(n_threads) as pool, serial_blas():
            return np.concatenate([np.empty(0), *pool.map(lambda rows: self._of_block(Q[rows], near[rows]), blocks)])

    def _of_block(self, Q, near):
        """log(1 - tau) of queries (m, d), each from its own samples (m, r).

        Exponents are shifted by that of the nearest sample: 1 - tau is a quadratic form in k, so k = exp(s) k' gives
        log(1 - tau) = 2 s + log(form of k').
        """
        gaussian = self.profile == "gaussian"
        with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
            X = self.points[near] / self.bandwidth
            exponent = np.square(X - Q[:, None] / self.bandwidth).sum(axis=2)
            exponent = exponent / -2 if gaussian else -np.sqrt(exponent)
            X = X - X[:, :1]
            squares = np.square(X).sum(axis=2)
            K = squares[:, :, None] + squares[:, None] - 2 * X @ X.transpose(0, 2, 1)
            np.maximum(K, 0.0, out=K)
            K[:, np.arange(K.shape[1]), np.arange(K.shape[1])] = 0.0  # not rounding, of which Laplace takes the root
            K = without_subnormals(np.exp(K / -2 if gaussian else -np.sqrt(K)))
            shift = exponent.max(axis=1)
            k = without_subnormals(np.exp(exponent - shift[:, None]))
            if self.squares is not None:
                roots = np.sqrt(self.squares[near])
                K, k = K * roots[:, :, None] * roots[:, None], k * roots
            return 2 * shift + np.log(self._forms(K, k))

    def _forms(self, K, k):
        """k^T times the regularized inverse of K times k, for each matrix of K (m, r, r) and row of k (m, r)."""
        if self.regularization.kind == "tikhonov":
            diagonal = np.arange(K.shape[1])
            K[:, diagonal, diagonal] += self.regularization.alpha
            return np.einsum("ij,ij->i", k, np.linalg.solve(K, k[:, :, None])[:, :, 0])
        values, vectors = np.linalg.eigh(K)
        shares = np.stack([self.regularization.filter(row) for row in values])
        inverse = np.divide(shares, values, out=shares, where=shares > 0)
        return np.einsum("ij,ij->i", inverse, np.square(np.einsum("ijk,ij->ik", vectors, k)))
