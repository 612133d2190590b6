"""Weights for a vote of posteriors, by greedy forward selection with replacement."""

from typing import NamedTuple

import numpy as np

from .._tuning.temperature import best_temperature, log_loss, softmax

STEPS = 25
UNIFORM = 0.25  # share of equal weights in the final weights
LEAST = 1e-8  # probabilities are clipped to this: smaller ones vary from fit to fit
FEW = 20  # with this many points the class shares get at most weight 1/2: few points cannot justify more


class Vote(NamedTuple):
    """Combines posteriors p_m to ``p = prior_weight prior + sum_m weights[m] softmax(log p_m / temperatures[m])``.

    The result is a softmax of ``log p / final_temperature``. The class shares act as a member that learned nothing, so
    that a vote on noise is no worse than the shares.
    """

    prior: np.ndarray  # (C,) shares of the classes
    prior_weight: float
    weights: np.ndarray  # (m,); with `prior_weight` they add up to 1
    temperatures: np.ndarray  # (m,)
    final_temperature: float
    losses: np.ndarray  # (m,) log loss of each member
    loss: float  # log loss of the vote
    adds: np.ndarray  # (m,) bool: members chosen by the greedy selection

    def __call__(self, posteriors):
        """The vote's probabilities (n, C) from a list of the members' probabilities."""
        return tempered(self._mixed(posteriors), self.final_temperature)

    def parts(self, posteriors):
        """List of the members' contributions (n, C) to p, followed by that of the class shares (C,)."""
        members = zip(self.weights, self.temperatures, posteriors, strict=True)
        return [w * tempered(p, t) for w, t, p in members] + [self.prior_weight * self.prior]

    def _mixed(self, posteriors):
        return sum(self.parts(posteriors))


def tempered(posterior, temperature):
    """Softmax of the log posterior divided by `temperature`; zeros are clipped as in the fit of the temperature."""
    return softmax(_log(posterior) / temperature)


def learn_vote(posteriors, codes, weights=None):
    """Learn temperatures and weights from posteriors of points that the members have not seen.

    Caruana's ensemble selection [1]_ adds, `STEPS` times, the member whose addition gives the least log loss; the
    number of additions is the greedy weight of a member. The class shares are one more member, and the only one if no
    other is better. A quarter of the remaining weight is divided equally among all members better than the shares,
    because small samples do not show which is best. Nor do few points show that nothing was learned: with n points the
    shares get at most the weight n / (n + `FEW`).

    Parameters
    ----------
    posteriors : list of ndarray of shape (n, C)
    codes : ndarray of shape (n,)
    weights : ndarray of shape (n,), optional
        Weights of the points.

    Returns
    -------
    Vote

    References
    ----------
    .. [1] R. Caruana, A. Niculescu-Mizil, G. Crew, A. Ksikes, "Ensemble selection from libraries of models", ICML 2004.
    """
    temperatures = np.array([best_temperature(_log(p), codes, weights) for p in posteriors])
    calibrated = [tempered(p, t) for p, t in zip(posteriors, temperatures, strict=True)]
    prior = class_shares(codes, weights, posteriors[0].shape[1])
    candidates = [*calibrated, np.broadcast_to(prior, posteriors[0].shape)]
    counts, total = np.zeros(len(candidates)), 0.0
    for step in range(1, STEPS + 1):
        losses = [log_loss((total + p) / step, codes, weights) for p in candidates]
        best = int(np.argmin(losses))
        counts[best] += 1
        total = total + candidates[best]
    losses = np.array([log_loss(p, codes, weights) for p in calibrated])
    better = losses < log_loss(candidates[-1], codes, weights)
    alone = not better.any()
    prior_weight = (1.0 if alone else counts[-1] / STEPS) * len(codes) / (len(codes) + FEW)
    equal = np.full(len(losses), 1 / len(losses)) if alone else better / np.count_nonzero(better)
    greedy = equal if alone else counts[:-1] / counts[:-1].sum()
    own = (1 - prior_weight) * ((1 - UNIFORM) * greedy + UNIFORM * equal)
    vote = Vote(prior, float(prior_weight), own, temperatures, 1.0, losses, np.nan, greedy > 0)
    mixed = vote._mixed(posteriors)
    final = best_temperature(_log(mixed), codes, weights)
    return vote._replace(final_temperature=final, loss=log_loss(tempered(mixed, final), codes, weights))


def unseen_votes(vote, said, parts, learn):
    """Predictions (n, width) of points by votes learned from the other parts, or by `vote` if there is one part.

    A vote overfits the few points from which it was learned. Compared with its predictions for these, queries would
    look unusual, and sets and intervals would be too small.

    Parameters
    ----------
    vote : callable
    said : list of ndarray of shape (n, width)
    parts : ndarray of shape (n,)
    learn : callable
        Maps a mask of points to the vote learned from them.
    """
    out = vote(said)
    for part in np.unique(parts):
        others = parts != part
        if others.any():
            out[~others] = learn(others)([own[~others] for own in said])
    return out


def class_shares(codes, weights, n_classes):
    """Fraction of the total weight of the points in each class, (C,)."""
    of_classes = np.bincount(codes, weights, minlength=n_classes)
    return of_classes / of_classes.sum()


def _log(posterior):
    return np.log(np.maximum(posterior, LEAST))
