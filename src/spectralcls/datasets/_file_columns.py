"""Learn the types of a file's columns, and encode further files with them.

Cells become typed columns here; `_inputs.columns` then decides their kinds, as for data frames.
"""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from .._inputs.columns import (
    MOST_LEVELS,
    LeftOutColumn,
    Number,
    Unclear,
    UnclearDates,
    category,
    learned,
    order_of_dates,
    text_category,
    vote,
    vote_of_dates,
)
from .._inputs.frames import BOOLEAN, CATEGORY, DATE, NUMBER, TEXT, Column, of_numbers, of_times
from .._inputs.identifiers import calls_itself_a_key, is_postal_code, may_be_postal_code
from .._utils.advice import tell
from ._cells import EXACT, LEADING_ZERO, OTHER, THOUSANDS, Cells, Numbers, are_exact
from ._schema import MIXED, shortened

_MOST_NAMED, _MOST_BAD, _MOST_CELLS, _MOST_LINES = 20, 100, 5, 3
_MANY_ROWS = 10_000  # from this many rows on, columns are read in threads
# cells that are not numbers are no typing errors if _FEW_ODD of them contain digits, or one occurs _ODD_AGAIN times
_FEW_ODD, _ODD_AGAIN = 3, 3


_GROUPS = {
    ".": r"\d[,'’\x{a0}\x{202f} ]\d{3}",
    ",": r"\d[.'’\x{a0}\x{202f} ]\d{3}",
}  # grouped thousands, by decimal sign
# a number with a single separator, before three digits, may be thousands or a fraction
_ONCE = {sign: rf"^[+-]?[1-9]\d{{0,2}}[{sign}]\d{{3}}$" for sign in ".,"}


class TextColumn(Column):
    """A text column whose dates are parsed by Arrow."""

    @classmethod
    def of(cls, name, cells):
        column = cls(name, TEXT, cells.codes, ~cells.known, cells.values.to_pylist())
        column.cells = cells
        return column

    def share_of_dates(self, order):
        """Share of the texts that are dates in the given order."""
        return self.cells.share(~np.isnat(self.cells.dates(order)))

    def dates_in(self, order):
        """Dates (n,), NaT if a text is not a date in this order."""
        return np.append(self.cells.dates(order), np.datetime64("NaT"))[self.cells.codes]


class Bad(NamedTuple):
    """A cell that does not fit its column, and the rows that contain it."""

    column: str
    cell: str
    rows: np.ndarray
    is_level: bool = False
    always: bool = False  # an error even if unknown cells count as missing


def prepare(source, columns, words):
    """Prepare columns for learning or encoding: a dict from names to the results of `_prepared`.

    Parameters
    ----------
    columns : dict
        Maps each name to the decimal signs that plain numbers in the column may have: ".", "," or ".," (either); "" for
        columns without plain numbers.
    words : callable
        Function from a name to the words for a missing value in its column.
    """
    position = {name: j for j, name in enumerate(source.table.column_names)}

    def of(name):
        return _prepared(source.table.column(position[name]), words(name), columns[name], source.sign)

    if len(source.table) < _MANY_ROWS:  # threads would cost more
        return {name: of(name) for name in columns}
    with ThreadPoolExecutor(pa.cpu_count()) as pool:
        return dict(zip(columns, pool.map(of, columns), strict=True))


