"""Data frames as matrices of numbers: categories become the positions of their levels, missing values NaN."""

import numpy as np

from .._inputs.check import check_matrix, check_numbers, is_table, named_columns, row_weights
from .._inputs.columns import Levels, numbers
from .._inputs.frames import NUMBER, ORDERED, is_frame

_NOT_NUMBERS = {"ensure_all_finite": "allow-nan", "dtype": np.float64}


def check_columns(
    estimator,
    X,
    y="no_validation",
    *,
    reset=True,
    dtype=(np.float64, np.float32),
    ensure_min_samples=1,
    sample_weight=None,
):
    """What `validate_data` does, of data frames with columns of any kind too; values may be missing.

    With `reset` it is noted on the estimator what each column is, as `_levels`: None for a number.

    Returns
    -------
    X : ndarray of shape (n, d), or the pair (X, y) if there is a y
    """
    if reset:
        estimator._levels = None
    levels = estimator._levels
    if levels is not None and not is_frame(X):
        kinds = [position for position, own in enumerate(levels) if own is not None]
        raise ValueError(f"X must be a data frame like that of fit, in which the columns {kinds} are categories.")
    if not is_table(X) and levels is None:
        options = _NOT_NUMBERS | {"dtype": dtype}
        return check_numbers(estimator, X, y, reset=reset, ensure_min_samples=ensure_min_samples, **options)
    columns = named_columns(estimator, X, reset=reset)
    if reset:
        levels = _levels(columns, row_weights(sample_weight, columns[0].values))
        estimator._levels = levels
    matrix = np.column_stack(
        [
            numbers(column) if own is None else own.position_of(column)
            for column, own in zip(columns, levels or [None] * len(columns), strict=True)
        ]
    )
    return check_matrix(estimator, matrix, y, ensure_min_samples, **_NOT_NUMBERS)


def _levels(columns, weights):
    """Levels of the rows of positive weight; None for a number."""
    if weights is not None:
        kept = weights > 0
        columns, weights = [column.take(kept) for column in columns], weights[kept]
    return [None if column.kind == NUMBER else Levels.learned(column, column.kind, weights) for column in columns]


def are_categories(levels, d):
    """Which of d columns are unordered categories."""
    if levels is None:
        return np.zeros(d, dtype=bool)
    return np.array([own is not None and own.kind != ORDERED for own in levels])
