"""Bandwidth and ridge of kernel ridge regression by leave-one-out."""

from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from .._expansion.ridge import indicators, solve
from .._tuning import Scored, Search, Splits, search
from .._tuning.temperature import inverse_temperature, log_losses
from ..kernels import kernel_matrix

BANDWIDTH_FACTORS = {"laplace": (0.7, 2.0, 6.0), "gaussian": (0.35, 0.7, 1.4, 2.8)}  # of the median distance


class Choice(NamedTuple):
    bandwidth: float
    alpha: float
    scores: np.ndarray  # (n, C) of each point by all others, at the chosen pair
    inverse_temperature: float
    loss: float
    found: Search | None  # None if there was one pair only


def leave_one_out(X, codes, n_classes, weights, kernel, bandwidths, alphas, n_jobs=None):
    """The pair of least leave-one-out log loss, each pair at its best temperature.

    Returns
    -------
    Choice
    """
    Y, shares = indicators(codes, n_classes, weights)
    grid = {"bandwidth": np.asarray(bandwidths, dtype=np.float64), "alpha": np.asarray(alphas, dtype=np.float64)}
    found, (means, deviations) = {}, np.full((2, len(bandwidths), len(alphas)), np.nan)
    K, memory = np.empty((2, len(X), len(X)))
    for b, bandwidth in enumerate(bandwidths):
        kernel_matrix(X, kernel=kernel, bandwidth=bandwidth, out=K, n_jobs=n_jobs)
        for a, alpha in enumerate(alphas):
            try:
                scores = solve(K, Y, alpha, weights, memory=memory).held_out + shares
            except np.linalg.LinAlgError:
                continue
            sharpness = inverse_temperature(scores, codes, weights)
            losses = log_losses(softmax(sharpness * scores, axis=1), codes)
            means[b, a] = -np.average(losses, weights=weights)
            deviations[b, a] = np.sqrt(np.average((losses + means[b, a]) ** 2, weights=weights))
            found[bandwidth, alpha] = scores, sharpness, -float(means[b, a])
    if not found:
        raise np.linalg.LinAlgError(
            f"no alpha of {list(alphas)} makes the kernel matrix positive definite in float64: raise alpha_grid"
        )
    chosen, best = {name: values[0] for name, values in grid.items()}, None
    tuned = {name: values for name, values in grid.items() if len(values) > 1}
    if tuned:
        shape = [len(values) for values in tuned.values()]
        one_split = Splits(weights.sum(keepdims=True))
        best = search(one_split, tuned, lambda *_, **tried: Scored(means.reshape(1, *shape), deviations.reshape(shape)))
        chosen |= best.params
    bandwidth, alpha = (float(value) for value in chosen.values())
    return Choice(bandwidth, alpha, *found[bandwidth, alpha], best)
