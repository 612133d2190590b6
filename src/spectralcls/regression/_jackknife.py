"""Jackknife+ intervals: the predictions for each query with every sample left out in turn, all computed at once."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._expansion.points import blocks
from ._local_sizes import SizesByPrediction, unit_of


class Jackknife(NamedTuple):
    """The leave-one-out residuals of the training samples, from which intervals and quantiles are computed.

    Attributes
    ----------
    ratios : (n, k) leave-one-out residuals, divided by their usual local size
    weights : (n,) weights of the samples
    changes : callable, from queries (m, d) and predictions (m, k) to the changes (m, n, k) of the predictions when each
        sample is left out; None for no change
    sizes : callable, from queries (m, d) to their usual residuals (m, k)
    numbers : how many numbers are held in memory per query
    """

    ratios: np.ndarray
    weights: np.ndarray
    changes: Callable | None
    sizes: Callable
    numbers: int

    @classmethod
    def of_ridge(cls, smoother, residuals, weights, by_others=None):
        """The jackknife+ of a kernel ridge regression, from its `Smoother` and the leave-one-out residuals (n, k).

        A query takes n^2 multiply-adds. If the leave-one-out predictions `by_others` (n, k) are given, each residual is
        divided by the usual size of residuals at its prediction, provided that this makes the intervals narrower.
        Otherwise sizes are constant.
        """
        sizes, ratios = lambda Q: np.ones((len(Q), residuals.shape[1])), residuals
        if by_others is not None:
            usual, ratios = SizesByPrediction.of(by_others, residuals, weights)
            targets = by_others + residuals
            sizes = lambda Q: usual(smoother(Q) @ targets)  # noqa: E731
        return cls(ratios, weights, lambda Q, predicted: -smoother(Q)[..., None] * residuals, sizes, 3 * residuals.size)

    @classmethod
    def of_held_out(cls, residuals, weights, known):
        """The jackknife+ of a model, from residuals (n, k) of held-out samples.

        The prediction of the model replaces those of models that leave one sample out. The usual residual is a function
        of the `known` coordinates (n, c), which must also be given for queries.
        """
        usual, ratios = SizesByPrediction.of(known, residuals, weights)
        return cls(ratios, weights, None, usual, 3 * residuals.size)

    def ends(self, Q, predicted, coverage):
        """Ends (m, k, 2) of intervals around the predictions (m, k) at queries."""
        if self.changes is None:
            reach = self.sizes(Q) * _upper(np.abs(self.ratios).T, self.weights, coverage)
            return np.stack([predicted - reach, predicted + reach], axis=-1)
        out = np.empty((*predicted.shape, 2))
        for rows, j, centers, residuals in self._by_output(Q, predicted):
            reach = np.abs(residuals)
            out[rows, j, 0] = -_upper(reach - centers, self.weights, coverage)
            out[rows, j, 1] = _upper(centers + reach, self.weights, coverage)
        out[..., 0] = np.minimum(out[..., 0], predicted)
        out[..., 1] = np.maximum(out[..., 1], predicted)
        return out

    def quantiles(self, Q, predicted, shares):
        """Quantiles (m, k, r) of the targets at queries with predictions (m, k), for probabilities `shares` (r,)."""
        if self.changes is None:
            ratios = np.stack([_quantile(self.ratios.T, self.weights, share) for share in shares], axis=-1)
            return predicted[..., None] + self.sizes(Q)[..., None] * ratios
        out = np.empty((*predicted.shape, len(shares)))
        for rows, j, centers, residuals in self._by_output(Q, predicted):
            for i, share in enumerate(shares):
                out[rows, j, i] = _quantile(centers + residuals, self.weights, share)
        return out

    def _by_output(self, Q, predicted):
        """Yield, for each block of queries and each output, the predictions with each sample left out, and the
        residuals scaled to the usual size at the query, both (m, n).
        """
        sizes = self.sizes(Q)
        for rows in blocks(len(Q), 8 * self.numbers):
            changes = self.changes(Q[rows], predicted[rows])
            for j in range(predicted.shape[1]):
                yield rows, j, predicted[rows, j, None] + changes[..., j], sizes[rows, j, None] * self.ratios[:, j]


def _quantile(values, weights, share):
    """Quantiles (m,): a further value is smaller or equal with probability at least `share`, or at most `share` if this
    is below one half; infinite if there are too few values."""
    upper, lower = _upper(values, weights, share), -_upper(-values, weights, 1 - share)
    return upper if share > 0.5 else lower if share < 0.5 else (lower + upper) / 2


def _upper(values, weights, coverage):
    """Upper ends (m,): a further value is smaller or equal with at least the probability `coverage`; infinite if there
    are too few values."""
    n, unit = len(weights), unit_of(weights)
    if np.ptp(weights) == 0:
        place = int(np.ceil(coverage * (n + 1) * (1 - 1e-12))) - 1
        return np.partition(values, place, axis=1)[:, place] if place < n else np.full(len(values), np.inf)
    order = np.argsort(values, axis=1)
    enough = np.cumsum(weights[order], axis=1) >= coverage * (weights.sum() + unit) * (1 - 1e-12)
    found = np.take_along_axis(values, np.take_along_axis(order, enough.argmax(axis=1)[:, None], axis=1), axis=1)[:, 0]
    return np.where(enough.any(axis=1), found, np.inf)
