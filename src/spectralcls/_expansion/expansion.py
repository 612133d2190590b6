"""The fitted form: scores(y) = g(y) (k(y) A) - b, with k(y) the kernel values at the training points."""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from .._inputs.missing import is_incomplete
from .._utils.blocks import in_blocks
from .certified_labels import MANY, certified_labels
from .points import TrainingPoints, nearest_if_lost, over_points
from .rule import Rule


class Sums(NamedTuple):
    """``k(y) A = exp(log_scale) * values`` without under- or overflow, and log f(y)."""

    log_scale: np.ndarray  # (m, C), or (m, 1) if there are values
    values: np.ndarray | None  # (m, C) of either sign; None for ones
    log_density: np.ndarray | None  # (m,); None for g = 1


@dataclass(frozen=True)
class Expansion:
    """A kernel expansion over training points, and the rule that turns it into scores.

    A class mean weights only the points of its class: A is then given by class. `columns` holds one nonnegative weight
    per point, and A is never formed. Otherwise `columns` holds A itself, with entries of either sign.

    Attributes
    ----------
    rule : Rule
    points : TrainingPoints
    kernel : str
    bandwidth : float, or (C,) for the points of each class
    columns : (n, k), or None for ones
        A, by class or in full, followed by the weights of the density f if g(y) = f(y)^-1/2. If several columns of
        weights follow a full A, f is the largest of their sums.
    offsets : (C,) b
    log_scale : (C,) log of the factor that turns class sums into k(y) A. With bandwidths by class it includes the ratio
        of the kernels' normalizing constants.
    by_class : bool
        Whether A is given by class.
    log_share : (C,) log of the factor that turns a class sum of the density's weights into the class's part of f; only
        if A is given by class
    potential_sums : (C,) sums over pairs within classes, from which |m_c|^2 is computed; updated when points are added
    """

    rule: Rule
    points: TrainingPoints
    kernel: str
    bandwidth: float | np.ndarray
    columns: np.ndarray | None
    offsets: np.ndarray
    log_scale: np.ndarray | float = 0.0
    by_class: bool = False
    log_share: np.ndarray | None = None
    potential_sums: np.ndarray | None = None

    @property
    def candidates(self):
        """Mask (C,) of the classes that can win: those of positive prior probability."""
        return np.broadcast_to(self.log_scale, len(self.offsets)) > -np.inf

    def scores(self, Q, **how):
        """Scores (m, C) in float64; the largest wins. `how` are further arguments of `TrainingPoints.class_log_sums`.

        If no kernel reaches a query and the rule compares only sums, the class of the nearest point gets the score 0.
        """
        scores = self._evaluate(Q, partial(self.rule.scores, offsets=self.offsets), len(self.offsets), **how)
        if not self.by_class or self.rule.decision == "distance":
            return scores
        return nearest_if_lost(self.points.X, self.points, scores, Q, self.candidates, self.kernel != "gaussian")

    def labels(self, Q):
        """``scores(Q).argmax(axis=1)``; sums of classes that cannot win are skipped, which changes no label.

        With a tolerance, a label that certainly wins by exact sums need not have the largest approximate score.
        """
        if self.by_class and not in_blocks(self.points.X) and len(Q) >= MANY and not is_incomplete(Q):
            return certified_labels(self, Q)
        return self.scores(Q).argmax(axis=1)

    def log_total(self, Q):
        """log of the sum of k(y) A over the classes, (m,); only if A is given by class."""
        return self._evaluate(Q, _log_total, 0)

    def values(self, Q):
        """g(y) k(y) A, (m, C), without the offsets; 0 if no kernel reaches the query."""
        return self._evaluate(Q, _plain, len(self.offsets))

    def directions(self, Q):
        """`values` with each row multiplied by a positive factor, so that it does not vanish far from all points."""
        return self._evaluate(Q, _unscaled, len(self.offsets))

    def _evaluate(self, Q, finish, width, **how):
        """``finish(Sums)`` for all queries, (m, width) or (m,)."""
        how |= {"kernel": self.kernel, "bandwidth": self.bandwidth}
        if self.by_class:
            sums = partial(TrainingPoints.class_log_sums, **how)
            form = partial(by_class_sums, log_scale=self.log_scale, log_share=self.log_share)
        else:
            sums = partial(TrainingPoints.pairs, log_scale=self.log_scale, **how)
            form = partial(full_sums, n_columns=len(self.offsets))
        finish = partial(_finished, form, finish)
        return over_points(self.points.X, self.points, self.columns, Q, sums, finish, width)


def _finished(form, finish, found, _):
    return finish(form(found))


def by_class_sums(log_sums, log_scale, log_share):
    """`Sums` from logarithms of class sums (m, C, k): column 0 belongs to A, and column 1, if any, to the density."""
    scaled = log_sums[..., 0] + log_scale
    if log_sums.shape[2] == 1:
        return Sums(scaled, None, None)
    return Sums(scaled, None, np.logaddexp.reduce(log_sums[..., 1] + log_share, axis=1))


def full_sums(pair, n_columns):
    """`Sums` from the sums of all columns of a full A, followed by those of the density."""
    log_scale, sums = pair
    values = sums[:, :n_columns]
    if sums.shape[1] == n_columns:
        return Sums(log_scale, values, None)
    density = sums[:, n_columns:].max(axis=1)
    reached = density > 0
    log_density = log_scale[:, 0] + np.log(np.where(reached, density, 1.0))
    # k(y) vanishes faster than f(y)^1/2, so g(y) k(y) A tends to 0
    return Sums(log_scale, np.where(reached[:, None], values, 0.0), log_density)


def _log_total(sums):
    return np.logaddexp.reduce(sums.log_scale, axis=1)


def _unscaled(sums):
    return sums.values


def _plain(sums):
    log_scale, values, log_density = sums
    log_g = 0.0 if log_density is None else -log_density[:, None] / 2
    return np.exp(log_scale + log_g) * values
