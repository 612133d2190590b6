"""PerTurbo with probabilities: bandwidth, alpha and temperature by the leave-one-out log loss."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state

from .._tuning import distinct_rows, drawn_seed, median_distance, random_keys, stratified_subsample
from .._tuning.temperature import inverse_temperature, log_loss
from ..kernels import kernel_matrix
from ..perturbo import PerTurboClassifier

BANDWIDTH_FACTORS = (0.3, 0.6, 1.2, 2.4)  # of the median distance
ALPHAS = (0.01, 0.1, 1.0)


class PerTurboPosterior(ClassifierMixin, BaseEstimator):
    """``softmax(b (1 - tau_l(x)))`` of a :class:`~spectralcls.perturbo.PerTurboClassifier`.

    Parameters
    ----------
    bandwidth, alpha : "cv" or float, default="cv"
        "cv": the best of 4 multiples of the median distance, and of 0.01, 0.1, 1.
    max_tuning_samples : int, default=3000
        Points that tuning uses at most.
    rank : int, default=1000
        Of the factor of a larger class.
    random_state : int, RandomState instance or None, default=0
    n_jobs : int, default=None

    Notes
    -----
    Tuning costs n_l^3 / 3 + n n_l (d + n_l) for each class, bandwidth and alpha.
    """

    def __init__(self, bandwidth="cv", *, alpha="cv", max_tuning_samples=3000, rank=1000, random_state=0, n_jobs=None):
        self.bandwidth = bandwidth
        self.alpha = alpha
        self.max_tuning_samples = max_tuning_samples
        self.rank = rank
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y, sample_weight=None):
        """Tune and fit; X (n, d), y (n,), positive weights (n,)."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        first, group = distinct_rows(X, codes)
        X, codes, weights = X[first], codes[first], np.bincount(group, sample_weight).astype(np.float64)
        rng = check_random_state(self.random_state)
        some = slice(None)
        if len(X) > self.max_tuning_samples:
            some = stratified_subsample(codes, self.max_tuning_samples, random_keys(X, drawn_seed(rng)))
        self.bandwidth_, self.alpha_, self.sharpness_ = self._choose(X[some], codes[some], weights[some], rng)
        self.model_ = PerTurboClassifier(
            self.bandwidth_,
            alpha=self.alpha_,
            scale=None,
            rank=self.rank,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        ).fit(X, codes, weights)
        return self

    def _choose(self, X, codes, weights, rng):
        best = np.inf, None
        bandwidths = [self.bandwidth]
        if self.bandwidth == "cv":
            bandwidths = median_distance(X, rng) * np.array(BANDWIDTH_FACTORS)
        members = [np.flatnonzero(codes == c) for c in range(len(self.classes_))]
        for bandwidth in bandwidths:
            kernels = [
                kernel_matrix(X, X[own], bandwidth=bandwidth, n_jobs=self.n_jobs).astype(np.float64) for own in members
            ]
            for alpha in ALPHAS if self.alpha == "cv" else [self.alpha]:
                shares = np.column_stack(
                    [_shares(K, own, alpha, weights[own]) for K, own in zip(kernels, members, strict=True)]
                )
                sharpness = inverse_temperature(shares, codes, weights)
                loss = log_loss(softmax(sharpness * shares, axis=1), codes, weights)
                if loss < best[0]:
                    best = loss, (float(bandwidth), alpha, sharpness)
        return best[1]

    def predict_proba(self, X):
        """Probabilities of the classes, (n, C)."""
        return softmax(self.sharpness_ * (1 - self.model_.perturbation(X)), axis=1)


def _shares(K, own, alpha, weights):
    """1 - tau of each point for one class, the points of the class left out, of a weight above 1 one copy.

    With ``G = K_l + alpha W^-1`` and b the diagonal of its inverse that is ``1 + alpha - 1 / b`` for weights of 1; a
    point whose weight becomes w - 1 changes one entry of G, and the Sherman-Morrison formula gives the rest.
    """
    factor = cho_factor(K[own] + np.diag(alpha / weights), lower=True)
    inverse = cho_solve(factor, np.eye(len(own)))
    shares = np.einsum("ij,ij->i", K @ inverse, K)
    b, further = np.diag(inverse), np.maximum(weights - 1, 0.0) / alpha
    shares[own] = 1 - (1 - alpha / weights * b) / (further + (1 - alpha / weights * further) * b)
    return shares
