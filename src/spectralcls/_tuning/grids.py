"""Bandwidth rules that also accept constant data, and grids of bandwidths and ridge penalties."""

import numpy as np
from scipy.spatial.distance import pdist

from .._utils.validation import check_positive
from ..kernels import geometric_grid, kernel_variance, reference_rule
from .spread import effective_number, root_mean_square, spreads, within_reach

MEDIAN_SAMPLES = 1000  # points used for the median distance


def has_spread(X):
    """Whether the points differ; if all are equal, any bandwidth will do."""
    return bool(np.ptp(X, axis=0).any())


def dimension(X):
    """Number of columns that are not constant."""
    return np.count_nonzero(spreads(X))


def bandwidth_ratio(m, n, X):
    """Ratio of the bandwidth for m points like the rows of X to that for n."""
    if m == n:
        return 1.0
    return (n / m) ** (1 / (dimension(X) + 4))


def reference_bandwidth(rule, X, codes, n_classes, weights=None, *, kernel="gaussian"):
    """Bandwidth by a rule for all samples, a float, or by Silverman's rule for each class, (C,).

    The rules are those of `spectralcls.kernels`, with a spread that is robust to outliers and, if there are weights,
    the effective number of samples. Only ratios of weights count.

    Parameters
    ----------
    rule : {"scale", "scott", "silverman", "silverman_per_class"}
    X : ndarray (n, d)
    codes : ndarray (n,), or None for the rule of all samples
    n_classes : int
    weights : ndarray (n,), optional

    Notes
    -----
    The bandwidth is 1 if all samples are equal. A class without spread gets the bandwidth of all samples.
    """
    pooled_rule = "silverman" if rule == "silverman_per_class" else rule
    pooled = _rule(pooled_rule, X, weights, kernel) or 1.0
    if rule != "silverman_per_class":
        return pooled
    by_class, d = np.full(n_classes, pooled), dimension(X)
    X = within_reach(X, weights)  # in a small class, far values may be as frequent as others
    for c in range(n_classes):
        own = codes == c
        if own.any():
            of_class = None if weights is None else weights[own]
            by_class[c] = _rule("silverman", X[own], of_class, kernel, d=d) or pooled
    return by_class


def _rule(rule, X, weights, kernel, n=None, d=None):
    """The bandwidth of a rule for n samples; None if the samples have no spread.

    By default, n is the effective number of samples and d the number of columns that vary.
    """
    scales, n = spreads(X, weights), effective_number(len(X), weights) if n is None else n
    d = np.count_nonzero(scales) if d is None else d
    if not scales.any() or n <= 1:
        return None
    spread = root_mean_square(scales) * np.sqrt(len(scales) / d)
    if rule == "scale":
        return float(spread * np.sqrt(d / 2 / kernel_variance(kernel, d)))
    return reference_rule(spread * np.sqrt(n / (n - 1)), n, d, rule, kernel)


def candidate_bandwidths(grid, data, kernel="gaussian"):
    """The user's bandwidths in ascending order, or the `default_bandwidths` of the distinct points."""
    if grid is not None:
        return check_grid(grid)
    points = data.distinct()
    return default_bandwidths(points.X, points.weights, kernel)


def default_bandwidths(X, weights=None, kernel="gaussian"):
    """A geometric grid around Silverman's rule for distinct points; only 1 if all points are equal."""
    weights = None if weights is None or np.ptp(weights) == 0 else weights
    reference = _rule("silverman", X, weights, kernel, n=len(X))
    return np.ones(1) if reference is None else geometric_grid(reference)


def check_grid(grid, name="bandwidth_grid"):
    """A user's candidates, checked to be positive, as ascending float64."""
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
    """Ridge penalties from 10^lowest to 10^highest, `step` decades apart, each rounded to one digit."""
    return tuple(float(f"{10.0**power:.0e}") for power in np.arange(lowest, highest + step / 2, step))


def median_distance(X, rng):
    """Median of the positive distances between up to 1000 random points; 1 if all points are equal."""
    some = X if len(X) <= MEDIAN_SAMPLES else X[rng.choice(len(X), MEDIAN_SAMPLES, replace=False)]
    sizes = np.abs(some[some != 0], dtype=np.float64)
    exponent = np.frexp(median(sizes))[1] if len(sizes) else 0  # squares may over- or underflow
    distances = pdist(np.ldexp(np.asarray(some, dtype=np.float64), -exponent))
    distances = distances[distances > 0]
    return float(np.ldexp(median(distances), exponent)) if len(distances) else 1.0


def median(values):
    """Median of finite numbers (n,). NumPy's function also checks for NaN and takes nine times as long."""
    middle = len(values) // 2
    parted = np.partition(values, middle)
    upper = parted[middle]
    return float(upper if len(values) % 2 else (parted[:middle].max() + upper) / 2)
