"""PerTurbo's model of one class, which maps a query's kernel values to the share that the class's span explains."""

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import LinAlgWarning
from scipy.linalg.blas import dtrsm

from .._core.interrupt import eigh, matmul
from .._inputs.training_data import stack
from .._utils.advice import tell
from .._utils.cached import cached_property
from ..kernels import kernel_matrix
from ..linalg import rpcholesky
from ._kernel import exponents, kernel_values, without_subnormals
from ._triangle import NotPositiveDefiniteError, Triangle, cholesky_in_place, independent_rows

_BLOCK = 2048  # least number of queries scored together
_COLUMNS = 128  # columns of `mix` per product: fewer skip more zeros but slow BLAS down
_LOWEST = -1e300  # replaces the log of an unrepresentable share; finite, so that differences are defined
# Bound on the error of U^-T k in float32, relative to its norm times the condition number of U. It is measured, not
# proven: 7 times the largest error in 144 classes, which occurs for equal points and alpha = 30.
_ROUNDING_IN_SINGLE = 2.0**-20
# Bound on the error of a kernel value in float32 that `_to_single` adds to rounding; it changes no share above this.
_NEGLIGIBLE_IN_SINGLE = 2.0**-60
_PANEL = 256  # points whose kernel values in float64 are in the cache when they are converted
EPS = np.finfo(np.float64).eps


@dataclass(frozen=True)
class Regularization:
    """Regularization of K_l^-1; ``kind`` is "tikhonov", "truncate" or None."""

    kind: str | None
    alpha: float = 0.0
    retained: float = 0.95

    def singular(self, n):
        """Relative threshold below which pivots and eigenvalues of a kernel matrix of order n are rounding errors."""
        return n * EPS

    def filter(self, values):
        """Filter factor of each eigenvalue v of K_l, ascending: 1 - tau = sum filter(v) (u^T k)^2 / v with eigenvectors
        u.
        """
        if self.kind == "tikhonov":
            return values / (values + self.alpha)
        sound = values > self.singular(len(values)) * values[-1]
        if self.kind is None:
            return sound.astype(float)
        return (sound & self.kept(values, sound)).astype(float)

    def kept(self, values, sound):
        """Mask of the largest eigenvalues, given in ascending order, that are needed for the share `retained` of the
        trace.
        """
        size = np.where(sound, values, 0.0)
        cumulative = np.cumsum(size[::-1])
        return largest(size, 1 + int(np.searchsorted(cumulative, self.retained * cumulative[-1] * (1 - 8 * EPS))))


def largest(size, n):
    """Mask of the n largest values and of those equal to the last of them, because their eigenvectors are arbitrary."""
    return size >= np.sort(size)[-n] * (1 - len(size) * EPS)


