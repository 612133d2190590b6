"""Columns of a table as coordinates: standardized or rank-Gauss numbers, and indicators of columns with few values."""

import numpy as np
from scipy.special import ndtri
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

FEWEST_INDICATED, MOST_INDICATED = 3, 10  # distinct values of a column that becomes indicators


class ColumnEncoder(TransformerMixin, BaseEstimator):
    """Encode numeric columns for kernels of Euclidean distances. Constant columns vanish.

    Parameters
    ----------
    numeric : {"standard", "rank"}, default="standard"
        "standard": mean 0 and variance 1. "rank": the normal quantile of the mid-rank, with linear interpolation
        between the training values; what lies beyond them gets the value at the end.
    indicators : bool, default=True
        Replace columns of 3 to 10 distinct values by 0/1 columns, one for each value. A new value has none.
    dtype : dtype, default=float64
        Of the result.

    Attributes
    ----------
    codes_ : list
        What becomes of each column: None, its distinct values, or a pair that `_encode` understands.
    """

    def __init__(self, numeric="standard", *, indicators=True, dtype=np.float64):
        self.numeric = numeric
        self.indicators = indicators
        self.dtype = dtype

    def fit(self, X, y=None, sample_weight=None):
        """Learn the codes from X of shape (n_samples, n_features); weights count as copies."""
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        weights = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        self.codes_ = [self._learn(column, weights) for column in X.T.astype(np.float64)]
        return self

    def _learn(self, column, weights):
        values, group = np.unique(column, return_inverse=True)
        counts = np.bincount(group, weights)
        if len(values) == 1:
            return None
        if self.indicators and FEWEST_INDICATED <= len(values) <= MOST_INDICATED:
            return values
        if self.numeric == "rank":
            return values, ndtri((np.cumsum(counts) - counts / 2) / counts.sum())
        mean = np.average(column, weights=weights)
        return mean, np.sqrt(np.average((column - mean) ** 2, weights=weights))

    def transform(self, X):
        """Encode X: (n_samples, n_encoded), one column of zeros if all columns were constant."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        widths = [0 if codes is None else 1 if isinstance(codes, tuple) else len(codes) for codes in self.codes_]
        out = np.zeros((len(X), max(1, sum(widths))), dtype=self.dtype)
        stops = np.cumsum(widths)
        for column, codes, width, stop in zip(X.T, self.codes_, widths, stops, strict=True):
            if width:
                out[:, stop - width : stop] = self._encode(column.astype(np.float64), codes)
        return out

    def _encode(self, column, codes):
        if not isinstance(codes, tuple):
            return column[:, None] == codes
        if self.numeric == "rank":
            return np.interp(column, *codes)[:, None]
        mean, scale = codes
        return ((column - mean) / scale)[:, None]
