"""PerTurbo's model of one class, which maps a query's kernel values to the share that the class's span explains."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgWarning

from .._core.interrupt import eigh, matmul
from .._inputs.training_data import stack
from .._utils.advice import tell
from ..kernels import kernel_matrix
from ._kernel import exponents, kernel_values, without_subnormals
from ._nearest_model import NearestModel
from ._span import BLOCK, EPS, LOWEST, Span
from ._triangle import NotPositiveDefiniteError, cholesky_in_place, grown, independent_rows, solve

# Bound on the error of U^-T k in float32, relative to its norm times the condition number of U. It is measured, not
# proven: 7 times the largest error in 144 classes, which occurs for equal points and alpha = 30.
_ROUNDING_IN_SINGLE = 2.0**-20
# Bound on the error of a kernel value in float32 that `_to_single` adds to rounding; it changes no share above this.
_NEGLIGIBLE_IN_SINGLE = 2.0**-60
_PANEL = 256  # points whose kernel values in float64 are in the cache when they are converted


@dataclass(frozen=True, kw_only=True)
class ClassModel(Span):
    """One class, factored: 1 - tau(y) = |mix^T U^-T diag(roots) k(points, y)|^2.

    A sample of weight w counts as w copies: its image is scaled by sqrt(w), stored in `roots`.

    Attributes
    ----------
    points : (r, d) points whose kernel values are needed: all, or the independent ones.
    roots : (r,), or None for ones.
    triangle : (r, r) upper Cholesky factor U, or None for the identity. What lies below its diagonal has no meaning.
    mix : (r, k), or None for the identity.
    """

    points: np.ndarray
    roots: np.ndarray | None
    triangle: np.ndarray | None
    mix: np.ndarray | None = None

    trace_residual = 0.0  # K is exact

    def __getstate__(self):
        state = super().__getstate__()
        return state | {"triangle": None if self.triangle is None else np.asfortranarray(np.triu(self.triangle))}

    @property
    def rank(self):
        return len(self.points) if self.mix is None else self.mix.shape[1]

    @property
    def grows(self):
        """Whether new samples can be appended to the factor."""
        return self.triangle is not None

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
            solve(self.triangle, K)
        return K if self.mix is None else matmul(self.mix.T, K)

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
        return replace(self, triangle=self.triangle.astype(np.float32))

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
        return max(BLOCK, len(self.points) // 2)

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
        return np.nan_to_num(out, nan=LOWEST, neginf=LOWEST)

    def extended(self, X, weights=None, n_jobs=None, name=None, whitened=None):
        """Return a model with samples ``X`` appended, in O(n^2) per sample; this model is unchanged.

        ``whitened`` is U^-T diag(roots) k(points, X) for unit weights, if already known.
        """
        if whitened is None:
            whitened = self.kernel(X, n_jobs=n_jobs)
            solve(self.triangle, whitened)
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
            triangle=grown(self.triangle, whitened[:, kept], U),
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
    """Factor one class, called ``name`` in messages. A class with more than `rank` samples gets a `NearestModel`."""
    if regularization.kind is None:
        weights = None  # copies of a sample do not change the span
    span = {"samples": X, "weights": weights, "bandwidth": bandwidth, "profile": kernel}
    if rank is not None and len(X) > rank:
        return NearestModel.of(rank, random_state, n_jobs, regularization=regularization, **span)
    roots = _roots(weights)
    K = _rooted_matrix(X, kernel, bandwidth, roots, n_jobs)
    if regularization.kind == "truncate":
        values, vectors = eigh(K)
        shares = regularization.filter(values)
        keep = shares > 0
        mix = np.ascontiguousarray(vectors[:, keep] * np.sqrt(shares[keep] / values[keep]))
        return ClassModel(points=X, roots=roots, triangle=None, mix=mix, regularization=regularization, **span)
    K.flat[:: len(X) + 1] += regularization.alpha
    kept, U = _factor(K, regularization, len(X), name)
    points = X if len(kept) == len(X) else X[kept]
    return ClassModel(points=points, roots=roots, triangle=U, regularization=regularization, **span)


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
