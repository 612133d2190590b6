"""Bandwidth and ridge of kernel ridge regression by leave-one-out."""

from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import pdist
from scipy.special import softmax

from .._temperature import inverse_temperature, log_loss
from ..kernels import kernel_matrix
from ._exact import solve

BANDWIDTH_FACTORS = {"laplace": (0.7, 2.0, 6.0), "gaussian": (0.35, 0.7, 1.4, 2.8)}  # of the median distance
ALPHAS = (0.01, 0.1)
_MEDIAN_SAMPLES = 1000


class Choice(NamedTuple):
    bandwidth: float
    alpha: float
    scores: np.ndarray  # (n, C) of each point by all others, at the chosen pair
    inverse_temperature: float
    losses: np.ndarray  # (b, a)


def median_distance(X, rng):
    """Median of the positive distances between up to 1000 random points; 1 where all points are equal."""
    some = X if len(X) <= _MEDIAN_SAMPLES else X[rng.choice(len(X), _MEDIAN_SAMPLES, replace=False)]
    distances = pdist(some)
    distances = distances[distances > 0]
    return float(np.median(distances)) if len(distances) else 1.0


def indicators(codes, n_classes, weights):
    """One-hot targets less the classes' shares, and the shares."""
    Y = np.zeros((len(codes), n_classes))
    Y[np.arange(len(codes)), codes] = 1.0
    shares = weights @ Y / weights.sum()
    return Y - shares, shares


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
