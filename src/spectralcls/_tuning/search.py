"""The search over a grid of candidates: which one wins, and what is remembered of the others."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

SCORE_TOLERANCE = 1e-9  # scores this close are tied: sums of weights differ in their last bits


class Splits(NamedTuple):
    """All that the search asks of a sample: the weight of each split, and how bandwidths change from it to all points.

    For scores that do not come from a `TuningSample`.
    """

    fold_weights: np.ndarray
    bandwidth_ratio: float = 1.0


class Scored(NamedTuple):
    """What a family says of its candidates.

    Attributes
    ----------
    by_split : ndarray (n_splits, k_1, k_2, ...)
        Test scores; NaN for a candidate that a split cannot score, which then does not win, and for a split that scores
        nothing.
    deviations : ndarray (k_1, k_2, ...), optional
        Standard deviations of the points' scores, if points are left out one at a time, which is one split, and are not
        just right or wrong.
    tie_score : callable, optional
        ``tie_score(index)`` decides between candidates whose scores do not differ by more than a standard error.
    """

    by_split: np.ndarray
    deviations: np.ndarray | None = None
    tie_score: Callable | None = None


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

    @property
    def best_score(self):
        return float(self.scores[self.index])


def search(sample, candidates, score):
    """Score all combinations of candidates, and choose.

    Parameters
    ----------
    sample : TuningSample or Splits
    candidates : dict of str to sequence
        Values of each parameter, ascending. Those of "bandwidth" are for all points; `score` gets what corresponds
        to them in the sample.
    score : callable
        ``score(sample, **candidates)``, a `Scored` or its `by_split` alone.

    Notes
    -----
    The mean test score weights splits by the points that they validate: the accuracy over all validated points. Of
    candidates within one standard error of the best the one of the best tie score wins, if there are tie scores. If no
    candidate has a score, all are tied.
    """
    tried = {
        name: np.asarray(values) * sample.bandwidth_ratio if name == "bandwidth" else values
        for name, values in candidates.items()
    }
    scored = score(sample, **tried)
    scored = scored if isinstance(scored, Scored) else Scored(scored)
    weights = np.asarray(sample.fold_weights, dtype=np.float64)
    used = weights > 0
    by_split, weights, deviations = scored.by_split[used], weights[used] / weights.sum(), scored.deviations
    means = np.tensordot(weights, by_split, 1)
    if len(by_split) > 1:
        deviations = np.sqrt(np.tensordot(weights, (by_split - means) ** 2, 1))
    elif deviations is None:  # one point at a time: each is a split, right or wrong
        deviations = np.sqrt(np.clip(means * (1 - means), 0, None))
    index = best_candidate(means)
    if scored.tie_score is not None:
        index = _best_of_tied(means, index, sample.n_effective, scored.tie_score)
    params = {name: values[i] for (name, values), i in zip(candidates.items(), index, strict=True)}
    return Search(params, index, means, _cv_results(candidates, by_split, means, deviations))


def _best_of_tied(means, best, n, tie_score):
    """The candidate of the best tie score among those whose share of right points is within a standard error."""
    share = means[best]
    if np.isnan(share):
        return best
    error = np.sqrt(max(share * (1 - share), 1 / (4 * n)) / n)
    tied = means >= share - error - SCORE_TOLERANCE
    scores = np.full(means.shape, np.nan)
    for index in zip(*np.nonzero(tied), strict=True):
        scores[index] = tie_score(index)
    return best if np.isnan(scores).all() else best_candidate(scores)


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
