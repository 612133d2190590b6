"""Read exported text files, spreadsheets, and Parquet files as tables."""

import re
from collections import Counter
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any, Literal

import numpy as np
from sklearn.utils import Bunch

from .._inputs.identifiers import may_be_postal_code
from .._utils.advice import tell
from .._utils.atomic_files import as_path
from .._utils.from_sklearn import Interval, StrOptions, validate_params
from .._utils.typing import FilePath, RandomState
from ._files import read_source
from ._schema import Schema
from ._source import Dialect, find_column, normalized, require_pyarrow
from ._suspicions import warn_of_classes_alike, warn_of_suspicions

_MOST_CLASSES, _MOST_LINES = 10, 5  # classes listed in a description, and lines in a warning
_SUM = re.compile(
    r"(?:(?:grand |sub)?totale?s?|sum|(?:zwischen|gesamt)?summe|gesamt|insgesamt|somme|suma|mean|average"
    r"|mittel(?:wert)?|durchschnitt|moyenne|promedio)\b.{0,12}",
    re.I,
)


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
        "not_missing": [list, tuple, set, frozenset],
        "unlabeled": [StrOptions({"drop", "error"})],
        "group": [str, Integral, None],
        "encoding": [str, None],
        "delimiter": [str, None],
        "comment": [str, None],
        "skip": [Interval(Integral, 0, None, closed="left"), None],
        "header": ["boolean", None],
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
        Column with the classes, by name or position (-1 is the last). A name also locates the header.
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
        (n_samples,), strings, or None without a target; ``groups`` (n_samples,), strings, or None; ``feature_names``;
        ``categorical_features``, the positions of categories in ``data``; ``schema``; ``name``; ``n_rows``, the number
        of rows of the file; ``DESCR``, a description of the file.

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
    from ._cells import CLASSES, MISSING
    from ._file_columns import encode, encode_labels

    for name, given in ("missing", missing), ("not_missing", not_missing):
        if not all(isinstance(word, str) for word in given):
            raise ValueError(f"{name} must consist of words, got {given!r}.")
    if delimiter is not None and len(delimiter) != 1:
        raise ValueError(f"delimiter must be one character, got {delimiter!r}.")
    own_words = frozenset(word.lower() for word in missing)
    kept_words = frozenset(word.lower() for word in not_missing)
    words = (MISSING - kept_words | own_words | {""}) if schema is None else frozenset(schema.words)
    target, group = normalized(target), normalized(group)
    given = (target, group, *drop, *categories, *numbers)
    texts = (*categories, *(name for name in (target, group) if name is not None))
    signs = partial(_signs, path=path, texts=texts, decimal=decimal) if schema is None else schema.signs
    dialect = Dialect(encoding, delimiter, comment, skip, header, sheet)
    if schema is not None:
        dialect = dialect.over(Dialect(*schema.dialect))
    source = read_source(
        path,
        dialect,
        known=[normalized(name) for name in given],
        schema=schema,
        words=words,
        signs=signs,
        n_samples=n_samples,
        random_state=random_state,
    )
    n_rows, names = source.n_rows, source.table.column_names
    classes: Any = None
    labels = y = None
    goal = None if target is None else names[find_column(names, target, source.path)]
    label_words = (words - CLASSES) | own_words | {""}
    if goal is not None:
        classes, y = encode_labels(goal, source, label_words)
        source, y = _labeled(source, goal, y, unlabeled)
    elif schema is None:
        _name_sum_row(source)
    data, told = None, decimal if schema is not None else None
    if schema is None:
        forced = (drop, categories, numbers)
        source, schema, data, groups = _learned(source, goal, group, forced, dates, decimal, words, own_words, signs)
        schema = replace(schema, dialect=tuple(dialect))
    else:
        groups = None if group is None else source.table.column(find_column(names, group, source.path))
    X = encode(schema, source, unknown, data, told)
    if goal is not None:
        labels = classes[y]
        _warn_of_classes(source, goal, classes)
        if data is not None:
            warn_of_suspicions(source.path, schema, X, classes, y, numbers_in)
    return Bunch(
        data=schema.frame(X) if as_frame else X,
        target=labels,
        groups=None if groups is None else np.asarray(groups.to_pylist(), dtype=object).astype(str),
        feature_names=schema.feature_names,
        categorical_features=schema.categorical_features,
        schema=schema,
        name="stdin" if source.path.name == "-" else source.path.stem,
        n_rows=n_rows,
        DESCR=_described(source, schema, n_rows, classes, y),
    )


