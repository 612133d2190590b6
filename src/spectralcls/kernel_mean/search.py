"""`bandwidth="cv"`: which points, folds and bandwidths are tried, and which bandwidth wins."""

from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from .._tuning import check_grid, data_grid, distinct_rows, shuffled_ranks, stratified_subsample
from .._validation import unit_scale
from .tuning import Problem, cross_validated_accuracy

SCORE_TOLERANCE = 1e-9  # accuracies this close are tied: sums of weights differ in their last bits


class BandwidthSearch(NamedTuple):
    """Bandwidths tried, their cross-validated accuracies, the winner, and the number of points validated."""

    grid: np.ndarray
    scores: np.ndarray
    bandwidth: float
    n_samples: int


def search_bandwidth(
    rule, data, folds, *, kernel, cv, grid, tie_break, max_samples, random_state, log_priors, n_jobs,
    accuracy=cross_validated_accuracy,
):
    """Cross-validate a grid of bandwidths on the training data.

    Of many points a stratified subsample of m is validated, against all points of the other folds. Weighting by 1/f
    would take the n^2 pairs, so there the subsample is all that is used: a bandwidth found on m of n points is carried
    over to all n at the rate at which optimal bandwidths shrink, (m / n)^(1 / (d + 4)), and the grid in the result is
    on that final scale.

    Parameters
    ----------
    rule : Rule
    data : TrainingData
    folds : ndarray (n,) or None
        Fold of each row where the user gave the splits; None to make them from `cv`.
    cv : int or "loo"
    grid : ndarray or None
    tie_break : {"middle", "smallest"}
    accuracy : callable
        Cross-validated accuracies (b,) of a `Problem`.
    """
    X, codes = data.X, data.codes
    weights = np.ones(len(X)) if data.weights is None else unit_scale(data.weights)
    first, group = distinct_rows(X, codes)
    grid = data_grid(X, weights, len(first), kernel) if grid is None else check_grid(grid)

    if folds is None:  # copies of a point are one point of greater weight
        X, codes, weights = X[first], codes[first], np.bincount(group, weights)
    n = len(X)
    rng = check_random_state(random_state)
    validated = None
    if max_samples is not None and n > max_samples:
        validated = stratified_subsample(codes, max_samples, rng)
        if rule.weighting is not None:
            X, codes, weights = X[validated], codes[validated], weights[validated]
            folds = None if folds is None else folds[validated]
            validated = None
    if folds is None and cv != "loo":
        folds = shuffled_ranks(codes, rng) % cv

    tried = grid * (n / len(X)) ** (1 / (X.shape[1] + 4))
    problem = Problem(rule, X, codes, len(data.classes), weights, folds, kernel, tried, log_priors, n_jobs, validated)
    scores = accuracy(problem)
    n_validated = len(X) if validated is None else len(validated)
    return BandwidthSearch(grid, scores, float(grid[best_index(scores, tie_break)]), n_validated)


def best_index(scores, tie_break):
    """The best score; of tied ones the middle (the smaller of two middles) or the first."""
    tied = np.flatnonzero(scores >= scores.max() - SCORE_TOLERANCE)
    return tied[(len(tied) - 1) // 2] if tie_break == "middle" else tied[0]
