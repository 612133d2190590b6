"""Tables from files of offices: text files and spreadsheets as they are exported, and Parquet files."""

from collections import Counter
from functools import partial
from numbers import Integral

import numpy as np
from sklearn.utils import Bunch

from .._utils.files import as_path
from .._utils.from_sklearn import Interval, StrOptions, validate_params
from .._utils.typing import FilePath, RandomState
from ._files import find_column, read_source, require_pyarrow
from ._schema import Schema

_MOST_CLASSES = 10  # that a description lists


@validate_params(
    {
        "target": [str, Integral, None],
        "schema": [Schema, None],
        "drop": [list, tuple, set],
        "categories": [list, tuple, set],
        "numbers": [list, tuple, set],
        "dates": [StrOptions({"dmy", "mdy", "ymd"}), None],
        "decimal": [StrOptions({".", ","}), None],
        "missing": [list, tuple, set, frozenset],
        "encoding": [str, None],
        "sheet": [str, Integral, None],
        "unknown": [StrOptions({"error", "missing"})],
        "n_samples": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
        "as_frame": ["boolean"],
    },
    prefer_skip_nested_validation=True,
)
def read_table(
    path: FilePath,
    *,
    target: str | int | None = None,
    schema=None,
    drop=(),
    categories=(),
    numbers=(),
    dates: str | None = None,
    decimal: str | None = None,
    missing=(),
    encoding: str | None = None,
    sheet: str | int | None = None,
    unknown: str = "error",
    n_samples: int | None = None,
    random_state: RandomState = 0,
    as_frame: bool = False,
) -> Bunch:
    """Read a table from a file, as an office exports it.

    Delimiter, encoding, decimal sign and header of a text file are found out. Each column is a number, a date, a
    boolean (yes and no in several languages) or a category. Identifiers, constants and sentences are left out, and
    ``schema.summary()`` says so. Dates become days since 1970, months (from 1) and weekdays (from 0 for Monday). A year
    of two digits is one from 1930 to 2029, as in Excel, and ``5 %`` is 0.05, as in spreadsheets.

    Parameters
    ----------
    path : path-like
        A text file (.csv, .tsv, .txt, .data; also .csv.gz), a spreadsheet (.xlsx, .xls, .ods, ...), a Parquet file or a
        folder of them.
    target : str or int, default=None
        Column with the classes, by name or position (-1 is the last).
    schema : Schema, default=None
        That of an earlier table: this one is read by its rules, and the parameters of columns are not used.
    drop, categories, numbers : sequences of str or int, default=()
        Columns to leave out, and those that are categories or numbers whatever their cells look like; by name or
        position.
    dates : {"dmy", "mdy", "ymd"}, default=None
        Order of day, month and year; None finds it out, or says that it cannot.
    decimal : {".", ","}, default=None
        Decimal sign; None finds it out.
    missing : sequence of str, default=()
        Words for a missing value, besides empty cells, ``-``, ``NA``, ``n/a``, ``k.A.``, ``null``, ``?`` and the like.
    encoding : str, default=None
        Of a text file; None takes that of its byte order mark, UTF-8, UTF-16 or else cp1252.
    sheet : str or int, default=None
        Of a spreadsheet, by name or position. None takes the first visible one that has cells; a warning names others.
    unknown : {"error", "missing"}, default="error"
        What a level is that the schema does not have.
    n_samples : int, default=None
        Keep a random sample of the rows; other rows of a Parquet file are never held.
    random_state : int, RandomState instance or None, default=0
        Draws the sample.
    as_frame : bool, default=False
        Return `data` as a pandas data frame, in which categories have names.

    Returns
    -------
    table : Bunch
        ``data`` (n_samples, n_features), numbers with NaN for a missing value, and codes of categories; ``target``
        (n_samples,), strings, or None without a target; ``feature_names``; ``categorical_features``, the positions of
        categories in ``data``; ``schema``; ``name``; ``n_rows``, the number of rows of the file; ``DESCR``, what was
        understood.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ImportError
        If pyarrow is missing, or python-calamine for a spreadsheet.
    ValueError
        If the file is no table, or has cells that do not fit the rest of their column: all of them in one message.

    Examples
    --------
    >>> import tempfile
    >>> from spectralcls.datasets import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(f"{folder}/sales.csv", "w") as file:
    ...         _ = file.write("day;price;paid\\n28.09.2022;1.200,50;ja\\n03.10.2022;k.A.;nein\\n")
    ...     table = read_table(f"{folder}/sales.csv", target="paid")
    >>> table.feature_names
    ['day', 'day (month)', 'day (weekday)', 'price']
    >>> table.data[:, 3].tolist(), table.target.tolist()
    ([1200.5, nan], ['ja', 'nein'])
    """
    require_pyarrow(as_path(path))
    from ._cells import MISSING
    from ._columns import encode, encode_labels

    if not all(isinstance(word, str) for word in missing):
        raise ValueError(f"missing must consist of words, got {missing!r}.")
    own_words = frozenset(word.lower() for word in missing)
    words = own_words | MISSING if schema is None else schema.words
    known = [target] if schema is None else [column.name for column in schema.columns]
    texts = (*categories, *([] if target is None else [target]))
    signs = partial(_signs, path=path, texts=texts, decimal=decimal) if schema is None else schema.signs
    source = read_source(
        path,
        known=known,
        words=words,
        signs=signs,
        encoding=encoding,
        sheet=sheet,
        n_samples=n_samples,
        random_state=random_state,
    )
    data = None
    if schema is None:
        source, schema, data = _learned(source, target, drop, categories, numbers, dates, decimal, words, signs)
    X = encode(schema, source, unknown, data)
    classes, labels, y = None, None, None
    if target is not None:
        classes, y = encode_labels(schema, source, own_words)
        labels = classes[y]
    return Bunch(
        data=schema.frame(X) if as_frame else X,
        target=labels,
        feature_names=schema.feature_names,
        categorical_features=schema.categorical_features,
        schema=schema,
        name=source.path.stem,
        n_rows=source.n_rows,
        DESCR=_described(source, schema, classes, y),
    )


