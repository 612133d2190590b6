"""Bandwidths before any is tried, for data that may be constant; grids of bandwidths and ridges."""

from functools import partial

import numpy as np
from scipy.spatial.distance import pdist

from .._utils.validation import check_positive
from ..kernels import bandwidth_grid, scale_bandwidth, silverman_bandwidth
from .folds import distinct_rows

_POOLED = {"scale": scale_bandwidth, "scott": partial(silverman_bandwidth, rule="scott")}
MEDIAN_SAMPLES = 1000  # points between which the median distance is taken


def has_spread(X):
    """Whether not all points are equal; if they are, every bandwidth is as good as 1."""
    return bool(np.ptp(X, axis=0).any())


def of_same_spread(X, weights=None):
    """X and its weights; if values are missing, two rows of the same weight in all and of the same mean and variance of
    the known values of each column."""
    known = ~np.isnan(X)
    if known.all():
        return X, weights
    weights = np.ones(len(X)) if weights is None else weights
    exponent = np.frexp(np.abs(X[known]).max(initial=0.0))[1]  # squares of the numbers themselves may overflow
    values = np.ldexp(np.where(known, X, 0.0).astype(np.float64), -exponent)
    of_columns = np.maximum(weights @ known, np.finfo(np.float64).tiny)
    center = weights @ values / of_columns
    deviation = np.sqrt(weights @ np.where(known, values - center, 0.0) ** 2 / of_columns)
    return np.ldexp([center - deviation, center + deviation], exponent), np.full(2, weights.sum() / 2)


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
    pooled_rule = _POOLED.get(rule, silverman_bandwidth)

    def of(rule, rows):
        some, weight = of_same_spread(X[rows], None if weights is None else weights[rows])
        return rule(some, weight, kernel=kernel) if has_spread(some) else None

    pooled = of(pooled_rule, slice(None)) or 1.0
    if rule != "silverman_per_class":
        return pooled
    by_class = np.full(n_classes, pooled)
    for c in range(n_classes):
        own = codes == c
        if own.any():
            by_class[c] = of(silverman_bandwidth, own) or pooled
    return by_class


def candidate_bandwidths(grid, data, kernel="gaussian"):
    """The bandwidths of a user, ascending, or `bandwidth_grid` of the training data; 1 alone if all points are equal.

    Copies of a point do not sharpen the density, so the default grid counts distinct points.
    """
    if grid is not None:
        return check_grid(grid)
    X, weights = of_same_spread(data.X, data.weights)
    if not has_spread(X):
        return np.ones(1)
    n_distinct = len(distinct_rows(data.X, data.codes)[0])
    weights = np.ones(len(X)) if weights is None else weights
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


def ridge_grid(lowest, highest, step=1):
    """Ridges from 10^lowest to 10^highest, `step` decades apart, each as the one digit that is written."""
    return tuple(float(f"{10.0**power:.0e}") for power in np.arange(lowest, highest + step / 2, step))


def median_distance(X, rng):
    """Median of the positive distances between up to 1000 random points; 1 if all points are equal."""
    some = X if len(X) <= MEDIAN_SAMPLES else X[rng.choice(len(X), MEDIAN_SAMPLES, replace=False)]
    distances = pdist(some)
    distances = distances[distances > 0]
    return median(distances) if len(distances) else 1.0


def median(values):
    """That of finite numbers (n,); NumPy's, which looks for NaN as well, takes nine times as long."""
    middle = len(values) // 2
    parted = np.partition(values, middle)
    upper = parted[middle]
    return float(upper if len(values) % 2 else (parted[:middle].max() + upper) / 2)
