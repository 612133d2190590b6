"""The search over a grid of candidates: which one wins, and what is remembered of the others."""

from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

SCORE_TOLERANCE = 1e-9  # scores this close are tied: sums of weights differ in their last bits


class Splits(NamedTuple):
    """All that the search asks of a sample: the weight of each split, and how bandwidths change from it to all points.

    For scores that do not come from a `TuningSample`.
    """

    fold_weights: np.ndarray
    growth: float = 1.0


class Search(NamedTuple):
    """What a search found.

    Attributes
    ----------
    params : dict of str to value
        The winner.
    index : tuple of int
        Its position in the grid.
    scores : ndarray of the shape of the grid
        Mean test scores.
    cv_results : dict
        In scikit-learn's layout; the candidates in the grid's order, the last parameter varying fastest.
    """

    params: dict
    index: tuple  # type: ignore[assignment]  # hides the method of tuples
    scores: np.ndarray
    cv_results: dict


def search(sample, candidates, score):
    """Score all combinations of candidates, and choose.

    Parameters
    ----------
    sample : TuningSample or Splits
    candidates : dict of str to sequence
        Values of each parameter, ascending. Those of "bandwidth" are for all points; `score` gets what corresponds
        to them in the sample.
    score : callable
        ``score(sample, **candidates)``, an array (n_splits, k_1, k_2, ...) of test scores; NaN for a candidate that a
        split cannot score, which then does not win, and for a split that scores nothing. If points are left out one at
        a time, which is one split, and are not just right or wrong: that array and the standard deviations of the
        points' scores (k_1, k_2, ...).

    Notes
    -----
    The mean test score weights splits by the points that they validate: the accuracy over all validated points. If no
    candidate has a score, all are tied.
    """
    tried = {
        name: np.asarray(values) * sample.growth if name == "bandwidth" else values
        for name, values in candidates.items()
    }
    by_split = score(sample, **tried)
    by_split, deviations = by_split if isinstance(by_split, tuple) else (by_split, None)
    weights = np.asarray(sample.fold_weights, dtype=np.float64)
    used = weights > 0
    by_split, weights = by_split[used], weights[used] / weights.sum()
    means = np.tensordot(weights, by_split, 1)
    if len(by_split) > 1:
        deviations = np.sqrt(np.tensordot(weights, (by_split - means) ** 2, 1))
    elif deviations is None:  # one point at a time: each is a split, right or wrong
        deviations = np.sqrt(np.clip(means * (1 - means), 0, None))
    index = best_candidate(means)
    params = {name: values[i] for (name, values), i in zip(candidates.items(), index, strict=True)}
    return Search(params, index, means, _cv_results(candidates, by_split, means, deviations))


def best_candidate(scores):
    """Position of the best score; of tied ones the lower middle, parameter by parameter.

    A range of candidates that do equally well is best left by neither end. Among the tied candidates the lower middle
    of the first parameter's values is taken, among those that remain the lower middle of the second's, and so on.
    """
    scores = np.asarray(scores, dtype=np.float64)
    known = ~np.isnan(scores)
    best = scores >= scores[known].max() - SCORE_TOLERANCE if known.any() else ~known
    index = ()
    for _ in range(scores.ndim):
        tied = np.flatnonzero(best.reshape(len(best), -1).any(axis=1))
        index += (int(tied[(len(tied) - 1) // 2]),)
        best = best[index[-1]]
    return index


def _cv_results(candidates, by_split, means, deviations):
    """`cv_results_` as `GridSearchCV` lays it out."""
    positions = np.indices(means.shape).reshape(means.ndim, -1)
    columns = {}
    for (name, values), where in zip(candidates.items(), positions, strict=True):
        column = np.ma.masked_all(where.size, dtype=np.asarray(values).dtype if np.ndim(values) == 1 else object)
        for row, i in enumerate(where):
            column[row] = values[i]
        columns[name] = column
    params = [
        {name: values[where[row]] for (name, values), where in zip(candidates.items(), positions, strict=True)}
        for row in range(means.size)
    ]
    results = {f"param_{name}": column for name, column in columns.items()} | {"params": params}
    if len(by_split) > 1:
        results |= {f"split{k}_test_score": scores.ravel() for k, scores in enumerate(by_split)}
    ranks = rankdata(np.where(np.isnan(means), np.inf, -np.round(means, 9)).ravel(), method="min").astype(np.int32)
    return results | {
        "mean_test_score": means.ravel(),
        "std_test_score": deviations.ravel(),
        "rank_test_score": ranks,
    }