def _signs(names, path, texts, decimal):
    """Decimal signs that plain numbers may have in each column; "" for `texts`, by name or position, and codes."""
    from ._columns import is_code

    positions = {find_column(names, name, path) for name in texts}
    return ["" if j in positions or is_code(name) else decimal or ".," for j, name in enumerate(names)]


def _learned(source, target, drop, categories, numbers, dates, decimal, words, signs):
    """The source without what is dropped, its schema, and its prepared columns."""
    from ._columns import learn_columns, prepare

    names = source.table.column_names
    signs = dict(zip(names, signs(names), strict=True))
    dropped = {find_column(names, name, source.path) for name in drop}
    goal = None if target is None else names[find_column(names, target, source.path)]
    forced = [{names[find_column(names, name, source.path)] for name in given} for given in (categories, numbers)]
    kept = [position for position in range(len(names)) if position not in dropped]
    names = [names[position] for position in kept]
    if goal is not None and goal not in names:
        raise ValueError(f"{source.path}: the target {goal!r} is dropped")
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise ValueError(f"{source.path}: more than one column {twice!r}: rename them, or drop all but one by position")
    source = source._replace(table=source.table.select(kept))
    data = prepare(source, {name: signs[name] for name in names if name != goal}, words)
    columns = learn_columns(source, data, categories=forced[0], numbers=forced[1], decimal=decimal, order=dates)
    schema = Schema(columns, goal, tuple(sorted(words)))
    if not schema.used:
        why = f"; {schema.summary()}" if columns else ""
        raise ValueError(f"{source.path}: no column is left to learn from{why}")
    return source, schema, data


def _described(source, schema, classes, y):
    comma = ", decimal comma" if any(column.decimal == "," for column in schema.used) else ""
    text = f"{source.path.name}: {source.n_rows} rows{source.kind}{comma}\n{schema.describe()}"
    if y is not None:
        counts = np.bincount(y)
        order = np.argsort(-counts, kind="stable")[:_MOST_CLASSES]
        shares = ", ".join(f"{classes[k]} {100 * counts[k] / len(y):.1f} %" for k in order)
        more = f", and {len(classes) - len(order)} more" if len(classes) > len(order) else ""
        text += f"\ntarget {schema.target!r}: {shares}{more}"
    return text
