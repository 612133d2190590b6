"""What PerTurbo keeps of a class: the map from kernel values to the share of a query that it explains."""

import warnings
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgWarning, eigh
from scipy.spatial.distance import cdist

from ..lowrank import rpcholesky
from ._gaussian import gaussian, without_subnormals
from ._triangle import NotPositiveDefiniteError, Triangle, cholesky_in_place, independent_rows

_BLOCK = 2048  # queries scored together, at least
_UNDERFLOW = 1e-80  # explained shares below this are recomputed with shifted exponents
_LOWEST = -1e300  # log of a share that even so is not representable: finite, so that differences are defined
EPS = np.finfo(np.float64).eps


@dataclass(frozen=True)
class Regularization:
    """How K_l^-1 is made usable; ``kind`` is "tikhonov", "truncate" or None ("full")."""

    kind: str | None
    alpha: float = 0.0
    truncation: str = "trace"
    retained: float = 0.95

    def singular(self, n):
        """Pivots and eigenvalues of a kernel matrix of order n below this are rounding."""
        return n * EPS

    def filter(self, values):
        """What each eigenvalue of K_l, ascending, contributes: explained = sum filter(v) (u^T k)^2 / v."""
        if self.kind == "tikhonov":
            return values / (values + self.alpha)
        sound = values > self.singular(len(values)) * values[-1]
        if self.kind is None:
            return sound.astype(float)
        return (sound & kept_eigenvalues(values, sound, self.truncation, self.retained)).astype(float)


def kept_eigenvalues(values, sound, truncation, retained):
    """Mask of the eigenvalues (ascending) that a truncated spectrum keeps; see `PerTurboClassifier`.

    Those equal to the last one kept are kept with it, since their eigenvectors are arbitrary.
    """
    size = np.where(sound, values, 0.0)
    if truncation == "trace_inverse":  # the largest eigenvalues of K^-1 are the smallest of K
        size = np.divide(1.0, values, out=size, where=sound)
    decreasing = np.sort(size)[::-1]
    if truncation == "count":
        n_kept = int(np.ceil(retained * len(values)))
    else:
        cumulative = np.cumsum(decreasing)
        n_kept = 1 + int(np.searchsorted(cumulative, retained * cumulative[-1] * (1 - 8 * EPS)))
    return size >= decreasing[n_kept - 1] * (1 - len(values) * EPS)


