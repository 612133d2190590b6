"""Scores of each training point by all others, from which label quality, p-values and prediction sets are computed."""

import numpy as np

from .._core import compiled
from .._expansion.points import class_rows
from .._utils.cached import cached_property
from .._utils.quantile import weighted_quantile

BACKGROUND = 0.02  # fraction of training points for which the background's score exceeds that of their own class


class LeftOut:
    """Scores of every training point by the others, and the rank of a query among the points.

    A class suits a query if its log odds, against the other classes and a background, are not among the lowest log odds
    of the points' own classes. In this base class, the query does not change the points' scores. For full conformal
    prediction, in which the query joins the points, a subclass overrides `counts`.

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

    def limits(self, scores, dtype, slack=0.0):
        """Log odds (m, C) of the classes for queries with these scores, plus a bound on rounding errors, so that points
        with equal log odds count as no better.
        """
        scores = np.ascontiguousarray(scores, dtype=np.float64)
        return compiled.log_odds(scores, self.background, rounding_of(dtype, slack))

    def counts(self, Q, within, beyond=None):
        """For each query and class c, the total weight (m, C) of the points, or of those in class c if `within`, whose
        log odds are at most the query's after the query joins class c.

        If `beyond` is given, a number or one per class, a count need not be exact, but lies on the correct side of it.
        """
        return self.ranks(self.odds, self.limits(self._scores_of(Q), Q.dtype), within)

    def ranks(self, odds, limits, within):
        """The total weight (m, C) of the points, or of those in each class if `within`, with odds at most `limits`."""
        if not within:
            return counter(odds, self.weights)(limits)
        of_class = class_rows(self.codes, self.scores.shape[1])
        each = zip(of_class, limits.T, strict=True)
        return np.stack([counter(odds[own], self.weights[own])(limit) for own, limit in each], axis=1)

    def number(self, by_class):
        """Total weight of the points, or that of each class, (C,), if `by_class`."""
        return np.bincount(self.codes, self.weights, self.scores.shape[1]) if by_class else self.weights.sum()

    def p_values(self, Q, by_class):
        """For each query and class, the fraction (m, C) of the points, including the query, that conform no better than
        the query would in this class.
        """
        return np.minimum((self.counts(Q, by_class) + 1) / (self.number(by_class) + 1), 1.0)  # may exceed 1 by rounding

    def support(self):
        """Share (n,) of each point's own class in the sum of its scores."""
        with np.errstate(invalid="ignore"):
            return np.exp(self.own - np.logaddexp.reduce(self.scores, axis=1))

    def sets(self, Q, by_class, error):
        """Whether the `p_values` exceed `error`, (m, C). Counting stops as soon as this is decided."""
        beyond = error * (self.number(by_class) + 1) - 1
        return self.counts(Q, by_class, beyond) > beyond


def rounding_of(dtype, slack=0.0):
    """Bound on the relative rounding errors of logarithmic scores: 64 eps, or `slack` if larger."""
    return max(64 * float(np.finfo(dtype).eps), slack)


def odds(own, others):
    """``own - others``; -inf if both are -inf."""
    with np.errstate(invalid="ignore"):
        found = own - others
    return np.fmax(found, -np.inf, out=found)


def counter(values, weights):
    """A function that returns, for each limit, the total weight of the points whose value is at most the limit."""
    order = np.argsort(values)
    values, total = values[order], np.append(0.0, np.cumsum(weights[order]))
    return lambda limits: total[np.searchsorted(values, limits, side="right")]
