"""Scores of training points by all others, and what one more point changes: the ground of conformal prediction."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

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
TILE = 255  # points that a byte can count
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
    def rest(self):
        """log of the sum over all classes but a point's own and c, (n, C); the background is one of them."""
        others = self.scores.copy()
        others[np.arange(len(self.codes)), self.codes] = -np.inf
        return np.logaddexp(log_sums_of_others(others), self.background)

    @cached_property
    def others(self):
        """log of the sum over all classes but a point's own, (n,)."""
        return self.rest[np.arange(len(self.codes)), self.codes]

    def log_odds(self, scores):
        """Log odds (n,) of the points' own classes, against the others and the background, at scores (n, C)."""
        rows = np.arange(len(self.codes))
        others = scores.copy()
        others[rows, self.codes] = self.background
        return odds(scores[rows, self.codes], np.logaddexp.reduce(others, axis=1))

    def limits(self, Q):
        """Log odds (m, C) of each class for queries, and what ties to rounding may exceed them by."""
        scores = self.queries(Q)
        others = np.logaddexp(log_sums_of_others(scores), self.background)
        slack = 64 * np.finfo(Q.dtype).eps * np.maximum(1.0, np.where(np.isfinite(scores), np.abs(scores), 0.0))
        return odds(scores, others) + slack

    def counts(self, Q, limits, within):
        """For each query and class c the number (m, C) of points, each with its weight, whose log odds are at most
        ``limits[:, c]`` once (q, c) is among them; `within` its own class if true."""
        out = np.empty(limits.shape)
        weights = None if np.all(self.weights == 1) else self.weights
        for rows in blocks(len(Q), 8 * len(self.codes), CACHE_BYTES):
            for c, found in enumerate(self.added(Q[rows])):
                own = np.flatnonzero(self.codes == c) if within else slice(None)
                below = found[:, own] <= limits[rows, c, None]
                out[rows, c] = np.count_nonzero(below, axis=1) if weights is None else below @ weights[own]
        return out

    def added(self, Q):
        """For each class c the log odds (m, n) of the points' own classes once (q, c) is among them.

        What is yielded is overwritten in the next step.
        """
        for _ in self.scores.T:
            yield np.broadcast_to(odds(self.own, self.others), (len(Q), len(self.own)))

    def replaced(self, c, scores):
        """These log odds, if only the scores of class c change, to `scores` (m, n)."""
        return odds(
            np.where(self.codes == c, scores, self.own),
            np.where(self.codes == c, self.others, log_sum(self.rest[:, c], scores)),
        )


def conformal_p_values(points, Q, by_class):
    """(m, C): share of the points that conform no better than a query of that class, itself included.

    Conformity is the log odds of a point's own class, against the other classes and the background, by all other
    points.
    """
    counts = points.counts(Q, points.limits(Q), by_class)
    n = np.bincount(points.codes, points.weights, counts.shape[1]) if by_class else points.weights.sum()
    return (counts + 1) / (n + 1)


