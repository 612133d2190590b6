"""Cross-validation of bandwidth and number of components in one sweep.

Embeddings are nested: the map to r components is the first r columns of the map to more. One decomposition
for each bandwidth and fold therefore serves every number of components.
"""

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ..kernel_mean.folds import distinct_rows, shuffled_ranks, stratified_subsample
from ..kernel_mean.search import SCORE_TOLERANCE


class TuningSet(NamedTuple):
    X: np.ndarray  # (m, d)
    codes: np.ndarray  # (m,)
    weights: np.ndarray  # (m,)
    folds: np.ndarray  # (m,)
    shrink: float  # factor from a bandwidth for all points to one for these m


class Tuned(NamedTuple):
    scores: np.ndarray  # (n_bandwidths, n_candidates) accuracies
    bandwidth: int  # index of the winner
    candidate: int
    n_samples: int


def tuning_set(data, folds, cv, max_samples, random_state):
    """The points on which parameters are tuned, and their folds.

    Copies of a point within a class are one point of greater weight, so that no point is validated against
    its own copy; more than `max_samples` are thinned to a stratified subsample.
    """
    X, codes = data.X, data.codes
    weights = np.ones(len(X)) if data.weights is None else data.weights / data.weights.max()
    if folds is None:
        first, group = distinct_rows(X, codes)
        X, codes, weights = X[first], codes[first], np.bincount(group, weights)
    n = len(X)
    rng = check_random_state(random_state)
    if max_samples is not None and n > max_samples:
        some = stratified_subsample(codes, max_samples, rng)
        X, codes, weights = X[some], codes[some], weights[some]
        folds = None if folds is None else folds[some]
    if folds is None:
        folds = shuffled_ranks(codes, rng) % cv
    return TuningSet(X, codes, weights, folds, (n / len(X)) ** (1 / (X.shape[1] + 4)))


def search(tuning, bandwidths, candidates, fold_scores):
    """Accuracy of every bandwidth with every candidate, and the winners.

    Parameters
    ----------
    tuning : TuningSet
    bandwidths : ndarray (b,)
        On the scale of all points.
    candidates : ndarray (q,)
        Numbers of components.
    fold_scores : callable
        ``fold_scores(train, test, bandwidth, candidates)``, two boolean masks: scores (m, q, C), larger wins.

    Notes
    -----
    Of tied numbers of components the smallest wins, of bandwidths tied at that number the middle one.
    """
    hits = np.zeros((len(bandwidths), len(candidates)))
    for fold in np.unique(tuning.folds):
        test = tuning.folds == fold
        if test.all():
            continue
        for b, h in enumerate(bandwidths * tuning.shrink):
            with warnings.catch_warnings():  # what is tried and fails to converge loses by its score
                warnings.simplefilter("ignore", ConvergenceWarning)
                warnings.simplefilter("ignore", UserWarning)
                scores = fold_scores(~test, test, h, candidates)
            right = scores.argmax(axis=-1) == tuning.codes[test, None]
            hits[b] += tuning.weights[test] @ right
    accuracy = hits / tuning.weights.sum()
    best = accuracy >= accuracy.max() - SCORE_TOLERANCE
    candidate = int(best.any(axis=0).argmax())
    tied = np.flatnonzero(best[:, candidate])
    return Tuned(accuracy, int(tied[(len(tied) - 1) // 2]), candidate, len(tuning.X))


def nested_distances(Z, centers, candidates):
    """Negative squared distances (m, q, C) in the first r components, for each r of the candidates."""
    out = np.empty((len(Z), len(candidates), len(centers)))
    last = np.minimum(candidates, Z.shape[1]) - 1
    for c, center in enumerate(centers):
        out[:, :, c] = -np.cumsum((Z - center) ** 2, axis=1)[:, last]
    return np.where(np.isnan(out), -np.inf, out)


def nested_cosines(Z, centers, candidates):
    """Inner products with the centres of unit length (m, q, C) in the first r components."""
    out = np.empty((len(Z), len(candidates), len(centers)))
    last = np.minimum(candidates, Z.shape[1]) - 1
    for c, center in enumerate(centers):
        norm = np.sqrt(np.cumsum(center**2))
        out[:, :, c] = (np.cumsum(Z * center, axis=1) / np.where(norm > 0, norm, 1))[:, last]
    return np.where(np.isnan(out), -np.inf, out)