@dataclass(frozen=True)
class ClassModel:
    """One class, factored: 1 - tau(y) = |mix^T U^-T k(points, y)|^2.

    Attributes
    ----------
    samples : (n, d) all training points of the class.
    bandwidth : float
    points : (r, d) points whose kernel values are needed: all, the independent ones, or the pivots.
    triangle : Triangle of order r, or None for the identity.
    mix : (r, k), or None for the identity.
    regularization : Regularization
    trace_residual : float, trace of what a low-rank factor leaves of K; 0 if nothing was left out.
    lineage : object shared by a model and those that were extended from it.
    """

    samples: np.ndarray
    bandwidth: float
    points: np.ndarray
    triangle: Triangle | None
    mix: np.ndarray | None
    regularization: Regularization
    trace_residual: float = 0.0
    lineage: object = field(default_factory=object, repr=False)

    @property
    def rank(self):
        return len(self.points) if self.mix is None else self.mix.shape[1]

    @property
    def grows(self):
        """Whether new samples can be appended to the factor exactly."""
        return self.mix is None and self.triangle is not None and self.trace_residual == 0.0

    def whiten(self, K):
        """Columns b with |b|^2 = 1 - tau, from columns of kernel values (C-contiguous, overwritten)."""
        if self.triangle is not None:
            self.triangle.solve(K)
        return K if self.mix is None else self.mix.T @ K

    def explained(self, Q, n_jobs=None):
        """1 - tau for each query, in blocks of kernel values."""
        out = np.empty(len(Q))
        n, step = len(self.points), min(len(Q), self._block)
        buffer = np.empty(n * step)
        for start in range(0, len(Q), step):
            block = Q[start : start + step]
            K = buffer[: n * len(block)].reshape(n, len(block))
            gaussian(self.points, block, bandwidth=self.bandwidth, out=K, n_jobs=n_jobs)
            out[start : start + step] = _squared_norms(self.whiten(K))
        return out

    @property
    def _block(self):
        """Queries in a block: enough for BLAS, while the block takes at most half the memory of a large factor."""
        return max(_BLOCK, len(self.points) // 2)

    def log_explained_far(self, Q):
        """log(1 - tau) for queries whose kernel values underflow: exponents are shifted to the nearest point.

        1 - tau is a quadratic form in k, so k = exp(s) k' gives log(1 - tau) = 2 s + log(form of k').
        """
        out = np.empty(len(Q))
        for start in range(0, len(Q), self._block):
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                block = Q[start : start + self._block] / self.bandwidth
                exponent = cdist(self.points / self.bandwidth, block, "sqeuclidean") / -2
                shift = exponent.max(axis=0)
                share = _squared_norms(self.whiten(without_subnormals(np.exp(exponent - shift))))
                out[start : start + self._block] = 2 * shift + np.log(share)
        return np.nan_to_num(out, nan=_LOWEST, neginf=_LOWEST)

    @cached_property
    def _moments(self):
        """Mean, mean squared deviation and largest deviation of the samples, the latter two in bandwidths."""
        centre = self.samples.mean(axis=0)
        with np.errstate(over="ignore", invalid="ignore"):
            squared = np.square((self.samples - centre) / self.bandwidth).sum(axis=1)
            return centre, squared.mean(), np.sqrt(squared.max())

    def flat_limit(self, Q):
        """tau to first order in 1 / h^2, where the bandwidth dwarfs every distance and tau itself is
        rounding.

        With k = 1 - e and e = |.|^2 / 2 h^2, and rho = n / (n + alpha),
        tau = alpha / (n + alpha) + (rho (|y - m|^2 + v) - rho^2 v) / h^2 + O(n e^2 / alpha):
        the larger class wins, among equal ones the nearest class mean m (v: mean of |x - m|^2).

        Returns
        -------
        constant : float, the first term
        excess : (m,) the second one
        flat : (m,) bool, where the neglected term is smaller than the rounding of the direct evaluation
        """
        centre, variance, radius = self._moments
        n, alpha = len(self.samples), self.regularization.alpha
        rho = n / (n + alpha)
        floor = {"tikhonov": alpha, "truncate": n, None: self.regularization.singular(n)}[
            self.regularization.kind
        ]
        with np.errstate(over="ignore", invalid="ignore"):
            squared = np.square((Q - centre) / self.bandwidth).sum(axis=1)
            excess = rho * (squared + variance) - rho**2 * variance
            largest = (np.sqrt(squared) + radius) ** 2 / 2
            return alpha / (n + alpha), excess, largest**2 < EPS * min(1.0, floor / n)

    def extended(self, X, n_jobs=None, name=None, whitened=None):
        """The model with samples ``X`` appended, in O(n^2) a sample; this model stays as it is.

        ``whitened`` may give U^-T k(points, X) where it is known.
        """
        alpha = self.regularization.alpha
        if whitened is None:
            whitened = gaussian(self.points, X, bandwidth=self.bandwidth, n_jobs=n_jobs)
            self.triangle.solve(whitened)
        corner = gaussian(X, bandwidth=self.bandwidth, n_jobs=n_jobs)
        corner -= whitened.T @ whitened
        corner.flat[:: len(X) + 1] += alpha
        kept, U = _factor(corner, self.regularization, len(self.points) + len(X), name)
        return replace(
            self,
            samples=np.concatenate([self.samples, X]),
            points=np.concatenate([self.points, X[kept]]),
            triangle=self.triangle.grown(whitened[:, kept], U),
        )


def _squared_norms(B):
    return np.einsum("ij,ij->j", B, B)


def log_explained(models, Q, n_jobs=None, relative=True):
    """log(1 - tau) of every query (rows) and class (columns), finite and rightly ordered within each row.

    Where tau has reached its limit alpha / (n_l + alpha) to rounding for all classes, the smallest of these
    limits is taken off the tau of the row if ``relative``, so that the differences are not lost beside it.
    """
    with np.errstate(divide="ignore"):
        out = np.log(np.stack([model.explained(Q, n_jobs) for model in models], axis=1))
    for column, model in zip(out.T, models, strict=True):
        far = np.flatnonzero(column < np.log(_UNDERFLOW))
        if len(far):
            column[far] = model.log_explained_far(Q[far])
    limits = [model.flat_limit(Q) for model in models]
    flat = np.logical_and.reduce([limit[2] for limit in limits])
    if flat.any():
        smallest = min(limit[0] for limit in limits) if relative else 0.0
        for column, (constant, excess, _) in zip(out.T, limits, strict=True):
            column[flat] = np.log1p(-(constant - smallest) - excess[flat])
    return out


def fit_class(
    X,
    bandwidth,
    regularization,
    *,
    max_rank=None,
    tol=0.0,
    pivoting="random",
    random_state=None,
    n_jobs=None,
    name=None,
):
    """Factor one class; ``name`` is how messages call it."""
    if (max_rank is not None and len(X) > max_rank) or tol > 0:
        return _fit_low_rank(
            X, bandwidth, regularization, max_rank or len(X), tol, pivoting, random_state, n_jobs
        )
    K = gaussian(X, bandwidth=bandwidth, n_jobs=n_jobs)
    if regularization.kind == "truncate":
        values, vectors = eigh(K, driver="evd", overwrite_a=True, check_finite=False)
        weights = regularization.filter(values)
        weights = np.divide(weights, values, out=weights, where=weights > 0)
        return ClassModel(X, bandwidth, X, None, _mix(vectors, weights), regularization)
    K.flat[:: len(X) + 1] += regularization.alpha
    kept, U = _factor(K, regularization, len(X), name)
    points = X if len(kept) == len(X) else X[kept]
    return ClassModel(X, bandwidth, points, Triangle(U), None, regularization)


def _mix(vectors, weights):
    """The eigenvectors of positive weight as columns, times the roots of the weights."""
    keep = weights > 0
    return np.ascontiguousarray(vectors[:, keep] * np.sqrt(weights[keep]))


def _fit_low_rank(X, bandwidth, regularization, max_rank, tol, pivoting, random_state, n_jobs):
    """K ~= F F^T with F = K[:, pivots] L^-T, L = F[pivots]; a query has f = L^-1 k(pivots, y), k ~= F f.

    With G = F^T F = V g V^T the r-dimensional form of tau is 1 - sum filter(g) (V^T f)^2: the predictive
    variance of the projected process for Tikhonov, the truncated projection for an eigenvalue cut.
    """
    low = rpcholesky(
        X, max_rank, bandwidth=bandwidth, method=pivoting, tol=tol, random_state=random_state, n_jobs=n_jobs
    )
    F = low.factor
    triangle = Triangle(np.asfortranarray(F[low.pivots].T))
    values, vectors = eigh(F.T @ F, driver="evd", overwrite_a=True, check_finite=False)
    mix = _mix(vectors, regularization.filter(np.maximum(values, 0.0)))
    return ClassModel(X, bandwidth, X[low.pivots], triangle, mix, regularization, low.trace_residual)


def _factor(M, regularization, order, name):
    """Rows kept and Cholesky factor of K_l + alpha I, or of its Schur complement; M is overwritten."""
    where = "the class" if name is None else f"class '{name}'"
    if regularization.kind == "tikhonov":
        try:
            return np.arange(len(M)), cholesky_in_place(M)
        except NotPositiveDefiniteError as error:
            message = (
                f"{where}: the Cholesky factorisation of K + alpha I broke down at sample {error.index}, "
                f"where the smallest pivot is {error.pivot:.3g} with alpha={regularization.alpha:g}. "
                f"Raise alpha (to {10 * order * EPS:.1g} or more), lower the bandwidth, or drop duplicates."
            )
            raise NotPositiveDefiniteError(error.index, error.pivot, message) from error
    kept, U = independent_rows(M, regularization.singular(order))
    if len(kept) < len(M):
        warnings.warn(
            f"{where}: the kernel matrix is numerically singular, {len(M) - len(kept)} of {len(M)} samples "
            "lie in the span of the others (duplicates, or a large bandwidth). They are left out, which "
            "equals the pseudo-inverse; regularization='tikhonov' uses all of them.",
            LinAlgWarning,
            stacklevel=5,
        )
    return kept, U
