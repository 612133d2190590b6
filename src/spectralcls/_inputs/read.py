"""Checks X and returns a matrix of numbers or a list of columns.

This module learns only the number and the names of the features.
"""

from contextlib import contextmanager

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_array

from .._utils.conversion import is_ready, named_overflow_errors, without_mask
from .._utils.from_sklearn import check_columns_seen
from .frames import NUMBER, Columns, is_frame, is_numeric_pandas, read_columns, refuse_repeated_names

FLOATS = (np.float64, np.float32)


def read(X, name, seen, *, reset, as_columns, finite=False, dtype=FLOATS, accept_sparse=False, ensure_min_samples=1):
    """Check X; return a matrix if it has only numbers, otherwise columns.

    Parameters
    ----------
    X : array-like, data frame, sparse matrix or Columns
    name : str
        Name of the estimator, for messages.
    seen : dict
        Number and names of the features; see `check_columns_seen`.
    reset : bool
        Whether X is an argument of `fit`.
    as_columns : bool
        Whether to return columns even for a matrix, because some are categories.
    finite : bool
        Whether missing values are refused.
    dtype, accept_sparse, ensure_min_samples : as in scikit-learn's `check_array`

    Returns
    -------
    raw : ndarray (n, d) with NaN for missing values, sparse array, or Columns

    Raises
    ------
    ValueError, TypeError
        If X is invalid; the message names the column, if one is at fault.
    """
    if not reset and not as_columns and _is_checked(X, seen, dtype, ensure_min_samples):
        return X
    X = without_mask(X)
    if isinstance(X, Columns):  # already read and checked
        if reset:
            seen.update(X.seen)
        return X
    if is_frame(X):
        refuse_repeated_names(X)
        if getattr(X, "shape", (0, 1))[1] == 0:
            raise ValueError(
                f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required by {name}."
            )
        if X.shape[1] == 0:
            raise ValueError(
                f"Found array with 0 feature(s) (shape={tuple(X.shape)}) while a minimum of 1 is required by {name}."
            )
    if issparse(X) or not (is_table(X) or as_columns):
        _refuse_infinite(X)
        with named_overflow_errors("X"), _texts_named(X):
            matrix = check_array(
                X,
                dtype=dtype,
                accept_sparse=accept_sparse,
                ensure_all_finite=True if finite or issparse(X) else "allow-nan",
                ensure_min_samples=ensure_min_samples,
                estimator=name,
                input_name="X",
                order="C",
            )
        check_columns_seen(name, seen, X, reset=reset)
        return matrix
    if not is_frame(X):
        X = check_array(X, dtype=None, ensure_all_finite=False, estimator=name)
    check_columns_seen(name, seen, X, reset=reset)
    columns = read_columns(X)
    columns.seen = dict(seen)
    for column in columns:
        if column.kind == NUMBER and np.isinf(column.values).any():
            raise ValueError(_infinite(column.name, int(np.argmax(np.isinf(column.values)))))
    if columns.n_rows < ensure_min_samples:
        raise ValueError(
            f"Found array with {columns.n_rows} sample(s) (shape={(columns.n_rows, len(columns))}) while a minimum of "
            f"{ensure_min_samples} is required by {name}."
        )
    return columns


@contextmanager
def _texts_named(X):
    """Replace NumPy's error for texts in an array by one that recommends a data frame."""
    try:
        yield
    except ValueError as error:
        if "could not convert string to float" not in str(error):
            raise
        text = str(error).partition("'")[2].rpartition("'")[0]
        cells = np.atleast_2d(np.asarray(X, dtype=object))
        at = next((" in row {}, column {}".format(*place) for place in np.argwhere(cells == text)), "")
        raise ValueError(
            f"X is an array with texts such as {text!r}{at}: pass a data frame, in which they are categories."
        ) from None


def _is_checked(X, seen, dtype, ensure_min_samples):
    """Whether X is a matrix that would pass all checks, so that scikit-learn's, which take 0.1 ms, can be skipped."""
    if "feature_names_in_" in seen or not is_ready(X, dtype if isinstance(dtype, tuple) else (dtype,)):
        return False
    return X.ndim == 2 and X.shape[1] == seen.get("n_features_in_") and len(X) >= ensure_min_samples


def is_table(X):
    """Whether X is a data frame other than a pandas frame of numbers."""
    return is_frame(X) and not is_numeric_pandas(X)


def _refuse_infinite(X):
    """Raise for the first infinite value of an array or a frame of numbers."""
    if issparse(X):  # NumPy does not convert it to a dense array
        return
    try:
        values = np.asarray(X)
    except (ValueError, TypeError):
        return
    with np.errstate(over="ignore", invalid="ignore"):  # finite values may overflow, especially in half precision
        if values.dtype.kind != "f" or values.ndim != 2 or np.isfinite(values.sum()):
            return
    row, column = np.unravel_index(np.argmax(np.isinf(values)), values.shape)
    if np.isinf(values[row, column]):
        raise ValueError(_infinite(X.columns[column] if hasattr(X, "columns") else int(column), int(row)))


def _infinite(name, row):
    return f"Input X contains infinity: column {name!r}, row {row}. Replace infinite values, or make them missing."
