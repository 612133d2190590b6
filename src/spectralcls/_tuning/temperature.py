"""Probabilities from scores: one temperature, by maximum likelihood."""

import numpy as np
from scipy.optimize import minimize_scalar

LOWEST = 1e-3  # probabilities below this count as this much in a log loss
_GRID = np.linspace(np.log(1e-2), np.log(1e3), 24)  # log b
_AT_A_TIME = 2**20  # probabilities


def log_losses(probability, codes):
    """``-log p`` of the true class of each sample, p at least `LOWEST`."""
    return -np.log(np.maximum(probability[np.arange(len(codes)), codes], LOWEST))


def log_loss(probability, codes, weights=None):
    """Mean of `log_losses`."""
    return float(np.average(log_losses(probability, codes), weights=weights))


def inverse_temperature(scores, codes, weights=None):
    """The factor b > 0 for which softmax(b scores) has the least log loss on the given samples.

    Parameters
    ----------
    scores : ndarray of shape (n, C)
        Scores of samples that the model has not seen.
    codes : ndarray of shape (n,)
    weights : ndarray of shape (n,), default=None

    Returns
    -------
    b : float
        Between 1e-2 and 1e3 over the scale of the scores: separated samples have no optimum.
    """
    spread = np.var(scores, axis=1)
    scale = np.sqrt(np.average(spread, weights=weights)) or 1.0
    # -log p = lead + log(sum(exp(behind))), both in proportion to b.
    behind = (scores - scores.max(axis=1, keepdims=True)) / scale
    lead = -behind[np.arange(len(codes)), codes]
    highest = -np.log(LOWEST)
    # Products with vectors: means and sums that take less time for few samples.
    shares = np.full(len(codes), 1 / len(codes)) if weights is None else weights / np.sum(weights)
    ones = np.ones(scores.shape[1])

    def value(log_b):
        b = np.exp(np.asarray(log_b))[..., np.newaxis]
        losses = b * lead + np.log(np.exp(b[..., np.newaxis] * behind) @ ones)
        return np.minimum(losses, highest) @ shares

    # The clipped loss is not convex: a grid first, then the bracket around its best point.
    pieces = min(1 + _GRID.size * behind.size // _AT_A_TIME, _GRID.size)
    best = int(np.argmin(np.concatenate([value(piece) for piece in np.array_split(_GRID, pieces)])))
    bounds = _GRID[max(best - 1, 0)], _GRID[min(best + 1, _GRID.size - 1)]
    return float(np.exp(minimize_scalar(value, bounds=bounds, method="bounded", options={"xatol": 1e-2}).x) / scale)


def finite_scores(scores):
    """Replace -inf by what stands below all finite scores of the row, by the range of float64's exponent if that is
    more than its rounding."""
    missing = np.isneginf(scores)
    if not missing.any():
        return scores
    lowest = np.where(missing, np.inf, scores).min(axis=1, keepdims=True)
    below = np.minimum(lowest + np.log(np.finfo(np.float64).tiny), np.nextafter(lowest, -np.inf))
    return np.where(missing, below, scores)
