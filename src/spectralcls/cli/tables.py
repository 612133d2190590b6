"""Read a table with a target column: CSV with the standard library, Parquet with pyarrow."""

import codecs
import csv
import itertools
from contextlib import contextmanager

import numpy as np

from .columns import from_arrow, from_cells, is_missing, is_number, is_plain, together
from .errors import CommandError

_DELIMITERS = ",;\t|"
_ROWS_PER_BLOCK = 4096
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def read_csv(path, target, drop=(), categories=(), numbers=()):
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
    categories, numbers : sequences of str
        Columns that are to be categories or numbers, by name or position; by default a column is a category if none of
        its cells is a number.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), float64, or objects if there are categories
    labels : ndarray of shape (n_samples,), str
    feature_names : list of str

    Raises
    ------
    CommandError
        If the file is not a table of labels, finite numbers and categories: with the line and the column.
    """
    with _rows(path, target) as (names, rows):
        column = find_column(names, target, path)
        dropped = {column, *(find_column(names, name, path) for name in drop)}
        features = [position for position in range(len(names)) if position not in dropped]
        if not features:
            raise CommandError(f"{path}: there is no feature column beside the target {names[column]!r}")
        labels = []
        kinds = [{names[find_column(names, name, path)] for name in given} for given in (categories, numbers)]
        X = _features(rows, features, names, path, kinds, labels, column)
        return X, np.asarray(labels), [names[position] for position in features]


def read_csv_features(path, wanted=None, categories=()):
    """The columns of those names (None: all columns) of a delimited text file as an array, `categories` among them.

    Raises
    ------
    CommandError
        As :func:`read_csv`, and for a column that is missing.
    """
    with _rows(path, wanted[0] if wanted else None) as (names, rows):
        features = range(len(names)) if wanted is None else [find_column(names, name, path) for name in wanted]
        given = [names[position] for position in features]
        kinds = (set(categories), set(given) - set(categories)) if categories else ((), given)
        return _features(rows, features, names, path, kinds)


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
    has_header = (known in cells and not all(map(is_number, cells))) or not any(map(is_number, cells))
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


def find_column(names, wanted, path):
    """Position of a column that is given by its name or its position."""
    if names.count(wanted) > 1:
        raise CommandError(f"{path}: {names.count(wanted)} columns are called {wanted!r}; give the position")
    if wanted in names:
        return names.index(wanted)
    try:
        return range(len(names))[int(wanted if is_plain(wanted) else "")]
    except (ValueError, IndexError):
        shown = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
        raise CommandError(f"{path}: no column {wanted!r}; there are {len(names)} columns: {shown}") from None


def _numbers(block, features):
    """The block's features as finite numbers, or None."""
    cells = [[row[position] for position in features] for _, row in block]
    try:
        values = np.array([[float(cell) for cell in row] for row in cells])
    except ValueError:
        return None
    return values if np.isfinite(values).all() and is_plain("".join(map("".join, cells))) else None


def _features(rows, features, names, path, kinds, labels=None, column=None):
    """The columns `features` of all rows; the cells of `column` are appended to the labels."""
    blocks, cells, lines = [], None, []
    while block := list(itertools.islice(rows, _ROWS_PER_BLOCK)):
        for line, row in block:
            if column is not None and is_missing(row[column]):
                raise CommandError(f"{path}: line {line}, column {names[column]!r}: the target is missing")
        if column is not None:
            labels += [row[column] for _, row in block]
        lines += [line for line, _ in block]
        values = None if cells is not None or kinds[0] else _numbers(block, features)
        if values is not None:
            blocks.append(values)
            continue
        if cells is None:  # back to the cells of what were numbers only
            shown = [number.tolist() for number in np.concatenate(blocks).T] if blocks else [[] for _ in features]
            cells = [[repr(value) for value in own] for own in shown]
        for own, position in zip(cells, features, strict=True):
            own += [row[position] for _, row in block]
    if cells is None:
        return np.concatenate(blocks)
    where = f"{path}: line"
    return from_cells(
        cells,
        [names[position] for position in features],
        *kinds,
        lambda row, name: f"{where} {lines[row]}, column {name!r}",
    )


def read_parquet(path, target, drop=(), categories=(), numbers=()):
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
    kinds = [{names[find_column(names, name, path)] for name in given} for given in (categories, numbers)]
    X = together([from_arrow(table.column(position), names[position], path, 0, *kinds) for position in features])
    return X, arrow_labels(table.column(column), names[column], path), [names[position] for position in features]


def arrow_labels(values, name, path, first_row=0):
    """A column of classes as strings."""
    if values.null_count:
        row = first_row + int(np.argmax(values.is_null().to_numpy(zero_copy_only=False)))
        raise CommandError(f"{path}: row {row}, column {name!r}: the target is missing")
    return np.asarray([str(value) for value in values.to_pylist()])
