"""Bandwidths before any is tried: the reference rules and the default grid, for data that may be constant."""

from functools import partial

import numpy as np
from scipy.spatial.distance import pdist

from .._validation import check_positive, unit_scale
from ..bandwidth import bandwidth_grid, scale_bandwidth, silverman_bandwidth
from .folds import distinct_rows

_POOLED = {"scale": scale_bandwidth, "scott": partial(silverman_bandwidth, rule="scott")}
MEDIAN_SAMPLES = 1000  # points between which the median distance is taken


def has_spread(X):
    """Whether not all points are equal; if they are, every bandwidth is as good as 1."""
    return bool(np.ptp(X, axis=0).any())


def filled(X):
    """X with the observed values of each column, one after the other, in the place of missing ones: the variances
    stay."""
    missing = np.isnan(X)
    if not missing.any():
        return X
    X = np.array(X)
    for column, lacking in zip(X.T, missing.T, strict=True):
        known = column[~lacking]
        column[lacking] = np.resize(known, np.count_nonzero(lacking)) if len(known) else 0.0
    return X


def reference_bandwidth(rule, X, codes, n_classes, weights=None, *, kernel="gaussian"):
    """A rule for all samples, or Silverman's for each class: a float, or (C,).

    Parameters
    ----------
    rule : {"scale", "scott", "silverman", "silverman_per_class"}
    X : ndarray (n, d)
    codes : ndarray (n,), or None for the rule of all samples
    n_classes : int
    weights : ndarray (n,), optional

    Notes
    -----
    1 if all samples are equal; a class without spread gets the bandwidth of all samples.
    """
    X = filled(X)
    pooled_rule = _POOLED.get(rule, silverman_bandwidth)
    pooled = pooled_rule(X, weights, kernel=kernel) if has_spread(X) else 1.0
    if rule != "silverman_per_class":
        return pooled
    by_class = np.full(n_classes, pooled)
    for c in range(n_classes):
        own = codes == c
        if own.any() and has_spread(X[own]):
            by_class[c] = silverman_bandwidth(X[own], None if weights is None else weights[own], kernel=kernel)
    return by_class


def candidate_bandwidths(grid, data, kernel="gaussian"):
    """The bandwidths of a user, ascending, or `bandwidth_grid` of the training data; 1 alone if all points are equal.

    Copies of a point do not sharpen the density, so the default grid counts distinct points.
    """
    if grid is not None:
        return check_grid(grid)
    X = filled(data.X)
    if not has_spread(X):
        return np.ones(1)
    n_distinct = len(distinct_rows(X, data.codes)[0])
    weights = np.ones(len(data.X)) if data.weights is None else unit_scale(data.weights)
    return bandwidth_grid(X, sample_weight=weights * (n_distinct / weights.sum()), kernel=kernel)


def check_grid(grid, name="bandwidth_grid"):
    """A user's positive candidates as ascending float64."""
    grid = np.asarray(grid)
    if not grid.size:
        raise ValueError(f"{name} is empty: give at least one value.")
    if grid.dtype.kind not in "iuf":
        raise ValueError(f"{name} must consist of numbers, got {grid.tolist()!r}.")
    grid = grid.astype(np.float64)
    if grid.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {grid.shape}.")
    check_positive(grid, name)
    return np.sort(grid)


def median_distance(X, rng):
    """Median of the positive distances between up to 1000 random points; 1 if all points are equal."""
    some = X if len(X) <= MEDIAN_SAMPLES else X[rng.choice(len(X), MEDIAN_SAMPLES, replace=False)]
    distances = pdist(some)
    distances = distances[distances > 0]
    return float(np.median(distances)) if len(distances) else 1.0