def learn_columns(source, data, *, categories=(), numbers=(), decimal=None, order=None, own_words=()):
    """Learn the types of a source's prepared columns.

    Parameters
    ----------
    own_words : collection of str
        The user's words for a missing value; no other words apply in `categories`.

    Raises
    ------
    ValueError
        If only the user can decide about a column; the message names all such columns.
    """
    found, unclear = [], []
    told = decimal or _vote_of_signs(data)
    decimal = told or source.decimal
    columns = {name: _typed(name, values) for name, values in data.items()}
    options = dict(order=order or vote_of_dates(_texts_of(columns)), told=order is not None)
    for name, column in columns.items():
        forced = CATEGORY if name in categories else NUMBER if name in numbers else None
        try:
            if column is None:
                raise Unclear(f"column {name!r} holds nested values or bytes: leave it out with --drop")
            if told is None and isinstance(data[name], Cells) and forced != CATEGORY and not may_be_postal_code(name):
                _refuse_groups(name, data[name], decimal, source.delimiter)
            own = _learned(column, data[name], forced, decimal, options)
            found.append(replace(own, words=tuple(sorted(own_words))) if forced == CATEGORY else own)
        except UnclearDates as error:
            year = ", year" * ("ymd" in error.orders)
            unclear.append(
                f"column {name!r} has dates such as {error.example!r}, in which day{year} and month cannot be told "
                f"apart: say {' or '.join(f'--dates {one}' for one in error.orders)}"
            )
        except Unclear as error:
            unclear.append(str(error))
    if unclear:
        raise ValueError(f"{source.path}: {'; '.join(unclear)}")
    return tuple(found)


def _prepared(column, words, signs, sign):
    """The content of a column: a NumPy array for numbers and dates; `Numbers` or `Cells` for texts, booleans, and
    integers that are not exact in floating point; None for nested values and bytes.
    """
    kind = column.type
    if sign and types.is_floating(kind):
        return Numbers(column.to_numpy(), sign)
    if types.is_integer(kind) and not are_exact(column):
        return Cells(column, words)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return column.cast(pa.float64()).to_numpy()
    if types.is_temporal(kind) and not types.is_interval(kind):
        if types.is_time(kind):
            column = column.cast("time64[us]").cast("int64").cast("duration[us]")
        elif types.is_timestamp(kind) and kind.tz:
            column = pc.local_timestamp(column)  # as in a data frame: local clock time
        return column.to_numpy()
    if types.is_nested(kind) and not types.is_dictionary(kind) or types.is_binary(kind):
        return None
    plain = Numbers.read(column, signs) if signs and types.is_string(kind) else None
    return plain or Cells(column, words)


def _vote_of_signs(data):
    """The decimal sign that most columns favor; None if this is undecided."""
    shares = []
    for cells in data.values():
        if isinstance(cells, Numbers) and cells.decimal:
            shares.append({sign: float(sign == cells.decimal) for sign in ".,"})
        elif isinstance(cells, Cells) and cells.known.any():
            shares.append({sign: cells.share(np.isfinite(cells.numbers(sign))) for sign in ".,"})
    return vote(shares, ".,")


def _texts_of(columns):
    return [column for column in columns.values() if column is not None and column.kind == TEXT]


def _typed(name, data):
    """The result of `prepare` as a column; None for nested values and bytes."""
    if data is None:
        return None
    if isinstance(data, Cells):
        return TextColumn.of(name, data)
    values = data.values if isinstance(data, Numbers) else data
    return of_numbers(name, values) if values.dtype.kind == "f" else of_times(name, values)


def _refuse_groups(name, cells, decimal, delimiter):
    """Raise if numbers such as 1.200 may be thousands as well as fractions.

    Such numbers are ambiguous in two cases. The column also has whole numbers such as 900, and the separator is the
    decimal sign: most programs that write three decimals would write 900.000. Or the column has no whole numbers, the
    separator is not the decimal sign, and the delimiter is not a comma.
    """
    for sign in ".,":
        grouped = cells.matches(_ONCE[sign])
        whole = cells.matches(r"^[+-]?\d{1,3}$")
        if not grouped.any() or not (grouped | whole).all():
            continue
        if (sign == decimal) if whole.any() else (sign != decimal and delimiter != ","):
            raise _unclear(name, cells.values[int(grouped.argmax())].as_py())


def _unclear(name, cell):
    return Unclear(
        f"column {name!r} has numbers such as {cell!r}, in which thousands and fractions cannot be told apart: say "
        "--decimal . or --decimal ,"
    )


