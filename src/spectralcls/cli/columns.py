"""Columns of files: which are numbers and which categories, as the file or the user says.

Features are an array of floats with NaN for missing values if all columns are numbers. Otherwise they are an array of
objects: floats, and strings in the columns of categories, where None is missing.
"""

import math

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from .errors import CommandError

MISSING = {"", "na", "n/a", "nan", "null", "none", "?"}
MOST_NAMED = 12  # columns that a message lists


def number(cell):
    """A decimal number as every other program reads it: Python also takes 1_000, and digits of any script.

    Raises
    ------
    ValueError
    """
    if not is_plain(cell):
        raise ValueError(f"{cell!r} is not a number")
    return float(cell)


def is_plain(text):
    return text.isascii() and "_" not in text


def is_number(cell):
    try:
        number(cell)
    except ValueError:
        return False
    return True


def is_missing(cell):
    return cell.lower() in MISSING


def from_cells(columns, names, categories, numbers, where):
    """Features of columns of cells.

    Parameters
    ----------
    columns : list of lists of str
    names : list of str
    categories, numbers : collections of names
        What the user says of columns; the others are categories if none of their cells is a number.
    where : callable
        (row, name) to the words of a message.
    """
    parsed = []
    for cells, name in zip(columns, names, strict=True):
        known = [cell for cell in cells if not is_missing(cell)]
        if name in categories or (known and name not in numbers and not any(map(is_number, known))):
            parsed.append([None if is_missing(cell) else cell for cell in cells])
            continue
        values = np.full(len(cells), np.nan)
        for row, cell in enumerate(cells):
            if is_missing(cell):
                continue
            if not is_number(cell):
                raise CommandError(
                    f"{where(row, name)}: {cell!r} is not a number, as others of the column are; correct it, say "
                    "--categories, or leave the column out with --drop"
                )
            values[row] = float(cell)
            if math.isinf(values[row]):
                raise CommandError(f"{where(row, name)}: {cell!r} is not finite")
        parsed.append(values)
    return together(parsed)


def from_arrow(column, name, path, first_row, categories, numbers):
    """The values of an Arrow column: floats, or a list of strings and None."""
    import pyarrow.types as types

    kind = column.type
    numeric = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    numeric |= types.is_null(kind)  # a column of nothing but missing values
    text = types.is_boolean(kind) or types.is_string(kind) or types.is_large_string(kind) or types.is_dictionary(kind)
    if not (numeric or text):
        raise CommandError(
            f"{path}: column {name!r} holds {kind} values, neither numbers nor categories; leave it out with --drop"
        )
    if name in categories or (text and name not in numbers):
        return [None if value is None or is_missing(str(value)) else str(value) for value in column.to_pylist()]
    if text:
        cells = ["" if value is None else str(value) for value in column.to_pylist()]
        where = f"{path}: column {name!r}, row"
        return from_cells([cells], [name], (), {name}, lambda row, _: f"{where} {first_row + row}")[:, 0]
    values = column.to_numpy(zero_copy_only=False)
    if values.dtype == object:  # decimals, or nothing
        values = np.array([np.nan if value is None else float(value) for value in values])
    values = values.astype(np.float64)
    if np.isinf(values).any():
        row = int(np.argmax(np.isinf(values)))
        raise CommandError(f"{path}: row {first_row + row}, column {name!r}: {values[row]} is not finite")
    return values


def together(columns):
    """An array of floats, or of objects if there are categories."""
    if all(isinstance(column, np.ndarray) for column in columns):
        return np.column_stack(columns)
    out = np.empty((len(columns[0]), len(columns)), dtype=object)
    for position, column in enumerate(columns):
        out[:, position] = column
    return out


def category_positions(X):
    """Positions of the columns of categories."""
    if X.dtype != object:
        return []
    return [j for j, column in enumerate(X.T) if not any(isinstance(value, float) for value in column)]


def has_missing(X):
    if X.dtype != object:
        return bool(np.isnan(X).any())
    return any(value is None or (isinstance(value, float) and math.isnan(value)) for value in X.flat)


def described(X, names):
    """A line on what the columns were taken for; None if all are numbers and none is missing."""
    positions = category_positions(X)
    if not positions and not has_missing(X):
        return None
    shown = [names[position] for position in positions]
    if len(shown) > MOST_NAMED:
        shown = [*shown[:MOST_NAMED], f"and {len(shown) - MOST_NAMED} more"]
    n_numbers = X.shape[1] - len(positions)
    text = f"columns: {n_numbers} {'number' if n_numbers == 1 else 'numbers'}"
    if positions:
        text += f"; {len(positions)} {'category' if len(positions) == 1 else 'categories'}: {', '.join(shown)}"
    missing = np.mean([[value is None or value != value for value in column] for column in X.T])
    return f"{text}; {100 * missing:.1f} % missing (overrule with --categories, --numbers, --drop)"


def prepared(estimator, X, scale):
    """The estimator for these features: as it is if it takes them, otherwise behind imputation and indicators."""
    positions, lacking = category_positions(X), has_missing(X)
    parameters = estimator.get_params(deep=False)
    if not scale and "scale" in parameters:
        estimator.set_params(scale=None)
    takes = "categorical_features" in parameters
    if takes and (positions or lacking):
        return estimator.set_params(categorical_features=positions or None)
    if not (positions or lacking):
        return make_pipeline(StandardScaler(), estimator) if scale else estimator
    rest = [position for position in range(X.shape[1]) if position not in positions]
    numbers = make_pipeline(SimpleImputer(), StandardScaler()) if scale else SimpleImputer()
    levels = make_pipeline(
        SimpleImputer(missing_values=None, strategy="most_frequent"),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    )
    return make_pipeline(make_column_transformer((numbers, rest), (levels, positions)), estimator)
