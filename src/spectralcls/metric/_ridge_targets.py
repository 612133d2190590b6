"""What kernel ridge regression is fitted to while it learns a metric: indicators of classes, or numbers."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from .._expansion.ridge import indicators
from .._tuning.temperature import best_temperature, log_loss, softmax


class Problem(NamedTuple):
    """Distinct points, what is regressed on them, and what a prediction is worth."""

    points: np.ndarray  # (n, d) float64
    weights: np.ndarray  # (n,)
    targets: np.ndarray  # (n, k) of mean zero
    loss: Callable  # of predictions of the targets (n, k), each by all other points

    @classmethod
    def of_classes(cls, points, weights, codes, n_classes):
        """Indicators, and the log loss at the best temperature."""
        Y, shares = indicators(codes, n_classes, weights)
        return cls(points, weights, Y, partial(_log_loss, shares=shares, codes=codes, weights=weights))

    @classmethod
    def of_numbers(cls, points, weights, targets):
        """Targets of variance one, and the squared error."""
        Y = targets - np.average(targets, axis=0, weights=weights)
        scale = np.sqrt(np.average(Y**2, axis=0, weights=weights))
        Y /= np.where(scale > 0, scale, 1.0)
        return cls(points, weights, Y, partial(_squared_error, targets=Y, weights=weights))


def _log_loss(held_out, shares, codes, weights):
    scores = held_out + shares
    return log_loss(softmax(scores / best_temperature(scores, codes, weights)), codes, weights)


def _squared_error(held_out, targets, weights):
    return float(np.average(((targets - held_out) ** 2).mean(axis=1), weights=weights))
