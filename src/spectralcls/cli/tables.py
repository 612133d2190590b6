"""Read a table with a target column: CSV with the standard library, Parquet with pyarrow."""

import codecs
import csv
import itertools
import math
from contextlib import contextmanager

import numpy as np

from .errors import CommandError

_DELIMITERS = ",;\t|"
_MISSING = {"", "na", "n/a", "nan", "null", "none", "?"}
_ROWS_PER_BLOCK = 4096
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def read_csv(path, target, drop=()):
    """Features, labels and feature names of a delimited text file.

    The delimiter is the one of comma, semicolon, tab and bar that the first line has most of. The first
    line is a header if none of its cells is a number, or if ``target`` is one of its cells.

    Parameters
    ----------
    path : Path
    target : str
        Name of the column with the labels, or its position (0 is the first, -1 the last).
    drop : sequence of str
        Columns to leave out, by name or position.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), float64
    labels : ndarray of shape (n_samples,), str
    feature_names : list of str

    Raises
    ------
    CommandError
        If the file is no table of finite numbers beside the labels: with the line and the column.
    """
    with _rows(path, target) as (names, rows):
        column = find_column(names, target, path)
        dropped = {column, *(find_column(names, name, path) for name in drop)}
        features = [position for position in range(len(names)) if position not in dropped]
        if not features:
            raise CommandError(f"{path}: there is no feature column beside the target {names[column]!r}")
        blocks, labels = [], []
        while block := list(itertools.islice(rows, _ROWS_PER_BLOCK)):
            for line, row in block:
                if row[column].lower() in _MISSING:
                    raise CommandError(f"{path}: line {line}, column {names[column]!r}: the target is missing")
            labels += [row[column] for _, row in block]
            blocks.append(_numbers(block, features, names, path))
        return np.concatenate(blocks), np.asarray(labels), [names[position] for position in features]


def read_csv_features(path, wanted=None):
    """The columns of those names (None: all columns) of a delimited text file as an array.

    Raises
    ------
    CommandError
        As :func:`read_csv`, and for a column that is missing.
    """
    with _rows(path, wanted[0] if wanted else None) as (names, rows):
        features = range(len(names)) if wanted is None else [find_column(names, name, path) for name in wanted]
        blocks = []
        while block := list(itertools.islice(rows, _ROWS_PER_BLOCK)):
            blocks.append(_numbers(block, features, names, path))
        return np.concatenate(blocks)


@contextmanager
def _rows(path, known):
    """(names of the columns, iterator over (line number, cells)); `known` is a column that is called so, if any."""
    try:
        with open(path, encoding=_encoding(path), newline="") as file:
            yield _parse(file, path, known)
    except UnicodeDecodeError as error:
        raise CommandError(
            f"{path}: not UTF-8 text (it has the byte {error.object[error.start]:#04x}); save it as UTF-8"
        ) from None
    except csv.Error as error:
        raise CommandError(f"{path}: not a readable table: {error}") from None


def _encoding(path):
    """That of the byte order mark, or of the zero bytes that UTF-16 has beside the letters of a header."""
    with open(path, "rb") as file:
        start = file.read(4)
    for mark, name in _BYTE_ORDER_MARKS.items():
        if start.startswith(mark):
            return name
    zeros = bytes(byte == 0 for byte in start)
    return {b"\0\1\0\1": "utf-16-le", b"\1\0\1\0": "utf-16-be"}.get(zeros, "utf-8")


def _parse(file, path, known):
    first_line = next((line for line in file if line.strip()), None)
    if first_line is None:
        raise CommandError(f"{path}: the file is empty")
    delimiter = max(_DELIMITERS, key=first_line.count)
    file.seek(0)
    reader = csv.reader(file, delimiter=delimiter, skipinitialspace=True)
    rows = ((reader.line_num, [cell.strip() for cell in row]) for row in reader if any(map(str.strip, row)))
    first = next(rows)
    cells = first[1]
    has_header = (known in cells and not all(map(_is_number, cells))) or not any(map(_is_number, cells))
    names = cells if has_header else [str(position) for position in range(len(cells))]
    if has_header:
        first = next(rows, None)
        if first is None:
            raise CommandError(f"{path}: there are no rows below the header")
    return names, _whole(itertools.chain([first], rows), len(names), path)


