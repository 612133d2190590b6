"""What the types of columns are learned from: the values of a column, its name, the other columns, and the user."""

import re
from collections import Counter
from dataclasses import replace

import numpy as np

from .._utils.advice import tell
from .cells import EXACT
from .dates import date_parts, varying_parts
from .frames import BOOLEAN, CATEGORY, DATE, NUMBER, ORDERED, TEXT, Column
from .identifiers import (
    FEWEST,
    SHARE,
    calls_itself_a_key,
    calls_itself_a_row_number,
    is_identifier,
    is_postal_code,
    may_be_postal_code,
    numbers_the_rows,
)
from .orders import order_of_dates, vote_of_dates
from .reading import Reading, Unclear
from .types import (
    MOST_LEVELS,
    TRUTH,
    Boolean,
    Category,
    Code,
    Date,
    LeftOutColumn,
    Number,
    as_texts,
    padded,
    reduced,
    vote_of_signs,
)

IDENTIFIER, FREE_TEXT, ALL_DIFFER = "identifier", "free text", "texts that all differ"
TOLD = (IDENTIFIER, FREE_TEXT, ALL_DIFFER)  # reasons, shown to the user, for leaving out a column
MIXED = "not all are numbers"  # part of the note on a column of codes
_MOST_KEPT = 10_000  # levels of a category; if it has more, the rarest share one
FEW_WORDS = 3.0  # texts with at least this many words on average are free text
MOST_TEXTS = 0.2  # only columns with a larger fraction of distinct texts may hold sentences
_HEAD = 1000  # number of texts examined, counted from the first
_LEADING_ZERO = re.compile(r"0\d+", re.ASCII)
# cells that are not numbers are no typing errors if _FEW_ODD of them contain digits, or one occurs _ODD_AGAIN times
_FEW_ODD, _ODD_AGAIN = 3, 3
_MOST_SHOWN = 10  # columns named in a warning
_CODE = re.compile(r"[\w.:@-]*[^\W\d][\w.:@-]*")  # a single word with a letter, of letters and digits


def learned(column, is_category=None, *, weights=None, order=None, reading=None):
    """The type of a column.

    Parameters
    ----------
    column : Column
    is_category : bool or "number", optional
        Whether the user declares it a category, or numbers; None means that its kind, values and name decide.
    weights : ndarray (n,), optional
        Weights that determine which levels are rare.
    order : str, optional
        Order of day and month inferred from other columns.
    reading : Reading, optional
        The context of the source.

    Raises
    ------
    Unclear
    """
    reading = reading or Reading()
    if column.kind == TEXT:
        own = _of_texts(column, is_category, weights, order, reading)
        if own.kind == CATEGORY and is_category is not True:
            reading.note_two_units(column)
        return own
    if column.kind == DATE and not (is_category and reading.of_file):
        return _date(column.name, column.dates_in(None, column.zone)[0], None, column.zone)
    if is_category is True and column.kind != BOOLEAN:
        return category(as_texts(column) if reading.of_file else column, weights)
    if column.kind == NUMBER:
        if is_category == NUMBER and not column.missing.all():
            return _written(Number(column.name), column.form)
        return _written(_number(column, is_category is None, weights, reading.of_file), column.form)
    if not len(column.used):
        return LeftOutColumn(column.name, "empty")
    if column.kind == BOOLEAN:
        if is_category is False:
            return Number(column.name)
        return Boolean(column.name, levels=(False, True)) if len(column.used) == 2 else _same(column.name)
    return category(column, weights)


def _written(own, form):
    return own if form is None or own.kind != NUMBER else replace(own, **form._asdict())


def _number(column, may_be_category, weights, of_file):
    known = column.values[~column.missing]
    if of_file and not len(known):
        return LeftOutColumn(column.name, "empty")
    if isinstance(column.name, str) and len(known):
        if may_be_category and may_be_postal_code(column.name):
            texts = as_texts(column)
            if is_postal_code(column.name, texts.levels, texts.counts()):
                return _code(texts, weights)
        if of_file and len(known) == len(column.values) and known.min() == known.max():
            return _same(column.name)
        if is_identifier(known, column.name, of_file) or numbers_the_rows(known, column.name):
            return LeftOutColumn(column.name, IDENTIFIER)
    return Number(column.name)


