"""The search over a grid of candidates: the winner, and the table of all scores."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

GROWTHS, MORE = 2, 4  # how many times a grid may grow, and by how many values each time
# Largest difference of scores that nearly tie, in standard errors. With 1, the accuracy is lower; below 0.5, the log
# loss is higher.
NEAR = 0.5
SCORE_TOLERANCE = 1e-9  # scores this close are tied, because equal sums of weights may differ in their last bits


class Splits(NamedTuple):
    """The part of a sample that the search needs, for scores that do not come from a `TuningSample`: weights of the
    splits, and the ratio of the sample's bandwidths to those for all points."""

    fold_weights: np.ndarray
    bandwidth_ratio: float = 1.0


class Scored(NamedTuple):
    """Scores of a family's candidates.

    Attributes
    ----------
    by_split : ndarray (n_splits, k_1, k_2, ...)
        Test scores. NaN marks a split without validated points, or a candidate that cannot be scored in a split and
        therefore cannot win.
    deviations : ndarray (k_1, k_2, ...), optional
        Standard deviations of the points' scores. They are needed if there is only one split, as for leave-one-out,
        unless the scores are accuracies.
    tie_score : callable, optional
        ``tie_score(index)`` decides between nearly tied candidates; see `search`.
    influence : ndarray (v, k_1, k_2, ...), optional
        Contributions of the points to the scores. The norm of the difference between two candidates is the standard
        error of the difference of their scores; it defines near ties.
    error : float, optional
        Largest difference of scores that nearly tie, instead of `NEAR` standard errors.
    predicts_one_class : callable, optional
        ``predicts_one_class(index)`` says whether a candidate gave all held-out points the same class.
    temperature : callable, optional
        ``temperature(index)`` returns the temperature by which a candidate's scores are divided to give probabilities.
    """

    by_split: np.ndarray
    deviations: np.ndarray | None = None
    tie_score: Callable | None = None
    predicts_one_class: Callable | None = None
    temperature: Callable | None = None
    influence: np.ndarray | None = None
    error: float | None = None

    @classmethod
    def of(cls, sample, values, **options):
        """Create from the scores of validated points, (v, k_1, k_2, ...)."""
        weights = sample.weights[sample.rows]
        mean = np.tensordot(weights, values, 1) / weights.sum()
        deviations = np.sqrt(np.tensordot(weights, (values - mean) ** 2, 1) / weights.sum())
        return cls(sample.accuracies(values), deviations, **options)

    def joined(self, other, axis):
        """These candidates followed by the others along an axis of the grid."""
        k = self.by_split.shape[axis + 1]

        def at(mine, its):
            if mine is None or its is None:
                return None

            def of(index):
                beyond = index[axis] - k
                return mine(index) if beyond < 0 else its((*index[:axis], beyond, *index[axis + 1 :]))

            return of

        return Scored(
            np.concatenate([self.by_split, other.by_split], axis + 1),
            None if self.deviations is None else np.concatenate([self.deviations, other.deviations], axis),
            at(self.tie_score, other.tie_score),
            at(self.predicts_one_class, other.predicts_one_class),
            at(self.temperature, other.temperature),
            None if self.influence is None else np.concatenate([self.influence, other.influence], axis + 1),
            self.error,
        )


class Search(NamedTuple):
    """Result of a search.

    Attributes
    ----------
    params : dict of str to value
        Parameters of the winner.
    index : tuple of int
        Position of the winner in the grid.
    scores : ndarray of the shape of the grid
        Mean test scores.
    cv_results : dict
        Scores in scikit-learn's layout. Candidates are in the grid's order: the last parameter varies fastest.
    predicts_one_class : bool
        Whether the winner gave all held-out points the same class.
    at_end : {"smallest", "largest"} or None
        End of the growing grid at which the winner still lies, if it is better than its neighbor.
    temperature : float or None
        Temperature of the winner's scores, unless they are log probabilities.
    """

    params: dict
    index: tuple  # type: ignore[assignment]  # hides the method of tuples
    scores: np.ndarray
    cv_results: dict
    predicts_one_class: bool = False
    at_end: str | None = None
    temperature: float | None = None

    @property
    def best_score(self):
        return float(self.scores[self.index])

    def checked(self):
        """Return this result.

        Raises
        ------
        ValueError
            If no candidate has a score.
        """
        if np.isnan(self.scores).all():
            raise ValueError(
                "No bandwidth that was tried reaches every point from the others. Give a bandwidth_grid with larger "
                'ones, or kernel="gaussian".'
            )
        return self


