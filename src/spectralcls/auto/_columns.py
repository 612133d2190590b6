"""Data frames as matrices of numbers: categories become the positions of their levels, missing values NaN."""

import numpy as np
from sklearn.utils.validation import _check_feature_names, _check_n_features, check_array, check_X_y, validate_data

from .._table.columns import Levels
from .._table.frames import NUMBER, ORDERED, is_frame, is_numeric_pandas, read_columns

_NOT_NUMBERS = {"ensure_all_finite": "allow-nan", "dtype": np.float64}


def check_columns(estimator, X, y="no_validation", *, reset=True, dtype=(np.float64, np.float32), ensure_min_samples=1):
    """What `validate_data` does, of data frames with columns of any kind too; values may be missing.

    With `reset` it is noted on the estimator what each column is, as `_levels`: None for a number.

    Returns
    -------
    X : ndarray of shape (n, d), or the pair (X, y) if there is a y
    """
    frame = is_frame(X) and not is_numeric_pandas(X)
    if reset:
        estimator._levels = None
    levels = estimator._levels
    if levels is not None and not is_frame(X):
        kinds = [position for position, own in enumerate(levels) if own is not None]
        raise ValueError(f"X must be a data frame like that of fit, in which the columns {kinds} are categories.")
    without_y = isinstance(y, str) and y == "no_validation"
    more = {} if without_y else {"y": y, "ensure_min_samples": ensure_min_samples}
    if not frame and levels is None:
        return validate_data(estimator, X, reset=reset, **_NOT_NUMBERS | {"dtype": dtype}, **more)
    _check_feature_names(estimator, X, reset=reset)
    _check_n_features(estimator, X, reset=reset)
    columns = read_columns(X)
    if reset:
        levels = [None if column.kind == NUMBER else Levels.learned(column, column.kind) for column in columns]
        estimator._levels = levels
    matrix = np.column_stack([
        _numbers(column) if own is None else own.position_of(column)
        for column, own in zip(columns, levels or [None] * len(columns), strict=True)
    ])
    if without_y:
        return check_array(matrix, estimator=estimator, input_name="X", **_NOT_NUMBERS)
    return check_X_y(matrix, y, estimator=estimator, ensure_min_samples=ensure_min_samples, **_NOT_NUMBERS)


def are_categories(levels, d):
    """Which of d columns are unordered categories."""
    if levels is None:
        return np.zeros(d, dtype=bool)
    return np.array([own is not None and own.kind != ORDERED for own in levels])


def _numbers(column):
    if column.kind != NUMBER:
        kind = column.kind
        raise ValueError(f"Column {column.name!r} of X holds {kind}s, but numbers when the estimator was fitted.")
    return column.values
