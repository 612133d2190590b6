"""Read exported text files, spreadsheets, and Parquet files as tables."""

import re
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from numbers import Integral
from typing import Any, Literal

import numpy as np

from .._inputs.cells import CLASSES, MISSING
from .._inputs.columns import learn
from .._inputs.far import warn_of_far_values
from .._inputs.frames import DATE, NUMBER, Columns
from .._inputs.identifiers import may_be_postal_code
from .._inputs.reading import Reading, shortened, some_rows
from .._inputs.types import LEFT_OUT
from .._utils.advice import tell
from .._utils.atomic_files import as_path
from .._utils.bases import Bunch
from .._utils.from_sklearn import Interval, StrOptions, validated
from .._utils.typing import FilePath, RandomState
from ._files import read_source
from ._schema import Schema, numbers_of
from ._source import Dialect, find_column, normalized, require_pyarrow
from ._suspicions import warn_of_classes_alike, warn_of_suspicions

_MOST_CLASSES, _MOST_LINES = 10, 5  # classes listed in a description, and lines in a warning
_SUM = re.compile(
    r"(?:(?:grand |sub)?totale?s?|sum|(?:zwischen|gesamt)?summe|gesamt|insgesamt|somme|suma|mean|average"
    r"|mittel(?:wert)?|durchschnitt|moyenne|promedio)\b.{0,12}",
    re.I,
)


