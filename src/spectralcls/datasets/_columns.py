"""Columns learned from a table, and tables encoded by what was learned."""

import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from .._inputs.columns import MOST_LEVELS
from .._inputs.dates import ORDERS, UNCLEAR, date_parts, varying_parts
from .._inputs.identifiers import SHARE, calls_itself_a_key, calls_itself_a_row_number, is_identifier
from .._utils.advice import tell
from ._cells import LEADING_ZERO, OTHER, TRUTH, Cells, Numbers
from ._schema import BOOLEAN, CATEGORY, DATE, LEFT_OUT, NUMBER, Column, shortened

_SHORT = "yymd"  # the order of dates that begin with a year of two digits
_SPAN_OF_YEARS = 15  # numbers that days of a month exceed, and years of one table seldom
FEW_WORDS = 3.0  # words of the mean cell from which texts are sentences
_MOST_NAMED, _MOST_BAD, _MOST_CELLS, _MOST_LINES = 20, 100, 5, 3
_MANY_ROWS = 10_000  # of which columns are read in threads
_POSTAL = re.compile(r"(?:^|[^a-z])(?:plz|zip|postal|postcode|cap)(?:[^a-z]|$)|postleitzahl|zip_?code|postcode", re.I)
_DIGITS = range(4, 7)  # of postal codes
_EXACT = 2**53  # whole numbers up to which floating point has them all
_FEW_ODD, _ODD_AGAIN = 3, 3  # codes with letters among digits, and copies of a word, that are no slips


_GROUPS = {
    ".": r"\d[,'’\x{a0}\x{202f} ]\d{3}",
    ",": r"\d[.'’\x{a0}\x{202f} ]\d{3}",
}  # thousands set apart, by decimal sign
_ONCE = {sign: rf"^[+-]?[1-9]\d{{0,2}}[{sign}]\d{{3}}$" for sign in ".,"}  # thousands, or fractions


class Unclear(ValueError):
    """A column that only the user can decide about."""


class Bad(NamedTuple):
    """A cell that a column cannot take, and the rows that have it."""

    column: str
    cell: str
    rows: np.ndarray
    is_level: bool = False
    always: bool = False  # also if unknown cells may be missing


def prepare(source, columns, words):
    """Columns as they can be learned or encoded: {name: array, Numbers or Cells}.

    Parameters
    ----------
    columns : dict
        Of each name the decimal signs that plain numbers may have: ".,", "." or ","; "" for what is no number.
    words : callable
        Of a name the words for a missing value.
    """
    position = {name: j for j, name in enumerate(source.table.column_names)}

    def of(name):
        return _prepared(source.table.column(position[name]), words(name), columns[name], source.sign)

    if len(source.table) < _MANY_ROWS:  # a thread costs more
        return {name: of(name) for name in columns}
    with ThreadPoolExecutor(pa.cpu_count()) as pool:
        return dict(zip(columns, pool.map(of, columns), strict=True))


def may_be_code(name):
    """Whether a column may hold postal codes, whose zeros count, by its name."""
    return bool(_POSTAL.search(name))


def _is_code(name, cells):
    """Whether a column holds postal codes: by its name, and because most cells have as many digits as the longest."""
    if not may_be_code(name):
        return False
    digits = cells.matches(r"^\d+$")
    if cells.share(digits) < 0.5:
        return not cells.share(np.isfinite(cells.numbers("."))) >= 0.5
    lengths = np.where(digits, pc.utf8_length(cells.values).to_numpy(zero_copy_only=False), 0)
    longest = int(lengths.max())
    possible = longest in _DIGITS and (longest == 5 or not re.search(r"\bcap\b", name, re.I))
    return possible and cells.share(lengths == longest) >= 0.5 and cells.share(digits & (lengths < longest - 1)) < 0.02


def learn_columns(source, data, *, categories=(), numbers=(), decimal=None, order=None, own_words=()):
    """What prepared columns of a source are.

    Parameters
    ----------
    own_words : collection of str
        Words for a missing value that the user has named, the only ones in `categories`.

    Raises
    ------
    ValueError
        If only the user can decide about a column, with the names of all such columns.
    """
    columns, unclear = [], []
    told = decimal or _vote(data, "numbers", ".,", None)
    decimal = told or source.decimal
    order = (order, True) if order else (_vote(data, "dates", ("dmy", "mdy"), None), False)
    for name, values in data.items():
        forced = CATEGORY if name in categories else NUMBER if name in numbers else None
        try:
            if told is None and isinstance(values, Cells) and forced != CATEGORY and not may_be_code(name):
                _refuse_groups(name, values, decimal, source.delimiter)
            column = _learned(name, values, forced, decimal, order)
            columns.append(replace(column, words=tuple(sorted(own_words))) if forced == CATEGORY else column)
        except Unclear as error:
            unclear.append(str(error))
    if unclear:
        raise ValueError(f"{source.path}: {'; '.join(unclear)}")
    return tuple(columns)