@dataclass(frozen=True)
class ClassModel:
    """One class, factored: 1 - tau(y) = |mix^T U^-T diag(roots) k(points, y)|^2.

    A sample of weight w counts as w copies: its image is scaled by sqrt(w), stored in `roots`.

    Attributes
    ----------
    samples : (n, d) all training points of the class.
    weights : (n,) their weights, or None if all are one.
    bandwidth : float
    points : (r, d) points whose kernel values are needed: all, the independent ones, or the landmarks.
    roots : (r,), or None for ones.
    triangle : Triangle U of order r, or None for the identity.
    mix : (r, k), or None for the identity. Zeros at the end of a column are skipped.
    regularization : Regularization
    trace_residual : float, trace of K minus its low-rank approximation; 0 if K is exact.
    profile : str, the kernel
    lineage : object shared by a model and its extensions.
    """

    samples: np.ndarray
    weights: np.ndarray | None
    bandwidth: float
    points: np.ndarray
    roots: np.ndarray | None
    triangle: Triangle | None
    mix: np.ndarray | None
    regularization: Regularization
    trace_residual: float = 0.0
    profile: str = "gaussian"
    lineage: object = field(default_factory=object, repr=False)

    @property
    def rank(self):
        return len(self.points) if self.mix is None else self.mix.shape[1]

    @property
    def grows(self):
        """Whether new samples can be appended to the factor exactly."""
        return self.mix is None and self.triangle is not None and self.trace_residual == 0.0

    @property
    def weight(self):
        """Total weight of the samples."""
        return len(self.samples) if self.weights is None else self.weights.sum()

    def kernel(self, Q, first=0, *, out=None, n_jobs=None):
        """diag(roots) k(points, Q), for the points from `first` on."""
        return self._rooted(self.values(self.points[first:], Q, out=out, n_jobs=n_jobs), first)

    def values(self, X, Q, **options):
        """k(X, Q)."""
        return kernel_values(X, Q, kernel=self.profile, bandwidth=self.bandwidth, **options)

    def _rooted(self, K, first=0):
        if self.roots is not None:
            K *= self.roots[first : first + len(K), None]
        return K

    def whiten(self, K):
        """Columns b with |b|^2 = 1 - tau, from columns of `kernel` (C-contiguous, overwritten)."""
        if self.triangle is not None:
            self.triangle.solve(K)
        if self.mix is None:
            return K
        out = np.empty((self.mix.shape[1], K.shape[1]))
        for columns, n_rows in self._parts_of_mix:
            out[columns] = matmul(self.mix[:n_rows, columns].T, K[:n_rows])
        return out

    @cached_property
    def _parts_of_mix(self):
        """Pairs (slice of columns, number of rows up to the last row that is not zero in all of these columns)."""
        starts = range(0, self.mix.shape[1], _COLUMNS)
        parts = [slice(start, start + _COLUMNS) for start in starts]
        return [(part, 1 + np.flatnonzero(self.mix[:, part].any(axis=1))[-1]) for part in parts]

    def explained(self, Q, n_jobs=None):
        """1 - tau for each query, in blocks of kernel values."""
        out = np.empty(len(Q))
        n, step = len(self.points), min(len(Q), self._block)
        buffer = np.empty(n * step, dtype=np.float32 if self.is_single else np.float64)
        fill = self._fill_single if self.is_single else self.kernel
        for start in range(0, len(Q), step):
            block = Q[start : start + step]
            K = fill(block, out=buffer[: n * len(block)].reshape(n, len(block)), n_jobs=n_jobs)
            out[start : start + step] = _squared_norms(self.whiten(K))
        return out

    def _fill_single(self, Q, out, n_jobs):
        """`kernel` in the float32 array `out`."""
        panel, form = np.empty((_PANEL, len(Q))), {"kernel": self.profile, "bandwidth": self.bandwidth}
        for start in range(0, len(out), _PANEL):
            rows = slice(start, start + _PANEL)
            K = kernel_matrix(self.points[rows], Q, out=panel[: len(out[rows])], n_jobs=n_jobs, **form)
            _to_single(self._rooted(K, start), out[rows])
        return out

    @property
    def is_single(self):
        """Whether the solves of `explained` run in float32."""
        return self.triangle is not None and self.triangle.dtype == np.float32

    @property
    def single(self):
        """The model with its factor in float32, or None if `single_error` gives no bound."""
        if self.mix is not None or not self.regularization.alpha:
            return None
        return replace(self, triangle=self.triangle.single())

    def single_error(self, shares):
        """Bound on the error of shares from `single`. The condition number of its factor is at most sqrt(1 + n /
        alpha), where n is the total weight.
        """
        condition = np.sqrt(1 + self.weight / self.regularization.alpha)
        return 2 * _ROUNDING_IN_SINGLE * condition * (shares + _NEGLIGIBLE_IN_SINGLE)

    @property
    def _block(self):
        """Queries per block: enough for BLAS, and for a large factor so many that their kernel values take half its
        memory.
        """
        return max(_BLOCK, len(self.points) // 2)

    def log_explained_far(self, Q):
        """log(1 - tau) for queries whose kernel values underflow: exponents are shifted by that of the nearest point.

        1 - tau is a quadratic form in k, so k = exp(s) k' gives log(1 - tau) = 2 s + log(form of k').
        """
        out = np.empty(len(Q))
        for start in range(0, len(Q), self._block):
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                exponent = exponents(self.points, Q[start : start + self._block], self.profile, self.bandwidth)
                shift = exponent.max(axis=0)
                K = self._rooted(without_subnormals(np.exp(exponent - shift)))
                share = _squared_norms(self.whiten(K))
                out[start : start + self._block] = 2 * shift + np.log(share)
        return np.nan_to_num(out, nan=_LOWEST, neginf=_LOWEST)

    @cached_property
    def _moments(self):
        """Mean of the samples, and their mean squared and largest deviation in units of the bandwidth."""
        center = np.average(self.samples, axis=0, weights=self.weights)
        with np.errstate(over="ignore", invalid="ignore"):
            squared = np.square((self.samples - center) / self.bandwidth).sum(axis=1)
            return center, np.average(squared, weights=self.weights), np.sqrt(squared.max())

    @cached_property
    def _mean_exponent(self):
        """Mean of e = -log k over all pairs of samples."""
        if self.profile == "gaussian":
            return self._moments[1]
        return np.average(self._mean_exponents(self.samples), weights=self.weights)

    def _mean_exponents(self, Q):
        """Mean of e = -log k between each query and the samples."""
        center, variance, _ = self._moments
        if self.profile == "gaussian":
            return (np.square((Q - center) / self.bandwidth).sum(axis=1) + variance) / 2
        out = np.empty(len(Q))
        for start in range(0, len(Q), self._block):
            rows = slice(start, start + self._block)
            out[rows] = np.average(-exponents(self.samples, Q[rows], "laplace", self.bandwidth), 0, self.weights)
        return out

    def flat_limit(self, Q):
        """tau to first order in e = -log k, for a bandwidth so large that the plain formula gives only rounding errors.

        With rho = n / (n + alpha), and means over the samples x and x',
        tau = alpha / (n + alpha) + 2 rho mean e(y, x) - rho^2 mean e(x, x') + O(n e^2 / alpha):
        the larger class wins; among equally large classes the nearest wins, for the Gaussian the one with the nearest
        mean.

        Returns
        -------
        constant : float, the first term
        excess : (m,) the other terms, of flat queries
        flat : (m,) bool, whether the neglected term is smaller than the rounding of the direct evaluation
        """
        center, _, radius = self._moments
        n, alpha = self.weight, self.regularization.alpha
        rho, excess = n / (n + alpha), np.zeros(len(Q))
        floor = {"tikhonov": alpha, "truncate": n, None: self.regularization.singular(n)}[self.regularization.kind]
        with np.errstate(over="ignore", invalid="ignore"):
            largest = np.sqrt(np.square((Q - center) / self.bandwidth).sum(axis=1)) + radius
            largest = largest**2 / 2 if self.profile == "gaussian" else largest
            flat = largest**2 < EPS * min(1.0, floor / n)
        if flat.any():
            excess[flat] = 2 * rho * self._mean_exponents(Q[flat]) - rho**2 * self._mean_exponent
        return alpha / (n + alpha), excess, flat

    def extended(self, X, weights=None, n_jobs=None, name=None, whitened=None):
        """Return a model with samples ``X`` appended, in O(n^2) per sample; this model is unchanged.

        ``whitened`` is U^-T diag(roots) k(points, X) for unit weights, if already known.
        """
        if whitened is None:
            whitened = self.kernel(X, n_jobs=n_jobs)
            self.triangle.solve(whitened)
        samples, all_weights = stack((self.samples, self.weights), (X, weights))
        roots = None if self.regularization.kind is None else _roots(weights)
        corner = _rooted_matrix(X, self.profile, self.bandwidth, roots, n_jobs)
        if roots is not None:
            whitened = whitened * roots
        corner -= whitened.T @ whitened
        corner.flat[:: len(X) + 1] += self.regularization.alpha
        kept, U = _factor(corner, self.regularization, len(self.points) + len(X), name)
        points, all_roots = stack((self.points, self.roots), (X[kept], None if roots is None else roots[kept]))
        return replace(
            self,
            samples=samples,
            weights=all_weights,
            points=points,
            roots=all_roots,
            triangle=self.triangle.grown(whitened[:, kept], U),
        )


def together(models):
    """Samples of all classes, their codes, and their weights or None."""
    X, weights = stack(*((model.samples, model.weights) for model in models))
    return X, np.repeat(np.arange(len(models)), [len(model.samples) for model in models]), weights


def _roots(weights):
    return None if weights is None else np.sqrt(weights)


def _rooted_matrix(X, kernel, bandwidth, roots, n_jobs):
    """diag(roots) K diag(roots)."""
    K = kernel_values(X, kernel=kernel, bandwidth=bandwidth, n_jobs=n_jobs)
    if roots is not None:
        K *= roots
        K *= roots[:, None]
    return K


def _to_single(K, out):
    """Round K to float32 so that none of its values is subnormal, nor a product of two.

    Adding and then subtracting 2^24 times a number rounds smaller values to multiples of twice that number.
    """
    shift = np.float32(2.0**24 * _NEGLIGIBLE_IN_SINGLE)
    out[:] = K
    out += shift
    out -= shift


def _squared_norms(B):
    return np.einsum("ij,ij->j", B, B, dtype=np.float64)


def fit_class(
    X,
    bandwidth,
    regularization,
    weights=None,
    *,
    kernel="gaussian",
    rank=None,
    random_state=None,
    n_jobs=None,
    name=None,
):
    """Factor one class, called ``name`` in messages. A class with more than `rank` samples gets a partial factor."""
    if regularization.kind is None:
        weights = None  # copies of a sample do not change the span
    roots = _roots(weights)
    if rank is not None and len(X) > rank:
        return _fit_low_rank(X, weights, kernel, bandwidth, regularization, rank, random_state, n_jobs)
    K = _rooted_matrix(X, kernel, bandwidth, roots, n_jobs)
    if regularization.kind == "truncate":
        values, vectors = eigh(K)
        shares = regularization.filter(values)
        shares = np.divide(shares, values, out=shares, where=shares > 0)
        return ClassModel(X, weights, bandwidth, X, roots, None, _mix(vectors, shares), regularization, profile=kernel)
    K.flat[:: len(X) + 1] += regularization.alpha
    kept, U = _factor(K, regularization, len(X), name)
    points = X if len(kept) == len(X) else X[kept]
    return ClassModel(X, weights, bandwidth, points, roots, Triangle(U), None, regularization, profile=kernel)


def _mix(vectors, shares):
    """The eigenvectors whose filter is positive, as columns scaled by the square root of the filter."""
    keep = shares > 0
    return np.ascontiguousarray(vectors[:, keep] * np.sqrt(shares[keep]))


def _fit_low_rank(X, weights, kernel, bandwidth, regularization, rank, random_state, n_jobs):
    """K ~= F F^T with F = K[:, landmarks] L^-T, L = F[landmarks]; a query has f = L^-1 k(landmarks, y), k ~= F f.

    With G = F^T diag(weights) F = V g V^T the r-dimensional form of tau is 1 - sum filter(g) (V^T f)^2: the
    predictive variance of the projected process for Tikhonov, the truncated projection for an eigenvalue cut.
    The sum is the squared norm of M k with M = filter(g)^1/2 V^T L^-1. M is replaced by the triangular factor of its QL
    factorization, which gives the same norm.
    """
    low = rpcholesky(X, rank, kernel=kernel, bandwidth=bandwidth, random_state=random_state, n_jobs=n_jobs)
    F = low.factor
    weighted = F if weights is None else F * weights[:, None]
    values, vectors = eigh(matmul(F.T, weighted))
    M = np.array(_mix(vectors, regularization.filter(np.maximum(values, 0.0))).T, order="F")
    M = dtrsm(1.0, np.asfortranarray(F[low.pivots]), M, side=1, lower=1, overwrite_b=1)
    mix = np.linalg.qr(M[:, ::-1], mode="r")[::-1, ::-1].T
    points = X[low.pivots]
    return ClassModel(
        X, weights, bandwidth, points, None, None, mix, regularization, low.trace_residual, profile=kernel
    )


def _factor(M, regularization, order, name):
    """Kept rows and Cholesky factor of K_l + alpha I, or of its Schur complement; M is overwritten."""
    where = "the class" if name is None else f"class '{name}'"
    if regularization.kind == "tikhonov":
        try:
            return np.arange(len(M)), cholesky_in_place(M)
        except NotPositiveDefiniteError as error:
            message = (
                f"{where}: the Cholesky factorization of K + alpha I broke down at sample {error.index}, "
                f"where the smallest pivot is {error.pivot:.3g} with alpha={regularization.alpha:g}. "
                f"Raise alpha (to {10 * order * EPS:.1g} or more), lower the bandwidth, or drop duplicates."
            )
            raise NotPositiveDefiniteError(error.index, error.pivot, message) from error
    kept, U = independent_rows(M, regularization.singular(order))
    if len(kept) < len(M):
        tell(
            f"{where}: the kernel matrix is numerically singular, {len(M) - len(kept)} of {len(M)} samples "
            "lie in the span of the others (duplicates, or a large bandwidth). They are left out, which "
            "equals the pseudo-inverse; regularization='tikhonov' uses all of them.",
            LinAlgWarning,
        )
    return kept, U