def _learned(column, data, forced, decimal, options):
    """Learn the type of a column, with further information from the file."""
    if column.kind == TEXT:
        own = _learned_texts(column, data, forced, decimal, options)
        examples = column.levels[:3]
    else:
        decimal = data.decimal if isinstance(data, Numbers) else None
        examples = _examples(column, decimal or ".")
        if forced == CATEGORY:
            own = category(TextColumn.of(column.name, Cells(_texts(column.values))))
        elif forced == NUMBER and not column.missing.all():
            own = Number(column.name)
        else:
            own = learned(column, of_file=True)
        if isinstance(data, Numbers) and own.kind == NUMBER:
            own = replace(own, decimal=decimal, unit="")
    return replace(own, missing=float(np.mean(column.missing)), examples=tuple(map(shortened, examples)))


def _examples(column, decimal):
    known = column.values if not column.missing.any() else column.values[~column.missing]
    shown = list(dict.fromkeys(known[:3].tolist()))
    if column.kind != NUMBER:
        return [str(value)[:10] for value in shown]
    texts = [f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}" for value in shown]
    return [text.replace(".", decimal) for text in texts]


def _learned_texts(column, cells, forced, decimal, options):
    name = column.name
    if not cells.known.any():
        return LeftOutColumn(name, "empty")
    if forced == CATEGORY:
        return category(column)
    decimal = _fitting(cells, decimal)
    values = cells.numbers(decimal)
    are_numbers = cells.share(np.isfinite(values)) >= 0.5
    if forced != NUMBER:
        if not are_numbers or is_postal_code(name, column.levels, cells.counts):
            return learned(column, of_file=True, **options)
        if cells.matches(LEADING_ZERO).any():
            return text_category(column)
        if _are_codes(name, cells, values):
            odd = column.levels[int(np.isnan(values).argmax())]
            own = text_category(column)
            return replace(own, note=f"{own.note}; {MIXED}, as {shortened(odd)!r}")
        if np.nanmax(np.abs(values)) > EXACT and cells.matches(r"^\d+$").all():
            return text_category(column)
    numbers = Column(name, NUMBER, cells.expand(values), column.missing)  # other cells are NaN, but not missing
    own = Number(name) if forced == NUMBER else learned(numbers, of_file=True)
    if own.kind != NUMBER:
        return own
    told = decimal if cells.matches("[.,]").any() else None  # whole numbers do not show the sign
    grouped = bool(cells.matches(_GROUPS[decimal]).any())
    return replace(own, decimal=told, unit=cells.unit(decimal), grouped=grouped)


def _are_codes(name, cells, values):
    """Whether the cells that are not numbers, in a column of whole numbers, are too many or too regular for typing
    errors.

    Codes, such as PC 17599 in a column with 113803, contain digits and differ. Bins and words for a number, such as
    2-10 or At-Large, recur in columns with few distinct cells.
    """
    odd = np.isnan(values)
    whole = values[~odd]
    if not odd.any() or (whole < 0).any() or (whole != np.trunc(whole)).any():
        return False
    if np.count_nonzero(odd & cells.matches(r"\d")) >= (1 if calls_itself_a_key(name) else _FEW_ODD):
        return True
    return len(values) <= MOST_LEVELS and bool((cells.counts[odd] >= _ODD_AGAIN).any())


def _fitting(cells, decimal):
    """The decimal sign of the file, or the other one if it parses all cells and the file's sign does not."""
    return next((sign for sign in (decimal, OTHER[decimal]) if np.isfinite(cells.numbers(sign)).all()), decimal)


def _texts(values):
    """Numbers or dates as an Arrow array of strings; whole numbers have no decimal point."""
    return pa.array(values, from_pandas=True).cast(pa.string())