def _prepared(column, words, signs, sign):
    """An array of NumPy for numbers, truth values and dates; `Numbers` or `Cells` for texts; None for other things."""
    kind = column.type
    if sign and types.is_floating(kind):
        return Numbers(column.to_numpy(), sign)
    if types.is_integer(kind) and not _are_exact(column):
        return Cells(column, words)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return column.cast(pa.float64()).to_numpy()
    if types.is_temporal(kind) and not types.is_interval(kind):
        if types.is_time(kind):
            column = column.cast("time64[us]").cast("int64").cast("duration[us]")
        elif types.is_timestamp(kind) and kind.tz:
            column = pc.local_timestamp(column)  # as in a data frame: the time on the wall there
        return column.to_numpy()
    if types.is_nested(kind) and not types.is_dictionary(kind) or types.is_binary(kind):
        return None
    plain = Numbers.read(column, signs) if signs and types.is_string(kind) else None
    return plain or Cells(column, words)


def _are_exact(column):
    ends = pc.min_max(column).as_py().values()
    return None in ends or max(map(abs, ends)) <= _EXACT


def _vote(data, reader, choices, default):
    """Which of two readings more columns of text have, if one has more."""
    votes = dict.fromkeys(choices, 0)
    for cells in data.values():
        if isinstance(cells, Numbers) and cells.decimal in votes:
            votes[cells.decimal] += 1
        if not isinstance(cells, Cells) or not cells.known.any():
            continue
        shares = {choice: cells.share(_is_read(getattr(cells, reader)(choice))) for choice in choices}
        best = max(shares, key=shares.get)
        votes[best] += shares[best] >= 0.5 and min(shares.values()) < shares[best]
    return default if len(set(votes.values())) == 1 else max(votes, key=votes.get)


