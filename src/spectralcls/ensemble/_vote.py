"""Weights of a vote of posteriors, by greedy forward selection with replacement."""

from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from .._tuning.temperature import inverse_temperature, log_loss

STEPS = 25
UNIFORM = 0.25  # share of the equal weights in the final ones


class Vote(NamedTuple):
    """``p = sum_m weights[m] softmax(sharpness[m] log p_m)``, then a softmax of ``final_sharpness log p``."""

    weights: np.ndarray  # (m,)
    sharpness: np.ndarray  # (m,)
    final_sharpness: float
    losses: np.ndarray  # (m,) log loss of each member
    loss: float  # of the vote

    def __call__(self, posteriors):
        """The vote's probabilities, (n, C), from those of the members, a list of such arrays."""
        return sharpened(self._mixed(posteriors), self.final_sharpness)

    def _mixed(self, posteriors):
        return sum(w * sharpened(p, b) for w, b, p in zip(self.weights, self.sharpness, posteriors, strict=True))


def sharpened(posterior, sharpness):
    """Softmax of `sharpness` times the logarithm of a posterior; zeros count as in the fit of the temperature."""
    return softmax(sharpness * _log(posterior), axis=1)


def learn_vote(posteriors, codes, weights=None):
    """Temperatures and weights from posteriors of points that the members have not seen.

    Caruana's ensemble selection [1]_: starting from nothing, `STEPS` times the member is added whose addition gives the
    least log loss; how often each was added is its greedy weight. A quarter of the final weight is equal for all: on
    small samples the best member is not known.

    Parameters
    ----------
    posteriors : list of ndarray of shape (n, C)
    codes : ndarray of shape (n,)
    weights : ndarray of shape (n,), optional
        Of the points.

    Returns
    -------
    Vote

    References
    ----------
    .. [1] R. Caruana, A. Niculescu-Mizil, G. Crew, A. Ksikes, "Ensemble selection from libraries of models", ICML 2004.
    """
    sharpness = np.array([inverse_temperature(_log(p), codes, weights) for p in posteriors])
    calibrated = [sharpened(p, b) for p, b in zip(posteriors, sharpness, strict=True)]
    counts, total = np.zeros(len(posteriors)), 0.0
    for step in range(1, STEPS + 1):
        losses = [log_loss((total + p) / step, codes, weights) for p in calibrated]
        best = int(np.argmin(losses))
        counts[best] += 1
        total = total + calibrated[best]
    shares = (1 - UNIFORM) * counts / STEPS + UNIFORM / len(posteriors)
    vote = Vote(shares, sharpness, 1.0, np.array([log_loss(p, codes, weights) for p in calibrated]), np.nan)
    mixed = vote._mixed(posteriors)
    final = inverse_temperature(_log(mixed), codes, weights)
    return vote._replace(final_sharpness=final, loss=log_loss(sharpened(mixed, final), codes, weights))


def _log(posterior):
    return np.log(np.maximum(posterior, 1e-300))
