"""Intervals and quantiles of a regression from residuals of left-out units, relative to their usual sizes."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._expansion.points import blocks
from .sizes import Sizes


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
        if units is not None:  # a query is one more unit
            weights = weights / np.bincount(units, weights)[units]
        return cls(residuals / sizes.of_samples, weights, sizes, changes, units, order)

    @property
    def _of_query(self):
        """The weight of a query among the samples: k equal weights count as k samples."""
        return self.weights @ self.weights / self.weights.sum() if self.units is None else 1.0

    def ends(self, Q, predicted, coverage):
        """Ends (m, k, 2) of intervals at queries with predictions (m, k)."""
        if self.changes is None:
            reach = self.sizes(Q) * self._upper(np.abs(self.ratios).T, coverage)
            return np.stack([predicted - reach, predicted + reach], axis=-1)
        out = np.empty((*predicted.shape, 2))
        for rows, j, centers, residuals in self._by_output(Q, predicted):
            reach = np.abs(residuals)
            out[rows, j, 0] = -self._upper(reach - centers, coverage)
            out[rows, j, 1] = self._upper(centers + reach, coverage)
        return out

    def quantiles(self, Q, predicted, shares):
        """Quantiles (m, k, r) of the targets at queries with predictions (m, k), for probabilities `shares` (r,)."""
        if self.changes is None:
            ratios = np.stack([self._quantile(self.ratios.T, share) for share in shares], axis=-1)
            return predicted[..., None] + self.sizes(Q)[..., None] * ratios
        out = np.empty((*predicted.shape, len(shares)))
        for rows, j, centers, residuals in self._by_output(Q, predicted):
            for i, share in enumerate(shares):
                out[rows, j, i] = self._quantile(centers + residuals, share)
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

    def _quantile(self, values, share):
        """Quantiles (m,): a further value is smaller or equal with probability at least `share`, or at most `share` if
        this is below one half; infinite if there are too few values."""
        upper, lower = self._upper(values, share), -self._upper(-values, 1 - share)
        return upper if share > 0.5 else lower if share < 0.5 else (lower + upper) / 2

    def _upper(self, values, coverage):
        """Upper ends (m,): a further value is smaller or equal with at least the probability `coverage`; infinite if
        there are too few values."""
        weights, n = self.weights, len(self.weights)
        if np.ptp(weights) == 0 and self.units is None:
            place = int(np.ceil(coverage * (n + 1) * (1 - 1e-12))) - 1
            return np.partition(values, place, axis=1)[:, place] if place < n else np.full(len(values), np.inf)
        order = np.argsort(values, axis=1)
        wanted = coverage * (weights.sum() + self._of_query) * (1 - 1e-12)
        enough = np.cumsum(weights[order], axis=1) >= wanted
        places = np.take_along_axis(order, enough.argmax(axis=1)[:, None], axis=1)
        return np.where(enough.any(axis=1), np.take_along_axis(values, places, axis=1)[:, 0], np.inf)
