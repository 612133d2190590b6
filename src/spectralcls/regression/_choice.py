"""Which bandwidth and which degree: those of the smallest held-out error."""

from typing import NamedTuple

import numpy as np

from .._tuning import (
    Scored,
    Search,
    candidate_bandwidths,
    has_spread,
    reference_bandwidth,
    search,
    tuning_sample,
)
from ._form import held_out_predictions
from ._metric import variances
from ._moments import Moments


class Choice(NamedTuple):
    bandwidth: float
    degree: int
    found: Search | None = None
    n_samples: int | None = None


def chosen(estimator, data, degrees, grid, bandwidth_ratio=1.0):
    """The `Choice` among some bandwidths and degrees.

    Of data that are a part of all points, for which bandwidths are `bandwidth_ratio` times those for all.
    """
    nothing_to_tune = len(degrees) == 1 and estimator.bandwidth != "cv"
    if nothing_to_tune or not has_spread(data.X):
        return Choice(float(grid[0]), degrees[0])
    sample = tuning_sample(estimator, data, against_all=True)._replace(bandwidth_ratio=bandwidth_ratio)
    score = _score_of(Moments.of(max(degrees), sample.X, sample.targets), data, estimator.kernel, estimator.n_jobs)
    found = search(sample, {"bandwidth": grid, "degree": degrees}, score).checked()
    return Choice(float(found.params["bandwidth"]), int(found.params["degree"]), found, sample.n_samples)


def candidates(estimator, data):
    """The bandwidths to try, or the only one."""
    if estimator.bandwidth == "cv":
        return candidate_bandwidths(estimator.bandwidth_grid, data, estimator.kernel)
    if estimator.bandwidth == "silverman":
        return [reference_bandwidth("silverman", data.X, None, 1, data.weights, kernel=estimator.kernel)]
    return [float(estimator.bandwidth)]


def _score_of(moments, data, kernel, n_jobs):
    """R^2 of the points held out, by split, bandwidth and degree; relative to the variance of all."""
    variance = variances(data.targets, data.weights)

    def score(sample, bandwidth, degree):
        predicted = held_out_predictions(sample, moments, degree, kernel, np.asarray(bandwidth), n_jobs)
        errors = (predicted - sample.targets[sample.rows][:, None, None]) ** 2
        return Scored.of(sample, 1 - (errors / variance).mean(axis=3))

    return score