def _of_texts(column, wish, weights, order, reading):
    """The type of a column of texts: words for a missing value aside, they may be numbers or dates."""
    if wish is True:
        return category(column.without(reading.own_words), weights)
    texts = column.without(reading.words)
    column = texts if reading.of_file else column.compact()
    if not len(texts.levels):
        return LeftOutColumn(column.name, "empty") if reading.of_file or not len(column.levels) else category(column)
    if is_postal_code(texts.name, texts.levels, texts.counts()) and wish != NUMBER:
        return _code(column, weights)
    if not texts.are_durations:
        own = _of_numbers(texts, column, wish, reading)
        if own is not None:
            return own
    if len(column.levels) == 1:
        if not column.missing.any():
            return _same(column.name)
        return Boolean(column.name, f"{column.levels[0]!r} or empty", levels=("", column.levels[0]))
    words = {str(level).lower() for level in column.levels} if len(column.levels) <= 4 else ()
    truth = next((pair for pair in TRUTH if words == set(pair)), None)
    if truth:
        return Boolean(column.name, levels=truth)
    order = order_of_dates(texts, order, reading.order)
    if order:
        zone = texts.zone_of(order)
        if zone is not None:
            _refuse_two_clocks(texts, texts.moments(order))
        return _date(column.name, texts.dates_in(order, zone)[0], order, zone)
    return text_category(column, weights)


def _refuse_two_clocks(texts, moments):
    """Raise if some dates have a time zone and others have none."""
    naive = np.array([zone is None for zone in moments.zones]) & ~np.isnat(moments.local)
    if naive.any():
        aware = next(text for text, zone in zip(texts.levels, moments.zones, strict=True) if zone is not None)
        raise Unclear(
            "holds dates with and without a time zone, such as {} and {}",
            *(aware, texts.cells.first(naive)),
            in_file="write all in one way",
            in_frame="convert them with pandas.to_datetime(..., utc=True)",
        )


def _of_numbers(texts, column, wish, reading):
    """The type of a column most of whose `texts` are numbers; None for others."""
    cells = texts.cells
    sign, unclear = cells.sign(reading.writing)
    found = cells.read(sign)
    if wish != NUMBER:
        if cells.share(found.measured) < 0.5:
            return None
        if _are_codes(texts, found):
            odd = texts.levels[int(np.argmin(found.measured))]
            own = text_category(column)
            return replace(own, note=f"{own.note}; {MIXED}, as {odd!r}")
        if any(map(_LEADING_ZERO.fullmatch, map(str, texts.levels))) or _are_too_large(texts, found):
            return text_category(column)
    if unclear is not None:
        raise Unclear.of_thousands(unclear)
    own = Number(texts.name)
    if wish != NUMBER and np.isfinite(found.values).any():
        numbers = Column(texts.name, NUMBER, texts.expand(found.values), texts.missing)  # misfits are not missing
        own = _number(numbers, wish is None, None, reading.of_file)
    if own.kind != NUMBER:
        return own
    if found.converted and np.isfinite(found.values[found.measured]).all():
        one, other = (reading.named(texts, texts.levels[place]) for place in found.converted)
        reading.notes.append(
            f"{reading.called(texts.name)} has cells in several units, such as {one} and {other}: all are converted to "
            "the unit of the first"
        )
    reading.numbers.append(f"{texts.name!r}: {texts.levels[0]!r}")
    return _written(own, cells.form(sign, found.unit))


def _are_too_large(texts, found):
    """Whether whole numbers are not exact in floating point."""
    return np.nanmax(np.abs(found.values), initial=0.0) > EXACT and all(map(str.isdecimal, map(str, texts.levels)))


def _are_codes(texts, found):
    """Whether the cells that are not numbers, in a column of whole numbers, are too many or too regular for typing
    errors.

    Codes, such as PC 17599 in a column with 113803, contain digits and differ. Bins and words for a number, such as
    2-10 or At-Large, recur in columns with few distinct cells.
    """
    odd, whole = ~found.measured, found.values[np.isfinite(found.values)]
    if not odd.any() or (whole < 0).any() or (whole != np.trunc(whole)).any():
        return False
    with_digits = sum(any(map(str.isdigit, str(texts.levels[place]))) for place in np.flatnonzero(odd))
    if with_digits >= (1 if calls_itself_a_key(texts.name) else _FEW_ODD):
        return True
    return len(odd) <= MOST_LEVELS and bool((texts.cells.counts[odd] >= _ODD_AGAIN).any())


def text_category(column, weights=None):
    """The type of a column of texts that are neither numbers nor dates nor Booleans nor postal codes."""
    levels, n_known = list(map(str, column.levels)), int(column.counts().sum())
    if len(levels) == 1:
        return _same(column.name)
    if len(levels) > max(MOST_LEVELS, MOST_TEXTS * n_known):
        some = [levels[k] for k in column.values[~column.missing][:_HEAD]]
        if np.mean([text.count(" ") + 1 for text in some]) >= FEW_WORDS:
            return LeftOutColumn(column.name, FREE_TEXT)
    if len(levels) >= SHARE * n_known and (n_known >= FEWEST or calls_itself_a_row_number(column.name)):
        named = calls_itself_a_key(column.name) or calls_itself_a_row_number(column.name)
        is_key = named or all(map(_CODE.fullmatch, levels)) or not any(map(str.isdigit, "".join(levels)))
        return LeftOutColumn(column.name, IDENTIFIER if is_key else ALL_DIFFER)
    return category(column, weights)


