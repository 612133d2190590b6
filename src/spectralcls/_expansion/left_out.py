"""Scores of each training point by all others, from which label quality, p-values and prediction sets are computed."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._utils.cached import cached_property
from .._utils.quantile import weighted_quantile
from .held_out import log_sums_of_others
from .points import blocks

# If more than this many classes per query are undecided on average, bounds for each class and bounds from a pass over
# the points save time. A threshold of 2 is as fast; .5 and 9 are slower.
OFTEN = 0.9
STEPS = 0.05, 0.2  # distances in log odds at which Markov's inequality is applied: .03 to .3 work equally well
PAIRS = 1 << 17  # queries times undecided points per block; 2^16 to 2^18 take the same time within 15 %
BACKGROUND = 0.02  # fraction of training points for which the background's score exceeds that of their own class
JOINT_BYTES = 1 << 23  # memory for a block of queries


class Change(NamedTuple):
    """How the scores of the points change when a query joins them.

    Attributes
    ----------
    bounds : callable
        ``bounds(rows, c, points)`` returns lower and upper bounds of the points' log odds, valid after any one of the
        queries `rows` joins class c (or any class, if c is None).
    conform_less : callable
        ``conform_less(rows, c, points)`` returns, for each query, the total weight of the points whose log odds are at
        most the query's limit after the query joins class c.
    reach : (m,)
        Logarithm of the largest change that a query causes. Queries are grouped by it, because a group shares bounds.
    moves : callable or None
        ``moves(rows)`` returns (2, rows, C), for each class that a query may join: the weighted sum, over the points of
        the class, of the relative increases of their odds; and the sum, over all other points, of the relative
        increases of their inverse odds. Upper bounds of these sums suffice.
    """

    bounds: Callable
    conform_less: Callable
    reach: np.ndarray
    moves: Callable | None = None


class LeftOut:
    """Scores of every training point by the others, and the rank of a query among the points.

    A class suits a query if its log odds, against the other classes and a background, are not among the lowest log odds
    of the points' own classes. In this base class, the query does not change the points' scores. For full conformal
    prediction, in which the query joins the points, a subclass overrides `joined`.

    Parameters
    ----------
    codes : (n,) class of each point
    weights : (n,) multiplicity of each point
    scores : (n, C) logarithmic scores by the other points
    queries : callable, from coordinates (m, d) to scores (m, C) by all points
    order : (n_samples,) index of each training sample's point; None if samples and points are identical
    """

    def __init__(self, codes, weights, scores, queries=None, order=None):
        self.codes, self.weights, self.scores, self.order = codes, weights, scores, order
        self._scores_of = queries

    @cached_property
    def own(self):
        """Score of each point's own class, (n,)."""
        return self.scores[np.arange(len(self.codes)), self.codes]

    @cached_property
    def background(self):
        """Constant score of the background class "none of these", which exceeds the own class's score of few points."""
        reached = np.isfinite(self.own)
        if not reached.any():
            return -np.inf
        return float(weighted_quantile(self.own[reached], BACKGROUND, self.weights[reached]))

    @cached_property
    def others(self):
        """log of the sum over all classes but a point's own, plus the background, (n,)."""
        others = self.scores.copy()
        others[np.arange(len(self.codes)), self.codes] = self.background
        return np.logaddexp.reduce(others, axis=1)

    @cached_property
    def odds(self):
        """Log odds of each point's own class, (n,)."""
        return odds(self.own, self.others)

    @property
    def _numbers_of_a_query(self):
        return self.scores.shape[1]

    def limits(self, scores, dtype, slack=0.0):
        """Log odds (m, C) of the classes for queries with these scores, plus a bound on rounding errors, so that points
        with equal log odds count as no better.
        """
        others = np.logaddexp(log_sums_of_others(scores), self.background)
        return odds(scores, others) + rounding_of(scores, dtype, slack)

    def joined(self, Q):
        """The `limits` (m, C) of queries; and the `Change` of the points' scores when a query joins them, or None if
        their scores stay the same.
        """
        return self.limits(self._scores_of(Q), Q.dtype), None

    def counts(self, Q, within, beyond=None):
        """For each query and class c, the total weight (m, C) of the points, or of those in class c if `within`, whose
        log odds are at most the query's after the query joins class c.

        If `beyond` is given, a number or one per class, a count need not be exact, but lies on the correct side of it.
        """
        n_classes = self.scores.shape[1]
        beyond = np.broadcast_to(np.nan if beyond is None else beyond, n_classes)
        of_class = [np.flatnonzero(self.codes == c) for c in range(n_classes)] if within else None

        def counted(odds, limits):
            if not within:
                return counter(odds, self.weights)(limits)
            each = zip(of_class, limits.T, strict=True)
            return np.stack([counter(odds[own], self.weights[own])(limit) for own, limit in each], axis=1)

        out = np.empty((len(Q), n_classes))
        for block in blocks(len(Q), 8 * self._numbers_of_a_query, JOINT_BYTES):
            limits, change = self.joined(Q[block])
            if change is None:
                out[block] = counted(self.odds, limits)
                continue
            least, most = change.bounds(slice(None), None, slice(None))
            certain, possible = counted(most, limits), counted(self.odds if within else least, limits)
            asked = undecided(certain, possible, beyond)
            if within and asked.sum() > OFTEN * len(asked):  # bounds for one class are tighter
                for c in np.flatnonzero(asked.any(axis=0)):
                    rows, weights = np.flatnonzero(asked[:, c]), self.weights[of_class[c]]
                    least, most = change.bounds(rows, c, of_class[c])
                    certain[rows, c] = counter(most, weights)(limits[rows, c])
                    possible[rows, c] = counter(least, weights)(limits[rows, c])
                asked = undecided(certain, possible, beyond)
            some = np.flatnonzero(asked.any(axis=1))
            moved = None
            if change.moves is not None and asked.sum() > OFTEN * len(asked) and not np.isnan(beyond).any():
                moved = np.zeros((2, *limits.shape))
                moved[:, some] = change.moves(some)
            for c in np.flatnonzero(asked.any(axis=0)):
                points = of_class[c] if within else np.arange(len(self.codes))
                rows = np.flatnonzero(asked[:, c])
                if moved is not None:
                    rows = self._undecided(certain[:, c], rows, limits[:, c], points, moved[:, :, c], beyond[c])
                if len(rows):
                    self._finish(certain[:, c], rows, limits[:, c], c, points, 0.0, change, beyond[c])
            out[block] = certain
        return out

    def _undecided(self, counts, rows, limits, points, moved, beyond):
        """Fill in the counts that Markov's inequality decides, and return the other queries.

        If the log odds of a point are `step` away from a limit, they reach it only if the odds, or their inverse, rise
        by the fraction ``exp(step) - 1``. The sums of these fractions, over points with rising and with falling odds,
        are known.
        """
        rise, fall = moved[:, rows]
        rank = counter(self.odds[points], self.weights[points])
        least, most = np.zeros(len(rows)), np.full(len(rows), np.inf)
        for step in STEPS:
            least = np.maximum(least, rank(limits[rows] - step) - rise / np.expm1(step))
            most = np.minimum(most, rank(limits[rows] + step) + fall / np.expm1(step))
        counts[rows] = np.maximum(counts[rows], least)
        return rows[(least <= beyond) & (most > beyond)]

    def _finish(self, counts, rows, limits, c, points, certain, change, beyond):
        """Fill in the counts of the queries `rows`: the weight `certain`, plus that of the `points` that conform no
        better than the query.

        Bounds common to all queries decide most points. For the other points, the queries are split in halves, by their
        limits or by the largest changes that they cause, whichever have the wider range.
        """
        own = limits[rows]
        least, most = change.bounds(rows, c, points)
        below = most <= own.min()
        certain += self.weights[points[below]].sum()
        points = points[~below & (least <= own.max())]
        counts[rows], weights = certain, self.weights[points]
        if not len(points) or certain > beyond or certain + weights.sum() <= beyond:
            return
        if len(rows) * len(points) <= PAIRS or len(rows) == 1:
            counts[rows] += change.conform_less(rows, c, points)
            return
        with np.errstate(invalid="ignore"):  # -inf for queries out of reach
            side = max(own, change.reach[rows], key=np.ptp)
        for half in np.array_split(rows[np.argsort(side)], 2):
            self._finish(counts, half, limits, c, points, certain, change, beyond)

    @cached_property
    def _alike(self):
        return bool(np.all(self.weights == 1))

    def weight_of(self, chosen, points):
        """Total weight of the points that each query selects, from bools (m, points)."""
        return np.count_nonzero(chosen, axis=1) if self._alike else chosen @ self.weights[points]

    def number(self, by_class):
        """Total weight of the points, or that of each class, (C,), if `by_class`."""
        return np.bincount(self.codes, self.weights, self.scores.shape[1]) if by_class else self.weights.sum()

    def p_values(self, Q, by_class):
        """For each query and class, the fraction (m, C) of the points, including the query, that conform no better than
        the query would in this class.
        """
        return np.minimum((self.counts(Q, by_class) + 1) / (self.number(by_class) + 1), 1.0)  # may exceed 1 by rounding

    def sets(self, Q, by_class, error):
        """Whether the `p_values` exceed `error`, (m, C). Counting stops as soon as this is decided."""
        beyond = error * (self.number(by_class) + 1) - 1
        return self.counts(Q, by_class, beyond) > beyond


def rounding_of(scores, dtype, slack=0.0):
    """Bound on the rounding errors of logarithmic scores: 64 eps (or `slack`, if larger) times their absolute values,
    which count as at least 1.
    """
    return max(64 * np.finfo(dtype).eps, slack) * np.maximum(1.0, np.where(np.isfinite(scores), np.abs(scores), 0.0))


def odds(own, others):
    """``own - others``; -inf if both are -inf."""
    with np.errstate(invalid="ignore"):
        found = own - others
    return np.fmax(found, -np.inf, out=found)


def undecided(certain, possible, beyond):
    """Mask of the counts that may lie on either side of `beyond`; if it is NaN, of those whose bounds differ."""
    return (certain < possible) & ~(certain > beyond) & ~(possible <= beyond)


def counter(values, weights):
    """A function that returns, for each limit, the total weight of the points whose value is at most the limit."""
    order = np.argsort(values)
    values, total = values[order], np.append(0.0, np.cumsum(weights[order]))
    return lambda limits: total[np.searchsorted(values, limits, side="right")]