def _refuse_groups(name, cells, decimal, delimiter):
    """Raise for numbers such as 900 and 1.200 if the file's program is thought to write 1.2 in this way.

    It would have to write whole numbers without a fraction, and others with three digits of one, whatever these are.
    Without whole numbers, 1.077 and 2.133 are fractions or thousands: commas between cells tell, other signs do not.
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


def _is_read(values):
    return ~np.isnat(values) if values.dtype.kind in "mM" else np.isfinite(values)


def _learned(name, data, forced, decimal, order):
    if data is None:
        raise Unclear(f"column {name!r} holds nested values or bytes: leave it out with --drop")
    if isinstance(data, Numbers):
        column = _learned_typed(name, data.values, forced)
        examples = tuple(example.replace(".", data.decimal or ".") for example in column.examples)
        return replace(column, decimal=data.decimal, unit="", examples=examples)
    if isinstance(data, np.ndarray):
        return _learned_typed(name, data, forced)
    column = _learned_texts(name, data, forced, decimal, order)
    examples = tuple(map(shortened, data.values[:3].to_pylist()))
    return replace(column, missing=float(np.mean(~data.known)), examples=examples)


def _learned_typed(name, values, forced):
    lacking = ~_is_read(values) if values.dtype.kind != "f" else np.isnan(values)
    known = values[~lacking] if lacking.any() else values
    if forced == CATEGORY:
        column = _category(name, Cells(_texts(values)))
    elif values.dtype.kind == "f" and forced is None and may_be_code(name) and _is_code(name, Cells(_texts(values))):
        column = _code(name, Cells(_texts(values)))
    elif values.dtype.kind == "f":
        column = _number(name, known, len(known) < len(values), forced)
    else:
        column = _date(name, known, None)
    shown = list(dict.fromkeys(known[:3].tolist()))
    if values.dtype.kind == "f":
        examples = [f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}" for value in shown]
    else:
        examples = [str(value)[:10] for value in shown]
    return replace(column, missing=float(np.mean(lacking)), examples=tuple(map(shortened, examples)))


def _learned_texts(name, cells, forced, decimal, order):
    if not cells.known.any():
        return Column(name, LEFT_OUT, "empty")
    if forced == CATEGORY:
        return _category(name, cells)
    decimal = _fitting(cells, decimal)
    values = cells.numbers(decimal)
    numeric = cells.share(np.isfinite(values))
    told = decimal if cells.matches("[.,]").any() else None  # whole numbers do not tell it
    written = dict(decimal=told, unit=cells.unit(decimal), grouped=bool(cells.matches(_GROUPS[decimal]).any()))
    if forced == NUMBER:
        return Column(name, NUMBER, **written)
    if _is_code(name, cells):
        return _code(name, cells)
    if numeric >= 0.5 and cells.matches(LEADING_ZERO).any():
        return _text(name, cells)
    if numeric >= 0.5 and _are_codes(name, cells, values):
        column = _text(name, cells)
        odd = cells.values[int(np.isnan(values).argmax())].as_py()
        return replace(column, note=f"{column.note}; not all are numbers, as {shortened(odd)!r}")
    if numeric >= 0.5 and np.nanmax(np.abs(values)) > _EXACT and cells.matches(r"^\d+$").all():
        return _text(name, cells)
    if numeric >= 0.5:
        return replace(_number(name, cells.expand(values)[cells.known], not cells.known.all(), None), **written)
    if len(cells.values) == 1 and not cells.known.all():
        mark = cells.values[0].as_py()
        return Column(name, BOOLEAN, f"{mark!r} or empty", levels=("", mark))
    truth = cells.truth()
    if truth:
        return Column(name, BOOLEAN, levels=truth)
    found = _order_of_dates(name, cells, *order)
    if found:
        dates = cells.dates(found)
        return _date(name, dates[~np.isnat(dates)], found)
    return _text(name, cells)


def _are_codes(name, cells, values):
    """Whether cells that are no numbers, beside whole numbers, are too many or too regular for slips.

    Those of codes, as PC 17599 beside 113803, have digits and differ; bins and words that stand for a number, as 2-10
    or At-Large, come again and again beside few different numbers.
    """
    odd = np.isnan(values)
    whole = values[~odd]
    if not odd.any() or (whole < 0).any() or (whole != np.trunc(whole)).any():
        return False
    if np.count_nonzero(odd & cells.matches(r"\d")) >= (1 if calls_itself_a_key(name) else _FEW_ODD):
        return True
    return len(values) <= MOST_LEVELS and bool((cells.counts[odd] >= _ODD_AGAIN).any())


def _fitting(cells, decimal):
    """The decimal sign of the file, or the other one if only that one reads all cells."""
    return next((sign for sign in (decimal, OTHER[decimal]) if np.isfinite(cells.numbers(sign)).all()), decimal)


def _number(name, known, lacking, forced):
    if forced is None and len(known):
        if not lacking and known.min() == known.max():
            return Column(name, LEFT_OUT, "always the same")
        if is_identifier(known, name) or calls_itself_a_row_number(name) and _are_row_numbers(known):
            return Column(name, LEFT_OUT, "identifier")
    return Column(name, NUMBER if len(known) else LEFT_OUT, "" if len(known) else "empty")


def _are_row_numbers(values):
    return len(values) > 2 and not (values % 1).any() and len(np.unique(values)) == len(values)


def _date(name, known, order):
    parts = varying_parts(known, order)
    return Column(name, DATE, ", ".join(parts), order=order, parts=parts) if parts else _same(name)


def _same(name):
    return Column(name, LEFT_OUT, "always the same")


def _order_of_dates(name, cells, order, told):
    """The order in which most cells are dates; None if they are none.

    One that the user has `told` holds wherever it can; one of other columns if no other order reads more cells.
    """
    shares = {one: cells.share(~np.isnat(cells.dates(one))) for one in (*ORDERS, _SHORT)}
    if max(shares.values()) < 0.5:
        return None
    if told:
        given = next((one for one in (order, _SHORT) if one.endswith(order) and shares[one]), None)
        if given:
            return given
    short, best = shares.pop(_SHORT), max(shares, key=shares.get)
    if shares[best] < 0.5:
        return None
    alike = [one for one in ("dmy", "mdy") if shares[one] == shares[best]]
    alike += ["ymd"] if short == shares[best] and best == "dmy" and _may_begin_with_years(cells) else []
    if (order is None or "ymd" in alike) and len(alike) > 1 and cells.matches(UNCLEAR.pattern).any():
        raise Unclear(
            f"column {name!r} has dates such as {cells.values[0].as_py()!r}, in which day{', year' * ('ymd' in alike)} "
            f"and month cannot be told apart: say {' or '.join(f'--dates {one}' for one in alike)}"
        )
    return order if order and shares[order] == shares[best] else best


def _may_begin_with_years(cells):
    """Whether dates as 14-02-01 begin with few of the numbers that days have."""
    firsts = pc.cast(pc.utf8_slice_codeunits(cells.values.filter(pa.array(cells.matches(r"^\d\d-"))), 0, 2), pa.int64())
    return len(firsts) > 0 and pc.max(firsts).as_py() - pc.min(firsts).as_py() < _SPAN_OF_YEARS


def _text(name, cells):
    n_known, n_values = int(cells.counts.sum()), len(cells.values)
    if n_values == 1:
        return _same(name)
    words = np.mean([text.count(" ") + 1 for text in cells.texts(1000)])
    if words >= FEW_WORDS and n_values > max(MOST_LEVELS, 0.2 * n_known):
        return Column(name, LEFT_OUT, "free text")
    if n_values >= SHARE * n_known and (is_identifier(cells.texts(), name) or calls_itself_a_row_number(name)):
        return Column(name, LEFT_OUT, "identifier")
    return _category(name, cells)


def _category(name, cells, digits=0, note=""):
    texts = [text[:digits] if digits else text for text in cells.values.to_pylist()]
    counts = Counter()
    for text, count in zip(texts, cells.counts.tolist(), strict=True):
        counts[text] += count
    levels, joined = sorted(counts), len(counts) > MOST_LEVELS
    if joined:
        levels = sorted(sorted(levels, key=lambda level: -counts[level])[: MOST_LEVELS - 1])
    note += f"{len(counts)} level{'s' * (len(counts) != 1)}{', the rarest joined' * joined}"
    return Column(name, CATEGORY, note, levels=tuple(levels), joined=joined, digits=digits)


def _code(name, cells):
    """A category of codes such as postal codes: by the leading digits if there are too many levels."""
    longest = pc.max(pc.utf8_length(cells.values)).as_py()
    cells = cells.padded(longest)

    def are_few(digits):
        return pc.count_distinct(pc.utf8_slice_codeunits(cells.values, 0, digits)).as_py() <= MOST_LEVELS

    digits = next(filter(are_few, range(longest, 0, -1)), 0)
    first = "digit" if digits == 1 else f"{digits} digits"
    note = f"by the first {first}: " if 0 < digits < longest else ""
    return replace(_category(name, cells, digits if note else 0, note), width=longest)


def _texts(values):
    """Numbers or dates as an Arrow array of strings, whole numbers without a point."""
    return pa.array(values, from_pandas=True).cast(pa.string())


def encode(schema, source, unknown="error", data=None, decimal=None):
    """See :meth:`Schema.encode`; `data` are the prepared columns if they are there."""
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
    types_of = dict(zip(source.table.column_names, source.table.schema.types, strict=True))
    single = all(types_of[column.name] == pa.float32() for column in used)
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
        tell(f"{source.path}: cells that are not known count as missing, by column: {named}")
    elif bad:
        raise ValueError(_all_bad(source, bad, learning))
    if X.size and all(np.isnan(column).all() for column in X.T):
        raise ValueError(
            f"{source.path}: all values are missing in the columns that are used: {_listed(schema.feature_names)}"
        )
    return X


def _signs_of(schema, source, data, told):
    """Decimal signs with which the numbers of a further file are read, by column.

    Raises
    ------
    ValueError
        If thousands and fractions cannot be told apart, or a unit is another one.
    """
    numbers = [
        column for column in schema.used if column.kind == NUMBER and isinstance(data[column.name], Cells | Numbers)
    ]
    found = _vote({column.name: data[column.name] for column in numbers}, "numbers", ".,", None) if numbers else None
    signs, wrong = {}, []
    for column in numbers:
        cells, known = data[column.name], column.unit
        sign = told or column.decimal or found or source.decimal
        signs[column.name] = sign
        if isinstance(cells, Cells):
            contrary = (found or sign) != sign or column.decimal not in (None, source.decimal) and source.decimal == ","
            unclear = cells.matches(_ONCE[OTHER[sign]])
            as_before = column.grouped or found or column.decimal is None and source.delimiter == ","
            if told is None and unclear.any() and (contrary or not as_before):
                wrong.append(str(_unclear(column.name, cells.values[int(unclear.argmax())].as_py())))
            unit = cells.unit(sign) if np.isfinite(cells.numbers(sign)).any() else known
        else:
            unit = ""
        if None not in (unit, known) and unit != known and (unit and known or "%" in (unit, known)):
            wrong.append(
                f"column {column.name!r} has {_of_unit(unit)}, but {_of_unit(known)} in the table that the rules were "
                "learned from: convert it"
            )
    if wrong:
        raise ValueError(f"{source.path}: {'; '.join(wrong)}")
    return signs


def _of_unit(unit):
    return f"numbers in {unit}" if unit else "numbers without a unit"


def encode_labels(target, source, words):
    """The classes of a source, sorted, and the position of each row's."""
    cells = label_cells(target, source, words)
    classes, position = np.unique(cells.values.to_numpy(zero_copy_only=False).astype(str), return_inverse=True)
    return classes, position[cells.codes]


