"""Low-rank factors of kernel matrices by pivoted partial Cholesky, K ~= F F^T, without ever forming K.

A factor of rank r needs only r kernel columns, which are evaluated on demand. Random pivots follow randomly pivoted
Cholesky (Chen, Epperly, Tropp and Webber, arXiv:2207.06503). They are drawn in blocks by the rejection sampler of
accelerated RPCholesky (Epperly, Tropp and Webber, arXiv:2410.03969), which has the same distribution but spends most of
its time in matrix products.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from mmap import PAGESIZE
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from scipy.linalg import eigh, solve_triangular
from sklearn.utils import check_random_state

from .._core import compiled
from .._core.threads import effective_n_threads, serial_blas
from .._utils.conversion import converted
from .._utils.from_sklearn import Interval, StrOptions, validated
from .._utils.typing import Array, RandomState
from ._eigenproblem import fix_signs
from ._kernel_source import KernelSource
from ._pivots import eliminate, largest_rows, random_rows

__all__ = ["LowRankFactor", "rpcholesky"]

_PANEL = 8192  # columns of F^T updated at once, so that temporaries stay in cache for every n


@dataclass(frozen=True)
class LowRankFactor:
    """Low-rank factor F of a positive semi-definite kernel matrix, K ~= F F^T, with its extension to new points.

    Parameters
    ----------
    factor : ndarray of shape (n, r)
        F, Fortran-ordered. F F^T equals K in the pivots' rows and columns, and K - F F^T is positive semi-definite.
    pivots : ndarray of shape (r,)
        Rows of X whose kernel columns span the approximation, in the order in which they were chosen.
    trace_residual : float
        The trace of K - F F^T, up to rounding. It is the sum of the eigenvalues of this error matrix, so it bounds the
        error's spectral, Frobenius and nuclear norms.
    trace : float
        The trace of K.
    _extension : callable
        Function for kernel values between new points and the pivots, set by :func:`rpcholesky`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> from spectralcls.linalg import rpcholesky
    >>> low = rpcholesky(X, 40, bandwidth=1.0)
    >>> low.rank, low.pivots.shape
    (40, (40,))
    """

    factor: np.ndarray
    pivots: np.ndarray
    trace_residual: float
    trace: float
    _extension: Any = field(repr=False)

    @property
    def rank(self) -> int:
        """Number of columns of F; less than requested if K has a lower numerical rank or ``tol`` was reached."""
        return self.factor.shape[1]

    @property
    def relative_trace_residual(self) -> float:
        """Relative residual, trace(K - F F^T) / trace(K), in [0, 1]."""
        return self.trace_residual / self.trace if self.trace > 0 else 0.0

    def transform(self, Q: Any) -> Array:
        """Extend F to new points: k(Q, pivots) L^-T with L = F[pivots]. For the training points this is F.

        Parameters
        ----------
        Q : array-like of shape (m, d) or (m, n)
            Queries; for ``kernel="precomputed"`` the matrix k(Q, X).

        Returns
        -------
        G : ndarray of shape (m, r)
            Extended rows with k(Q, X) ~= G F^T (the Nystrom extension), in the dtype of F.

        Raises
        ------
        ValueError
            If Q has another number of columns than X, or contains NaN or infinity.

        Notes
        -----
        Costs m r kernel evaluations and m r^2 operations.
        """
        Q = converted(Q, "Q", dtype=(np.float64, np.float32))
        if Q.shape[1] != self._extension.n_features:
            raise ValueError(f"Q has {Q.shape[1]} columns, but X had {self._extension.n_features}.")
        triangle = np.tril(self.factor[self.pivots])
        out = np.empty((self.rank, len(Q)), dtype=self.factor.dtype)
        for start in range(0, len(Q), _PANEL):
            panel = slice(start, start + _PANEL)
            columns = self._extension(Q[panel])
            out[:, panel] = solve_triangular(triangle, columns, lower=True, check_finite=False)
        return out.T

    def weighted_gram(self, weights: Array) -> Array:
        """Gram matrix of the columns of F: ``F^T diag(weights) F``.

        Parameters
        ----------
        weights : ndarray of shape (n,)
            Non-negative weights of the points.

        Returns
        -------
        gram : ndarray of shape (r, r), float64
            The Gram matrix, computed in O(n r^2) operations.
        """

        def gram(panel: Array, root: Array) -> Array:
            scaled = panel * root.astype(panel.dtype)
            return scaled @ scaled.T  # NumPy computes one triangle of it

        return self._sum_over_panels(gram, np.sqrt(weights))

    def _sum_over_panels(self, product: Callable[[Array, Array], Array], weights: Array) -> Array:
        rows, total = self.factor.T, np.zeros(())
        for start in range(0, rows.shape[1], _PANEL):
            panel = slice(start, start + _PANEL)
            total = total + product(rows[:, panel], weights[panel]).astype(np.float64)
        return total

    def compress(self, products: Array) -> Array:
        """Compute B with ``k(Q, pivots) B ~= k(Q, X) A`` from F^T A.

        Parameters
        ----------
        products : ndarray of shape (r,) or (r, c)
            F^T A.

        Returns
        -------
        B : ndarray of shape (r,) or (r, c), float64
            L^-T F^T A with L = F[pivots], in O(r^2 c) operations.
        """
        triangle = np.tril(self.factor[self.pivots]).astype(np.float64)
        return solve_triangular(triangle, products, lower=True, trans="T", check_finite=False)

    def row_sums(self, weights: Array) -> tuple[Array, Array]:
        """Weighted row sums of a nonnegative kernel, and coefficients that extend them to new points.

        The row sums of F F^T may be negative for a poor factor. They are raised to a lower bound: the contribution of
        the pivots to the row sums of K.

        Parameters
        ----------
        weights : ndarray of shape (n,)
            Weights of the points.

        Returns
        -------
        sums : ndarray of shape (n,)
            Row sums, at least 1e-30. At points so far from all pivots that this bound applies, the rows of F are small
            even relative to the square root of the bound.
        coefficients : ndarray of shape (r, 2)
            The row sum of a new point is the larger entry of its row of ``k(Q, pivots) @ coefficients``.
        """
        F = self.factor
        total = self._sum_over_panels(lambda panel, w: panel @ w.astype(panel.dtype), weights)
        share = F[self.pivots].T.astype(np.float64) @ weights[self.pivots]
        sums = (F @ np.column_stack([total, share]).astype(F.dtype)).max(axis=1)
        coefficients = np.column_stack([self.compress(total), weights[self.pivots]])
        return np.maximum(sums, F.dtype.type(1e-30)), coefficients

    def spectrum(self, weights: Array, k: int | None = None) -> tuple[Array, Array]:
        """The k leading eigenpairs of ``F^T W F`` in decreasing order, float64.

        ``W^1/2 F F^T W^1/2`` has the same nonzero eigenvalues. Pairs whose eigenvalue is lost in rounding are left out,
        so there may be fewer than k.

        Parameters
        ----------
        weights : ndarray of shape (n,)
            Non-negative weights of the points, the diagonal of W.
        k : int, default=None
            Largest number of pairs. None means all.

        Returns
        -------
        values : ndarray of shape (k,)
            Eigenvalues, decreasing.
        basis : ndarray of shape (r, k)
            Orthonormal eigenvectors of ``F^T W F``.

        Notes
        -----
        Costs O(n r^2 + r^3) operations.
        """
        values, basis = eigh(self.weighted_gram(weights), check_finite=False)
        k = self.rank if k is None else min(k, self.rank)
        k = min(k, int(np.sum(values > self.rank * np.finfo(self.factor.dtype).eps * values[-1])))
        return values[::-1][:k], basis[:, ::-1][:, :k]

    def eigenpairs(self, k: int | None = None) -> tuple[Array, Array]:
        """The k leading eigenpairs of F F^T, computed from the r x r matrix F^T F in O(n r (r + k)) operations.

        Pairs whose eigenvalue is lost in rounding are left out, so there may be fewer than k.

        Parameters
        ----------
        k : int, default=None
            Largest number of pairs. None means all.

        Returns
        -------
        values : ndarray of shape (k,)
            Eigenvalues, decreasing, in the dtype of F.
        vectors : ndarray of shape (n, k)
            Orthonormal columns, with signs as in :func:`~spectralcls.linalg.top_eigenpairs`.
        """
        F = self.factor
        if self.rank == 0:
            return np.empty(0, F.dtype), np.empty((len(F), 0), F.dtype)
        values, basis = self.spectrum(np.ones(len(F)), k)
        vectors = F @ (basis / np.sqrt(values)).astype(F.dtype)
        return values.astype(F.dtype), fix_signs(vectors)


@validated(
    {
        "X": ["array-like"],
        "rank": [Interval(Integral, 1, None, closed="left")],
        "kernel": [str, callable],
        "bandwidth": [Interval(Real, 0, None, closed="neither"), None],
        "method": [StrOptions({"random", "greedy"})],
        "tol": [Interval(Real, 0, 1, closed="left")],
        "random_state": ["random_state"],
        "block_size": [Interval(Integral, 1, None, closed="left"), None],
        "n_jobs": [Integral, None],
    }
)
def rpcholesky(
    X: Any,
    rank: int,
    *,
    kernel: Any = "gaussian",
    bandwidth: float | None = None,
    method: Literal["random", "greedy"] = "random",
    tol: float = 0.0,
    random_state: RandomState = None,
    block_size: int | None = None,
    n_jobs: int | None = None,
) -> LowRankFactor:
    """Partial Cholesky factor K ~= F F^T of a positive semi-definite kernel matrix, with random or greedy pivots.

    With random pivots, the expected trace residual is at most 1 + eps times that of the best rank-q approximation if r
    is about q / eps + q log(1 / (eps times the best relative residual)). Greedy pivots are deterministic and prefer
    outliers. In both cases the trace residual is computed up to rounding and returned.

    Parameters
    ----------
    X : array-like of shape (n, d) or (n, n)
        Points, float32 or float64; for ``kernel="precomputed"`` the kernel matrix.
    rank : int
        Largest number of columns of F. There are fewer if ``tol`` is reached or the numerical rank of K is lower, as
        with duplicates.
    kernel : {"gaussian", "precomputed"} or callable, default="gaussian"
        A callable takes two arrays of points and returns the matrix between them.
    bandwidth : float, default=None
        Bandwidth of a named kernel, positive.
    method : {"random", "greedy"}, default="random"
        Draw pivots with probability proportional to the residual diagonal, or choose the largest residuals.
    tol : float in [0, 1), default=0
        Stop at the first pivot with trace(K - F F^T) <= tol * trace(K).
    random_state : int, RandomState instance or None, default=None
        Controls the random pivots.
    block_size : int or None, default=None
        Number of candidates evaluated at once; None means the smaller of 128 and the rank. It affects the speed and,
        with random pivots, the random numbers used, but not the distribution of the pivots. Greedy pivots stay the same
        up to ties.
    n_jobs : int or None, default=None
        Number of threads for kernel values and products.

    Returns
    -------
    factor : LowRankFactor
        F with its pivots, its trace residual, and its extension to new points.

    Raises
    ------
    ValueError
        If the matrix is found not to be positive semi-definite, as may happen with compact kernels.

    Notes
    -----
    Cost: n r kernel evaluations, n r^2 operations in matrix products, and memory for n (r + 4) numbers in addition to
    X.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> from spectralcls.linalg import rpcholesky
    >>> low = rpcholesky(X, 40, bandwidth=1.0)
    >>> low.factor.shape, bool(low.relative_trace_residual < 0.01)
    ((500, 40), True)
    """
    X = converted(X, "X", dtype=(np.float64, np.float32))
    source = KernelSource(X, kernel, bandwidth, n_jobs)
    rng = check_random_state(random_state)
    n_threads = effective_n_threads(n_jobs)
    n, rank = len(X), min(rank, len(X))
    block_size = min(128 if block_size is None else block_size, rank)  # a block yields at most `rank` pivots

    diagonal = source.diagonal()
    if not np.all(np.isfinite(diagonal)):
        raise ValueError("the kernel is not finite on the diagonal")
    trace = diagonal.sum()
    # Smaller residuals are rounding errors and must not become pivots: a pivot amplifies the rounding error of its
    # kernel column, eps, to eps / sqrt(residual), and several of them would spoil the factor. With random pivots of
    # wide kernels and a floor of 100 eps, the residual diagonal reaches -0.3 in float32; with 1000 eps only -1e-5.
    floor = 1000 * np.finfo(X.dtype).eps * np.abs(diagonal)
    residual = diagonal.copy()
    left = _eligible(residual, floor, [])
    rows = np.empty((rank, n), dtype=X.dtype)  # F^T, so that columns of F are contiguous
    pivots: Any = []

    _require_nonnegative(residual, diagonal)
    while len(pivots) < rank and left.any() and residual.sum() > tol * trace:
        k = len(pivots)
        greedy = method == "greedy"
        candidates = largest_rows(left, block_size) if greedy else random_rows(left, block_size, rng)
        known = rows[:k, candidates].astype(np.float64)
        with serial_blas():
            explained = known.T @ known
        H = source.square(candidates) - explained
        residual[candidates] = H.diagonal()  # recomputed, because the running difference accumulates rounding
        _require_nonnegative(residual, diagonal)
        if greedy:
            levels = np.full(len(H), np.delete(left, candidates).max(initial=0.0))
            levels[H.diagonal().argmax()] = 0.0
        else:
            levels = rng.uniform(size=len(H)) * H.diagonal()
        accepted, triangle = eliminate(H, levels, floor[candidates], greedy)
        accepted, triangle = accepted[: rank - k], triangle[: rank - k, : rank - k]

        chosen = candidates[accepted]
        new = rows[k : k + len(chosen)]
        if len(chosen):
            for row in new:  # row by row: touching the new pages of all rows in one call would delay Ctrl-C
                row[:: PAGESIZE // row.itemsize] = 0
            source.rows(chosen, new)
            _orthogonalize(rows, k, chosen, triangle, n_threads)
        n_kept = _first_within(residual, new, tol * trace)
        for start in range(0, n, _PANEL):
            panel = new[:n_kept, start : start + _PANEL]
            residual[start : start + _PANEL] -= np.einsum("ij,ij->j", panel, panel, dtype=np.float64)
        _require_nonnegative(residual, diagonal)
        pivots.extend(chosen[:n_kept])
        left = _eligible(residual, floor, pivots)

    pivots = np.array(pivots, dtype=np.intp)
    factor = rows[: len(pivots)].T
    trace_residual = np.maximum(residual, 0.0).sum()  # rounding leaves residuals of either sign
    return LowRankFactor(factor, pivots, float(trace_residual), float(trace), source.extension(pivots))


def _eligible(residual: Array, floor: float, pivots: Any) -> Array:
    """Residuals of the rows that may become pivots; zero for all others."""
    left = np.where(residual > floor, residual, 0.0)
    left[pivots] = 0.0
    return left


def _require_nonnegative(residual: Array, diagonal: Array) -> None:
    if residual.min() < -1e-3 * np.abs(diagonal).max():
        raise ValueError(
            "the kernel matrix is not positive semi-definite (a pivoted Cholesky residual is "
            f"{residual.min():.3g}): use the Gaussian or another Mercer kernel"
        )


def _orthogonalize(rows: Array, k: int, chosen: Array, triangle: Array, n_threads: int) -> None:
    """Overwrite the new rows k, k + 1, ... of F^T with L^-1 (new - known[:, chosen]^T known).

    One product with [-L^-1 known[:, chosen]^T, L^-1], computed in float64, reads every row once, in place.
    """
    with serial_blas():
        inverse = solve_triangular(triangle, np.eye(len(triangle)), lower=True, check_finite=False)
        factors = np.hstack([-inverse @ rows[:k, chosen].T.astype(np.float64), inverse])
    compiled.combine_rows(rows[: k + len(chosen)], factors, n_threads)


def _first_within(residual: Array, new: Array, target: float) -> int:
    """Number of new rows to keep, up to the first that reduces the residual trace to the target."""
    if target <= 0:
        return len(new)
    traces = residual.sum() - np.cumsum([np.square(row, dtype=np.float64).sum() for row in new])
    reached = np.flatnonzero(traces <= target)
    return int(reached[0]) + 1 if len(reached) else len(new)
