"""The spread of a column: what scales, grids of bandwidths and reference rules start from.

The spread is the standard deviation. If outliers decide it, it is that of the values brought to within `REACH`
interquartile ranges of the median; if more than half of the values are equal, this is asked of the others alone. A
column whose values differ by the rounding of their mean alone has none.
"""

import numpy as np

from .._utils.quantile import weighted_quantile

FAR = 3.0  # ratio of the standard deviation to that of a normal with the same quartiles, above which outliers decide
REACH = 10.0  # interquartile ranges from the median at which outliers then count; 5 to 20 differ by .1 points
ROUNDING = 1e-12  # relative to the mean: standard deviations below are rounding
NORMAL_QUARTILES = 1.349  # interquartile range of the standard normal
_SHARES = (0.25, 0.5, 0.75)
_BLOCK = 1 << 22  # values that are copied at a time


def moments(values, weights=None):
    """Mean and standard deviation of the columns of (n,) or (n, d)."""
    center = np.average(values, weights=weights, axis=0)
    return center, np.sqrt(np.average((values - center) ** 2, weights=weights, axis=0))


def center_and_spread(values, weights=None, farthest=np.inf):
    """Center and spread of finite numbers (n,); the spread of a constant is 0.

    Weights count relative to each other. If more than half of the values are equal, the root mean square of the others'
    distances from them is at most `farthest` spreads.
    """
    exponent = np.frexp(np.abs(values).max(initial=0.0))[1]  # squares of the numbers themselves may overflow
    center, spread = (found[0] for found in _of_columns(np.ldexp(values, -exponent)[:, None], weights, farthest))
    return float(np.ldexp(center, exponent)), float(np.ldexp(spread, exponent))


def spreads(X, weights=None):
    """Spread of each column of X (n, d), in which values may be missing (NaN), (d,) float64."""
    out, incomplete = np.zeros(X.shape[1]), np.isnan(X).any(axis=0)
    for column in np.flatnonzero(incomplete):
        known = ~np.isnan(X[:, column])
        if known.any():
            values, of_known = X[known, column].astype(np.float64), None if weights is None else weights[known]
            out[column] = center_and_spread(values, of_known)[1]
    complete = np.flatnonzero(~incomplete)
    for some in np.array_split(complete, len(X) * len(complete) // _BLOCK + 1) if len(complete) else ():
        part = X[:, some].astype(np.float64)
        exponents = np.frexp(np.abs(part).max(axis=0, initial=0.0))[1]
        out[some] = np.ldexp(_of_columns(np.ldexp(part, -exponents), weights)[1], exponents)
    return out


def overall_spread(X, weights=None):
    """Root mean square of the columns' spreads; 0 if all rows are equal."""
    return root_mean_square(spreads(X, weights))


def root_mean_square(values):
    """Of numbers of at least 0 whose squares may be out of range."""
    largest = values.max(initial=0.0)
    return float(largest * np.sqrt(np.mean((values / largest) ** 2))) if largest > 0 else 0.0


def effective_number(n, weights=None):
    """Number of samples of equal weight that would say as much, ``(sum w)^2 / sum w^2`` of Kish; n without weights."""
    return n if weights is None else float(weights.sum() ** 2 / (weights @ weights))


def _of_columns(X, weights, farthest=np.inf):
    """Centers and spreads (d,) of columns whose squares are in range."""
    centers, deviations = moments(X, weights)
    if weights is None:  # without sorting
        low, median, high = np.quantile(X, _SHARES, axis=0, method="averaged_inverted_cdf")
    else:
        low, median, high = (weighted_quantile(X, share, weights) for share in _SHARES)
    mostly_one = low == high
    for column in np.flatnonzero(mostly_one & (deviations > 0)):
        rare = X[:, column] != median[column]
        if rare.any():
            of_rare = None if weights is None else weights[rare]
            share = np.count_nonzero(rare) / len(X) if weights is None else of_rare.sum() / weights.sum()
            center, spread = (found[0] for found in _of_columns(X[rare, column][:, None], of_rare))
            apart = center - median[column]
            centers[column] = median[column] + share * apart
            square = spread**2 + apart**2  # mean square of their distances from the common value
            deviations[column] = np.sqrt(max(share * square - (share * apart) ** 2, square / farthest**2))
    outlying = np.flatnonzero(~mostly_one & (FAR * (high - low) / NORMAL_QUARTILES < deviations))
    if len(outlying):
        reach, middle = REACH * (high - low)[outlying], median[outlying]
        exponents = np.frexp(np.abs(middle) + reach)[1]  # the outliers' own may be so great that the others vanish
        within = np.ldexp(np.clip(X[:, outlying], middle - reach, middle + reach), -exponents)
        centers[outlying], deviations[outlying] = np.ldexp(moments(within, weights), exponents)
    return centers, np.where(deviations <= ROUNDING * np.abs(centers), 0.0, deviations)
