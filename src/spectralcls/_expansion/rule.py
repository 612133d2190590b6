"""The family of decision rules, which turn class sums, potentials and a query's density into scores."""

from dataclasses import dataclass
from functools import reduce

import numpy as np

CONVOLVED_SCALE = np.sqrt(2.0)  # the Gaussian kernel convolved with itself has the bandwidth sqrt(2) h


@dataclass(frozen=True)
class Rule:
    """One combination of decision, weighting and potential.

    Let <m_c, y> be the (weighted) kernel mean of class c at the query y, and ``|m_c|^2`` its squared norm, the
    potential. The class with the largest score wins:

    - ``"density"``: ``P_c <m_c, y>``,
    - ``"distance"``: ``2 <m_c, y> - |m_c|^2``, the negative squared distance to the class mean up to
      ``|y|^2``,
    - ``"angle"``: ``<m_c, y> / |m_c|``, times P_c if `priors` is ``"shares"`` instead of ``"equal"``.

    `weighting` is None, ``"inverse"`` (training point x_i has the factor 1/f(x_i), where f is the Parzen density of all
    training points) or ``"symmetric"`` (f(x_i)^-1/2, and f(y)^-1/2 at the query). `potential` is ``"convolved"``
    (``|m_c|^2`` is summed with the variance 2 h^2 instead of h^2; only for the Gaussian kernel) or ``"same"``.
    """

    decision: str
    weighting: str | None = None
    potential: str = "convolved"
    priors: str = "equal"

    @property
    def needs_potentials(self):
        return self.decision != "density"

    @property
    def needs_query_density(self):
        """Whether g(y) = f(y)^-1/2 is needed. It scales all sums of a query equally, so it matters only with
        offsets.
        """
        return self.weighting == "symmetric" and self.decision == "distance"

    @property
    def exponent(self):
        """Power p of the factor f(x_i)^-p of a training point in the class means."""
        return {None: 0.0, "symmetric": 0.5, "inverse": 1.0}[self.weighting]

    def point_weights(self, log_density):
        """Factor of a training point in the class means, given its log density."""
        return np.exp(-self.exponent * log_density)

    def potential_kernel(self, kernel, bandwidth, n_features):
        """Bandwidth of the kernel in the potentials, and the log of that kernel's normalizing constant relative to the
        constant of the kernel in the class means.
        """
        if kernel == "gaussian" and self.potential == "convolved":
            return bandwidth * CONVOLVED_SCALE, -n_features / 2 * np.log(2.0)
        return bandwidth, 0.0

    def coefficients(self, class_weight, log_potentials=None, log_priors=None):
        """Logarithms of the factors that turn class sums into k(y) A, and the offsets b.

        Parameters
        ----------
        class_weight : ndarray (..., C)
            Sum of the sample weights of each class; a class of weight zero does not exist.
        log_potentials : ndarray (..., C), optional
            log |m_c|^2, if the rule needs it. In thousands of features, |m_c|^2 itself would underflow.
        log_priors : ndarray (C,), optional
            Logarithms of P_c in the density rule; by default, P_c is the class's share of the weights.

        Returns
        -------
        log_scale, offsets : ndarray (..., C)
        """
        exists = class_weight > 0
        weight = np.where(exists, class_weight, 1.0)
        if self.decision == "distance":
            return np.log(2.0) - np.log(weight), np.where(exists, np.exp(log_potentials), np.inf)
        if self.decision == "angle":
            # P_c / (weight of c) is 1 / (weight of all)
            mass = weight if self.priors == "equal" else class_weight.sum(axis=-1, keepdims=True)
            log_scale = -np.log(mass) - np.where(exists & (log_potentials > -np.inf), log_potentials, 0.0) / 2
        elif log_priors is not None:
            log_scale = log_priors - np.log(weight)
        else:  # P_c / (weight of c) is 1 / (weight of all), exactly the same for every class
            log_scale = np.zeros_like(weight) - np.log(class_weight.sum(axis=-1, keepdims=True))
        return log_scale, np.zeros_like(log_scale)

    def scores(self, sums, offsets):
        """Scores (..., C); the largest wins.

        Parameters
        ----------
        sums : Sums
            k(y) A, and log f(y) if the rule needs it.
        offsets : ndarray (..., C)
            b.

        Returns
        -------
        scores : ndarray (..., C)
            For "distance", the scores themselves. "density" and "angle" ignore a positive factor per query: their
            scores are logarithms, -inf if no kernel value of the class is positive; or, if sums may be negative, the
            sums divided by the query's scale.
        """
        log_scale, values, log_density = sums
        order = log_scale if values is None else values
        if self.decision != "distance":
            return order
        if log_density is not None:
            log_g = -np.where(np.isfinite(log_density), log_density, 0.0)[..., None] / 2
            # if f(y) vanishes, so does g(y) k(y) A
            log_scale = np.where(log_scale > -np.inf, log_scale + log_g, -np.inf)
        inner = np.exp(log_scale) if values is None else np.exp(log_scale) * values
        return break_ties(inner - offsets, order)


def over_classes(function, values):
    """Reduce the last axis, which is short, through operations on long vectors; NumPy's own reduction is slower."""
    return reduce(function, np.moveaxis(values, -1, 0))


def break_ties(scores, order):
    """If several best scores are exactly equal, raise that of the class with the largest `order` by one ulp.

    Far from the data, subtracting |m_c|^2 rounds 2 <m_c, y> away. If potentials are equal, as for isolated points of
    balanced classes, the scores then tie, although the terms 2 <m_c, y> differ.
    """
    best = over_classes(np.maximum, scores)[..., None]
    tied = scores == best
    several = over_classes(np.add, tied.view(np.int8)) > 1
    if several.any():
        candidates = np.where(tied[several], order[several], -np.inf)
        rows = scores[several]
        winner = candidates.argmax(axis=-1)[:, None]
        np.put_along_axis(rows, winner, np.nextafter(best[several], np.inf), axis=-1)
        scores[several] = rows
    return scores