def label_cells(target, source, words):
    """The cells of the target, of which only `words` are missing.

    Raises
    ------
    ValueError
        If they are nested values or bytes.
    """
    column = source.table.column(source.table.column_names.index(target))
    kind = column.type
    if types.is_nested(kind) and not types.is_dictionary(kind) or types.is_binary(kind):
        raise ValueError(f"{source.path}: the target {target!r} holds nested values or bytes, not classes")
    return Cells(column, words)


def _encoded(column, data, decimal):
    """Arrays of floats for a column, and the cells that it cannot take."""
    if data is None:
        return [], [Bad(column.name, "nested values or bytes", np.arange(1), always=True)]
    if isinstance(data, Numbers):
        data = data.values
    if isinstance(data, np.ndarray):
        kind = data.dtype.kind
        if kind == "f" and column.kind == NUMBER:
            infinite = np.flatnonzero(np.isinf(data))
            return [data], [Bad(column.name, f"{data[infinite[0]]}", infinite, always=True)] if len(infinite) else []
        if kind in "mM" and column.kind == DATE:
            parts = date_parts(data)
            return [parts[name] for name in column.parts], []
        data, decimal = Cells(_texts(data)), "."
    if column.kind == DATE:
        dates = data.dates(column.order or _order_of_dates(column.name, data, None, False) or "ymd")
        values, wrong = [data.expand(date_parts(dates)[name]) for name in column.parts], np.isnat(dates)
    else:
        known = _codes(column, data, decimal)
        wrong = ~np.isfinite(known)
        values = [data.expand(known)]
        if column.kind == BOOLEAN and column.levels[0] == "":
            values[0][~data.known] = 0.0
    is_level = column.kind in (CATEGORY, BOOLEAN)
    return values, [
        Bad(column.name, data.values[code].as_py(), np.flatnonzero(data.codes == code), is_level)
        for code in np.flatnonzero(wrong)[: _MOST_BAD + 1].tolist()
    ]


