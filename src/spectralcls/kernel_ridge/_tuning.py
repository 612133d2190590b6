"""Bandwidth and ridge of kernel ridge regression by leave-one-out."""

from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from .._model.ridge import indicators, solve
from .._temperature import inverse_temperature, log_loss
from ..kernels import kernel_matrix

BANDWIDTH_FACTORS = {"laplace": (0.7, 2.0, 6.0), "gaussian": (0.35, 0.7, 1.4, 2.8)}  # of the median distance


class Choice(NamedTuple):
    bandwidth: float
    alpha: float
    scores: np.ndarray  # (n, C) of each point by all others, at the chosen pair
    inverse_temperature: float
    losses: np.ndarray  # (b, a)


def leave_one_out(X, codes, n_classes, weights, kernel, bandwidths, alphas, n_jobs=None):
    """The pair of least leave-one-out log loss, each pair at its best temperature.

    Returns
    -------
    Choice
    """
    Y, shares = indicators(codes, n_classes, weights)
    losses = np.full((len(bandwidths), len(alphas)), np.inf)
    best = None
    for b, bandwidth in enumerate(bandwidths):
        K = kernel_matrix(X, kernel=kernel, bandwidth=bandwidth, n_jobs=n_jobs)
        for a, alpha in enumerate(alphas):
            try:
                scores = solve(K.copy(), Y, alpha, weights).held_out + shares
            except np.linalg.LinAlgError:
                continue
            sharpness = inverse_temperature(scores, codes, weights)
            losses[b, a] = log_loss(softmax(sharpness * scores, axis=1), codes, weights)
            if best is None or losses[b, a] < best.losses[()]:
                best = Choice(float(bandwidth), float(alpha), scores, sharpness, losses[b, a])
    if best is None:
        raise np.linalg.LinAlgError(
            f"no alpha of {list(alphas)} makes the kernel matrix positive definite in float64: raise alpha_grid"
        )
    return best._replace(losses=losses)