@validated(
    dict.fromkeys(("target", "group", "sheet"), [str, Integral, None])
    | dict.fromkeys(("drop", "categories", "numbers"), [list, tuple, set])
    | dict.fromkeys(("missing", "not_missing"), [list, tuple, set, frozenset])
    | dict.fromkeys(("encoding", "delimiter", "comment"), [str, None])
    | {name: [Interval(Integral, least, None, closed="left"), None] for name, least in (("skip", 0), ("n_samples", 1))}
    | {
        "schema": [Schema, None],
        "dates": [StrOptions({"dmy", "mdy", "ymd"}), None],
        "decimal": [StrOptions({".", ","}), None],
        "unlabeled": [StrOptions({"drop", "error"})],
        "header": ["boolean", None],
        "unknown": [StrOptions({"error", "missing"})],
        "random_state": ["random_state"],
        "as_frame": ["boolean"],
    }
)
def read_table(
    path: FilePath,
    *,
    target: str | int | None = None,
    schema: Any = None,
    drop: Any = (),
    categories: Any = (),
    numbers: Any = (),
    dates: Literal["dmy", "mdy", "ymd"] | None = None,
    decimal: Literal[".", ","] | None = None,
    missing: Any = (),
    not_missing: Any = (),
    unlabeled: Literal["drop", "error"] = "drop",
    group: str | int | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    comment: str | None = None,
    skip: int | None = None,
    header: bool | None = None,
    sheet: str | int | None = None,
    unknown: Literal["error", "missing"] = "error",
    n_samples: int | None = None,
    random_state: RandomState = 0,
    as_frame: bool = False,
) -> Bunch:
    """Read a table from a file, such as one exported by an office program.

    Delimiter, encoding, decimal sign and header of a text file are detected and listed in ``DESCR``. Each column is a
    number, a date, a boolean (yes and no in several languages) or a category. Identifiers, constants and sentences are
    left out; ``schema.summary()`` lists them. Dates become days since 1970, months (from 1) and weekdays (from 0 for
    Monday). A year of two digits lies between 1930 and 2029, as in Excel, and ``5 %`` is 0.05, as in spreadsheets.

    Warnings report columns that reveal the class, copies of rows, rows that form groups, and classes that differ only
    in case.

    Parameters
    ----------
    path : path-like
        A text file (.csv, .tsv, .txt, .data, .dat; also .csv.gz or .zip), a spreadsheet (.xlsx, .xls, .ods, ...), a
        Parquet file or a folder of them; "-" is text from the standard input.
    target : str or int, default=None
        Column with the classes or numbers to predict, by name or position (-1 is the last). A name also locates the
        header. Fractions and many different numbers are numbers; `categories` and `numbers` override this.
    schema : Schema, default=None
        Schema of an earlier table. Its rules replace the parameters about columns.
    drop, categories, numbers : sequences of str or int, default=()
        Columns to leave out, and columns to read as categories or numbers regardless of their cells; by name or
        position.
    dates : {"dmy", "mdy", "ymd"}, default=None
        Order of day, month and year in all cells that allow it. None detects the order; it is an error if
        the cells do not show it.
    decimal : {".", ","}, default=None
        Decimal sign; None detects it.
    missing : sequence of str, default=()
        Words for a missing value, besides empty cells, ``-``, ``NA``, ``n/a``, ``k.A.``, ``null``, ``?`` and the like.
        In `categories` only these words count: there ``none`` and ``-`` are levels.
    not_missing : sequence of str, default=()
        Words that do not mean a missing value in this table.
    unlabeled : {"drop", "error"}, default="drop"
        Whether rows without a class are left out with a warning, or raise an error.
    group : str or int, default=None
        Column that groups related rows; it is not a feature.
    encoding : str, default=None
        Encoding of a text file. None takes the encoding of its byte order mark. Without one, the encoding is UTF-8 or
        UTF-16 if the bytes are valid, and otherwise cp1252, with a warning.
    delimiter : str, default=None
        Delimiter of the cells of a text file; a blank stands for any number of blanks and tabs. None detects it.
    comment : str, default=None
        Prefix of lines of a text file to skip, such as ``#``.
    skip : int, default=None
        Number of lines, or rows of a spreadsheet, above the table. None detects it.
    header : bool, default=None
        Whether the first row holds the names of the columns. None compares it with the rows below.
    sheet : str or int, default=None
        Sheet of a spreadsheet, by name or position. None takes the first visible sheet that has cells, and a warning
        names any others.
    unknown : {"error", "missing"}, default="error"
        Treatment of a cell that does not fit its column in the schema, such as a new level.
    n_samples : int, default=None
        Number of rows to keep, drawn at random; None keeps all. The other rows of a Parquet file do not stay in memory.
    random_state : int, RandomState instance or None, default=0
        Seed of the sample.
    as_frame : bool, default=False
        Return `data` as a pandas data frame, in which categories have names.

    Returns
    -------
    table : Bunch
        ``data`` (n_samples, n_features), numbers and codes of categories, with NaN for a missing value; ``target``
        (n_samples,), strings for classes or floats for numbers, or None without a target; ``groups`` (n_samples,),
        strings, or None; ``feature_names``; ``categorical_features``, the positions of categories in ``data``;
        ``schema``; ``name``; ``n_rows``, the number of rows of the file; ``DESCR``, a description of the file.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ImportError
        If pyarrow is missing, or python-calamine for a spreadsheet.
    ValueError
        If the file is not a table, or has cells that do not fit their column; one message lists them.

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
    from ._target import answers, target_of

    for name, given in ("missing", missing), ("not_missing", not_missing):
        if not all(isinstance(word, str) for word in given):
            raise ValueError(f"{name} must consist of words, got {given!r}.")
    if delimiter is not None and len(delimiter) != 1:
        raise ValueError(f"delimiter must be one character, got {delimiter!r}.")
    own_words = frozenset(word.lower() for word in missing) | {""}
    words = MISSING - {word.lower() for word in not_missing} | own_words
    words = words if schema is None else frozenset(schema.words)
    target, group = normalized(target), normalized(group)
    dialect = Dialect(encoding, delimiter, comment, skip, header, sheet)
    if schema is not None:
        dialect = dialect.over(Dialect(*schema.dialect))
    source = read_source(
        path,
        dialect,
        known=[normalized(name) for name in (target, group, *drop, *categories, *numbers)],
        schema=schema,
        words=words,
        n_samples=n_samples,
        random_state=random_state,
    )
    n_rows, names = source.n_rows, source.table.column_names

    def places(given):
        return [find_column(names, name, source.path) for name in given if name is not None]

    options = dict(words=words, own_words=own_words, order=dates, learning=True)
    wishes = {names[j]: NUMBER for j in places(numbers)} | {names[j]: True for j in places(categories)}
    goals, grouping = places([target]), places([group])
    goal, column, wish, y = names[goals[0]] if goals else None, None, None, None
    if goal is not None:
        wish = wishes.pop(goal, None)
        column = target_of(source, goal, wish, Reading.of(source, decimal, **options))
        source, column = _labeled(source, goal, column, unlabeled)
    else:
        _name_sum_row(source)
    reading = Reading.of(source, decimal, **options)
    if schema is None:
        given = schema
        left_out = {*places(drop), *goals, *grouping}
        if set(goals) & set(places(drop)):
            raise ValueError(f"{source.path}: the target {goal!r} is dropped")
        kept = [name for j, name in enumerate(names) if j not in left_out]
        schema, X = _learned(source, kept, goal, wishes, reading)
        schema = replace(schema, dialect=tuple(dialect), words=tuple(sorted(words)))
    else:
        given, X = schema, schema.encode(source, unknown=unknown, decimal=decimal)
    if column is not None:
        y = answers(column, goal, wish, reading)
        if y.dtype.kind != "f":
            _warn_of_classes(source, goal, np.unique(y))
        if given is None:
            warn_of_suspicions(source.path, schema, X, y)
    if given is None:
        _warn_of_far_values(source, schema, X, y)
    return Bunch(
        data=schema.frame(X) if as_frame else X,
        target=y,
        groups=np.array(source.table.column(grouping[0]).to_pylist(), dtype=object).astype(str) if grouping else None,
        feature_names=schema.feature_names,
        categorical_features=schema.categorical_features,
        schema=schema,
        name="stdin" if source.path.name == "-" else source.path.stem,
        n_rows=n_rows,
        DESCR=_described(source, schema, n_rows, y),
    )


def _labeled(source, target, column, unlabeled):
    """Keep the rows with an answer; a warning or an error names the others."""
    lacking = np.flatnonzero(column.missing)
    if not len(lacking):
        _name_sum_row(source)
        return source, column
    n, places = len(column.missing), source.places(lacking[:_MOST_LINES].tolist())
    where = some_rows(source.unit, lacking, places)
    if unlabeled == "error" or len(lacking) == n:
        raise ValueError(f"{source.path}: the target {target!r} is missing in {where}: fill it in, or remove the rows")
    n_rows = f"{len(lacking)} of {n} rows are" if len(lacking) > 1 else f"1 of {n} rows is"
    total = _sum_row(source) if lacking[-1] == n - 1 else ""
    total = f"; the last one looks like a sum or a remark ({total!r})" if total else ""
    tell(
        f"{source.path}: {n_rows} left out for lack of a class in {target!r}: {where}{total}. unlabeled='error' "
        "(--unlabeled error) raises an error instead",
    )
    kept = np.flatnonzero(~column.missing)
    return source.take(kept), column.take(kept)


def _sum_row(source):
    """The cell that marks the last row as a sum of the others or as a remark below the table; empty for a row of
    data.
    """
    n_rows = len(source.table)
    last = [column[n_rows - 1].as_py() for column in source.table.columns] if n_rows else []
    word = next((cell for cell in last if isinstance(cell, str) and _SUM.fullmatch(cell.strip())), "")
    if not word and len(last) > 2 and isinstance(last[0], str) and not any(cell not in ("", None) for cell in last[1:]):
        before = source.table.column(0).slice(0, n_rows - 1).to_pylist()
        word = last[0] if len(last[0]) > max((len(cell or "") for cell in before), default=0) else ""
    return word


def _name_sum_row(source):
    word = _sum_row(source)
    if word:
        (place,) = source.places([len(source.table) - 1])
        tell(
            f"{source.path}: {source.unit} {place}, the last one, says {word!r}: remove it if it is the sum of the "
            "others or a remark",
        )


def _warn_of_classes(source, target, classes):
    """Warn of classes such as "none", which may mean missing, and of classes that look alike."""
    doubtful = [name for name in classes.tolist() if name.lower() in CLASSES]
    if doubtful:
        tell(
            f"{source.path}: among the classes of {target!r} are {', '.join(map(repr, doubtful))}: list those that "
            "mean a missing class in missing= (--missing)",
        )
    warn_of_classes_alike(source.path, target, classes.tolist())


def _warn_of_far_values(source, schema, X, y):
    """Warn of numbers, dates and targets that may stand for missing ones; classes may be numbers, too."""
    places = np.cumsum([0, *(len(own.features) for own in schema.used)])
    pairs = zip(schema.used, X.T[places[:-1]], strict=True)
    columns = [(own, values) for own, values in pairs if own.kind in (NUMBER, DATE)]
    if y is not None:
        with suppress(ValueError):
            columns.append((None, y.astype(np.float64)))
    how = "name it in missing= (--missing)"
    warn_of_far_values(source.path, columns, lambda row: source.places([row])[0], how=how, unit=source.unit)


def _learned(source, names, goal, wishes, reading):
    """Learn a schema from the columns with the given names, and return it with their numbers."""
    from ._file_columns import columns_of

    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise ValueError(f"{source.path}: more than one column {twice!r}: rename them, or drop all but one by position")
    plain = [name for name in names if wishes.get(name) is not True and not may_be_postal_code(name)]
    columns = columns_of(source, names, reading.words, plain)
    types = []
    for column, own in zip(columns, learn(columns, [wishes.get(name) for name in names], reading=reading), strict=True):
        words = tuple(sorted(reading.own_words)) if wishes.get(column.name) is True else None
        known = column if column.levels is None else column.without(reading.words if words is None else words)
        types.append(replace(own, missing=float(known.missing.mean()), examples=_examples(known, own), words=words))
    width = source.width if source.header == 0 else 0
    schema = Schema(tuple(types), goal, width=width, headed=source.headed, usual=reading.writing.usual)
    if not schema.used:
        why = f"; {schema.summary()}" if types else ""
        raise ValueError(f"{source.path}: no column is left to learn from{why}")
    used = [column for column, own in zip(columns, types, strict=True) if own.kind != LEFT_OUT]
    return schema, numbers_of(schema.used, Columns(used), reading, schema.feature_names)


def _examples(column, own):
    """The first values of a column, for a description."""
    if column.levels is not None:
        return tuple(shortened(level) for level in column.levels[:3])
    shown = list(dict.fromkeys(column.values[~column.missing][:3].tolist()))
    if column.kind != NUMBER:
        return tuple(str(value)[:10] for value in shown)
    texts = (f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}" for value in shown)
    return tuple(text.replace(".", own.decimal or ".") for text in texts)


def _described(source, schema, n_rows, y):
    comma = ", decimal comma" if any(column.decimal == "," for column in schema.used) else ""
    headed = f", {source.headed}" if source.headed else ""
    text = f"{source.path.name}: {n_rows} rows{source.kind}{headed}{comma}\n{schema.describe()}"
    if y is not None and y.dtype.kind == "f":
        text += f"\ntarget {schema.target!r}: numbers from {y.min():.6g} to {y.max():.6g}"
    elif y is not None:
        classes, counts = np.unique(y, return_counts=True)
        order = np.argsort(-counts, kind="stable")[:_MOST_CLASSES]
        shares = ", ".join(f"{classes[k]} {100 * counts[k] / len(y):.1f} %" for k in order)
        more = f", and {len(classes) - len(order)} more" if len(classes) > len(order) else ""
        text += f"\ntarget {schema.target!r}: {shares}{more}"
    return text