def _codes(column, cells, decimal):
    """Numbers that stand for the distinct values of a column, NaN for what it cannot take."""
    if column.kind == NUMBER:
        return cells.numbers(decimal)
    if column.kind == BOOLEAN and column.levels[0] != "":  # whatever the language
        return cells.codes_of([word for pair in TRUTH for word in pair], lower=True) % 2
    codes = cells.padded(column.width).codes_of(column.levels, digits=column.digits)
    return np.where(np.isnan(codes), len(column.levels), codes) if column.joined else codes


def _all_bad(source, bad, learning):
    """One message on all cells that cannot be read, by column."""
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
        advice += ", name words for missing values with --missing WORD, take the column for --categories, or --drop it"
    elif any(cell.is_level for cell in bad):
        what = "levels that the model does not know" if all(cell.is_level for cell in bad) else what
        advice += "; --unknown missing takes unknown levels for missing values"
    else:
        advice += ", say --decimal if the file has another decimal sign, or --unknown missing for missing values"
    return f"{source.path}: there are {what}:\n" + "\n".join(lines) + f"\n{advice}"


def _rows(source, rows):
    places = source.places(rows[:_MOST_LINES].tolist())
    more = f" and {len(rows) - len(places)} more" if len(rows) > len(places) else ""
    return f"{source.unit}{'s' if len(rows) > 1 else ''} {', '.join(map(str, places))}{more}"


def _listed(names):
    return ", ".join(map(repr, names[:_MOST_NAMED])) + (", ..." if len(names) > _MOST_NAMED else "")
