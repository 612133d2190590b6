"""Kernel ridge regression in the cells of random trees, for more points than one linear system can handle."""

from dataclasses import dataclass

import numpy as np

from .._core.interrupt import interruptible_pool
from .._core.threads import effective_n_threads, serial_blas
from ..kernels import kernel_matrix, kernel_sums
from ..linalg.ridge import solve

# Smallest ridge in float32. With it, rounding errors change predictions by at most .002 of the targets' spread for 1500
# rows (of covertype, letter and skin, at bandwidths of .7 to 12 median distances) and by .003 of it for 3000 rows, and
# they change the log loss by a fraction of 1.3e-4. With a tenth of this ridge and the Gaussian kernel, they change
# predictions by .02 of the spread.
_SINGLE = 1e-2
_MOST_DIAGONAL = 1e30  # largest addition to the diagonal (for tiny weights), within the range of float32


@dataclass(frozen=True)
class LocalRidge:
    """The mean, over random trees, of kernel ridge regressions on the points of the query's cell.

    Attributes
    ----------
    X : (n, d)
    forest : tuple of TreeCells
    coefficients : tuple of ndarray (n, k), one per tree: coefficients of each point in the regression of its cell
    kernel : str
    bandwidth : float
    offsets : (k,) added by `scores`
    """

    X: np.ndarray
    forest: tuple
    coefficients: tuple
    kernel: str
    bandwidth: float
    n_jobs: int | None = None
    offsets: np.ndarray | float = 0.0

    @classmethod
    def of(cls, X, Y, weights, ridge, forest, judged=None, groups=None, *, kernel, bandwidth, n_jobs=None, step_done):
        """Fit to targets Y (n, k), and predict each of the points `judged` from the other points of its cell, or from
        those of other groups.

        Parameters
        ----------
        X : ndarray of shape (n, d)
        Y : ndarray of shape (n, k)
        weights : ndarray of shape (n,)
        ridge : float
        forest : sequence of TreeCells
        judged : ndarray of shape (m,), default=None
            Points to predict from the others; None means all.
        groups : ndarray of shape (n,), default=None
        step_done : callable
            Called with a name before each tree.

        Returns
        -------
        fitted : LocalRidge
        held_out : ndarray of shape (m, k)

        Notes
        -----
        A cell of m points takes m^3 / 3 multiply-adds, half of that if no point of the cell is predicted from the
        others. Each thread holds two matrices of m x m numbers.
        """
        form = {"kernel": kernel, "bandwidth": bandwidth}
        judged = np.arange(len(X)) if judged is None else judged
        is_judged = np.zeros(len(X), dtype=bool)
        is_judged[judged] = True
        held_out, coefficients = np.zeros(Y.shape), []
        for tree, cells in enumerate(forest, 1):
            step_done(f"tree {tree}")
            own, parts = np.empty(Y.shape, dtype=X.dtype), cells.parts

            def fitted(rows):
                cell, units = (X[rows], Y[rows], weights[rows]), None if groups is None else groups[rows]
                return _solution(*cell, ridge, {**form, "n_jobs": 1}, units, held_out=is_judged[rows].any())

            for rows, solution in zip(parts, _in_threads(fitted, parts, n_jobs), strict=True):
                own[rows] = solution.coefficients
                if solution.held_out is not None:
                    held_out[rows] += solution.held_out
            coefficients.append(own)
        return cls(X, tuple(forest), tuple(coefficients), **form, n_jobs=n_jobs), held_out[judged] / len(forest)

    def scores(self, Q):
        """The `values` plus the `offsets`, (m, k)."""
        return self.values(Q) + self.offsets

    def values(self, Q):
        """Predictions (m, k) for queries (m, d), float64."""
        out = np.zeros((len(Q), self.coefficients[0].shape[1]))
        form = {"kernel": self.kernel, "bandwidth": self.bandwidth, "n_jobs": 1}
        work = [
            (rows, cells.rows(cell), A)
            for cells, A in zip(self.forest, self.coefficients, strict=True)
            for cell, rows in cells.of_queries(Q)
        ]

        def sums(part):
            rows, own, A = part
            return kernel_sums(Q[rows], self.X[own], weights=A[own], **form)

        for (rows, _, _), found in zip(work, _in_threads(sums, work, self.n_jobs), strict=True):
            out[rows] += found
        return out / len(self.forest)


def held_out_in_cells(X, Y, weights, parts, ridges, groups=None, *, kernel, bandwidth, n_jobs=None):
    """For each ridge, the predictions of all points, each from the other points (or groups) of its cell, in the order
    of the cells; None if a system has no solution.
    """
    form = {"kernel": kernel, "bandwidth": bandwidth, "n_jobs": n_jobs if len(parts) == 1 else 1}

    def path(rows):
        found, units = [], None if groups is None else groups[rows]
        for ridge in ridges:
            try:
                found.append(_solution(X[rows], Y[rows], weights[rows], ridge, form, units).held_out)
            except np.linalg.LinAlgError:
                found.append(None)
        return found

    by_ridge = zip(*_in_threads(path, parts, n_jobs), strict=True)
    return [None if any(part is None for part in found) else np.concatenate(found) for found in by_ridge]


def _solution(X, Y, weights, ridge, form, units=None, held_out=True):
    """`solve` for the points of a cell, in float32 if this is accurate enough."""
    weights, K = np.maximum(weights, ridge / _MOST_DIAGONAL), kernel_matrix(np.asarray(X, np.float64), **form)
    if ridge >= _SINGLE:
        try:
            single = (A.astype(np.float32) for A in (K, Y))
            return solve(*single, ridge, weights.astype(np.float32), held_out=held_out, units=units)
        except np.linalg.LinAlgError:
            pass
    return solve(K, Y, ridge, weights, held_out=held_out, units=units)


def _in_threads(function, items, n_jobs):
    """Yield the results of a function for each item, in order. A single item leaves all threads to BLAS."""
    if len(items) == 1:
        yield function(items[0])
        return
    n_threads = min(effective_n_threads(n_jobs), len(items))
    if n_threads < 2:
        with serial_blas():
            yield from map(function, items)
        return
    with interruptible_pool(n_threads) as pool, serial_blas():
        yield from pool.map(function, items)
