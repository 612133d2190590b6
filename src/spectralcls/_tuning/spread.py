"""The spread of a column, from which scales, grids of bandwidths and reference rules are computed.

The spread is the standard deviation after values more than `REACH` interquartile ranges from the median are replaced by
the farthest value within this distance. One far value thus changes little, while heavy tails still count. If more than
half of the values are equal, the median distance of the others from them replaces the interquartile range. A column
that varies by no more than the rounding of its mean has no spread.
"""

import numpy as np

from .._utils.quantile import weighted_quantile

REACH = 10.0  # values more than this many interquartile ranges from the median may be replaced
# Isolated values are at least this many times as far from the median as all values within reach; 3 and 10 isolate the
# same values in 61 public tables.
APART = 5.0
FEW = 0.05  # largest fraction of isolated values that differ; if there are more, they form a group of samples
_SENTINELS = 3  # most values such as 97, 98 and 99 that stand for a missing value
# Standard deviations up to this fraction of the mean count as rounding errors. The fraction is at most 1e-15 for
# constants, even if their last bit varies. Above 1e-12, differences between values have three or more valid digits.
ROUNDING = 1e-12
NORMAL_QUARTILES = 1.349  # interquartile range of the standard normal
_SHARES = (0.25, 0.5, 0.75)
_LOOKED_AT = 1000  # values per column from which `suspects` estimates the reach
_BLOCK = 1 << 17  # values copied at a time: one megabyte, which fits into the cache


def moments(values, weights=None):
    """Mean and standard deviation along the last axis."""
    if weights is None:
        center = values.mean(axis=-1)
        return center, np.sqrt(np.square(values - center[..., None]).mean(axis=-1))
    shares = weights / weights.sum()
    center = (values * shares).sum(axis=-1)
    return center, np.sqrt((np.square(values - center[..., None]) * shares).sum(axis=-1))


def spreads(X, weights=None):
    """Spread (d,), float64, of the columns of X (n, d), which may have missing values (NaN)."""
    return centers_and_spreads(X.T, weights)[1]


def centers_and_spreads(columns, weights=None, farthest=np.inf):
    """Center and spread of each of several columns (n,), float64; the spread of a constant is 0.

    Missing values (NaN) are ignored; if all are missing, both are 0. Only the ratios of weights matter. If more than
    half of the values are equal, the spread is so large that the root mean square of the others' distances from them is
    at most `farthest` spreads.
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


def within_reach(X, weights=None):
    """X (n, d), in which values beyond the reach of their column are replaced by the farthest value within it; X itself
    if there are none.
    """
    missing = np.isnan(X)
    incomplete = missing.any(axis=0)
    parts = [(slice(None), np.flatnonzero(~incomplete))]
    parts += [(~missing[:, column], np.array([column])) for column in np.flatnonzero(incomplete)]
    out = X
    for known, columns in parts:
        rows = X[known][:, columns].T
        if not rows.size:
            continue
        median, reach, _ = _reach(rows, None if weights is None else weights[known])
        for place in np.flatnonzero(_beyond(rows, median, reach)):
            out = X.copy() if out is X else out
            out[known, columns[place]] = _clipped(rows[place], median[place], reach[place])
    return out


def suspects(columns):
    """Mask (d,) of the columns (n,) that may have isolated values, judged by their extremes and about `_LOOKED_AT` of
    their values.
    """
    found = np.zeros(len(columns), dtype=bool)
    if not len(columns):
        return found
    step = max(1, len(columns[0]) // _LOOKED_AT)
    rows = np.array([values[::step] for values in columns], dtype=np.float64)
    complete = ~np.isnan(rows).any(axis=1)
    found[~complete] = True
    if complete.any():
        median, reach, _ = _reach(rows[complete], None)
        extremes = np.array([(np.nanmin(columns[i]), np.nanmax(columns[i])) for i in np.flatnonzero(complete)])
        with np.errstate(over="ignore"):
            found[complete] = np.abs(extremes - median[:, None]).max(axis=1) > reach / 2
        for i in np.flatnonzero(~found):
            found[i] = len(_sentinels(rows[i])) > 0
    return found


def _sentinels(values):
    """Positions of up to `_SENTINELS` extreme values (n,) that many rows share and that are far from all others."""
    for side in (values, -values):
        rest = np.ones(len(values), dtype=bool)
        for _ in range(_SENTINELS):
            end = side[rest].min()
            rest &= side != end
            n_far = np.count_nonzero(~rest)
            if 2 * n_far > len(values) or np.count_nonzero(side == end) < 2:
                break
            (median,), (reach,), (mostly_one,) = _reach(side[rest][None], None)
            distances = np.abs(side - median)
            far, nearer = distances[~rest].min(), distances[rest].max()
            if n_far > FEW * len(values) and far > reach and far >= APART * nearer > 0 and not mostly_one:
                return np.flatnonzero(~rest)
    return np.empty(0, dtype=np.intp)


def isolated(values, weights=None):
    """Positions of the values (n,) that are far from all others, because they are few, or equal in many rows, as those
    that stand for a missing value; and the ratio of their least distance from the median to the greatest distance of
    the others from it, 0 if no value is far.
    """
    (median,), (reach,), _ = _reach(values[None], weights)
    with np.errstate(over="ignore"):
        distances = np.abs(values - median)
    far = distances > reach
    nearer = distances[~far].max(initial=0.0)
    few = 0 < np.count_nonzero(far) <= max(1, FEW * len(values))
    if few and distances[far].min() >= APART * nearer:
        return np.flatnonzero(far), distances[far].min() / nearer
    places = _sentinels(values)
    if len(places):
        others = np.delete(values, places)
        distances = np.abs(values - np.median(others))
        return places, distances[places].min() / np.delete(distances, places).max()
    return places, 0.0


def root_mean_square(values):
    """Root mean square of nonnegative numbers, whose squares may over- or underflow."""
    largest = values.max(initial=0.0)
    return float(largest * np.sqrt(np.mean((values / largest) ** 2))) if largest > 0 else 0.0


def effective_number(n, weights=None):
    """Kish's effective number of samples, ``(sum w)^2 / sum w^2``; n without weights."""
    return n if weights is None else float(weights.sum() ** 2 / (weights @ weights))


