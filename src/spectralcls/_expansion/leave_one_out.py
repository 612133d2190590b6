"""Scores of training points by all others, and what one more point changes: the ground of conformal prediction."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from scipy.spatial.distance import cdist

from .._inputs.missing import is_incomplete
from .._utils.cached import cached_property
from .._utils.quantile import weighted_quantile
from ..kernels import kernel_matrix, kernel_sums
from .class_means import log_volumes
from .held_out import CACHE_BYTES, log_sums_of_others
from .points import blocks

PLAIN = 300.0  # logarithms below which sums and their quotients are numbers
TILE = 255
INVERSE_BYTES = 1 << 23  # kernel values of queries that meet the inverse of a kernel matrix together
BACKGROUND = 0.02  # share of the training points whose own class scores less than the background


@dataclass(frozen=True)
class LeaveOneOut:
    """Every training point as the others see it. A further point changes nothing, unless a subclass says what.

    Attributes
    ----------
    codes : (n,) class of each point
    weights : (n,) how many points it counts for
    scores : (n, C) logarithmic scores by the other points
    queries : callable, from coordinates (m, d) to scores (m, C) by all points
    order : (n_samples,) the point that each training sample is; None if these are the points
    """

    codes: np.ndarray
    weights: np.ndarray
    scores: np.ndarray
    queries: Callable
    order: np.ndarray | None = None

    @cached_property
    def own(self):
        """Score of each point's own class, (n,)."""
        return self.scores[np.arange(len(self.codes)), self.codes]

    @cached_property
    def background(self):
        """Score of a class "none of these", the same everywhere: few points score less for their own class."""
        reached = np.isfinite(self.own)
        if not reached.any():
            return -np.inf
        return float(weighted_quantile(self.own[reached], BACKGROUND, self.weights[reached]))

    @cached_property
    def others(self):
        """log of the sum over all classes but a point's own, the background among them, (n,)."""
        others = self.scores.copy()
        others[np.arange(len(self.codes)), self.codes] = self.background
        return np.logaddexp.reduce(others, axis=1)

    def limits(self, Q):
        """Log odds (m, C) of each class for queries, and what ties to rounding may exceed them by."""
        return self._limits_at(self.queries(Q), Q.dtype)

    def _limits_at(self, scores, dtype, slack=0.0):
        others = np.logaddexp(log_sums_of_others(scores), self.background)
        return odds(scores, others) + rounding_of(scores, dtype, slack)

    def counts(self, Q, within, beyond=None):
        """For each query and class c the number (m, C) of points, each with its weight, whose log odds are at most
        ``limits(Q)[:, c]`` once (q, c) is among them; `within` its own class if true.

        With `beyond`, a number or one for each class, only whether it is exceeded has to be right.
        """
        limits, unchanged = self.limits(Q), odds(self.own, self.others)
        out = np.empty(limits.shape)
        for c, limit in enumerate(limits.T):
            among = self.codes == c if within else slice(None)
            out[:, c] = counter(unchanged[among], self.weights[among])(limit)
        return out

    def number(self, by_class):
        """Of points, each with its weight; (C,) of each class if `by_class`."""
        return np.bincount(self.codes, self.weights, self.scores.shape[1]) if by_class else self.weights.sum()


def conformal_p_values(points, Q, by_class):
    """(m, C): share of the points that conform no better than a query of that class, itself included.

    Conformity is the log odds of a point's own class, against the other classes and the background, by all other
    points.
    """
    return (points.counts(Q, by_class) + 1) / (points.number(by_class) + 1)


def conformal_sets(points, Q, by_class, error):
    """(m, C): whether that share is greater than `error`. Counts that are decided are not finished."""
    beyond = error * (points.number(by_class) + 1) - 1
    return points.counts(Q, by_class, beyond) > beyond


def rounding_of(scores, dtype, slack=0.0):
    """What logarithmic scores may be off by, at least `slack` of them."""
    return max(64 * np.finfo(dtype).eps, slack) * np.maximum(1.0, np.where(np.isfinite(scores), np.abs(scores), 0.0))


def slack_of(alpha):
    """Share of log odds by which the inverse of a kernel matrix plus alpha may miss a tie."""
    return max(1e-9, 64 * np.finfo(np.float64).eps / alpha)


def odds(own, others):
    """``own - others``; where neither class is in reach, -inf."""
    with np.errstate(invalid="ignore"):
        found = own - others
    return np.fmax(found, -np.inf, out=found)


def complete(Q):
    """Queries, or an error if they lack values."""
    if is_incomplete(Q):
        raise ValueError(
            "X lacks values. Prediction sets compare queries with training points, and these lack none: complete "
            "the values before fit and here, for example with scikit-learn's SimpleImputer."
        )
    return Q


def counter(values, weights):
    """Function of limits: how many points, each with its weight, have values of at most these."""
    order = np.argsort(values)
    values, total = values[order], np.append(0.0, np.cumsum(weights[order]))
    return lambda limits: total[np.searchsorted(values, limits, side="right")]


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