def search(sample, candidates, score, *, growing=None):
    """Score all combinations of candidates, and choose the best.

    Parameters
    ----------
    sample : TuningSample or Splits
    candidates : dict of str to sequence
        Values of each parameter, ascending. Those of "bandwidth" are for all points; `score` gets the corresponding
        bandwidths of the sample.
    score : callable
        ``score(sample, **candidates)`` returns a `Scored`, or only its `by_split`.
    growing : str, optional
        The parameter whose geometric grid is extended while the winner is at one of its ends.

    Notes
    -----
    The mean test score weights splits by their validated points, so it is the accuracy over all validated points.
    Candidates within `NEAR` standard errors of the best (if influences are given, within one standard error of the
    difference; if an error is given, within it) nearly tie with it. If there are tie scores, the nearly tied candidate
    with the best one wins. If no candidate has a score, all are tied.
    """

    def scored(candidates):
        tried = {
            name: np.asarray(values) * sample.bandwidth_ratio if name == "bandwidth" else values
            for name, values in candidates.items()
        }
        result = score(sample, **tried)
        return result if isinstance(result, Scored) else Scored(result)

    known = scored(candidates)
    found = _chosen(sample, candidates, known)
    if growing is None or len(candidates[growing]) < 3:
        return found
    axis = list(candidates).index(growing)
    for _ in range(GROWTHS):
        values, position = np.asarray(candidates[growing]), found.index[axis]
        if 0 < position < len(values) - 1 or np.isnan(found.scores).all():
            return found
        beyond = _beyond(values, at_start=position == 0)
        more = scored(candidates | {growing: beyond})
        known = more.joined(known, axis) if position == 0 else known.joined(more, axis)
        grown = [beyond, values] if position == 0 else [values, beyond]
        candidates = candidates | {growing: np.concatenate(grown)}
        found = _chosen(sample, candidates, known)
    return found._replace(at_end=_end(found, axis))


def _beyond(values, at_start):
    """Further values of a geometric grid, ascending."""
    ratio = (values[-1] / values[0]) ** (1 / (len(values) - 1))
    steps = ratio ** np.arange(1, MORE + 1)
    return values[0] / steps[::-1] if at_start else values[-1] * steps


def _end(found, axis):
    """The end of the grid at which the winner lies, if the winner beats its neighbor; otherwise None."""
    position, last = found.index[axis], found.scores.shape[axis] - 1
    if 0 < position < last:
        return None
    neighbor = (*found.index[:axis], 1 if position == 0 else last - 1, *found.index[axis + 1 :])
    better = found.scores[found.index] > found.scores[neighbor] + SCORE_TOLERANCE
    return ("smallest" if position == 0 else "largest") if better else None


def _chosen(sample, candidates, scored):
    """The winner of all scored candidates, and the table of their scores."""
    weights = np.asarray(sample.fold_weights, dtype=np.float64)
    used = weights > 0
    by_split, weights, deviations = scored.by_split[used], weights[used] / weights.sum(), scored.deviations
    means = np.tensordot(weights, by_split, 1)
    if len(by_split) > 1:
        deviations = np.sqrt(np.tensordot(weights, (by_split - means) ** 2, 1))
    elif deviations is None:  # leave-one-out: each point counts as right or wrong
        deviations = np.sqrt(np.clip(means * (1 - means), 0, None))
    index = best_candidate(means)
    if scored.tie_score is not None:
        index = _best_of_tied(means, index, sample, scored)
    params = {name: values[i] for (name, values), i in zip(candidates.items(), index, strict=True)}
    one_class = scored.predicts_one_class is not None and bool(scored.predicts_one_class(index))
    temperature = None
    if scored.temperature is not None and not np.isnan(means[index]):
        temperature = scored.temperature(index)
    results = _cv_results(candidates, by_split, means, deviations)
    return Search(params, index, means, results, one_class, temperature=temperature)


def _best_of_tied(means, best, sample, scored):
    """The candidate with the best tie score among those whose scores nearly tie."""
    highest = means[best]
    if np.isnan(highest):
        return best
    if scored.error is not None:
        error = scored.error
    elif scored.influence is None:  # accuracies
        error = NEAR * np.sqrt(max(highest * (1 - highest), 1 / (4 * sample.n_effective)) / sample.n_effective)
    else:
        error = np.linalg.norm(scored.influence - scored.influence[(..., *([i] for i in best))], axis=0)
    tied = means >= highest - error - SCORE_TOLERANCE
    scores = np.full(means.shape, np.nan)
    for index in zip(*np.nonzero(tied), strict=True):
        scores[index] = scored.tie_score(index)
    return best if np.isnan(scores).all() else best_candidate(scores)


def best_candidate(scores):
    """Position of the best score; among tied scores, the lower middle, parameter by parameter.

    The middle of a range of equally good candidates is safer than its ends. The first parameter gets the lower middle
    of its tied values, the second the lower middle of those that remain, and so on.
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
    """`cv_results_` in the layout of `GridSearchCV`."""
    positions = np.indices(means.shape).reshape(means.ndim, -1)
    columns = {}
    for (name, values), where in zip(candidates.items(), positions, strict=True):
        column = np.empty(where.size, dtype=np.asarray(values).dtype if np.ndim(values) == 1 else object)
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
