"""Fitted kernel expansions: scores(y) = g(y) (k(y) A) - b, with k(y) the kernel values at the training
points.

`ClassMeans` is the form of all rules whose A averages over classes; its class sums come from one call of
`kernel_sums` with labels, in the log domain. `Expansion` is the form with a dense signed A.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from .._validation import unit_scale
from ..kernels import kernel_sums
from .nearest import nearest_codes
from .rule import Rule, break_ties

BLOCK_BYTES = 1 << 26


def blocks(n_rows, bytes_per_row, limit=BLOCK_BYTES):
    """Slices of rows whose results stay below `limit` bytes together."""
    rows = max(1, int(limit // max(bytes_per_row, 1)))
    return [slice(start, min(start + rows, n_rows)) for start in range(0, n_rows, rows)]


@dataclass(frozen=True)
class ClassMeans:
    """Weighted class means in the kernel's feature space, and the rule that compares a query with them.

    Attributes
    ----------
    X : (n, d) training points
    codes : (n,) class of each point
    weights : (n, k) columns of weights: those of the class means (diag(w) in A = diag(w) M), then the sample
        weights where the rule needs the density f at the query; None for ones
    log_scale : (C,) log of the factor from class sums to k(y) A, with bandwidths by class including the ratio
    of
        the kernels' normalising constants
    log_share : (C,) log of the factor from class sums of sample weights to the classes' parts of f
    offsets : (C,) b
    inverse_density : (n,) 1/f at the training points, or None
    """

    rule: Rule
    X: np.ndarray
    codes: np.ndarray
    kernel: str
    bandwidth: float | np.ndarray
    weights: np.ndarray | None
    log_scale: np.ndarray
    log_share: np.ndarray
    offsets: np.ndarray
    inverse_density: np.ndarray | None = None
    n_jobs: int | None = None

    @property
    def n_classes(self):
        return len(self.offsets)

    def log_sums(self, Q):
        """log (k(y) A) (m, C), and log f(y) (m,) where the rule needs it; without the kernel's constant."""
        sums = _class_log_sums(
            Q, self.X, self.codes, self.n_classes, self.weights, self.kernel, self.bandwidth, self.n_jobs
        )
        scaled = sums[..., 0] + self.log_scale
        if not self.rule.needs_query_density:
            return scaled, None
        return scaled, logsumexp(sums[..., 1] + self.log_share, axis=1)

    def scores(self, Q):
        """Scores (m, C) in float64, larger wins; queries go through in blocks."""
        out = np.empty((len(Q), self.n_classes))
        for block in blocks(len(Q), 24 * self.n_classes):
            log_sums, log_density = self.log_sums(Q[block])
            out[block] = self.rule.scores(log_sums, self.offsets, log_density)
        unreached = np.isneginf(out.max(axis=1))
        if unreached.any():
            rows = np.flatnonzero(unreached)
            out[rows, nearest_codes(Q[rows], self.X, self.codes, self.n_jobs)] = 0.0
        return out


def _class_log_sums(Q, X, codes, n_classes, weights, kernel, bandwidth, n_jobs):
    """log sum_{j in c} w_j k(q, x_j) as float64 (m, C, k), each class at its own bandwidth if there are
    several."""
    options = dict(kernel=kernel, log=True, n_jobs=n_jobs)
    if np.ndim(bandwidth) == 0:
        sums = kernel_sums(
            Q, X, weights=weights, labels=codes, n_labels=n_classes, bandwidth=bandwidth, **options
        )
    else:
        columns = [
            kernel_sums(Q, X[own], weights=None if weights is None else weights[own], bandwidth=h, **options)
            for own, h in zip(class_rows(codes, n_classes), bandwidth, strict=True)
        ]
        sums = np.stack(columns, axis=1)
    sums = sums.astype(np.float64, copy=False)
    return sums[..., None] if sums.ndim == 2 else sums


def class_rows(codes, n_classes):
    """Row numbers of each class."""
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.searchsorted(codes[order], np.arange(1, n_classes)))


