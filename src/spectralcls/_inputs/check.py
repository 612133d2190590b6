"""Checks of the features that a user hands over: arrays as scikit-learn does it, and tables of any kind of columns."""

from functools import partial

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    check_array,
    check_X_y,
    validate_data,
)

from .._utils.conversion import held_by_floats
from .._utils.validation import check_sample_weight
from .frames import BOOLEAN, NUMBER, is_frame, is_numeric_pandas, read_columns
from .table import Table

FLOATS = (np.float64, np.float32)


def check_features(
    estimator, X, y="no_validation", *, reset=True, dtype=FLOATS, ensure_min_samples=1, sample_weight=None
):
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
    X = _without_mask(X)
    if reset:
        estimator._table = None
    spec, known = estimator.categorical_features, estimator._table
    has_categories = names_categories(spec) if reset else known is not None and known.has_categories
    why_complete = estimator._needs_complete
    complete = why_complete is not None
    finite = {"dtype": dtype, "ensure_all_finite": True if complete else "allow-nan"}
    if issparse(X) or not (is_table(X) or has_categories):
        gap = partial(_missing, estimator=estimator) if complete else None
        checked = check_numbers(estimator, X, y, gap=gap, reset=reset, ensure_min_samples=ensure_min_samples, **finite)
        return _scaled(estimator, checked, y, reset, sample_weight)
    columns = named_columns(estimator, X, reset=reset)
    for column in columns:
        if complete and column.missing.any():
            raise ValueError(_missing(column.name, int(np.argmax(column.missing)), estimator))
    if reset or known is None:  # a frame of numbers in columns of objects is no more than an array
        categorical = categorical_columns(spec, columns) if reset else [False] * len(columns)
        require_numbers(columns, categorical)
        scale = reset and estimator.scale is not None
        known = Table.learned(columns, categorical, scale, row_weights(sample_weight, columns[0].values))
        if scale or known.has_categories:
            estimator._table = known
    coordinates = known.encode(columns)
    if complete and np.isnan(coordinates).any():
        raise ValueError(_unseen(known, columns, coordinates))
    return check_matrix(estimator, coordinates, y, ensure_min_samples, **finite)


def validate_complete(estimator, X, y="no_validation", *, why, dtype=FLOATS, **options):
    """scikit-learn's `validate_data` for estimators of complete numbers alone; messages say of others why.

    Raises
    ------
    ValueError
        Also for the first column that is no number, or in which a value is missing.
    """
    X = _without_mask(X)
    name = type(estimator).__name__
    instead = "or use an estimator that takes them, as ParzenClassifier and AutoClassifier"
    if is_table(X):
        for column in read_columns(X):
            if column.kind not in (NUMBER, BOOLEAN):
                raise ValueError(
                    f"Column {column.name!r} of X holds {column.kind} values such as {_example(column)!r}, and {name} "
                    f"takes numbers: {why}. Make indicators of it, {instead}."
                )
            if column.missing.any():
                raise ValueError(_lacking(column.name, int(np.argmax(column.missing)), name, why, instead))
    gap = partial(_lacking, estimator=name, why=why, instead=instead)
    return check_numbers(estimator, X, y, gap=gap, dtype=dtype, order="C", **options)


def is_table(X):
    """Whether X is a data frame that is not pandas's of numbers alone."""
    return is_frame(X) and not is_numeric_pandas(X)


def check_numbers(estimator, X, y, *, gap=None, reset=True, ensure_min_samples=1, **options):
    """`validate_data` of an array or a frame of numbers, which also says where a value is infinite.

    ``gap(column, row)`` is the message for the first missing value where one is an error.
    """
    _refuse(X, {np.isinf: _infinite} if gap is None else {np.isnan: gap, np.isinf: _infinite})
    more = {} if _is_absent(y) else {"y": y}
    if reset:
        more["ensure_min_samples"] = ensure_min_samples
    with held_by_floats(" or ".join(["X", *more.keys() & {"y"}])):
        return validate_data(estimator, X, reset=reset, **options, **more)


