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
    """Mean and standard deviation along the last axis."""
    if weights is None:
        center = values.mean(axis=-1)
        return center, np.sqrt(np.square(values - center[..., None]).mean(axis=-1))
    shares = weights / weights.sum()
    center = (values * shares).sum(axis=-1)
    return center, np.sqrt((np.square(values - center[..., None]) * shares).sum(axis=-1))


def center_and_spread(values, weights=None, farthest=np.inf):
    """Center and spread of numbers (n,); see `centers_and_spreads`."""
    return tuple(float(found[0]) for found in centers_and_spreads([values], weights, farthest))


def spreads(X, weights=None):
    """Spread of each column of X (n, d), in which values may be missing (NaN), (d,) float64."""
    return centers_and_spreads(X.T, weights)[1]


def centers_and_spreads(columns, weights=None, farthest=np.inf):
    """Center and spread of each of several columns (n,), float64; the spread of a constant is 0.

    Missing values (NaN) do not count; without any other both are 0. Weights count relative to each other. If more than
    half of the values are equal, the root mean square of the others' distances from them is at most `farthest` spreads.
    """
    centers, spreads = np.zeros((2, len(columns)))
    step = max(1, _BLOCK // max(1, len(columns[0]))) if len(columns) else 1
    for start in range(0, len(columns), step):
        rows = np.array(columns[start : start + step], dtype=np.float64, order="C")
        missing = np.isnan(rows)
        incomplete = missing.any(axis=1)
        for row in np.flatnonzero(incomplete & ~missing.all(axis=1)):
            known = ~missing[row]
            found = _in_range(rows[row, known][None], None if weights is None else weights[known], farthest)
            centers[start + row], spreads[start + row] = (values[0] for values in found)
        complete = np.flatnonzero(~incomplete)
        centers[start + complete], spreads[start + complete] = _in_range(rows[complete], weights, farthest)
    return centers, spreads


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


def _in_range(rows, weights, farthest):
    """Centers and spreads (d,) of rows (d, n), whose squares may overflow."""
    exponents = np.frexp(np.abs(rows).max(axis=1, initial=0.0))[1]
    return [np.ldexp(found, exponents) for found in _of_rows(np.ldexp(rows, -exponents[:, None]), weights, farthest)]


def _of_rows(rows, weights, farthest=np.inf):
    """Centers and spreads (d,) of rows (d, n) whose squares are in range."""
    centers, deviations = moments(rows, weights)
    low, median, high = weighted_quantile(rows.T, _SHARES, weights)
    mostly_one = low == high
    for column in np.flatnonzero(mostly_one & (deviations > 0)):
        rare = rows[column] != median[column]
        if rare.any():
            of_rare = None if weights is None else weights[rare]
            share = np.count_nonzero(rare) / len(rare) if weights is None else of_rare.sum() / weights.sum()
            center, spread = (found[0] for found in _of_rows(rows[column, rare][None], of_rare))
            apart = center - median[column]
            centers[column] = median[column] + share * apart
            square = spread**2 + apart**2  # mean square of their distances from the common value
            deviations[column] = np.sqrt(max(share * square - (share * apart) ** 2, square / farthest**2))
    outlying = np.flatnonzero(~mostly_one & (FAR * (high - low) / NORMAL_QUARTILES < deviations))
    if len(outlying):
        reach, middle = REACH * (high - low)[outlying], median[outlying]
        exponents = np.frexp(np.abs(middle) + reach)[1]  # the outliers' own may be so great that the others vanish
        ends = (middle - reach)[:, None], (middle + reach)[:, None]
        within = np.ldexp(np.clip(rows[outlying], *ends), -exponents[:, None])
        centers[outlying], deviations[outlying] = np.ldexp(moments(within, weights), exponents)
    return centers, np.where(deviations <= ROUNDING * np.abs(centers), 0.0, deviations)
