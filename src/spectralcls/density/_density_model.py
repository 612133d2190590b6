"""The fitted density: an expansion in the coordinates of its kernels, reflected at the bounds of the features."""

from dataclasses import dataclass, replace

import numpy as np

from .._expansion import Expansion, Rule, TrainingPoints, class_means
from .._inputs.missing import is_incomplete
from .._inputs.training_data import TrainingData
from .._tuning import TuningSample
from .._utils.cached import cached_property
from ..kernels import log_normalizer
from ._marginals import marginal
from ._others import Others
from ._univariate import Kernels
from ._whitening import Space, mirrors

STEP = 2.0 ** (1 / 32)  # ratio of the geometric grid of the samples' bandwidths
MOST_STEPS = 320  # limit on the steps from the common bandwidth to that of a sample: a factor of 1024


@dataclass(frozen=True)
class DensityForm:
    """log f(x), where f is a weighted mean of kernels.

    Attributes
    ----------
    space : Space
        Coordinates in which the kernels are radial, with one bandwidth for each class of points.
    expansion : Expansion
    bounds : (d, 2), or None
    """

    space: Space
    expansion: Expansion
    bounds: np.ndarray | None = None

    @classmethod
    def of(cls, space, data, factors, kernel, bandwidth, bounds, tolerance, n_jobs):
        """The form of the points in `data`, with `bandwidth` times the factor of each point's class."""
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
        """Weight of each point, (n,); the weights add up to one."""
        weights = np.ones(len(self.points.X)) if self.points.weights is None else self.points.weights
        return weights / weights.sum()

    @cached_property
    def mirrors(self):
        scales = self.space.scales(self.dimension)
        return mirrors(self.bounds, self.kernel, scales, np.max(self.expansion.bandwidth))

    @cached_property
    def in_order(self):
        """The kernels of a density of one feature, in the order of their centers."""
        return Kernels(self)

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name not in ("mirrors", "in_order")}

    def log_density(self, Q):
        """log f, (m,) float64; -inf out of reach and out of bounds.

        Missing values of a query are integrated out.
        """
        if is_incomplete(Q) and not self._is_product:
            return self._of_known(Q)
        out = np.full(len(Q), -np.inf)
        for mirror in self.mirrors:
            image = Q if mirror is None else mirror.of(Q)
            np.logaddexp(out, self.expansion.log_total(self.space.enter(image)), out=out)
        # The expansion omits the constant of its narrowest kernel.
        out -= log_normalizer(self.kernel, self.dimension, np.min(self.expansion.bandwidth))
        out -= self.space.log_volume if not is_incomplete(Q) else self.space.log_volume_of(~np.isnan(Q))
        if self.bounds is not None:
            out[((Q < self.bounds[:, 0]) | (Q > self.bounds[:, 1])).any(axis=1)] = -np.inf
        return out

    @property
    def _is_product(self):
        """Whether kernels are products over the features, so that any features can be left out."""
        round_ = np.ndim(self.space.root) < 2 and self.bounds is None and self.points.tolerance is None
        return self.kernel == "gaussian" and round_

    def _of_known(self, Q):
        """log f of queries with missing values: the marginal densities of their known features."""
        if self.kernel != "gaussian":
            row = int(np.flatnonzero(np.isnan(Q).any(axis=1))[0])
            raise ValueError(
                f'X has missing values in row {row}: fill them, or use kernel="gaussian", which integrates them out. '
                "Other kernels have marginal densities of another kind."
            )
        out = np.zeros(len(Q))
        patterns, pattern = np.unique(~np.isnan(Q), axis=0, return_inverse=True)
        for number, known in enumerate(patterns):
            rows, features = np.flatnonzero(pattern == number), np.flatnonzero(known)
            if len(features):
                form = self if known.all() else marginal(self, features)
                out[rows] = form.log_density(np.ascontiguousarray(Q[np.ix_(rows, features)]))
        return out

    def at(self, space, X, weights, bounds=None):
        """The form with the same kernels at other points, in other coordinates."""
        kept = weights > 0
        points = self.points
        data = TrainingData(X[kept], points.codes[kept], np.arange(points.n_classes), weights[kept])
        changed = TrainingPoints.of(data, points.tolerance, points.n_jobs)
        model = class_means(Rule("density"), changed, self.kernel, self.expansion.bandwidth)[0]
        return replace(self, space=space, expansion=model, bounds=bounds)


def bandwidth_classes(log_density, weights, alpha):
    """Abramson's factors ``(f(x_i) / g)^-alpha``, rounded to a geometric grid; g is the geometric mean of f.

    Returns
    -------
    codes : (n,) index of each point's factor
    factors : (C,)
    """
    relative = log_density - np.average(log_density, weights=weights)
    steps = np.clip(np.round(-alpha * relative / np.log(STEP)), -MOST_STEPS, MOST_STEPS).astype(np.intp)
    used, codes = np.unique(steps, return_inverse=True)
    return codes, STEP ** used.astype(np.float64)


def leave_one_out_log_density(form, place, one):
    """log f (n,) at each sample, estimated without it but with its copies. `place` holds the point of each sample, and
    `one` its weight.
    """
    points = form.points
    weights = np.ones(len(points.X)) if points.weights is None else points.weights
    left = np.maximum(weights[place] - one, 0.0)
    factors = np.broadcast_to(form.expansion.bandwidth, points.n_classes)
    sample = TuningSample(points.X, points.codes, points.n_classes, weights, None)
    others = Others(sample, form.space, factors, form.kernel, form.bounds, points.n_jobs)
    total = others.weight[place] + left
    if not total.all():
        raise ValueError("Leaving one sample out needs at least two samples, got n_samples=1.")
    logs = others.log_sums(np.ones(1))[place, 0]
    if left.any():
        with np.errstate(divide="ignore"):
            logs = np.logaddexp(logs, np.log(left) + others.log_own(np.ones(1))[place, 0])
    return logs - np.log(total)


def density_form(estimator):
    """The `DensityForm` of a fitted density."""
    return estimator._form
