"""The fitted form of `kernel_mean.engine.ClassMeans` with its training points on the workers."""

from dataclasses import dataclass, replace

import dask
import dask.array as da
import numpy as np
from scipy.special import logsumexp

from ..kernel_mean import engine
from ._rows import TrainingData
from ._sums import class_potentials, kernel_sums, nearest_codes


@dataclass(frozen=True)
class ClassMeans:
    """Weighted class means in the kernel's feature space, and the rule that compares a query with them.

    Attributes
    ----------
    means : engine.ClassMeans
        Rule and coefficients; its arrays over the training points are None.
    data : TrainingData
    columns : Dask array (n, k) or None
        Weights as in `engine.ClassMeans.weights`.
    inverse_density : Dask array (n,) or None
    """

    means: engine.ClassMeans
    data: TrainingData
    columns: da.Array | None
    inverse_density: da.Array | None

    def log_sums(self, Q):
        """log (k(y) A) as a Dask array (m, C), and log f(y) (m,) where the rule needs it."""
        means = self.means
        sums = class_log_sums(Q, self.data, self.columns, means.kernel, means.bandwidth, means.n_jobs)
        scaled = sums[..., 0] + means.log_scale
        if not means.rule.needs_query_density:
            return scaled, None
        return scaled, _log_total(sums[..., 1], means.log_share)

    def scores(self, Q):
        """Scores as a Dask array (m, C), larger wins."""
        log_sums, log_density = self.log_sums(Q)
        rule, offsets = self.means.rule, self.means.offsets
        if log_density is None:
            scores = log_sums.map_blocks(rule.scores, offsets, dtype=np.float64)
        else:
            scores = da.blockwise(
                lambda sums, density: rule.scores(sums, offsets, density), "mc", log_sums, "mc", log_density,
                "m", dtype=np.float64,
            )
        if self.means.kernel == "gaussian" or rule.decision == "distance":
            return scores
        unreached = scores.map_blocks(lambda s: np.isneginf(s.max(axis=1)), drop_axis=1, dtype=bool)
        nearest = nearest_codes(Q, self.data.X, self.data.codes, unreached)
        return da.blockwise(_settle, "mc", scores, "mc", nearest, "m", dtype=np.float64)

    def local(self):
        """The same with all training points in this process."""
        X, codes, columns, inverse_density = dask.compute(
            self.data.X, self.data.codes, self.columns, self.inverse_density
        )
        return replace(self.means, X=X, codes=codes, weights=columns, inverse_density=inverse_density)


def class_log_sums(Q, data, weights, kernel, bandwidth, n_jobs):
    """log sum_{j in c} w_j k(q, x_j) as a Dask array (m, C, k), each class at its own bandwidth if there are
    several."""
    options = dict(weights=weights, kernel=kernel, log=True, n_jobs=n_jobs)
    n_classes = len(data.classes)
    if np.ndim(bandwidth) == 0:
        sums = kernel_sums(Q, data.X, labels=data.codes, n_labels=n_classes, bandwidth=bandwidth, **options)
    else:
        sums = da.concatenate([
            kernel_sums(
                Q, data.X, labels=da.where(data.codes == c, 0, -1), n_labels=1, bandwidth=h, **options
            )
            for c, h in enumerate(bandwidth)
        ], axis=1).rechunk({1: -1})
    return sums[..., None] if sums.ndim == 2 else sums


def fit_class_means(rule, data, kernel, bandwidth, log_priors=None, n_jobs=None):
    """The fitted form of a rule, as `kernel_mean.engine.fit_class_means`; only numbers by class come back."""
    n_classes, d = len(data.classes), data.X.shape[1]
    widths, log_volume = engine.log_volumes(bandwidth, n_classes, d)
    scale = 1.0 if data.weights is None else float(data.weights.sum().compute()) / data.class_weight.sum()
    class_weight = data.class_weight * scale
    log_share = log_volume - np.log(class_weight.sum())

    columns, inverse_density, in_norm = data.weights, None, data.weights
    if rule.weighting is not None:
        sums = class_log_sums(data.X, data, data.weights, kernel, bandwidth, n_jobs)
        log_density = _log_total(sums[..., 0], log_share).persist()
        sample_weights = da.ones_like(log_density) if data.weights is None else data.weights
        inverse_density = da.exp(-log_density)
        in_norm = sample_weights * da.exp(-log_density / 2)
        columns = sample_weights * log_density.map_blocks(rule.point_weights, dtype=np.float64)
        if rule.needs_query_density:
            columns = da.stack([columns, sample_weights], axis=1).rechunk({1: -1})
        columns, inverse_density, in_norm = dask.persist(columns, inverse_density, in_norm)

    potentials = None
    if rule.needs_potentials:
        squared = [rule.potential_kernel(kernel, h, d) for h in widths]
        sums = class_potentials(
            data.X, data.codes, in_norm, n_classes, kernel, [h for h, _ in squared], n_jobs
        )
        factors = np.exp([log_factor for _, log_factor in squared])
        potentials = factors * sums * np.exp(log_volume) / class_weight**2
    log_scale, offsets = rule.coefficients(class_weight, potentials, log_priors)
    means = engine.ClassMeans(
        rule, None, None, kernel, bandwidth, None, log_scale + log_volume, log_share, offsets, None, n_jobs
    )
    return ClassMeans(means, data, columns, inverse_density)


def _log_total(sums, log_share):
    return sums.map_blocks(
        lambda block: logsumexp(block + log_share, axis=1), drop_axis=1, dtype=np.float64
    )


def _settle(scores, nearest):
    """Where no kernel reaches, the class of the nearest point gets the score 0."""
    rows = np.flatnonzero(nearest >= 0)
    scores = scores.copy()
    scores[rows, nearest[rows]] = 0.0
    return scores
