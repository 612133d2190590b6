"""Intervals and quantiles of a regression from residuals of left-out units, relative to their usual sizes."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._expansion.points import blocks
from .._utils.validation import within_groups
from .sizes import Sizes

ROUNDING = 1e-12  # relative to the reach of an interval, so that it contains targets at its end


class Residuals(NamedTuple):
    """Residuals of the training samples, each from a model that has not seen its unit.

    Attributes
    ----------
    ratios : (n, k) residuals, divided by their usual sizes
    weights : (n,) weights of the samples
    sizes : callable, from queries to usual sizes (m, k)
    changes : callable, from queries to the changes (m, n, k) of their predictions when the unit of each sample is left
        out (the jackknife+); None for no change
    units : (n,) codes 0, 1, ... of the units; None: each sample is one
    order : (n_samples,) index of each training sample among the samples here; None if they are the same
    """

    ratios: np.ndarray
    weights: np.ndarray
    sizes: Sizes
    changes: Callable | None = None
    units: np.ndarray | None = None
    order: np.ndarray | None = None

    @classmethod
    def of(cls, residuals, weights, X, changes=None, units=None, order=None, **options):
        """From residuals (n, k) at coordinates X; for `options`, see `Sizes`."""
        sizes = Sizes.of(np.abs(residuals), weights, X, units=units, **options)
        weights = within_groups(weights, units)
        return cls(residuals / sizes.of_samples, weights, sizes, changes, units, order)

    @property
    def _of_query(self):
        """The weight of a query among the samples: k equal weights count as k samples."""
        return self.weights @ self.weights / self.weights.sum() if self.units is None else 1.0

    def ends(self, Q, predicted, coverage):
        """Ends (m, k, 2) of intervals at queries with predictions (m, k)."""
        if self.changes is None:
            reach = (1 + ROUNDING) * self.sizes(Q) * self._upper(np.abs(self.ratios).T, [coverage])[:, 0]
            return np.stack([predicted - reach, predicted + reach], axis=-1)
        out = np.empty((*predicted.shape, 2))
        for rows, j, centers, residuals in self._by_output(Q, predicted):
            reach = (1 + ROUNDING) * np.abs(residuals)
            out[rows, j, :1] = -self._upper(reach - centers, [coverage])
            out[rows, j, 1:] = self._upper(centers + reach, [coverage])
        return out

    def quantiles(self, Q, predicted, shares):
        """Quantiles (m, k, r) of the targets at queries with predictions (m, k), for probabilities `shares` (r,)."""
        if self.changes is None:
            return predicted[..., None] + self.sizes(Q)[..., None] * self._quantiles(self.ratios.T, shares)
        out = np.empty((*predicted.shape, len(shares)))
        for rows, j, centers, residuals in self._by_output(Q, predicted):
            out[rows, j] = self._quantiles(centers + residuals, shares)
        return out

    def support(self):
        """Share (n,) of the samples whose residual, relative to its usual size, is at least as large.

        The largest ratio of the outputs counts, each relative to the median of its output.
        """
        sizes = np.abs(self.ratios)
        sizes = (sizes / np.maximum(np.median(sizes, axis=0), np.finfo(np.float64).tiny)).max(axis=1)
        order = np.argsort(sizes)
        below = np.append(0.0, np.cumsum(self.weights[order]))
        return 1 - below[np.searchsorted(sizes[order], sizes)] / below[-1]

    def _by_output(self, Q, predicted):
        """Yield, for each block of queries and each output, the predictions without the unit of each sample, and the
        residuals of the samples at the usual size of the query, both (m, n).
        """
        sizes = self.sizes(Q)
        for rows in blocks(len(Q), 32 * self.ratios.size):
            changes = self.changes(Q[rows])
            for j in range(predicted.shape[1]):
                yield rows, j, predicted[rows, j, None] + changes[..., j], sizes[rows, j, None] * self.ratios[:, j]

    def _quantiles(self, values, shares):
        """Quantiles (m, r) for shares (r,): a further value is smaller or equal with at least this probability, or with
        at most this probability if it is below one half; infinite if there are too few values."""
        shares, out = np.asarray(shares), np.zeros((len(values), len(shares)))
        for sign, tail in ((1, shares >= 0.5), (-1, shares <= 0.5)):
            ends = sign * self._upper(sign * values, np.maximum(shares, 1 - shares)[tail])
            out[:, tail] += np.where(shares[tail] == 0.5, ends / 2, ends)
        return out

    def _upper(self, values, coverages):
        """Upper ends (m, r): a further value is smaller or equal with at least the probabilities `coverages` (r,);
        infinite if there are too few values."""
        weights, n = self.weights, len(self.weights)
        wanted = np.asarray(coverages) * (1 - 1e-12)
        if np.ptp(weights) == 0 and self.units is None:
            places = np.ceil(wanted * (n + 1)).astype(int) - 1
            values = np.partition(values, np.unique(np.minimum(places, n - 1)), axis=1)
        else:
            order = np.argsort(values, axis=1)
            values, reached = np.take_along_axis(values, order, axis=1), np.cumsum(weights[order], axis=1)
            wanted = wanted * (weights.sum() + self._of_query)
            places = np.stack([np.count_nonzero(reached < least, axis=1) for least in wanted], axis=1)
        places = np.broadcast_to(places, (len(values), len(wanted)))
        found = np.take_along_axis(values, np.minimum(places, n - 1), axis=1)
        return np.where(places < n, found, np.inf)
