"""The fitted density: an expansion in the coordinates of its kernels, mirrored at the ends of the features."""

from dataclasses import dataclass, replace

import numpy as np

from .._expansion import Expansion, Rule, TrainingPoints, class_means
from .._expansion.points import blocks
from .._inputs.missing import is_incomplete
from .._tuning import distinct_rows, draw_sample
from .._utils.cached import cached_property
from .._utils.training_data import TrainingData
from .._utils.validation import sum_of_others
from ..kernels import kernel_sums, log_normalizer
from ._whitening import Space, mirrors

STEP = 2.0 ** (1 / 32)  # of the grid on which the bandwidths of single points lie
MOST_STEPS = 320  # from the bandwidth of the whole: a factor of 1024


@dataclass(frozen=True)
class DensityForm:
    """log f(x), f a weighted mean of kernels.

    Attributes
    ----------
    space : Space
        In its coordinates the kernels are round, with a bandwidth for each class of points.
    expansion : Expansion
    bounds : (d, 2), or None
    """

    space: Space
    expansion: Expansion
    bounds: np.ndarray | None = None

    @classmethod
    def of(cls, space, data, factors, kernel, bandwidth, bounds, tolerance, n_jobs):
        """Of points whose coordinates and classes are `data`, at `bandwidth` times the factor of their class."""
        widths = bandwidth if len(factors) == 1 else bandwidth * factors
        points = TrainingPoints.of(data, tolerance, n_jobs)
        return cls(space, class_means(Rule("density"), points, kernel, widths)[0], bounds)

    @property
    def points(self):
        return self.expansion.points

    @property
    def kernel(self):
        return self.expansion.kernel

    @property
    def dimension(self):
        return self.points.X.shape[1]

    @property
    def widths(self):
        """Bandwidth of each point in the coordinates, (n,)."""
        return np.broadcast_to(self.expansion.bandwidth, self.points.n_classes)[self.points.codes]

    @property
    def weights(self):
        """Weight of each point, (n,); they add up to one."""
        weights = np.ones(len(self.points.X)) if self.points.weights is None else self.points.weights
        return weights / weights.sum()

    @cached_property
    def mirrors(self):
        scales = np.sqrt(np.diag(self.space.covariance(self.dimension)))
        return mirrors(self.bounds, self.kernel, scales, np.max(self.expansion.bandwidth))

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name != "mirrors"}

    def log_density(self, Q):
        """log f (m,), float64; -inf out of reach and out of bounds."""
        out = np.full(len(Q), -np.inf)
        for mirror in self.mirrors:
            image = Q if mirror is None else mirror.of(Q)
            np.logaddexp(out, self.expansion.log_total(self.space.enter(image)), out=out)
        # The expansion leaves out the constant of its narrowest kernel.
        out -= log_normalizer(self.kernel, self.dimension, np.min(self.expansion.bandwidth))
        out -= self.space.log_volume if not is_incomplete(Q) else self.space.log_volume_of(~np.isnan(Q))
        if self.bounds is not None:
            out[((Q < self.bounds[:, 0]) | (Q > self.bounds[:, 1])).any(axis=1)] = -np.inf
        return out

    def at(self, space, X, weights, bounds=None):
        """The same kernels at other points, in other coordinates."""
        kept = weights > 0
        points = self.points
        data = TrainingData(X[kept], points.codes[kept], np.arange(points.n_classes), weights[kept])
        changed = TrainingPoints.of(data, points.tolerance, points.n_jobs)
        model = class_means(Rule("density"), changed, self.kernel, self.expansion.bandwidth)[0]
        return replace(self, space=space, expansion=model, bounds=bounds)


def held_out_log_density(sample, space, factors, kernel, bandwidths, bounds, n_jobs):
    """log f (v, b) of the validated points of a sample by the points that are not held out with them.

    `bandwidths` (b,) are multiplied by the factor of a point's class; -inf out of reach.
    """
    rows, n_classes, d = sample.rows, len(factors), sample.X.shape[1]
    widths = bandwidths[:, None] * factors  # (b, C)
    out = np.full((len(rows), len(bandwidths)), -np.inf)
    scales = np.sqrt(np.diag(space.covariance(d)))
    constants = log_normalizer(kernel, d, widths)
    for mirror in mirrors(bounds, kernel, scales, widths.max()):
        wide = widths.max(axis=1) > (0.0 if mirror is None else mirror.least)
        labels = {"labels": sample.codes, "n_labels": n_classes} if n_classes > 1 else {}
        for block in blocks(len(rows), 24 * len(bandwidths) * n_classes):
            own = rows[block]
            Q = sample.X[own] if mirror is None else space.enter(mirror.of(space.leave(sample.X[own])))
            logs = kernel_sums(
                Q.astype(sample.X.dtype, copy=False),
                sample.X,
                weights=sample.weights,
                kernel=kernel,
                bandwidth=widths[wide] if n_classes > 1 else widths[wide, 0],
                log=True,
                n_jobs=n_jobs,
                **labels,
                **_left_out(sample, own),
            )
            logs = logs.astype(np.float64).reshape(len(own), -1, n_classes) - constants[wide]
            out[block, wide] = np.logaddexp(out[block, wide], np.logaddexp.reduce(logs, axis=2))
    return out - np.log(_weight_of_others(sample))[:, None] - space.log_volume


def _left_out(sample, rows):
    if sample.folds is None:
        return {"exclude_self": rows}
    return {"exclude_groups": (sample.folds[rows], sample.folds)}


def _weight_of_others(sample):
    """Weight of the points that are not held out with a validated point, (v,)."""
    if sample.folds is None:
        return sum_of_others(sample.weights)[sample.rows]
    return sum_of_others(np.bincount(sample.folds, sample.weights))[sample.folds[sample.rows]]


def bandwidth_classes(log_density, weights, alpha):
    """Abramson's factors ``(f(x_i) / g)^-alpha``, g the geometric mean of f, on a geometric grid.

    Returns
    -------
    codes : (n,) which of them each point has
    factors : (C,)
    """
    relative = log_density - np.average(log_density, weights=weights)
    steps = np.clip(np.round(-alpha * relative / np.log(STEP)), -MOST_STEPS, MOST_STEPS).astype(np.intp)
    used, codes = np.unique(steps, return_inverse=True)
    return codes, STEP ** used.astype(np.float64)


def leave_one_out_log_density(form):
    """log f (n,) at each training point by the others; copies of a row are left out together."""
    points = form.points
    data = points.data(np.arange(points.n_classes))
    sample = draw_sample(data, cv="loo", max_samples=None, random_state=0)
    if len(sample.X) < 2:
        raise ValueError("Leaving one point out needs two distinct samples at least, got n_samples=1 without copies.")
    factors = np.broadcast_to(form.expansion.bandwidth, points.n_classes)
    logs = held_out_log_density(sample, form.space, factors, form.kernel, np.ones(1), form.bounds, points.n_jobs)[:, 0]
    return logs[distinct_rows(data.X, data.codes)[1]]
