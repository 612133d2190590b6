"""Columns of a table as coordinates: standardized numbers, normal quantiles of ranks, and indicators of values."""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from .._tuning.spread import centers_and_spreads, root_mean_square
from .._utils.bases import BaseEstimator, TransformerMixin
from .._utils.cached import cached_property
from .._utils.conversion import brought_into_range

FEWEST_INDICATED, MOST_INDICATED = 3, 10  # fewest and most distinct values of a column coded by indicators
_LEAST_RANK = np.finfo(np.float64).eps / 2  # smallest relative rank; 1 minus this is the largest number below 1


class Encoding(NamedTuple):
    """The encoding of a column: indicators of levels, a standardized or interpolated number, or nothing."""

    levels: np.ndarray | None = None
    moments: tuple | None = None  # mean and scale
    curve: tuple | None = None  # values and their normal quantiles
    missing: bool = False  # whether an extra coordinate indicates missing values
    exponent: int = 0  # numbers are divided by 2^exponent, so that squares and slopes stay in range

    @property
    def width(self):
        if self.levels is not None:
            return len(self.levels) + self.missing
        return int(self.moments is not None or self.curve is not None) + self.missing

    def encode(self, column):
        """Coordinates (n, width); a missing number counts as the mean or, among ranks, as the median."""
        parts = []
        if self.levels is not None:
            parts.append(column[:, None] == self.levels)
        elif self.moments is not None or self.curve is not None:
            column = np.ldexp(column, -self.exponent)
            mean, scale = self.moments or (0.0, 1.0)
            value = (column - mean) / scale if self.curve is None else np.interp(column, *self.curve)
            parts.append(np.where(np.isnan(column), 0.0, value)[:, None])
        if self.missing:
            parts.append(np.isnan(column)[:, None])
        return np.concatenate(parts, axis=1) if parts else np.empty((len(column), 0))


class ColumnEncoder(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):
    """Encode checked numeric columns for kernels of Euclidean distances. Constant columns are dropped.

    Parameters
    ----------
    numeric : {"standard", "shared", "rank"}, default="standard"
        "standard": mean 0 and variance 1. "shared": mean 0 and mean variance 1 over all columns, which keep their
        relative scales. For both, the mean and variance are computed after far values are replaced by the farthest
        value within reach. "rank": the normal quantile of the mid-rank, interpolated linearly between training values
        and constant beyond them.
    indicators : bool, default=True
        Replace each column of 3 to 10 distinct values by 0/1 columns, one per value. A new value gets only zeros.
    categorical : array-like of bool, default=None
        Columns to replace by 0/1 columns, whatever their number of values.
    dtype : dtype, default=float64
        Data type of the result.

    Attributes
    ----------
    codes_ : list of Encoding
        Encoding of each column.

    Notes
    -----
    Missing values are NaN. A column with missing values gets a 0/1 column that marks them.
    """

    def __init__(self, numeric="standard", *, indicators=True, categorical=None, dtype=np.float64):
        self.numeric = numeric
        self.indicators = indicators
        self.categorical = categorical
        self.dtype = dtype

    def fit(self, X, y=None, sample_weight=None):
        """Learn the encodings from X of shape (n_samples, n_features); weight k counts as k copies."""
        X = np.asarray(X, dtype=np.float64)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        categorical = np.zeros(X.shape[1], dtype=bool) if self.categorical is None else self.categorical
        columns = X.T if weights is not None else np.sort(X.T, axis=1)  # so that the order of rows has no effect
        found = np.full((2, X.shape[1]), np.nan)
        if self.numeric != "rank":
            found[:] = centers_and_spreads(columns, weights)
        each = zip(columns, categorical, *found.tolist(), strict=True)
        self.codes_ = [self._learn(column, weights, named, center, spread) for column, named, center, spread in each]
        if self.numeric == "shared":
            self.codes_ = _sharing_scale(self.codes_)
        vars(self).pop("_layout", None)
        return self

    def _learn(self, column, weights, named, center, spread):
        missing = np.isnan(column)
        if weights is None:  # already sorted; np.unique would sort again
            values = column[~missing]
            first = np.flatnonzero(np.append(True, values[1:] != values[:-1])[: len(values)])
            values, counts = values[first], np.diff(np.append(first, len(values)))
        else:
            values, group = np.unique(column[~missing], return_inverse=True)
            counts = np.bincount(group, weights[~missing])
        further = bool(missing.any() and len(values))
        if len(values) < 2 or spread == 0:
            return Encoding(missing=further)
        if named or (self.indicators and FEWEST_INDICATED <= len(values) <= MOST_INDICATED):
            return Encoding(levels=values, missing=further)
        if self.numeric == "rank":
            exponent = int(np.frexp(np.abs(values).max())[1])
            values = np.ldexp(values, -exponent)
            # ranks may come closer to 0 or 1 than `_LEAST_RANK` if weights differ by many orders of magnitude
            rank = (np.cumsum(counts) - counts / 2) / counts.sum()
            curve = values, ndtri(np.clip(rank, _LEAST_RANK, 1 - _LEAST_RANK))
            return Encoding(curve=curve, missing=further, exponent=exponent)
        exponent = int(np.frexp(max(abs(center), spread))[1])
        moments = float(np.ldexp(center, -exponent)), float(np.ldexp(spread, -exponent))
        return Encoding(moments=moments, missing=further, exponent=exponent)

    def transform(self, X):
        """Encode X as (n_samples, n_encoded); the result is a single column of zeros if all columns were constant."""
        X = np.asarray(X, dtype=np.float64)
        stops, alike, exponents, moments, curves, others = self._layout
        out = np.zeros((len(X), max(1, stops[-1])), dtype=self.dtype)
        with np.errstate(over="ignore"):
            if len(alike):  # all columns at once: for a single row, this takes as long as one column
                values = np.ldexp(X[:, alike], exponents)
                if curves:
                    values = np.stack([np.interp(*pair) for pair in zip(values.T, *curves, strict=True)], axis=1)
                else:
                    values = (values - moments[0]) / moments[1]
                out[:, stops[alike]] = np.where(np.isnan(values), 0.0, values)
            for i in others:
                out[:, stops[i] : stops[i + 1]] = self.codes_[i].encode(X[:, i])
        return brought_into_range(out)

    def __getstate__(self):
        state = {name: value for name, value in super().__getstate__().items() if name != "_layout"}
        return state | {"codes_": _to_state(state["codes_"])} if "codes_" in state else state

    def __setstate__(self, state):
        if isinstance(state.get("codes_"), dict):
            state = state | {"codes_": _from_state(**state["codes_"])}
        super().__setstate__(state)

    @cached_property
    def _layout(self):
        """Start of each column's coordinates; the columns that are encoded as a single number, with their exponents,
        moments and curves; and the other columns."""
        codes = self.codes_
        stops = np.cumsum([0] + [code.width for code in codes])
        alike = np.array([code.levels is None and code.width == 1 and not code.missing for code in codes], dtype=bool)
        same = [code for code, is_alike in zip(codes, alike, strict=True) if is_alike]
        exponents = [-code.exponent for code in same]
        curves = list(zip(*(code.curve for code in same), strict=True)) if self.numeric == "rank" else []
        moments = np.array([code.moments or (0.0, 1.0) for code in same]).reshape(-1, 2).T
        return stops, np.flatnonzero(alike), exponents, moments, curves, np.flatnonzero(~alike)


