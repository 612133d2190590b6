"""Choice of bandwidth and degree by the least held-out error."""

from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from .._tuning import (
    Scored,
    Search,
    bandwidth_ratio_of,
    candidate_grid,
    gathered,
    has_spread,
    reference_of,
    search,
    tuning_sample,
)
from .._utils.advice import advise
from ._form import held_out_predictions
from ._local_moments import LocalMoments
from ._regression_metric import variances


class BandwidthChoice(NamedTuple):
    bandwidth: float
    degree: int
    found: Search | None = None
    n_samples: int | None = None


def chosen(estimator, data, degrees):
    """The `BandwidthChoice` of an estimator among its candidate bandwidths and the given degrees."""
    tuned = estimator.bandwidth == "cv"
    if not tuned and len(degrees) == 1:
        return BandwidthChoice(_given_bandwidth(estimator, data), degrees[0])
    points = gathered(data, estimator.max_tuning_samples, check_random_state(estimator.random_state))
    grid = candidate_grid(estimator, data, points, estimator.kernel) if tuned else [_given_bandwidth(estimator, data)]
    if not has_spread(points.X):
        return BandwidthChoice(float(grid[0]), degrees[0])
    sample = tuning_sample(estimator, points, against_all=True)
    sample = sample._replace(bandwidth_ratio=1 / bandwidth_ratio_of(data, points))
    reached = np.zeros(sample.n_samples, dtype=bool)
    score = _score_of(points, estimator, degrees, reached)
    growing = "bandwidth" if estimator.bandwidth_grid is None else None
    found = search(sample, {"bandwidth": grid, "degree": degrees}, score, growing=growing)
    # results differ little among bandwidths larger than the extent of the data
    if found.params["bandwidth"] > np.ptp(points.X, axis=0).max():
        found = found._replace(at_end=None)
    if not reached.all():
        _name_lost(estimator, points, sample.X[sample.rows[~reached]], grid, all_are=not reached.any())
    return BandwidthChoice(float(found.params["bandwidth"]), int(found.params["degree"]), found, sample.n_samples)


def _given_bandwidth(estimator, data):
    if estimator.bandwidth == "silverman":
        return reference_of(data, "silverman", estimator.kernel, estimator.random_state)
    return float(estimator.bandwidth)


def _score_of(data, estimator, degrees, reached):
    """A function that scores candidates by the R^2 of the held-out points, relative to the variance of all points.

    It marks in `reached` the points that a kernel of another point reaches.
    """
    variance = variances(data.targets, data.weights)

    def score(sample, bandwidth, degree):
        moments = LocalMoments.of(max(degrees), sample.X, sample.targets)
        predicted, missing = held_out_predictions(
            sample, moments, degree, estimator.kernel, np.asarray(bandwidth), estimator.n_jobs
        )
        reached[:] |= ~missing.all(axis=1)
        errors = (predicted - sample.targets[sample.rows][:, None, None]) ** 2
        return Scored.of(sample, 1 - (errors / variance).mean(axis=3))

    return score


def _name_lost(estimator, data, lost, grid, all_are):
    """Warn about samples that no kernel of another sample reaches; raise if these are all samples and a bandwidth is to
    be chosen.
    """
    which = f"{len(lost)} samples" if len(lost) > 1 else "a sample"
    if data.y is not None:  # the rows are as the user gave them
        row = np.flatnonzero((data.X == lost[0]).all(axis=1))[0]
        row = row if data.kept is None else np.flatnonzero(data.kept)[row]
        which = f"row {row}" + (f" and {len(lost) - 1} more" if len(lost) > 1 else "")
    remedy = 'Use a larger bandwidth, or kernel="gaussian", which reaches everywhere.'
    found = f"No bandwidth that was tried (the largest is {np.max(grid):g}) reaches {which} from another sample"
    if all_are and estimator.bandwidth == "cv":
        raise ValueError(f"{found}, so none can be chosen. {remedy}")
    advise(f"{type(estimator).__name__}: {found}; the prediction there is that at the nearest sample. {remedy}")