class ClassSums(LeaveOneOut):
    """Points whose scores are log class sums of (weighted) kernels, each class at its bandwidth.

    Whatever the rule of the expansion, a class has its share in the data: norms and given priors do not enter. With
    weights 1/f those of the training points are as fitted, and that of a query as if it had been among them. A
    point is left out with all its weight and, if there are `groups`, (n,) integers from 0, with the other points of its
    group. A group weighs one on average, and so does a query.
    """

    def __init__(self, expansion, groups=None):
        points, kernel = expansion.points, expansion.kernel
        rows = np.arange(len(points.X))
        left_out = {"exclude_self": rows} if groups is None else {"exclude_groups": (groups, groups)}
        counts = np.ones(len(rows)) if points.weights is None else points.weights
        mean = counts.sum() / (len(rows) if groups is None else groups.max() + 1)  # weight of a group, and of a query
        columns = points.weights
        if expansion.rule.weighting is not None:
            columns = expansion.columns if expansion.columns.ndim == 1 else expansion.columns[:, 0].copy()
        widths, log_volume = log_volumes(expansion.bandwidth, points.n_classes, points.X.shape[1])
        sums = kernel_sums(
            points.X,
            points.X,
            weights=columns,
            labels=points.codes,
            n_labels=points.n_classes,
            kernel=kernel,
            bandwidth=widths[None],
            log=True,
            n_jobs=points.n_jobs,
            **left_out,
        )
        scores = sums.reshape(len(rows), -1).astype(np.float64) + log_volume
        by_class = np.argsort(points.codes, kind="stable")
        super().__init__(
            points.codes[by_class], counts[by_class] / mean, scores[by_class], self._of_queries, np.argsort(by_class)
        )
        self.log_mean = np.log(mean)
        vars(self).update(expansion=expansion, columns=columns, widths=widths, log_volume=log_volume)
        with np.errstate(divide="ignore"):
            log_columns = np.zeros(len(rows)) if columns is None else np.log(columns[by_class])
        vars(self).update(X=points.X[by_class], log_columns=log_columns)

    def _sums(self, Q, columns):
        points = self.expansion.points
        shape = dict(kernel=self.expansion.kernel, bandwidth=self.widths)
        return points.class_log_sums(Q, columns, **shape)[..., 0] + self.log_volume

    def _of_queries(self, Q):
        return self._sums(complete(Q), self.columns)

    def _log_weights(self, Q):
        """log of the weight that each query has as a training point."""
        points, rule = self.expansion.points, self.expansion.rule
        if rule.weighting is None:
            return np.full(len(Q), self.log_mean)
        sums = np.logaddexp.reduce(self._sums(Q, points.weights), axis=1)
        log_density = np.logaddexp(sums, self.log_mean) - np.log(points.class_weight.sum() + np.exp(self.log_mean))
        return (-log_density if rule.weighting == "inverse" else -log_density / 2) + self.log_mean

    @cached_property
    def tiles(self):
        """The points as `Tile`, each of one class and of similar log odds."""
        plain = (np.abs(self.own) < PLAIN) & (np.abs(self.others) < PLAIN)
        order = np.lexsort((odds(self.own, self.others), plain, self.codes))
        borders = np.flatnonzero(np.diff(self.codes[order]) | np.diff(plain[order])) + 1
        return [
            Tile(self, rows[start : start + TILE])
            for rows in np.split(order, borders)
            for start in range(0, len(rows), TILE)
        ]

    def counts(self, Q, within, beyond=None):
        scores, queries = self.queries(Q), Q.astype(np.float64)
        limits, log_sums = self._limits_at(scores, Q.dtype), scores + rounding_of(scores, Q.dtype) - self.log_volume
        added = self._log_weights(Q)[:, None] + self.log_volume
        certain, possible = np.zeros(scores.shape), np.zeros(scores.shape)
        steps = [step for step in product(self.tiles, np.unique(self.widths)) if len(self._classes(*step, within))]

        def ranges(tile, width, rows):
            classes = self._classes(tile, width, within)
            greatest = added[rows, classes[0]]
            if width <= self.widths[tile.label] and not self.expansion.points.tolerance:
                # a kernel value is at most the sum that it is part of
                greatest = greatest + np.minimum(0.0, log_sums[rows, tile.label] - tile.least_log_column)
            return classes, *tile.range(greatest, classes)

        for tile, width in steps:
            classes, least, most = ranges(tile, width, slice(None))
            certain[:, classes] += tile.weight * (limits[:, classes] >= most)
            possible[:, classes] += tile.weight * (limits[:, classes] >= least)
        for tile, width in steps:
            asked = certain < possible if beyond is None else (certain <= beyond) & (possible > beyond)
            classes = self._classes(tile, width, within)
            rows = np.flatnonzero(asked[:, classes].any(axis=1))
            if not len(rows):
                continue
            classes, least, most = ranges(tile, width, rows)
            here = np.ix_(rows, classes) if len(classes) < len(self.widths) else rows
            limit = limits[here]
            asked = asked[here] & (limit >= least) & (limit < most)
            found = tile.counts(queries[rows], added[rows, classes[0]], limit, classes, width, asked)
            certain[here] += found
            possible[here] -= tile.weight * asked - found
        return certain

    def _classes(self, tile, width, within):
        """Classes of queries that are seen at this width, and compared with the tile."""
        return np.flatnonzero((self.widths == width) & (not within or np.arange(len(self.widths)) == tile.label))


