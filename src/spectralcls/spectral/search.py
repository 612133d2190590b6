"""Cross-validation of bandwidth and number of components in one sweep.

Embeddings are nested: the map to r components is the first r columns of the map to more. One decomposition
for each bandwidth and fold therefore serves every number of components.
"""

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .._tuning import SCORE_TOLERANCE, check_grid, data_grid, distinct_rows, shuffled_ranks, stratified_subsample

PATIENCE = 60  # products for a decomposition that is only tried: what needs more is nearly undetermined
_MARGIN = 1e-9  # relative to the largest score


class TuningSet(NamedTuple):
    X: np.ndarray  # (m, d)
    codes: np.ndarray  # (m,)
    weights: np.ndarray  # (m,)
    folds: np.ndarray  # (m,)
    grid: np.ndarray  # (b,) bandwidths to try, on the scale of all points
    shrink: float  # factor from a bandwidth for all points to one for these m


class Tuned(NamedTuple):
    scores: np.ndarray  # (n_bandwidths, n_candidates) accuracies
    bandwidth: int  # index of the winner
    candidate: int
    n_samples: int


def tuning_set(data, folds, *, kernel, cv, grid, max_samples, random_state):
    """The points on which parameters are tuned, their folds, and the bandwidths to try.

    Copies of a point within a class are one point of greater weight, so that no point is validated against
    its own copy; more than `max_samples` are thinned to a stratified subsample.
    """
    X, codes = data.X, data.codes
    weights = np.ones(len(X)) if data.weights is None else data.weights
    first, group = distinct_rows(X, codes)
    grid = data_grid(X, weights, len(first), kernel) if grid is None else check_grid(grid)
    if folds is None:
        X, codes, weights = X[first], codes[first], np.bincount(group, weights)
    n = len(X)
    rng = check_random_state(random_state)
    if max_samples is not None and n > max_samples:
        some = stratified_subsample(codes, max_samples, rng)
        X, codes, weights = X[some], codes[some], weights[some]
        folds = None if folds is None else folds[some]
    if folds is None:
        folds = shuffled_ranks(codes, rng) % cv
    return TuningSet(X, codes, weights, folds, grid, (n / len(X)) ** (1 / (X.shape[1] + 4)))


def search(tuning, candidates, fold_scores):
    """Accuracy of every bandwidth with every candidate, and the winners.

    Parameters
    ----------
    tuning : TuningSet
    candidates : ndarray (q,)
        Numbers of components.
    fold_scores : callable
        ``fold_scores(train, test, bandwidth, candidates)``, two boolean masks: scores (m, q, C), larger wins,
        and whether the embedding is determined by the data for each candidate (q,).

    Notes
    -----
    The accuracy of a pair whose embedding some fold leaves undetermined is NaN. Of tied numbers of components
    the smallest wins, of bandwidths tied at that number the middle one; where all are NaN the largest
    bandwidth.
    """
    accuracy = np.zeros((len(tuning.grid), len(candidates)))
    for b, h in enumerate(tuning.grid * tuning.shrink):
        for fold in np.unique(tuning.folds):
            test = tuning.folds == fold
            if test.all():
                continue
            with warnings.catch_warnings():  # undetermined, or negative eigenvalues: said of what is chosen
                warnings.simplefilter("ignore", ConvergenceWarning)
                warnings.simplefilter("ignore", UserWarning)
                scores, sound = fold_scores(~test, test, h, candidates)
            hits = tuning.weights[test] @ _right(scores, tuning.codes[test])
            accuracy[b] += np.where(sound, hits / tuning.weights.sum(), np.nan)
            if np.isnan(accuracy[b]).all():
                break
    if np.isnan(accuracy).all():
        return Tuned(accuracy, len(accuracy) - 1, 0, len(tuning.X))
    best = accuracy >= np.nanmax(accuracy) - SCORE_TOLERANCE
    candidate = int(best.any(axis=0).argmax())
    tied = np.flatnonzero(best[:, candidate])
    return Tuned(accuracy, int(tied[(len(tied) - 1) // 2]), candidate, len(tuning.X))


def _right(scores, codes):
    """Which points go to their own class, (m, q); not those whose best two classes agree to rounding."""
    scale = np.abs(np.where(np.isfinite(scores), scores, 0)).max(axis=(0, 2))
    ordered = np.sort(scores, axis=-1)
    clear = ordered[..., -1] - ordered[..., -2] > _MARGIN * scale
    return clear & (scores.argmax(axis=-1) == codes[:, None])


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