def named_columns(estimator, X, *, reset):
    """The columns of a data frame or an array, their names and number checked as scikit-learn does, none infinite."""
    if not is_frame(X):
        X = check_array(X, dtype=None, ensure_all_finite=False, estimator=estimator)
    _check_feature_names(estimator, X, reset=reset)
    _check_n_features(estimator, X, reset=reset)
    columns = read_columns(X)
    for column in columns:
        if column.kind == NUMBER and np.isinf(column.values).any():
            raise ValueError(_infinite(column.name, int(np.argmax(np.isinf(column.values)))))
    return columns


def check_matrix(estimator, matrix, y, ensure_min_samples, **options):
    """What remains to be checked once columns have become a matrix: its shape, and y."""
    if _is_absent(y):
        return check_array(matrix, estimator=estimator, input_name="X", **options)
    return check_X_y(matrix, y, estimator=estimator, ensure_min_samples=ensure_min_samples, **options)


def _is_absent(y):
    return isinstance(y, str) and y == "no_validation"


def _scaled(estimator, checked, y, reset, sample_weight):
    """Checked numbers in the units of the table, which is learned from them if the estimator scales."""
    X = checked if _is_absent(y) else checked[0]
    if reset and estimator.scale is not None and not issparse(X):
        estimator._table = Table.of_numbers(X, row_weights(sample_weight, X))
    if estimator._table is None:
        return checked
    X = estimator._table.scaled(X)
    return X if _is_absent(y) else (X, checked[1])


def row_weights(sample_weight, rows):
    """Checked weights of the rows; None for equal ones, and if none is left."""
    if sample_weight is None:
        return None
    weights = check_sample_weight(sample_weight, rows)
    return weights if weights.any() else None


def names_categories(spec):
    """Whether a user says that there are categories."""
    return (
        spec is not None
        and not (isinstance(spec, str) and spec == "from_dtype")
        and np.size(spec) > 0
        and (np.asarray(spec).dtype.kind != "b" or bool(np.any(spec)))
    )


def categorical_columns(spec, columns):
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


def require_numbers(columns, categorical):
    for column, is_category in zip(columns, categorical, strict=True):
        if is_category or column.kind in (NUMBER, BOOLEAN):
            continue
        raise ValueError(
            f"Column {column.name!r} of X holds {column.kind} values such as {_example(column)!r}, which are not "
            "numbers: name it in categorical_features, or drop it."
        )


def _example(column):
    return next(iter(column.values[~column.missing]), None)


def _without_mask(X):
    """X; the entries that a masked array hides are missing, where scikit-learn would take what lies behind."""
    if not np.ma.is_masked(X):
        return X
    return X.astype(X.dtype if X.dtype.kind == "f" else np.float64).filled(np.nan)


def _refuse(X, messages):
    """Raise for the first value of an array or a frame of numbers that a test finds: {test: message(column, row)}."""
    if issparse(X):  # which older versions of SciPy cannot make an array of
        return
    try:
        values = np.asarray(X)
    except (ValueError, TypeError):
        return
    with np.errstate(over="ignore", invalid="ignore"):  # of finite values, in half precision soon
        if values.dtype.kind != "f" or values.ndim != 2 or np.isfinite(values.sum()):
            return
    for test, message in messages.items():
        row, column = np.unravel_index(np.argmax(test(values)), values.shape)
        if test(values[row, column]):
            raise ValueError(message(X.columns[column] if hasattr(X, "columns") else int(column), int(row)))


def _infinite(name, row):
    return f"Input X contains infinity: column {name!r}, row {row}. Replace infinite values, or make them missing."


def _missing(name, row, estimator):
    instead = "or use an estimator that integrates over them, as ParzenClassifier"
    return _lacking(name, row, type(estimator).__name__, estimator._needs_complete, instead)


def _lacking(name, row, estimator, why, instead):
    return (
        f"Input X contains NaN: column {name!r}, row {row}. {estimator} takes no missing values: {why}. Impute them, "
        f"{instead}."
    )


def _unseen(table, columns, coordinates):
    for own, column in zip(table.columns, columns, strict=True):
        if own.width and np.isnan(own.encode(column)).any():
            row = int(np.argmax(np.isnan(own.encode(column)).any(axis=1)))
            return (
                f"Column {column.name!r} of X has the level {column.values[row]!r} in row {row}, which training did "
                'not have: with missing="marginalize" it would count as missing.'
            )
    raise AssertionError("a coordinate is missing that belongs to no column")