def odds(own, others):
    """``own - others``; where neither class is in reach, -inf."""
    with np.errstate(invalid="ignore"):
        found = own - others
    return np.fmax(found, -np.inf, out=found)


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
    weight of k counts as k points, of which one is left out.
    """

    def __init__(self, expansion):
        points, kernel = expansion.points, expansion.kernel
        rows = np.arange(len(points.X))
        counts = np.ones(len(rows)) if points.weights is None else points.weights * points.weight_scale
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
            exclude_self=rows,
            n_jobs=points.n_jobs,
        )
        scores = sums.reshape(len(rows), -1).astype(np.float64) + log_volume
        with np.errstate(divide="ignore"):
            copies = np.log(np.maximum(counts - 1, 0) / counts * (1.0 if columns is None else columns))
        scores[rows, points.codes] = np.logaddexp(scores[rows, points.codes], copies + log_volume[points.codes])
        by_class = np.argsort(points.codes, kind="stable")
        super().__init__(
            points.codes[by_class], counts[by_class], scores[by_class], self._of_queries, np.argsort(by_class)
        )
        vars(self).update(expansion=expansion, columns=columns, widths=widths, log_volume=log_volume)
        vars(self).update(X=points.X[by_class], ends=np.cumsum(np.bincount(self.codes, minlength=points.n_classes)))

    def _sums(self, Q, columns):
        points = self.expansion.points
        shape = dict(kernel=self.expansion.kernel, bandwidth=self.widths)
        return points.class_log_sums(Q, columns, **shape)[..., 0] + self.log_volume

    def _of_queries(self, Q):
        if is_incomplete(Q):
            raise ValueError(
                "X lacks values. Prediction sets compare queries with training points, and these lack none: complete "
                "the values before fit and here, for example with scikit-learn's SimpleImputer."
            )
        return self._sums(Q, self.columns)

    def _log_weights(self, Q):
        """log of the weight that each query has as a training point."""
        points, rule = self.expansion.points, self.expansion.rule
        if rule.weighting is None:
            return np.full(len(Q), -np.log(points.weight_scale))
        sums = np.logaddexp.reduce(self._sums(Q, points.weights), axis=1)
        log_density = np.logaddexp(sums, -np.log(points.weight_scale))
        log_density -= np.log(points.class_weight.sum() + 1 / points.weight_scale)
        return (-log_density if rule.weighting == "inverse" else -log_density / 2) - np.log(points.weight_scale)

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

    def counts(self, Q, limits, within):
        out, log_weights, queries = np.zeros(limits.shape), self._log_weights(Q), Q.astype(np.float64)
        for width in np.unique(self.widths):
            classes = np.flatnonzero(self.widths == width)
            log_weight = log_weights + self.log_volume[classes[0]]
            for tile in self.tiles:
                concerned = [c for c in classes if c == tile.label or not within]
                tile.add_counts(queries, log_weight, limits, concerned, width, out)
        return out


class Tile:
    """Some points of `ClassSums`, all of one class, and how many of them conform no better than a query.

    With a the sum of a point's class, b that of the others and k the query's kernel value, the odds of the point's
    class are ``a / (b + k)`` once the query is of another class, ``(a + k) / b`` if it is of the same: one quotient for
    all other classes, and one comparison for each; in logarithms if numbers might not hold a or b.
    """

    def __init__(self, points, rows):
        self.label, self.kernel = points.codes[rows[0]], points.expansion.kernel
        self.X, self.weights = points.X[rows].astype(np.float64), points.weights[rows]
        self.own, self.others = points.own[rows, None], points.others[rows, None]
        self.plain = bool(max(np.abs(self.own).max(), np.abs(self.others).max()) < PLAIN)
        self.counts_alike = bool(np.all(self.weights == 1))

    def add_counts(self, Q, log_weights, limits, classes, width, out):
        """Add to the columns `classes` of `out` (m, C) for queries Q of these weights."""
        greatest, undecided = log_weights.max(), {}
        for c in classes:
            least, most = self._range(c, greatest)
            out[limits[:, c] >= most, c] += self.weights.sum()
            undecided[c] = (limits[:, c] >= least) & (limits[:, c] < most)
        asked = np.flatnonzero(np.any([*undecided.values()], axis=0)) if classes else ()
        for some in blocks(len(asked), 8 * len(self.X), CACHE_BYTES // 2):
            rows = asked[some]
            conforms_less = self._compared(Q[rows], log_weights[rows], width)
            for c, open_ in undecided.items():
                which = open_[rows]
                if which.any():
                    below = conforms_less(c == self.label, limits[rows, c])
                    out[rows[which], c] += self._count(below)[which]

    def _range(self, c, log_kernel):
        """Between which log odds the points are, once a query of class c is anywhere; its kernel is at most this."""
        if c == self.label:
            return odds(self.own, self.others).min(), odds(np.logaddexp(self.own, log_kernel), self.others).max()
        return odds(self.own, np.logaddexp(self.others, log_kernel)).min(), odds(self.own, self.others).max()

    def _compared(self, Q, log_weights, width):
        """Function of whether the queries are of the points' class, and of limits (m,): (points, m) bool."""
        if not self.plain or np.abs(log_weights).max() > PLAIN:
            k = log_kernel(self.X, Q, self.kernel, width) + log_weights

            @cache
            def log_odds(same):
                if same:
                    return odds(log_sum(np.broadcast_to(self.own, k.shape), k), self.others)
                return odds(self.own, log_sum(np.broadcast_to(self.others, k.shape), k))

            return lambda same, limits: log_odds(same) <= limits
        k = kernel_matrix(self.X, Q, kernel=self.kernel, bandwidth=width, n_jobs=1)
        if log_weights.any():
            k *= np.exp(log_weights)
        a, b = np.exp(self.own), np.exp(self.others)

        @cache
        def odds_or_against(same):
            """Those of the point's class if the query is of it; otherwise those against it."""
            found = k + (a if same else b)
            found /= b if same else a
            return found

        def compared(same, limits):
            with np.errstate(over="ignore"):
                border = np.exp(limits if same else -limits)
            return odds_or_against(same) <= border if same else odds_or_against(same) >= border

        return compared

    def _count(self, below):
        if self.counts_alike:
            return np.add.reduce(below, axis=0, dtype=np.uint8)
        return self.weights @ below


def without_class_sums(estimator):
    """Why an estimator has no `ClassSums` of its `_model`; None if it has."""
    model = vars(estimator).get("_model")
    if model is not None and not model.by_class:
        return "leaving out a point changes the eigenvectors; with n_components='all' and class means there are none."
    if model is not None and model.points.given is not None:
        return "training points that lack values are completed by their own class; complete them before fit."
    return None