class Tile:
    """Some points of `ClassSums`, all of one class, and how many of them conform no better than a query.

    With a the sum of a point's class, b that of the others and k the query's kernel value, the odds of the point's
    class are ``a / (b + k)`` once the query is of another class, ``(a + k) / b`` if it is of the same: one quotient for
    all other classes, and one comparison for each; in logarithms if numbers might not hold a or b.
    """

    def __init__(self, points, rows):
        self.label, self.kernel = points.codes[rows[0]], points.expansion.kernel
        self.X, self.weights = points.X[rows].astype(np.float64), points.weights[rows]
        self.own, self.others = points.own[rows], points.others[rows]
        self.odds, self.least_log_column = odds(self.own, self.others), points.log_columns[rows].min()
        self.plain = bool(max(np.abs(self.own).max(), np.abs(self.others).max()) < PLAIN)
        self.weight = self.weights.sum()
        self.counts_alike = bool(np.all(self.weights == 1))

    def range(self, greatest, classes):
        """Between which log odds (m, k) the points are, once queries (m,) are of the classes (k,).

        The kernel values of the queries with any of the points are at most `greatest`.
        """
        lowest, highest = self.odds.min(), self.odds.max()
        greatest = np.maximum(greatest, np.finfo(np.float64).min)  # of no point: a number, whose differences are
        least = -np.logaddexp(-lowest, greatest - self.own.min())
        most = np.logaddexp(highest, greatest - self.others.min())
        same = classes == self.label
        return np.where(same, lowest, least[:, None]), np.where(same, most[:, None], highest)

    def counts(self, Q, log_weights, limits, classes, width, asked):
        """How many of the points have log odds of at most limits (m, k), where `asked`, once queries of these weights
        (m,) are of the classes (k,)."""
        out = np.zeros(limits.shape)
        some_asked = np.flatnonzero(asked.any(axis=1))
        for some in blocks(len(some_asked), 16 * len(self.X), CACHE_BYTES):
            rows = some_asked[some]
            conforms_less = self._compared(Q[rows], log_weights[rows], width)
            for j, c in enumerate(classes):
                which = np.flatnonzero(asked[rows, j])
                if 3 * len(which) > 2 * len(rows):  # it is faster to compare all than to copy most
                    which = slice(None)
                if len(rows[which]):
                    out[rows[which], j] = self._count(conforms_less(c == self.label, which, limits[rows[which], j]))
        out[~asked] = 0
        return out

    def _compared(self, Q, log_weights, width):
        """Function of whether queries are of the points' class, which of Q (k,), and limits (k,): (k, points) bool."""
        if not self.plain or np.abs(log_weights).max() > PLAIN:
            k = log_kernel(Q, self.X, self.kernel, width) + log_weights[:, None]

            @cache
            def log_odds(same):
                if same:
                    return odds(log_sum(np.broadcast_to(self.own, k.shape), k), self.others)
                return odds(self.own, log_sum(np.broadcast_to(self.others, k.shape), k))

            return lambda same, which, limits: log_odds(same)[which] <= limits[:, None]
        k = kernel_matrix(Q, self.X, kernel=self.kernel, bandwidth=width, n_jobs=1)
        if log_weights.any():
            k *= np.exp(log_weights)[:, None]

        @cache
        def against():
            found = k * np.exp(-self.own)
            found += np.exp(-self.odds)
            return found

        def compared(same, which, limits):
            with np.errstate(over="ignore"):
                border = np.exp(limits if same else -limits)[:, None]
            if not same:
                return against()[which] >= border
            found = k[which] + np.exp(self.own)
            found *= np.exp(-self.others)
            return found <= border

        return compared

    def _count(self, below):
        if self.counts_alike:
            return np.add.reduce(below, axis=1, dtype=np.uint8)
        return below @ self.weights


def without_class_sums(estimator):
    """Why an estimator has no `ClassSums` of its `_model`; None if it has."""
    model = vars(estimator).get("_model")
    if model is not None and not model.by_class:
        return "leaving out a point changes the eigenvectors; with n_components='all' and class means there are none."
    if model is not None and model.points.given is not None:
        return "training points that lack values are completed by their own class; complete them before fit."
    return None