def _whole(rows, n_fields, path):
    for line, row in rows:
        if len(row) != n_fields:
            raise CommandError(f"{path}: line {line} has {len(row)} fields, expected {n_fields}")
        yield line, row


def number(cell):
    """A decimal number as every other program reads it: Python also takes 1_000, and digits of any script.

    Raises
    ------
    ValueError
    """
    if not _is_plain(cell):
        raise ValueError(f"{cell!r} is not a number")
    return float(cell)


def _is_plain(text):
    return text.isascii() and "_" not in text


def _is_number(cell):
    try:
        number(cell)
    except ValueError:
        return False
    return True


def find_column(names, wanted, path):
    """Position of a column that is given by its name or its position."""
    if names.count(wanted) > 1:
        raise CommandError(f"{path}: {names.count(wanted)} columns are called {wanted!r}; give the position")
    if wanted in names:
        return names.index(wanted)
    try:
        return range(len(names))[int(wanted if _is_plain(wanted) else "")]
    except (ValueError, IndexError):
        shown = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
        raise CommandError(f"{path}: no column {wanted!r}; there are {len(names)} columns: {shown}") from None


def _numbers(block, features, names, path):
    """The block's features as numbers; where that fails, the first offending cell is named."""
    cells = [[row[position] for position in features] for _, row in block]
    try:
        values = np.array([[float(cell) for cell in row] for row in cells])
    except ValueError:
        values = None
    if values is not None and np.isfinite(values).all() and _is_plain("".join(map("".join, cells))):
        return values
    for line, row in block:
        for position in features:
            cell, where = row[position], f"{path}: line {line}, column {names[position]!r}"
            if cell.lower() in _MISSING:
                raise CommandError(f"{where}: the value is missing; fill or drop it first")
            if not _is_number(cell):
                raise CommandError(
                    f"{where}: {cell!r} is not a number; encode the column, or leave it out with --drop"
                )
            if not math.isfinite(float(cell)):
                raise CommandError(f"{where}: {cell!r} is not finite")
    raise AssertionError("a block that cannot be read has a cell that cannot be read")


def read_parquet(path, target, drop=()):
    """As :func:`read_csv`, for a Parquet file; positions in messages are row numbers from 0."""
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError:
        raise CommandError('Parquet files need pyarrow: pip install "spectralcls[parquet]"') from None
    try:
        table = pyarrow.parquet.read_table(path)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise CommandError(f"{path}: not a readable Parquet file: {error}") from None
    names = table.column_names
    column = find_column(names, target, path)
    dropped = {column, *(find_column(names, name, path) for name in drop)}
    features = [position for position in range(len(names)) if position not in dropped]
    if not features:
        raise CommandError(f"{path}: there is no feature column beside the target {names[column]!r}")
    if not table.num_rows:
        raise CommandError(f"{path}: there are no rows")
    X = np.empty((table.num_rows, len(features)))
    for out, position in zip(X.T, features, strict=True):
        out[:] = arrow_numbers(table.column(position), names[position], path)
    return (
        X,
        arrow_labels(table.column(column), names[column], path),
        [names[position] for position in features],
    )


def arrow_numbers(values, name, path, first_row=0):
    """A column of numbers as float64; `first_row` is the number of its first row in messages."""
    import pyarrow.types as types

    kind = values.type
    if not (
        types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind)
    ):
        raise CommandError(
            f"{path}: column {name!r} holds {kind} values; encode it, or leave it out with --drop"
        )
    _refuse_nulls(values, name, path, first_row)
    numbers = values.to_numpy(zero_copy_only=False).astype(np.float64)
    finite = np.isfinite(numbers)
    if not finite.all():
        row = int(np.argmin(finite))
        raise CommandError(f"{path}: row {first_row + row}, column {name!r}: {numbers[row]} is not finite")
    return numbers


def arrow_labels(values, name, path, first_row=0):
    """A column of classes as strings."""
    _refuse_nulls(values, name, path, first_row)
    return np.asarray([str(value) for value in values.to_pylist()])


def _refuse_nulls(values, name, path, first_row):
    if values.null_count:
        row = first_row + int(np.argmax(values.is_null().to_numpy(zero_copy_only=False)))
        raise CommandError(f"{path}: row {row}, column {name!r}: the value is missing; fill or drop it first")