def encode(schema, source, unknown="error", data=None, decimal=None):
    """See :meth:`Schema.encode`; `data` holds the prepared columns if the schema was learned from this source."""
    names, used = Counter(source.table.column_names), schema.used
    lacking = [column.name for column in used if column.name not in names]
    if lacking:
        headed = f" ({source.headed})" if source.headed else ""
        raise ValueError(f"{source.path}: no column {_listed(lacking)}; there are {_listed(list(names))}{headed}")
    twice = [column.name for column in used if names[column.name] > 1]
    if twice:
        raise ValueError(f"{source.path}: more than one column {twice[0]!r}: rename one of them")
    learning = data is not None
    if not learning:
        signs = {
            column.name: decimal if sign and decimal else sign
            for column, sign in zip(used, schema.signs(names=[column.name for column in used]), strict=True)
        }
        words = {column.name: schema.missing_words(column) for column in used}
        data = prepare(source, signs, words.get)
        sign_of = _signs_of(schema, source, data, decimal)
    kinds = dict(zip(source.table.column_names, source.table.schema.types, strict=True))
    single = all(kinds[column.name] == pa.float32() for column in used)
    X = np.empty((len(source.table), len(schema.feature_names)), np.float32 if single else np.float64, order="F")
    bad, done = [], 0
    for column in used:
        sign = column.decimal or source.decimal if learning else sign_of.get(column.name, ".")
        values, wrong = _encoded(column, data[column.name], sign)
        for part in values:
            X[:, done] = part
            done += 1
        bad += wrong
    if bad and unknown == "missing" and not any(cell.always for cell in bad):
        counts = Counter()
        for cell in bad:
            counts[cell.column] += len(cell.rows)
        named = _listed([f"{name} ({count})" for name, count in counts.items()])
        tell(f"{source.path}: unknown cells count as missing; their number by column: {named}")
    elif bad:
        raise ValueError(_all_bad(source, bad, learning))
    if X.size and all(np.isnan(column).all() for column in X.T):
        raise ValueError(
            f"{source.path}: all values are missing in the columns that are used: {_listed(schema.feature_names)}"
        )
    return X


def _signs_of(schema, source, data, told):
    """Decimal signs of the numbers in a further file, by column.

    Raises
    ------
    ValueError
        If thousands and fractions cannot be distinguished, or a unit differs.
    """
    numbers = [column for column in schema.used if column.kind == NUMBER]
    found = _vote_of_signs({column.name: data[column.name] for column in numbers})
    signs, wrong = {}, []
    for column in numbers:
        cells, known = data[column.name], column.unit
        if not isinstance(cells, Cells | Numbers):
            if known == "%" and _exceeds_one(cells):
                wrong.append(
                    f"column {column.name!r} has numbers above 1, but percentages in the table that the rules were "
                    "learned from: as a number, 5 % is 0.05"
                )
            continue
        sign = told or column.decimal or found or source.decimal
        if not told and found and found != sign and isinstance(cells, Cells) and _reads_better(cells, found, sign):
            sign = found
        signs[column.name] = sign
        if isinstance(cells, Cells):
            contrary = (found or sign) != sign or column.decimal not in (None, source.decimal) and source.decimal == ","
            unclear = cells.matches(_ONCE[OTHER[sign]])
            as_before = column.grouped or found or column.decimal is None and source.delimiter == ","
            if not (unclear.any() or found or column.decimal or known is None):  # no fractions so far
                unclear, as_before = cells.matches(_ONCE[sign]), False
            if told is None and unclear.any() and (contrary or not as_before):
                wrong.append(str(_unclear(column.name, cells.values[int(unclear.argmax())].as_py())))
            unit = cells.unit(sign) if np.isfinite(cells.numbers(sign)).any() else known
        else:
            unit = ""
        differs = None not in (unit, known) and unit != known
        if differs and (unit and known or "%" in (unit, known) or known == THOUSANDS):
            wrong.append(
                f"column {column.name!r} has {_of_unit(unit)}, but {_of_unit(known)} in the table that the rules were "
                "learned from: convert it"
            )
    if wrong:
        raise ValueError(f"{source.path}: {'; '.join(wrong)}")
    return signs


def _reads_better(cells, found, sign):
    """Whether all cells are numbers with the file's decimal sign `found`, while with `sign` some are not numbers or
    count as thousands.
    """
    if not np.isfinite(cells.numbers(found)).all():
        return False
    return not np.isfinite(cells.numbers(sign)).all() or bool(cells.matches(_ONCE[found]).any())


def _exceeds_one(values):
    """Whether most nonzero numbers exceed 1 in absolute value."""
    if values is None or values.dtype.kind != "f":
        return False
    some = np.abs(values[np.isfinite(values) & (values != 0)])
    return len(some) > 0 and float(np.median(some)) > 1


