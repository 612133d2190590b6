"""Intervals by the jackknife+: what a regression without each sample says of a query, for all samples at once."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._expansion.points import blocks


class Jackknife(NamedTuple):
    """The training samples, and how far each is from what the others say of it.

    Attributes
    ----------
    ratios : (n, k) absolute residuals by the others, over what is usual at their places
    weights : (n,) of the samples
    changes : callable, from queries (m, d) and predictions (m, k) to (m, n, k): what leaving out each sample adds
    sizes : callable, from queries (m, d) to (m, k): residuals that are usual at their places
    numbers : how many a query takes while it is at work
    """

    ratios: np.ndarray
    weights: np.ndarray
    changes: Callable
    sizes: Callable
    numbers: int

    @classmethod
    def of_ridge(cls, smoother, residuals, weights):
        """That of a kernel ridge regression, from its `Smoother` and the residuals (n, k) by the others.

        A query takes n^2 multiply-adds. Residuals are as large everywhere.
        """
        return cls(
            np.abs(residuals),
            weights,
            lambda Q, predicted: -smoother(Q)[..., None] * residuals,
            lambda Q: np.ones((len(Q), residuals.shape[1])),
            3 * residuals.size,
        )

    def ends(self, Q, predicted, coverage):
        """(m, k, 2) of intervals around predictions (m, k)."""
        out, sizes = np.empty((*predicted.shape, 2)), self.sizes(Q)
        for rows in blocks(len(Q), 8 * self.numbers):
            changes = self.changes(Q[rows], predicted[rows])
            for j in range(predicted.shape[1]):
                centers, reach = predicted[rows, j, None] + changes[..., j], sizes[rows, j, None] * self.ratios[:, j]
                out[rows, j, 0] = -_upper(reach - centers, self.weights, coverage)
                out[rows, j, 1] = _upper(centers + reach, self.weights, coverage)
        out[..., 0] = np.minimum(out[..., 0], predicted)
        out[..., 1] = np.maximum(out[..., 1], predicted)
        return out


def unit_of(weights):
    """Weight of one sample more, such that a number of equal ones counts as many."""
    return weights @ weights / weights.sum()


def _upper(values, weights, coverage):
    """The value (m,) that a further one does not exceed with the probability `coverage`; infinite of too few."""
    n, unit = len(weights), unit_of(weights)
    if np.ptp(weights) == 0:
        place = int(np.ceil(coverage * (n + 1) * (1 - 1e-12))) - 1
        return np.partition(values, place, axis=1)[:, place] if place < n else np.full(len(values), np.inf)
    order = np.argsort(values, axis=1)
    enough = np.cumsum(weights[order], axis=1) >= coverage * (weights.sum() + unit) * (1 - 1e-12)
    found = np.take_along_axis(values, np.take_along_axis(order, enough.argmax(axis=1)[:, None], axis=1), axis=1)[:, 0]
    return np.where(enough.any(axis=1), found, np.inf)
