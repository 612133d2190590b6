"""Scores from class sums when a point is left out or a query is added, which changes a sum by a single term."""

from dataclasses import replace

import numpy as np

from .._core import compiled
from .._core.threads import effective_n_threads
from .._expansion.class_means import log_volumes
from .._inputs.missing import is_incomplete
from .._utils.cached import cached_property
from .._utils.quantile import weighted_quantile
from .._utils.validation import within_groups
from ..kernels import kernel_sums, without_own
from .left_out import LeftOut, rounding_of

SLACK = 1e-4  # relative error allowed for sums in float32
SMALL = 0.0005  # fraction of points whose own sums are replaced by a larger one in bounds; .001 is as fast, .005 is not
FAR = -60.0  # logarithm of the smallest weight, which float32 represents


class SumsLeftOut(LeftOut):
    """Points whose scores are logarithms of class sums of (weighted) kernel values, with the bandwidth of each class.

    For a point, let a be the sum of its class, b that of the others, and k its kernel value with the query. The odds of
    its class are ``a / (b + k)`` if the query joins another class, and ``(a + k) / b`` if it joins the same class.

    The prior of every class is its share of the data; norms and given priors of the expansion's rule are ignored. The
    weights 1/f of training points stay those of the fit, and a query gets the weight that it would have as a training
    point. A point is left out with all its weight, and together with its copies, `place` (n,), or its group. Sample
    weights are scaled so that the mean weight of the places is one, as is that of a query; with groups, the weight of
    each group is one in ranks.
    """

    def __init__(self, expansion, place=None):
        points = expansion.points
        rows = np.arange(len(points.X))
        units = place if points.groups is None else points.groups
        counts = np.ones(len(rows)) if points.weights is None else points.weights
        mean = counts.sum() / (len(rows) if place is None else place.max() + 1)
        columns = points.weights
        if expansion.rule.weighting is not None:
            columns = expansion.columns if expansion.columns.ndim == 1 else expansion.columns[:, 0].copy()
        self.widths, self.log_volume = log_volumes(expansion.bandwidth, points.n_classes, points.X.shape[1])
        sums = kernel_sums(
            points.X,
            points.X,
            weights=columns,
            labels=points.codes,
            n_labels=points.n_classes,
            kernel=expansion.kernel,
            bandwidth=self.widths[None],
            log=True,
            n_jobs=points.n_jobs,
            **without_own(rows, units),
        )
        scores = sums.reshape(len(rows), -1).astype(np.float64) + self.log_volume
        super().__init__(points.codes, within_groups(counts / mean, points.groups), scores)
        self.expansion, self.log_mean = expansion, np.log(mean)
        self.columns = columns if expansion.rule.weighting is None else points.with_sample_weights(columns)

    @cached_property
    def _least(self):
        """Logarithm of a sum that replaces smaller ones in bounds; None if a class has a separate bandwidth or sums are
        approximate, so that there are no bounds."""
        reached = np.isfinite(self.own)
        if np.ptp(self.widths) > 0 or self.expansion.points.tolerance or not reached.any():
            return None
        least, median = (weighted_quantile(self.own[reached], q, self.weights[reached]) for q in (SMALL, 0.5))
        return float(max(least, median + FAR))

    @cached_property
    def _summed(self):
        """The points, packed separately from those of the fitted form, and their weights (n, k) in sums: the columns of
        the fitted form and, unless there are no bounds, the multiplicities relative to the points' own sums."""
        columns = np.ones(len(self.codes)) if self.columns is None else self.columns
        if self._least is not None:
            relative = self.weights * np.exp(np.clip(self._least - self.own, FAR, 0.0)) * (1 + SLACK)
            columns = np.column_stack([columns, relative])
        return replace(self.expansion.points), np.reshape(columns, (len(columns), -1))

    def _sums(self, Q):
        """Logarithms of class sums (m, C, k) over all points: the scores; the classes' parts of the density if points
        are weighted by 1/f; and bounds on the points' relative changes."""
        points, columns = self._summed
        sums = points.class_log_sums(complete(Q), columns, kernel=self.expansion.kernel, bandwidth=self.widths)
        return sums + self.log_volume[:, None] if self.log_volume.any() else sums.astype(np.float64, copy=False)

    def log_weights(self, sums):
        """log of the weight that each query would have as a training point."""
        rule = self.expansion.rule
        if rule.weighting is None:
            return np.full(len(sums), self.log_mean)
        log_density = np.logaddexp(np.logaddexp.reduce(sums[..., 1], axis=1), self.log_mean)
        log_density -= np.log(self.expansion.points.class_weight.sum() + np.exp(self.log_mean))
        return self.log_mean - rule.exponent * log_density

    @cached_property
    def _ranked(self):
        """The points as the core ranks them."""
        return compiled.ranked_points(
            self.expansion.points.X.astype(np.float64),
            self.codes.astype(np.int64),
            self.own,
            self.others,
            self.weights,
            self.expansion.kernel,
            self.widths.astype(np.float64),
            self.log_volume,
            self._least or 0.0,
            np.inf if self._least is None else SLACK - float(np.log(self._summed[1][:, 0].min())),
        )

    def counts(self, Q, within, beyond=None):
        sums = self._sums(Q)
        return compiled.conformal_weights(
            self._ranked,
            Q.astype(np.float64),
            np.ascontiguousarray(sums),
            self._least is not None,
            self.log_weights(sums),
            self.background,
            rounding_of(Q.dtype),
            within,
            None if beyond is None else np.broadcast_to(beyond, sums.shape[1]).astype(np.float64),
            effective_n_threads(self.expansion.points.n_jobs),
        )


def without_class_sums(estimator):
    """Reason why an estimator's `_model` has no `SumsLeftOut`; None if it has one."""
    model = vars(estimator).get("_model")
    if model is not None and not model.by_class:
        return "leaving out a point changes the eigenvectors; with n_components='all' and class means there are none."
    if model is not None and model.points.given is not None:
        return "missing values of training points are filled from their own class; fill them before fit."
    return None


def complete(Q):
    """Return the queries; raise if values are missing."""
    if is_incomplete(Q):
        raise ValueError(
            "X has missing values. Prediction sets compare queries with training points, which have none: fill the "
            "values before fit and here, for example with scikit-learn's SimpleImputer."
        )
    return Q