def numbers_in(texts, decimal=None):
    """Parse texts as numbers, with the given decimal sign or the one that parses more of them; NaN for other texts."""
    import pyarrow as pa

    from ._cells import Cells

    cells = Cells(pa.array([str(text) for text in texts], pa.string()))
    found = [cells.expand(cells.numbers(sign)) for sign in decimal or ".,"]
    return min(found, key=lambda values: np.count_nonzero(np.isnan(values)))


def _labeled(source, target, y, unlabeled):
    """Keep the rows with a class; a warning or an error names the others, which have class -1."""
    known = y >= 0
    lacking = np.flatnonzero(~known)
    if not len(lacking):
        _name_sum_row(source)
        return source, y
    places = source.places(lacking[:_MOST_LINES].tolist())
    more = f" and {len(lacking) - len(places)} more" if len(lacking) > len(places) else ""
    where = f"{source.unit}{'s' if len(lacking) > 1 else ''} {', '.join(map(str, places))}{more}"
    if unlabeled == "error" or len(lacking) == len(known):
        raise ValueError(f"{source.path}: the target {target!r} is missing in {where}: fill it in, or remove the rows")
    n_rows = f"{len(lacking)} of {len(known)} rows are" if len(lacking) > 1 else f"1 of {len(known)} rows is"
    total = _sum_row(source) if lacking[-1] == len(known) - 1 else ""
    total = f"; the last one looks like a sum or a remark ({total!r})" if total else ""
    tell(
        f"{source.path}: {n_rows} left out for lack of a class in {target!r}: {where}{total}. unlabeled='error' "
        "(--unlabeled error) raises an error instead",
    )
    return source.take(np.flatnonzero(known)), y[known]


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
    from ._cells import CLASSES

    doubtful = [name for name in classes.tolist() if name.lower() in CLASSES]
    if doubtful:
        tell(
            f"{source.path}: among the classes of {target!r} are {', '.join(map(repr, doubtful))}: list those that "
            "mean a missing class in missing= (--missing)",
        )
    warn_of_classes_alike(source.path, target, classes.tolist())


def _signs(names, path, texts, decimal):
    """Possible decimal signs of plain numbers in each column, ".," for either; "" for postal codes and for the columns
    `texts` (names or positions).
    """
    positions = {find_column(names, name, path) for name in texts}
    return ["" if j in positions or may_be_postal_code(name) else decimal or ".," for j, name in enumerate(names)]


def _learned(source, goal, group, given, dates, decimal, words, own_words, signs):
    """Learn a schema: returns the source without dropped columns, the schema, the prepared columns, and the groups."""
    from ._file_columns import learn_columns, prepare

    names = source.table.column_names
    signs = dict(zip(names, signs(names), strict=True))
    dropped, *forced = ([find_column(names, name, source.path) for name in some] for some in given)
    forced = [{names[position] for position in some} for some in forced]
    groups = None
    if group is not None:
        position = find_column(names, group, source.path)
        groups = source.table.column(position)
        dropped.append(position)
    kept = [position for position in range(len(names)) if position not in dropped]
    names = [names[position] for position in kept]
    if goal is not None and goal not in names:
        raise ValueError(f"{source.path}: the target {goal!r} is dropped")
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise ValueError(f"{source.path}: more than one column {twice!r}: rename them, or drop all but one by position")
    source = source._replace(table=source.table.select(kept))

    def words_of(name):
        return own_words | {""} if name in forced[0] else words

    data = prepare(source, {name: signs[name] for name in names if name != goal}, words_of)
    columns = learn_columns(
        source, data, categories=forced[0], numbers=forced[1], decimal=decimal, order=dates, own_words=own_words
    )
    width = source.width if source.header == 0 else 0
    schema = Schema(columns, goal, tuple(sorted(words)), width=width, headed=source.headed)
    if not schema.used:
        why = f"; {schema.summary()}" if columns else ""
        raise ValueError(f"{source.path}: no column is left to learn from{why}")
    return source, schema, data, groups


def _described(source, schema, n_rows, classes, y):
    comma = ", decimal comma" if any(column.decimal == "," for column in schema.used) else ""
    headed = f", {source.headed}" if source.headed else ""
    text = f"{source.path.name}: {n_rows} rows{source.kind}{headed}{comma}\n{schema.describe()}"
    if y is not None:
        counts = np.bincount(y)
        order = np.argsort(-counts, kind="stable")[:_MOST_CLASSES]
        shares = ", ".join(f"{classes[k]} {100 * counts[k] / len(y):.1f} %" for k in order)
        more = f", and {len(classes) - len(order)} more" if len(classes) > len(order) else ""
        text += f"\ntarget {schema.target!r}: {shares}{more}"
    return text
