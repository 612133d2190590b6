"""Fitted kernel expansions: scores(y) = g(y) (k(y) A) - b, with k(y) the kernel values at the training
points.

`ClassMeans` is the form of all rules whose A averages over classes; its class sums come from one call of
`kernel_sums` with labels, in the log domain. `Expansion` is the form with a dense signed A. The algebra of a
fit is written once, for points in this process and for points on the workers of a cluster.
"""

from dataclasses import dataclass

import numpy as np

from ..kernels import kernel_sums
from .nearest import nearest_codes
from .points import BLOCK_BYTES, TrainingPoints, blocks, class_rows
from .rule import Rule, break_ties

__all__ = ["BLOCK_BYTES", "ClassMeans", "Expansion", "blocks", "class_rows", "fit_class_means"]


@dataclass(frozen=True)
class ClassMeans:
    """Weighted class means in the kernel's feature space, and the rule that compares a query with them.

    Attributes
    ----------
    points : TrainingPoints, or its counterpart on the workers of a cluster
    weights : (n, k) columns of weights: those of the class means (diag(w) in A = diag(w) M), then the sample
        weights where the rule needs the density f at the query; None for ones
    log_scale : (C,) log of the factor from class sums to k(y) A, with bandwidths by class including the ratio
        of the kernels' normalising constants
    log_share : (C,) log of the factor from class sums of sample weights to the classes' parts of f
    offsets : (C,) b
    inverse_density : (n,) 1/f at the training points, or None
    """

    rule: Rule
    points: TrainingPoints
    kernel: str
    bandwidth: float | np.ndarray
    weights: np.ndarray | None
    log_scale: np.ndarray
    log_share: np.ndarray
    offsets: np.ndarray
    inverse_density: np.ndarray | None = None

    def log_sums(self, Q):
        """log (k(y) A) (m, C), and log f(y) (m,) where the rule needs it; without the kernel's constant."""
        sums = self.points.class_log_sums(Q, self.weights, self.kernel, self.bandwidth)
        scaled = sums[..., 0] + self.log_scale
        if not self.rule.needs_query_density:
            return scaled, None
        return scaled, self.points.log_total(sums[..., 1], self.log_share)

    def scores(self, Q):
        """Scores (m, C) in float64, larger wins; queries go through in blocks."""
        out = np.empty((len(Q), len(self.offsets)))
        for block in blocks(len(Q), 24 * len(self.offsets)):
            log_sums, log_density = self.log_sums(Q[block])
            out[block] = self.rule.scores(log_sums, self.offsets, log_density)
        unreached = np.isneginf(out.max(axis=1))
        if unreached.any():
            rows = np.flatnonzero(unreached)
            out[rows, nearest_codes(Q[rows], self.points.X, self.points.codes, self.points.n_jobs)] = 0.0
        return out


def fit_class_means(rule, points, kernel, bandwidth, log_priors=None, model=ClassMeans):
    """The fitted form of a rule.

    Parameters
    ----------
    rule : Rule
    points : TrainingPoints, or its counterpart on the workers of a cluster
    kernel, bandwidth : one bandwidth, or one per class (C,)
    log_priors : ndarray (C,), optional
        For the density rule; by default the shares of the classes in the weights.
    model : class
        What is made of the coefficients.

    Notes
    -----
    1/f takes one pass over all pairs, potentials one over the pairs within classes. Normalising constants
    common to all classes are left out, so that no power h^-d under- or overflows; their ratios are kept.
    """
    class_weight, d = points.class_weight, points.X.shape[1]
    widths, log_volume = log_volumes(bandwidth, len(class_weight), d)
    log_share = log_volume - np.log(class_weight.sum())
    sample_weights = 1.0 if points.weights is None else points.weights

    columns = in_norm = points.weights
    inverse_density = None
    if rule.weighting is not None:
        log_density = points.log_density(kernel, bandwidth, log_share)
        inverse_density = np.exp(-log_density)
        in_norm = sample_weights * np.exp(-log_density / 2)
        columns = sample_weights * rule.point_weights(log_density)
        columns, in_norm, inverse_density = points.hold(columns, in_norm, inverse_density)

    potentials = None
    if rule.needs_potentials:
        squared = [rule.potential_kernel(kernel, h, d) for h in widths]
        sums = points.potentials(in_norm, kernel, [h for h, _ in squared])
        factors = np.exp([log_factor for _, log_factor in squared])
        potentials = factors * sums * np.exp(log_volume) / class_weight**2
    log_scale, offsets = rule.coefficients(class_weight, potentials, log_priors)
    log_scale += log_volume

    if points.tolerance is not None:
        columns, log_scale = points.scaled_by_class(columns, log_scale)
    if rule.needs_query_density:
        columns = points.with_sample_weights(columns)
    return model(rule, points, kernel, bandwidth, columns, log_scale, log_share, offsets, inverse_density)


def log_volumes(bandwidth, n_classes, d):
    """Bandwidth of each class (C,), and the log of its kernel's normalising constant beside the largest."""
    widths = np.broadcast_to(np.asarray(bandwidth, dtype=np.float64), n_classes)
    return widths, -d * (np.log(widths) - np.log(widths.min()))


@dataclass(frozen=True)
class Expansion:
    """scores(y) = g(y) (k(y) A) - b with a dense A of either sign, g = f(y)^-1/2 or 1.

    Attributes
    ----------
    X : (n, d) training points
    A : (n, C)
    offsets : (C,) b; zeros for the angle rule
    density_weights : (n,) weights v with f(y) = k(y) v, or None for g = 1; of several columns f is the largest
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
    """Scores (m, C) of an `Expansion` from ``k(y) A = exp(log_scale) * sums``; further columns are f(y)."""
    n_classes = len(offsets)
    if sums.shape[1] > n_classes:
        # g (k A) = exp(s) sums / sqrt(exp(s) f) = exp(s / 2) sums / sqrt(f)
        log_scale, density = log_scale / 2, sums[:, n_classes:].max(axis=1, keepdims=True)
        tiny = np.finfo(np.float64).tiny
        sums = np.where(density > 0, sums[:, :n_classes] / np.sqrt(np.maximum(density, tiny)), 0.0)
    if not offsets.any():
        return sums
    return break_ties(np.exp(log_scale)[:, None] * sums - offsets, sums)
