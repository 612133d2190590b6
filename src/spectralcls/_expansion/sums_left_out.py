"""Class sums without one point, and with one more: a term of a sum goes, and a term comes."""

import numpy as np
from scipy.spatial.distance import cdist

from .._inputs.missing import is_incomplete
from ..kernels import kernel_matrix, kernel_sums
from .class_means import log_volumes
from .left_out import LeftOut, odds, rounding_of

PLAIN = 300.0  # logarithms below which sums and their quotients are numbers


class SumsLeftOut(LeftOut):
    """Points whose scores are log class sums of (weighted) kernels, each class at its bandwidth.

    With a the sum of a point's class, b that of the others and k the query's kernel value, the odds of the point's
    class are ``a / (b + k)`` once the query is of another class, ``(a + k) / b`` if it is of the same.

    Whatever the rule of the expansion, a class has its share in the data: norms and given priors do not enter. With
    weights 1/f those of the training points are as fitted, and that of a query as if it had been among them. A
    point is left out with all its weight and, if there are `groups`, (n,) integers from 0, with the other points of its
    group. A group weighs one on average, and so does a query.
    """

    def __init__(self, expansion, groups=None):
        points = expansion.points
        rows = np.arange(len(points.X))
        left_out = {"exclude_self": rows} if groups is None else {"exclude_groups": (groups, groups)}
        counts = np.ones(len(rows)) if points.weights is None else points.weights
        mean = counts.sum() / (len(rows) if groups is None else groups.max() + 1)  # weight of a group, and of a query
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
            **left_out,
        )
        scores = sums.reshape(len(rows), -1).astype(np.float64) + self.log_volume
        super().__init__(points.codes, counts / mean, scores)
        self.expansion, self.columns, self.log_mean = expansion, columns, np.log(mean)
        least = np.full(points.n_classes, np.inf)
        np.minimum.at(least, points.codes, 1.0 if columns is None else columns)
        self.log_least = np.log(least)
        # Then a kernel value is at most the sum that it is part of.
        self.bounded = np.ptp(self.widths) == 0 and not points.tolerance

    def scores_of(self, Q):
        """Scores (m, C) by all points."""
        return self._sums(complete(Q), self.columns)

    def _sums(self, Q, columns):
        shape = dict(kernel=self.expansion.kernel, bandwidth=self.widths)
        return self.expansion.points.class_log_sums(Q, columns, **shape)[..., 0] + self.log_volume

    def log_weights(self, Q):
        """log of the weight that each query has as a training point."""
        points, rule = self.expansion.points, self.expansion.rule
        if rule.weighting is None:
            return np.full(len(Q), self.log_mean)
        sums = np.logaddexp.reduce(self._sums(Q, points.weights), axis=1)
        log_density = np.logaddexp(sums, self.log_mean) - np.log(points.class_weight.sum() + np.exp(self.log_mean))
        return rule.exponent * -log_density + self.log_mean

    def joined(self, Q):
        scores = self.scores_of(Q)
        limits, log_weights = self.limits(scores, Q.dtype), self.log_weights(Q)
        greatest = np.zeros(scores.shape)  # logarithm of a kernel value with a point of each class
        if self.bounded:
            greatest = np.minimum(greatest, scores + rounding_of(scores, Q.dtype) - self.log_least)
        X, Q, kernel = self.expansion.points.X.astype(np.float64), Q.astype(np.float64), self.expansion.kernel

        def bounds(rows, c, points):
            k = (log_weights[rows, None] + greatest[rows]).max(axis=0)[self.codes[points]]
            own, others, unchanged = self.own[points], self.others[points], self.odds[points]
            least, most = odds(own, log_sum(others, k)), odds(log_sum(own, k), others)
            if c is None:
                return least, most
            same = self.codes[points] == c
            return np.where(same, unchanged, least), np.where(same, most, unchanged)

        def conform_less(rows, c, points):
            same, limit = self.codes[points] == c, limits[rows, c, None]
            weight = log_weights[rows, None] + self.log_volume[c]
            sign, unit = np.where(same, 1.0, -1.0), np.where(same, self.others[points], self.own[points])
            relative = sign * self.odds[points]
            if max(np.abs(each).max() for each in (relative, unit, limit, weight)) < PLAIN:
                k = kernel_matrix(Q[rows], X[points], kernel=kernel, bandwidth=self.widths[c], n_jobs=1)
                k *= np.exp(weight)
                k *= np.exp(-unit)
                k += np.exp(relative)
                return (k > np.where(same, np.exp(limit), np.exp(-limit))) != same
            k = log_kernel(Q[rows], X[points], kernel, self.widths[c]) + weight - unit
            with np.errstate(over="ignore", invalid="ignore"):
                whole = np.exp(sign * (self.odds[points] - limit)) + np.exp(k - sign * limit)
            return ~(sign * whole > sign)  # NaN: neither class is in reach

        return limits, (bounds, conform_less)


def without_class_sums(estimator):
    """Why an estimator has no `SumsLeftOut` of its `_model`; None if it has."""
    model = vars(estimator).get("_model")
    if model is not None and not model.by_class:
        return "leaving out a point changes the eigenvectors; with n_components='all' and class means there are none."
    if model is not None and model.points.given is not None:
        return "training points that lack values are completed by their own class; complete them before fit."
    return None


def complete(Q):
    """Queries, or an error if they lack values."""
    if is_incomplete(Q):
        raise ValueError(
            "X lacks values. Prediction sets compare queries with training points, and these lack none: complete "
            "the values before fit and here, for example with scikit-learn's SimpleImputer."
        )
    return Q


def log_sum(a, b):
    """``np.logaddexp(a, b)`` of large arrays, by functions that NumPy vectorizes: a seventh of the time."""
    least, most = np.minimum(a, b), np.maximum(a, b)
    with np.errstate(invalid="ignore"):
        least -= most
    np.exp(least, out=least)
    least += 1.0
    np.log(least, out=least)
    least += most
    return np.fmax(least, most, out=least)  # -inf and -inf


def log_kernel(Q, X, kernel, bandwidth):
    """log k(q, x), (m, n) float64; nothing underflows."""
    if kernel not in ("gaussian", "laplace"):
        with np.errstate(divide="ignore"):
            return np.log(kernel_matrix(Q.astype(np.float64), X.astype(np.float64), kernel=kernel, bandwidth=bandwidth))
    squared = cdist(Q, X, "sqeuclidean")
    return squared / (-2 * bandwidth**2) if kernel == "gaussian" else np.sqrt(squared) / -bandwidth