def fit_class_means(rule, X, codes, n_classes, weights, kernel, bandwidth, log_priors=None, n_jobs=None):
    """The fitted form of a rule.

    Parameters
    ----------
    rule : Rule
    X : ndarray (n, d)
    codes : ndarray (n,)
    n_classes : int
    weights : ndarray (n,) or None
        Positive sample weights.
    kernel, bandwidth : one bandwidth, or one per class (C,)
    log_priors : ndarray (C,), optional
        For the density rule; by default the shares of the classes in the weights.

    Notes
    -----
    1/f takes one pass over all pairs, potentials one over the pairs within classes. Normalising constants
    common to all classes are left out, so that no power h^-d under- or overflows; their ratios are kept.
    """
    d = X.shape[1]
    weights = None if weights is None else unit_scale(weights)
    sample_weights = np.ones(len(X)) if weights is None else weights
    class_weight = np.bincount(codes, sample_weights, minlength=n_classes)
    widths, log_volume = log_volumes(bandwidth, n_classes, d)
    log_share = log_volume - np.log(class_weight.sum())

    point_weights, inverse_density = None, None
    if rule.weighting is not None:
        log_density = np.empty(len(X))
        for block in blocks(len(X), 24 * n_classes):
            sums = _class_log_sums(X[block], X, codes, n_classes, weights, kernel, bandwidth, n_jobs)
            log_density[block] = logsumexp(sums[..., 0] + log_share, axis=1)
        point_weights = rule.point_weights(log_density)
        inverse_density = np.exp(-log_density)

    potentials = None
    if rule.needs_potentials:
        in_norm = sample_weights if inverse_density is None else sample_weights * np.sqrt(inverse_density)
        sums = [
            _potential(rule, X[own], in_norm[own], kernel, h, n_jobs)
            for own, h in zip(class_rows(codes, n_classes), widths, strict=True)
        ]
        potentials = np.array(sums) * np.exp(log_volume) / class_weight**2
    log_scale, offsets = rule.coefficients(class_weight, potentials, log_priors)

    columns = weights
    if point_weights is not None:
        columns = sample_weights * point_weights
        if rule.needs_query_density:
            columns = np.column_stack([columns, sample_weights])
    log_scale += log_volume
    return ClassMeans(
        rule, X, codes, kernel, bandwidth, columns, log_scale, log_share, offsets, inverse_density, n_jobs
    )


def log_volumes(bandwidth, n_classes, d):
    """Bandwidth of each class (C,), and the log of its kernel's normalising constant beside the largest."""
    widths = np.broadcast_to(np.asarray(bandwidth, dtype=np.float64), n_classes)
    return widths, -d * (np.log(widths) - np.log(widths.min()))


def _potential(rule, X, weights, kernel, bandwidth, n_jobs):
    """sum_ij w_i w_j k(x_i, x_j) over one class, self pairs included."""
    width, log_factor = rule.potential_kernel(kernel, bandwidth, X.shape[1])
    sums = kernel_sums(X, X, weights=weights, kernel=kernel, bandwidth=width, n_jobs=n_jobs)
    return np.exp(log_factor) * (weights @ sums.astype(np.float64))


@dataclass(frozen=True)
class Expansion:
    """scores(y) = g(y) (k(y) A) - b with a dense A of either sign, g = f(y)^-1/2 or 1.

    Attributes
    ----------
    X : (n, d) training points
    A : (n, C)
    offsets : (C,) b; zeros for the angle rule
    density_weights : (n,) weights v with f(y) = k(y) v, or None for g = 1
    """

    X: np.ndarray
    A: np.ndarray
    offsets: np.ndarray
    kernel: str
    bandwidth: float
    density_weights: np.ndarray | None = None
    n_jobs: int | None = None

    def scores(self, Q):
        """Scores (m, C) in float64, larger wins.

        Without offsets a positive factor per query is free, and the sums stay in the scale of the query's
        largest kernel value: a query far from all points keeps its order of classes.
        """
        columns = self.A
        if self.density_weights is not None:
            columns = np.column_stack([columns, self.density_weights])
        out = np.empty((len(Q), self.A.shape[1]))
        for block in blocks(len(Q), 24 * columns.shape[1]):
            log_scale, sums = kernel_sums(
                Q[block], self.X, weights=columns, kernel=self.kernel, bandwidth=self.bandwidth, log="pair",
                n_jobs=self.n_jobs,
            )
            log_scale, sums = log_scale.astype(np.float64), sums.astype(np.float64)
            out[block] = expansion_scores(log_scale, sums, self.offsets)
        return out


def expansion_scores(log_scale, sums, offsets):
    """Scores (m, C) of an `Expansion` from ``k(y) A = exp(log_scale) * sums``; f(y) may be a last column."""
    if sums.shape[1] > len(offsets):
        # g (k A) = exp(s) sums / sqrt(exp(s) f) = exp(s / 2) sums / sqrt(f)
        log_scale, density = log_scale / 2, sums[:, -1:]
        tiny = np.finfo(np.float64).tiny
        sums = np.where(density > 0, sums[:, :-1] / np.sqrt(np.maximum(density, tiny)), 0.0)
    if not offsets.any():
        return sums
    return break_ties(np.exp(log_scale)[:, None] * sums - offsets, sums)