def _to_state(codes):
    """Encodings as a few arrays, because the time to write model files is quadratic in the number of objects."""
    curves = [code.curve or (None, None) for code in codes]
    return {
        "levels": _joined([code.levels for code in codes]),
        "curves": [_joined(side) for side in zip(*curves, strict=True)],
        "moments": np.array([code.moments or (np.nan, np.nan) for code in codes]),
        "missing": np.array([code.missing for code in codes]),
        "exponents": np.array([code.exponent for code in codes]),
    }


def _from_state(levels, curves, moments, missing, exponents):
    pairs = zip(*map(_parted, curves), strict=True)
    moments = [None if np.isnan(mean) else (mean, scale) for mean, scale in moments.tolist()]
    columns = (moments, [None if pair[0] is None else pair for pair in pairs], missing.tolist(), exponents.tolist())
    return [Encoding(*fields) for fields in zip(_parted(levels), *columns, strict=True)]


def _joined(arrays):
    """The concatenated arrays and their sizes, -1 for None."""
    sizes = np.array([-1 if array is None else len(array) for array in arrays])
    return np.concatenate([np.empty(0), *(array for array in arrays if array is not None)]), sizes


def _parted(joined):
    values, sizes = joined
    stops = np.cumsum(np.maximum(sizes, 0)).tolist()
    return [None if n < 0 else values[stop - n : stop] for n, stop in zip(sizes.tolist(), stops, strict=True)]


def _sharing_scale(codes):
    """The encodings, with each scale replaced by the root mean square of all scales."""
    numbers = [code for code in codes if code.moments is not None]
    exponent = max((code.exponent for code in numbers), default=0)
    scales = np.array([np.ldexp(code.moments[1], code.exponent - exponent) for code in numbers])
    shared = root_mean_square(scales) if numbers else 1.0

    def sharing(code):
        mean = np.ldexp(code.moments[0], code.exponent - exponent)
        return code._replace(moments=(mean, shared), exponent=exponent)

    return [code if code.moments is None else sharing(code) for code in codes]