def _in_range(rows, weights, farthest):
    """Centers and spreads (d,) of rows (d, n), whose squares may overflow."""
    exponents = np.frexp(np.abs(rows).max(axis=1, initial=0.0))[1]
    return [np.ldexp(found, exponents) for found in _of_rows(np.ldexp(rows, -exponents[:, None]), weights, farthest)]


def _of_rows(rows, weights, farthest=np.inf):
    """Centers and spreads (d,) of rows (d, n) whose squares do not overflow."""
    centers, deviations = moments(rows, weights)
    median, reach, mostly_one = _reach(rows, weights)
    for row in np.flatnonzero(_beyond(rows, median, reach) | (mostly_one & (farthest < np.inf))):
        within = _clipped(rows[row], median[row], reach[row])
        exponent = np.frexp(np.abs(within).max())[1]  # far values may be so large that the others underflow
        within, common = np.ldexp(within, -exponent), np.ldexp(median[row], -exponent)
        center, deviation = moments(within, weights)
        if mostly_one[row]:
            rare = within != common
            square = np.average((within[rare] - common) ** 2, weights=None if weights is None else weights[rare])
            deviation = max(deviation, np.sqrt(square) / farthest)
        centers[row], deviations[row] = np.ldexp((center, deviation), exponent)
    return centers, np.where(deviations <= ROUNDING * np.abs(centers), 0.0, deviations)


def _reach(rows, weights):
    """Median and reach of each row (n,), and whether most but not all of its values are equal; (d,) each."""
    low, median, high = weighted_quantile(rows.T, _SHARES, weights)
    width = high - low
    distances = np.abs(rows - median[:, None])
    farthest = distances.max(axis=1, initial=0.0)
    mostly_one = (width == 0) & (farthest > 0)
    two_values = mostly_one & ((distances == 0) | (distances == farthest[:, None])).all(axis=1)
    width[two_values] = farthest[two_values]  # all at once, because there may be many indicators
    for row in np.flatnonzero(mostly_one & ~two_values):
        rare = distances[row] > 0
        width[row] = weighted_quantile(distances[row, rare], 0.5, None if weights is None else weights[rare])
    return median, REACH * width, mostly_one


def _beyond(rows, median, reach):
    """Mask (d,) of the rows with values beyond the reach."""
    return np.abs(rows - median[:, None]).max(axis=1, initial=0.0) > reach


def _clipped(values, median, reach):
    """Values (n,), of which those beyond the reach are replaced by the farthest value within it."""
    near = values[np.abs(values - median) <= reach]
    return np.clip(values, near.min(), near.max())
