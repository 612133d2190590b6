"""Scores from class sums when a point is left out or a query is added, which changes a sum by a single term."""

from functools import partial

import numpy as np
from scipy.spatial.distance import cdist

from .._inputs.missing import is_incomplete
from .._utils.cached import cached_property
from ..kernels import PackedPoints, kernel_matrix, kernel_sums
from .class_means import log_volumes
from .left_out import Change, LeftOut, odds, rounding_of

MODERATE = 60.0  # if the logarithm of a sum is below this in absolute value, its inverse can be a float32 weight
SLACK = 1e-4  # relative error allowed for sums in float32
PLAIN = 300.0  # if logarithms of sums are below this in absolute value, the sums and their quotients are finite


class SumsLeftOut(LeftOut):
    """Points whose scores are logarithms of class sums of (weighted) kernel values, with the bandwidth of each class.

    For a point, let a be the sum of its class, b that of the others, and k its kernel value with the query. The odds of
    its class are ``a / (b + k)`` if the query joins another class, and ``(a + k) / b`` if it joins the same class.

    The prior of every class is its share of the data; norms and given priors of the expansion's rule are ignored. The
    weights 1/f of training points stay those of the fit, and a query gets the weight that it would have as a training
    point. A point is left out with all its weight, and together with its group if there are `groups`, (n,) integers
    from 0. Sample weights are scaled so that the mean weight of the groups is one, as is that of a query.
    """

    def __init__(self, expansion, groups=None):
        points = expansion.points
        rows = np.arange(len(points.X))
        left_out = {"exclude_self": rows} if groups is None else {"exclude_groups": (groups, groups)}
        counts = np.ones(len(rows)) if points.weights is None else points.weights
        mean = counts.sum() / (len(rows) if groups is None else groups.max() + 1)  # mean weight of a group
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
        self.expansion, self.log_mean = expansion, np.log(mean)
        self.columns = columns if expansion.rule.weighting is None else points.with_sample_weights(columns)
        with np.errstate(divide="ignore"):
            self.log_columns = np.zeros(len(rows)) if columns is None else np.log(columns)
        # With one bandwidth and exact sums, no kernel value exceeds the sum that contains it.
        self.bounded = np.ptp(self.widths) == 0 and not points.tolerance

    def _sums(self, Q):
        """Logarithms of class sums (m, C, k) over all points: the scores and, if points are weighted by 1/f, the
        classes' parts of the density.
        """
        shape = dict(kernel=self.expansion.kernel, bandwidth=self.widths)
        sums = self.expansion.points.class_log_sums(complete(Q), self.columns, **shape)
        return sums + self.log_volume[:, None]

    def log_weights(self, sums):
        """log of the weight that each query would have as a training point."""
        rule = self.expansion.rule
        if rule.weighting is None:
            return np.full(len(sums), self.log_mean)
        log_density = np.logaddexp(np.logaddexp.reduce(sums[..., 1], axis=1), self.log_mean)
        log_density -= np.log(self.expansion.points.class_weight.sum() + np.exp(self.log_mean))
        return self.log_mean - rule.exponent * log_density

    @cached_property
    def _relative(self):
        """The points with two weights: the inverse of the sum of their own class, and of the sum of the others. None if
        float32 cannot represent the weights.
        """
        logs = np.stack([self.own, self.others], axis=1)
        if not np.abs(logs).max() < MODERATE:
            return None
        return PackedPoints(
            self.expansion.points.X,
            weights=self.weights[:, None] * np.exp(-logs),
            labels=self.codes,
            n_labels=self.expansion.points.n_classes,
        )

    @cached_property
    def _center(self):
        return self.expansion.points.X.mean(axis=0, dtype=np.float64)

    @cached_property
    def _from_center(self):
        """Distances of the points from their mean."""
        return _norms(self.expansion.points.X - self._center)

    def _moves(self, Q, log_weights, rows):
        """The `moves` of a `Change`: sums of kernel values, each divided by the sum to which it is added."""
        shape = {"kernel": self.expansion.kernel, "bandwidth": self.widths[0], "n_jobs": self.expansion.points.n_jobs}
        sums = kernel_sums(Q[rows], self._relative, **shape).reshape(len(rows), -1, 2).astype(np.float64)
        rise, fall = np.moveaxis(sums * np.exp(log_weights[rows])[:, None, None] * (1 + SLACK), 2, 0)
        return rise, fall.sum(axis=1, keepdims=True) - fall

    def joined(self, Q):
        sums = self._sums(Q)
        scores, log_weights = sums[..., 0], self.log_weights(sums)
        limits = self.limits(scores, Q.dtype)
        sums = np.full(scores.shape, np.inf)
        if self.bounded:
            sums = scores + rounding_of(scores, Q.dtype)
        reach = np.minimum(sums.max(axis=1), 0.0) + log_weights
        moves = partial(self._moves, Q, log_weights) if self.bounded and self._relative is not None else None
        X, Q, kernel = self.expansion.points.X.astype(np.float64), Q.astype(np.float64), self.expansion.kernel
        from_center = _norms(Q - self._center)

        def bounds(rows, c, points):
            most = (log_weights[rows, None] + sums[rows]).max(axis=0)[self.codes[points]] - self.log_columns[points]
            most = np.minimum(most, log_weights[rows].max())
            own, others = self.own[points], self.others[points]
            if c is None:
                return odds(own, log_sum(others, most)), odds(log_sum(own, most), others)
            distances = from_center[rows].max() + self._from_center[points]  # upper bounds, by the triangle inequality
            least = log_kernel(np.zeros((1, 1)), distances[:, None], kernel, self.widths[c])[0]
            least += log_weights[rows].min() + self.log_volume[c]
            same = self.codes[points] == c
            grows, stays, sign = np.where(same, own, others), np.where(same, others, own), np.where(same, 1, -1)
            one, other = (odds(sign * log_sum(grows, k), sign * stays) for k in (least, most))
            return np.minimum(one, other), np.maximum(one, other)

        def conform_less(rows, c, points):
            same, limit, weight = self.codes[points] == c, limits[rows, c, None], log_weights[rows, None]
            weight = weight + self.log_volume[c]
            out = np.zeros(len(rows))
            for sign, some in ((1, points[same]), (-1, points[~same])):
                if not len(some):
                    continue
                one, other = (self.own[some], self.others[some])[::sign]  # compare (one + k) / other with the limit
                if max(np.abs(each).max() for each in (one, other, limit, weight)) < PLAIN:
                    border = np.exp(sign * limit) * np.exp(other)
                    border -= np.exp(one)
                    k = kernel_matrix(Q[rows], X[some], kernel=kernel, bandwidth=self.widths[c], n_jobs=1)
                    if weight.any():
                        k *= np.exp(weight)
                    less = k <= border if sign == 1 else k >= border
                else:
                    k = log_kernel(Q[rows], X[some], kernel, self.widths[c]) + weight
                    with np.errstate(over="ignore", invalid="ignore"):
                        whole = np.exp(one - other - sign * limit) + np.exp(k - other - sign * limit)
                    less = ~(sign * whole > sign)  # NaN: both classes are out of reach
                out += self.weight_of(less, some)
            return out

        return limits, Change(bounds, conform_less, reach, moves)


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


def _norms(Z):
    return np.sqrt(np.einsum("ij,ij->i", Z, Z))


def log_sum(a, b):
    """``np.logaddexp(a, b)`` through functions that NumPy vectorizes, which is seven times as fast for large arrays."""
    least, most = np.minimum(a, b), np.maximum(a, b)
    with np.errstate(invalid="ignore"):
        least -= most
    np.exp(least, out=least)
    least += 1.0
    np.log(least, out=least)
    least += most
    return np.fmax(least, most, out=least)  # NaN if both are -inf


def log_kernel(Q, X, kernel, bandwidth):
    """log k(q, x), (m, n) float64, without underflow for kernels that are positive everywhere."""
    if kernel not in ("gaussian", "laplace"):
        with np.errstate(divide="ignore"):
            return np.log(kernel_matrix(Q.astype(np.float64), X.astype(np.float64), kernel=kernel, bandwidth=bandwidth))
    squared = cdist(Q, X, "sqeuclidean")
    return squared / (-2 * bandwidth**2) if kernel == "gaussian" else np.sqrt(squared) / -bandwidth