def _of_unit(unit):
    return f"numbers in {unit}" if unit else "numbers without a unit"


def encode_labels(target, source, words):
    """The sorted classes of a source, and the position of each row's class among them, or -1 if the class is one of the
    `words` for a missing value.

    Raises
    ------
    ValueError
        If the target holds nested values or bytes.
    """
    column = source.table.column(source.table.column_names.index(target))
    kind = column.type
    if types.is_nested(kind) and not types.is_dictionary(kind) or types.is_binary(kind):
        raise ValueError(f"{source.path}: the target {target!r} holds nested values or bytes, not classes")
    cells = Cells(column, words)
    classes, position = np.unique(cells.values.to_numpy(zero_copy_only=False).astype(str), return_inverse=True)
    return classes, np.append(position, -1)[cells.codes]


def _encoded(own, data, decimal):
    """Arrays of floats for a column, and the cells that do not fit."""
    column = _typed(own.name, data)
    if column is None:
        return [], [Bad(own.name, "nested values or bytes", np.arange(1), always=True)]
    if column.kind == own.kind:
        infinite = np.flatnonzero(np.isinf(column.values)) if own.kind == NUMBER else ()
        wrong = [Bad(own.name, f"{column.values[infinite[0]]}", infinite, always=True)] if len(infinite) else []
        return list(own.read(column).T), wrong
    if column.kind != TEXT:
        data, decimal = Cells(_texts(column.values)), "."
        column = TextColumn.of(own.name, data)
    if own.kind == DATE:
        own = replace(own, order=own.order or order_of_dates(column) or "ymd")
        values, wrong = list(own.read(column).T), np.isnat(data.dates(own.order))
    else:
        known = own.positions(column.levels) if own.is_category else data.numbers(decimal)
        values, wrong = [data.expand(known)], ~np.isfinite(known)
        if own.kind == BOOLEAN and own.is_mark:
            values[0][column.missing] = 0.0
    return values, [
        Bad(own.name, column.levels[code], np.flatnonzero(data.codes == code), own.is_category)
        for code in np.flatnonzero(wrong)[: _MOST_BAD + 1].tolist()
    ]


def _all_bad(source, bad, learning):
    """One message about all cells that do not fit, by column."""
    by_column = {}
    for one in bad:
        by_column.setdefault(one.column, []).append(one)
    lines = []
    for name, cells in by_column.items():
        shown = [f"{shortened(cell.cell)!r} in {_rows(source, cell.rows)}" for cell in cells[:_MOST_CELLS]]
        if len(cells) > _MOST_CELLS:
            more = "or more " if len(cells) > _MOST_BAD else ""
            shown.append(f"and {len(cells) - _MOST_CELLS} {more}other cells")
        lines.append(f"  column {name!r}: {', '.join(shown)}")
    if len(lines) > _MOST_NAMED:
        lines[_MOST_NAMED:] = [f"  and {len(lines) - _MOST_NAMED} more columns"]
    what, advice = "cells that do not fit the rest of their column", "correct them"
    if learning:
        advice += ", name words for missing values with --missing WORD, list the column in --categories, or --drop it"
    elif any(cell.is_level for cell in bad):
        what = "levels that the model does not know" if all(cell.is_level for cell in bad) else what
        advice += "; --unknown missing treats unknown levels as missing values"
    else:
        advice += ", set --decimal if the file has another decimal sign, or --unknown missing for missing values"
    return f"{source.path}: there are {what}:\n" + "\n".join(lines) + f"\n{advice}"


def _rows(source, rows):
    places = source.places(rows[:_MOST_LINES].tolist())
    more = f" and {len(rows) - len(places)} more" if len(rows) > len(places) else ""
    return f"{source.unit}{'s' if len(rows) > 1 else ''} {', '.join(map(str, places))}{more}"


def _listed(names):
    return ", ".join(map(repr, names[:_MOST_NAMED])) + (", ..." if len(names) > _MOST_NAMED else "")