def category(column, weights=None):
    """The type of a column as a category, whatever its values."""
    levels, _ = column.factors
    if column.kind == ORDERED:
        return Category(column.name, f"{len(levels)} levels", levels=tuple(levels), ordered=True)
    kinds = {type(level): level for level in levels if type(level) in (str, float, int)}
    if len(kinds) > 1:
        options = {"in_file": "list it in --numbers or --drop", "in_frame": "convert it to one of them"}
        raise Unclear("holds numbers and texts, such as {} and {}", *list(kinds.values())[:2], **options)
    counts = column.counts(weights)
    return _of_counts(column.name, {levels[k]: counts[k] for k in column.used})


def _of_counts(name, counts, note="", kind=Category, **more):
    levels = sorted(counts, key=_rank)
    if len(levels) > _MOST_KEPT:
        levels = sorted(sorted(levels, key=lambda level: -counts[level])[:_MOST_KEPT], key=_rank)
    note += f"{len(counts)} level{'s' * (len(counts) != 1)}"
    return kind(name, note, levels=tuple(levels), joined=len(counts) > MOST_LEVELS, **more)


def _rank(level):
    return type(level).__name__ if isinstance(level, str) else "", level


def _code(column, weights):
    """The type of a column of postal codes, shortened to leading digits if there are too many levels."""
    levels = [column.levels[k] for k in column.used]
    width = max(map(len, levels))
    levels, counts = padded(levels, width), column.counts(weights)[column.used].tolist()
    digits = next((n for n in range(width, 0, -1) if len(set(reduced(levels, n))) <= MOST_LEVELS), 0)
    digits = digits if digits < width else 0
    note = f"by the first {'digit' if digits == 1 else f'{digits} digits'}: " if digits else ""
    by_level: Counter = Counter()
    for level, count in zip(reduced(levels, digits), counts, strict=True):
        by_level[level] += count
    return _of_counts(column.name, by_level, note, Code, digits=digits, width=width)


def _date(name, dates, order, zone):
    known = dates[~np.isnat(dates)]
    parts = varying_parts(known, order)
    if parts:
        days = date_parts(known)["days"]
        ends = (float(days.min()), float(days.max())) if dates.dtype.kind == "M" else ()
        return Date(name, ", ".join(parts), order=order, parts=parts, zone=zone, ends=ends)
    return _same(name) if len(known) else LeftOutColumn(name, "empty")


def _same(name):
    return LeftOutColumn(name, "always the same")


def refuse_category(column, name):
    """Raise for a category that the user has excluded from `categorical_features`."""
    raise ValueError(
        f"Column {column.name!r} of X holds {column.kind} values such as {column.example!r}, and {name} takes numbers "
        "here: name the column in categorical_features, convert it to numbers, or drop it."
    )


def learn(columns, categorical, weights=None, name="the estimator", reading=None):
    """The types of the columns of a table.

    Parameters
    ----------
    columns : Columns
    categorical : list of bool, "number" or None
        Whether each column is a category, or numbers; None means that its values decide.
    weights : ndarray (n,), optional
    name : str
        Name of the estimator, for messages.
    reading : Reading, optional
        The context of a file.

    Raises
    ------
    ValueError
        If the type of a column is unclear or contradicts `categorical`; the message names the column.
    """
    reading = Reading() if reading is None else reading
    pairs = list(zip(columns, categorical, strict=True))
    open_ones = [column for column, wish in pairs if column.kind in (NUMBER, TEXT) and wish is not True]
    signs = [column for column in open_ones if not may_be_postal_code(column.name)]
    reading.writing = replace(reading.writing, found=vote_of_signs(signs, reading.words))
    texts = [column.without(reading.words) for column in open_ones if column.kind == TEXT]
    order = vote_of_dates([column for column in texts if max(column.cells.shares.values()) < 0.5])
    types = []
    for column, wish in pairs:
        try:
            own = learned(column, wish, weights=weights, order=order, reading=reading)
        except Unclear as error:
            reading.refuse(column, error)
            own = LeftOutColumn(column.name)
        if own.is_category and wish is False:
            refuse_category(column, name)
        types.append(own)
    reading.check()
    if reading.numbers and not reading.of_file:
        shown, more = reading.numbers[:_MOST_SHOWN], len(reading.numbers) - _MOST_SHOWN
        tell(
            f"{name} reads columns of texts as numbers ({'; '.join(shown)}{f'; and {more} more' if more > 0 else ''}): "
            "convert them, or name them in categorical_features if they are categories."
        )
    return types
