"""Samples and reference bandwidths of training data, which may be on the workers of a cluster."""

from functools import singledispatch

import numpy as np
from sklearn.utils import check_random_state

from .grids import bandwidth_ratio, candidate_bandwidths, reference_bandwidth
from .sample import tuning_sample

MAX_MEASURED = 20_000  # points gathered for a rule of thumb; they give the spread to within half a percent


def gathered(data, n_samples, rng):
    """Training data in memory. Data on workers are sampled: `n_samples` rows, or more if the rows are short."""
    return drawn_from(data.X, data, n_samples, rng)


@singledispatch
def drawn_from(X, data, n_samples, rng):
    """`gathered` data with the points X."""
    return data


def reference_of(data, rule, kernel="gaussian", random_state=0):
    """`reference_bandwidth` of training points; if there are classes, copies count once."""
    given = gathered(data, MAX_MEASURED, check_random_state(random_state))
    points = given._replace(groups=None).distinct() if data.n_classes > 1 else given
    weights = None if points.weights is None or np.ptp(points.weights) == 0 else points.weights
    found = reference_bandwidth(rule, points.X, points.codes, points.n_classes, weights, kernel=kernel)
    return found * bandwidth_ratio_of(data, given)


def class_proportions(data, kernel="gaussian", random_state=0):
    """Silverman's bandwidth of each class divided by that of all samples, (C,)."""
    by_class, overall = (reference_of(data, r, kernel, random_state) for r in ("silverman_per_class", "silverman"))
    return np.broadcast_to(np.asarray(by_class) / overall, data.n_classes)


def gathered_sample(estimator, data, **options):
    """The training data in memory, and a `TuningSample` drawn from them whose bandwidth ratio refers to all points."""
    points = gathered(data, estimator.max_tuning_samples, check_random_state(estimator.random_state))
    sample = tuning_sample(estimator, points, **options)
    return points, sample._replace(bandwidth_ratio=sample.bandwidth_ratio / bandwidth_ratio_of(data, points))


def candidate_grid(estimator, data, points, kernel):
    """Bandwidths to try for all points, computed from the points in memory."""
    grid = candidate_bandwidths(estimator.bandwidth_grid, points, kernel)
    return grid if estimator.bandwidth_grid is not None else grid * bandwidth_ratio_of(data, points)


def bandwidth_ratio_of(data, points):
    """Factor that turns a bandwidth for the points in memory into one for all points; 1 if all are in memory."""
    return bandwidth_ratio(data.X.shape[0], points.X.shape[0], points.X)
