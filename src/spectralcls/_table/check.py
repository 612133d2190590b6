"""Checks of the features that a user hands over: arrays as scikit-learn does it, and tables of any kind of columns."""


import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    check_array,
    check_X_y,
    validate_data,
)

from .frames import NUMBER, is_frame, is_numeric_pandas, read_columns
from .table import Table

FLOATS = (np.float64, np.float32)


def check_features(estimator, X, y="no_validation", *, reset=True, dtype=FLOATS, ensure_min_samples=1):
    """scikit-learn's `validate_data` for estimators that take tables.

    With `reset` the table is learned, if there is one, and kept as `_table`; without it, X is read like that table.
    Missing values are NaN in the result if the estimator's `missing` is "marginalize", and otherwise an error.

    Returns
    -------
    X : ndarray (n, d), or the pair (X, y) if there is a y

    Raises
    ------
    ValueError
        For whatever cannot be a column; in one sentence that names it.
    """
    if reset:
        estimator._table = None
    known = getattr(estimator, "_table", None)  # not there before there were tables
    spec = getattr(estimator, "categorical_features", None)
    scale = getattr(estimator, "scale", None) is not None
    frame = is_frame(X) and not is_numeric_pandas(X)
    plain = not (frame or ((scale or _names_some(spec)) if reset else known is not None))
    allowed = "allow-nan" if getattr(estimator, "missing", "error") == "marginalize" else True
    options = {"dtype": dtype, "ensure_all_finite": "allow-nan"}
    if plain or issparse(X):
        _name_infinite(X)
        options["ensure_all_finite"] = allowed
        more = {} if _is_absent(y) else {"y": y}
        if reset:
            more["ensure_min_samples"] = ensure_min_samples
        return validate_data(estimator, X, reset=reset, **options, **more)
    if not is_frame(X):
        X = check_array(X, dtype=None, ensure_all_finite=False, estimator=estimator)
    _check_feature_names(estimator, X, reset=reset)
    _check_n_features(estimator, X, reset=reset)
    columns = read_columns(X)
    for column in columns:
        if column.kind == NUMBER and np.isinf(column.values).any():
            raise ValueError(_infinite(column.name, int(np.argmax(np.isinf(column.values)))))
        if allowed is True and column.missing.any():
            raise ValueError(_missing(column.name, int(np.argmax(column.missing)), estimator))
    if reset:
        categorical = _categorical(spec, columns)
        _require_numbers(columns, categorical)
        table = Table.learned(columns, categorical, scale)
        if scale or any(categorical):
            estimator._table = table
    else:
        table = known
        if table is None:
            _require_numbers(columns, [False] * len(columns))
            table = Table.learned(columns, [False] * len(columns), False)
    coordinates = table.encode(columns)
    if allowed is True and np.isnan(coordinates).any():
        raise ValueError(_unseen(table, columns, coordinates))
    if _is_absent(y):
        return check_array(coordinates, estimator=estimator, **options)
    return check_X_y(coordinates, y, estimator=estimator, ensure_min_samples=ensure_min_samples, **options)


def _is_absent(y):
    return isinstance(y, str) and y == "no_validation"


def _names_some(spec):
    """Whether a user says that there are categories."""
    return spec is not None and not (isinstance(spec, str) and spec == "from_dtype") and np.size(spec) > 0 and (
        np.asarray(spec).dtype.kind != "b" or bool(np.any(spec))
    )


def _categorical(spec, columns):
    """Which columns are categories, as HistGradientBoostingClassifier reads its parameter of that name."""
    n = len(columns)
    if spec is None:
        return [False] * n
    if isinstance(spec, str):
        if spec != "from_dtype":
            raise ValueError(f'categorical_features must be "from_dtype", names, positions or a mask, got {spec!r}.')
        return [column.kind != NUMBER for column in columns]
    given = np.asarray(spec)
    if given.dtype.kind == "b":
        if given.shape != (n,):
            raise ValueError(f"categorical_features is a mask of shape {given.shape}, but X has {n} columns.")
        return given.tolist()
    if given.dtype.kind in "iu":
        if given.size and (given.min() < 0 or given.max() >= n):
            raise ValueError(f"categorical_features has positions outside 0 to {n - 1}: {given.tolist()}.")
        return np.isin(np.arange(n), given).tolist()
    names = [column.name for column in columns]
    unknown = [name for name in given.tolist() if name not in names]
    if unknown:
        raise ValueError(f"categorical_features has {unknown[0]!r}, which is no column of X: there are {names[:20]}.")
    return [name in set(given.tolist()) for name in names]


def _require_numbers(columns, categorical):
    for column, is_category in zip(columns, categorical, strict=True):
        if column.kind == NUMBER or is_category:
            continue
        if column.kind == "boolean":
            continue
        raise ValueError(
            f"Column {column.name!r} of X holds {column.kind} values such as {_example(column)!r}, which are not "
            "numbers: name it in categorical_features, or drop it."
        )


def _example(column):
    return next(iter(column.values[~column.missing]), None)


def _name_infinite(X):
    """Say which column is infinite, of an array or a frame of numbers; the other checks are scikit-learn's."""
    try:
        values = np.asarray(X)
        if values.dtype.kind != "f" or values.ndim != 2 or np.isfinite(values.sum()):
            return
        row, column = np.unravel_index(np.argmax(np.isinf(values)), values.shape)
    except (ValueError, TypeError):
        return
    if np.isinf(values[row, column]):
        raise ValueError(_infinite(X.columns[column] if hasattr(X, "columns") else int(column), int(row)))


def _infinite(name, row):
    return f"Input X contains infinity: column {name!r}, row {row}. Replace infinite values, or make them missing."


def _missing(name, row, estimator):
    why = getattr(estimator, "_needs_complete", None)
    why = f": {why}" if why else ' (missing="error")'
    return f"Input X contains NaN: column {name!r}, row {row}. {type(estimator).__name__} takes no missing values{why}."


def _unseen(table, columns, coordinates):
    for own, column in zip(table.columns, columns, strict=True):
        if own.width and np.isnan(own.encode(column)).any():
            row = int(np.argmax(np.isnan(own.encode(column)).any(axis=1)))
            return (
                f"Column {column.name!r} of X has the level {column.values[row]!r} in row {row}, which training did "
                'not have: with missing="marginalize" it would count as missing.'
            )
    raise AssertionError("a coordinate is missing that belongs to no column")


