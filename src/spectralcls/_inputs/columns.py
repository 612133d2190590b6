"""The types of the columns of a table, determined here for files and data frames.

A column type converts the values of its column to numbers: unchanged, as positions of levels, or as parts of dates.
"""

import json
import re
from collections import Counter
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from .._utils.advice import tell
from .dates import ORDERS, SHORT, UNCLEAR, date_parts, varying_parts
from .frames import BOOLEAN, CATEGORY, DATE, NUMBER, ORDERED, TEXT, of_positions, plural
from .identifiers import (
    FEWEST,
    SHARE,
    calls_itself_a_row_number,
    is_identifier,
    is_postal_code,
    may_be_postal_code,
    numbers_the_rows,
)

LEFT_OUT = "left out"
IDENTIFIER, FREE_TEXT = "identifier", "free text"
TOLD = (IDENTIFIER, FREE_TEXT)  # reasons, shown to the user, for leaving out a column
MANY_UNSEEN = 10  # at least this many values, all of unseen levels, indicate another coding
MOST_LEVELS = 48  # limit on the levels of a category; if it has more, the rarest share one
FEW_WORDS = 3.0  # texts with at least this many words on average are free text
MOST_TEXTS = 0.2  # only columns with a larger fraction of distinct texts may hold sentences
_SPAN_OF_YEARS = 15  # in most columns, days of the month span at least this range; two-digit years seldom do
# Words for false and true, in several languages.
_PAIRS = (
    "false true|no yes|n y|f t|- +|nein ja|n j|falsch wahr|non oui|faux vrai|no si|no sí|falso verdadero|falso vero"
    "|off on"
)
TRUTH = [tuple(pair.split()) for pair in _PAIRS.split("|")]
_IS_TRUE = {word: float(k) for pair in TRUTH for k, word in enumerate(pair)}
_DECIMAL_COMMA = re.compile(r"\s*[+-]?(?:\d{1,3}(?:[.' ]\d{3})+|\d*),\d+\s*")
_HEAD = 1000  # number of texts examined, counted from the first
# A column with at least this many section numbers such as 3.4.2 holds no dates, whose years have more digits; fewer may
# be typing errors in dates.
_SECTION, _SECTIONS = re.compile(r"\d+\.\d+\.\d"), 3


class Unclear(ValueError):
    """Raised for a column whose type only the user can decide."""


class UnclearDates(Unclear):
    """Raised for dates that can be read in several orders."""

    def __init__(self, name, example, orders):
        super().__init__(name, example, orders)
        self.name, self.example, self.orders = name, example, orders


@dataclass(frozen=True)
class ColumnType:
    """The type of a column of a table; each kind is a subclass.

    Attributes
    ----------
    name : object
    note : str
        Reason why the column is left out, or another remark.
    missing : float
        Fraction of missing values in a file.
    examples : tuple of str
        Example cells of a file.
    words : tuple of str or None
        Words for a missing value in a file; None means those of the schema.
    kind : str
        "number", "boolean", "category", "date" or "left out".
    features : list
        Names of the numbers computed from each value.
    levels : tuple
        Levels of a category.
    decimal : str or None
        Decimal sign of numbers in a file.
    is_category, ordered : bool
        Whether the number is the position of a level, and whether the levels are ordered.
    n_levels : int
        Number of positions of a category.
    """

    name: Any
    note: str = ""
    missing: float = 0.0
    examples: tuple = ()
    words: tuple | None = None

    kind: ClassVar[str]
    is_category: ClassVar[bool] = False
    ordered: ClassVar[bool] = False
    n_levels: ClassVar[int] = 0
    takes_numbers: ClassVar[bool] = True
    levels: ClassVar[tuple] = ()
    decimal: ClassVar[str | None] = None

    @property
    def features(self) -> list:
        return [self.name]

    def read(self, column):
        """Numbers (n, len(features)) of a column, NaN for a missing value.

        Raises
        ------
        ValueError
            If the column is of another kind.
        """
        raise NotImplementedError

    def described(self):
        """The type in a few words."""
        raise NotImplementedError


@dataclass(frozen=True)
class Number(ColumnType):
    """Numbers; Booleans count as 0 and 1.

    Attributes
    ----------
    decimal : str or None
        Decimal sign in a file; None if the file had types.
    unit : str or None
        Unit in a file, such as ``"%"`` or ``"€"``; empty if there is none, None if unknown, as in a spreadsheet.
    grouped : bool
        Whether thousands are separated in a file.
    """

    decimal: str | None = None  # type: ignore[misc]
    unit: str | None = None
    grouped: bool = False

    kind = NUMBER

    def read(self, column):
        if column.kind == BOOLEAN:
            return column.expand([0.0, 1.0])[:, None]
        if column.kind != NUMBER:
            raise ValueError(f"Column {column.name!r} of X holds {plural(column.kind)}, but held numbers in fit.")
        return column.values[:, None]

    def described(self):
        return "a number"


@dataclass(frozen=True)
class LeftOutColumn(ColumnType):
    """A column without information about new rows."""

    kind = LEFT_OUT

    @property
    def features(self):
        return []

    def read(self, column):
        return np.empty((len(column.values), 0))

    def described(self):
        return f"left out: {self.note}"


@dataclass(frozen=True)
class Date(ColumnType):
    """Dates or durations, with a number for each part that varies.

    Attributes
    ----------
    order : str or None
        Order of day, month and year in texts, such as ``"dmy"``.
    parts : tuple of str
        Parts that become numbers: days, month, weekday.
    """

    order: str | None = None
    parts: tuple = ()

    kind = DATE
    takes_numbers = False

    @property
    def features(self):
        return [self.name if part == "days" else f"{self.name} ({part})" for part in self.parts]

    def read(self, column):
        dates = column.dates_in(self.order)
        if dates is None:
            if not column.missing.all():
                raise ValueError(f"Column {self.name!r} of X holds {plural(column.kind)}, but held dates in fit.")
            return np.full((len(column.values), len(self.parts)), np.nan)
        values = date_parts(dates)
        return np.column_stack([values.get(name, np.full(len(column.values), np.nan)) for name in self.parts])

    def described(self):
        return f"a date: {', '.join(self.parts)}"


@dataclass(frozen=True)
class Category(ColumnType):
    """Levels, each represented by its position.

    Attributes
    ----------
    levels : tuple
        The levels with separate positions.
    joined : bool
        Whether one more position stands for all other levels, including new ones.
    ordered : bool
        Whether the levels are ordered.
    """

    levels: tuple = ()  # type: ignore[misc]
    joined: bool = False
    ordered: bool = False  # type: ignore[misc]

    kind = CATEGORY
    is_category = True

    @property
    def n_levels(self):
        return len(self.levels) + self.joined

    @property
    def takes_numbers(self):
        return not self.levels or not all(isinstance(level, str) for level in self.levels)

    @property
    def level_names(self):
        rare = "(rare)"
        while rare in self.levels:
            rare = f"({rare})"
        return [*self.levels, *([rare] if self.joined else [])]

    def positions(self, levels):
        """Position of each given level, NaN if it is unknown."""
        place = {level: k for k, level in enumerate(self.levels)}
        other = len(self.levels) if self.joined else np.nan
        return np.array([place.get(level, other) for level in levels], dtype=np.float64)

    def read(self, column):
        if column.kind == NUMBER and not column.missing.all() and not self.takes_numbers:
            raise ValueError(
                f"Column {self.name!r} of X holds numbers, but held levels such as {self.levels[0]!r} in fit: give the "
                "levels themselves, not their codes."
            )
        return self._placed(column)

    def _placed(self, column):
        positions = column.expand(self.positions(column.factors[0]))
        n_known = len(positions) - np.count_nonzero(column.missing)
        if n_known >= MANY_UNSEEN and np.isnan(positions).all():
            was = ", ".join(map(repr, self.levels[:3]))
            tell(
                f"Column {self.name!r} of X has {n_known} values, but none of the levels that it had in fit: "
                f"{column.example!r} now, {was} then. They count as missing. Code the levels as in fit."
            )
        return positions[:, None]

    def described(self):
        joined = ", the rarest joined" if self.joined else ""
        return f"{'an ordered' if self.ordered else 'a'} category of {self.n_levels} levels{joined}"


@dataclass(frozen=True)
class Boolean(Category):
    """Truth values, or words for them in any language of `TRUTH`.

    Attributes
    ----------
    levels : tuple
        False and true; ``("", "x")`` if the mark "x" means true.
    """

    kind = BOOLEAN

    @property
    def is_mark(self):
        """Whether a mark means true and an empty cell false."""
        return self.levels[0] == ""

    def positions(self, levels):
        if self.is_mark:
            return super().positions(levels)
        if any(isinstance(level, str) for level in levels):
            levels = [_IS_TRUE.get(level.lower()) for level in levels]
        return np.array([float(level) if level in (0, 1) else np.nan for level in levels])

    def read(self, column):
        positions = super().read(column)
        return np.where(column.missing[:, None], 0.0, positions) if self.is_mark else positions

    def described(self):
        return "a truth value of 2 levels"


@dataclass(frozen=True)
class Code(Category):
    """Postal codes, including those that a program read as numbers, which lack leading zeros or end in ".0".

    Attributes
    ----------
    digits : int
        Number of leading digits that form a level; 0 means all.
    width : int
        Number of digits of a code.
    """

    digits: int = 0
    width: int = 0

    takes_numbers = True

    def positions(self, levels):
        texts = [text.removesuffix(".0") for text in levels]
        return super().positions(reduced(padded(texts, self.width), self.digits))

    def read(self, column):
        return self._placed(as_texts(column))


def as_texts(column):
    """A column of numbers converted to texts, whole numbers without a decimal point; any other column unchanged."""
    if column.kind != NUMBER:
        return column
    levels, positions = column.factors
    texts = [f"{level:.0f}" if level.is_integer() else repr(level) for level in levels]
    return of_positions(column.name, TEXT, positions, texts)


def padded(texts, width):
    """The texts; if all consist of digits and none begins with zero, leading zeros fill them up to `width`."""
    if all(text.isdecimal() and text[0] != "0" for text in texts):
        return [text.rjust(width, "0") for text in texts]
    return texts


def reduced(texts, digits):
    """The first `digits` characters of the texts; the whole texts if `digits` is 0."""
    return [text[:digits] for text in texts] if digits else texts


def learned(column, is_category=None, *, weights=None, order=None, told=False, of_file=False):
    """The type of a column.

    Parameters
    ----------
    column : Column
    is_category : bool, optional
        Whether the user declares it a category; None means that its kind, values and name decide.
    weights : ndarray (n,), optional
        Weights that determine which levels are rare.
    order : str, optional
        Order of day and month, given by the user or inferred from other columns.
    told : bool
        Whether the user gave the order.
    of_file : bool
        Whether the column comes from a file, whose rows are in the order in which they were recorded, and whose
        constant or empty columns the user did not choose.

    Raises
    ------
    Unclear
    """
    if column.kind == DATE:
        return _date(column, column.values, None)
    if is_category and column.kind != BOOLEAN:
        return category(column, weights)
    if column.kind == NUMBER:
        return _number(column, is_category is None, weights, of_file)
    if not len(column.used):
        return LeftOutColumn(column.name, "empty")
    if column.kind == BOOLEAN:
        if is_category is False:
            return Number(column.name)
        return Boolean(column.name, levels=(False, True)) if len(column.used) == 2 else _same(column.name)
    return _text(column, weights, order, told) if column.kind == TEXT else category(column, weights)


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


def _text(column, weights, order, told):
    levels, counts = [column.levels[k] for k in column.used], column.counts()[column.used]
    n_known = int(counts.sum())
    if is_postal_code(column.name, levels, counts):
        return _code(column, weights)
    if len(levels) == 1:
        if n_known == len(column.values):
            return _same(column.name)
        return Boolean(column.name, f"{levels[0]!r} or empty", levels=("", levels[0]))
    words = {level.lower() for level in levels} if len(levels) <= 4 else ()
    truth = next((pair for pair in TRUTH if words == set(pair)), None)
    if truth:
        return Boolean(column.name, levels=truth)
    order = order_of_dates(column, order, told)
    if order:
        return _date(column, column.dates_in(order), order)
    return text_category(column, weights)


def text_category(column, weights=None):
    """The type of a column of texts that are neither dates nor Booleans nor postal codes."""
    levels, counts = [column.levels[k] for k in column.used], column.counts()[column.used]
    n_known = int(counts.sum())
    if len(levels) == 1:
        return _same(column.name)
    if len(levels) > max(MOST_LEVELS, MOST_TEXTS * n_known):
        some = [column.levels[k] for k in column.values[~column.missing][:_HEAD]]
        if np.mean([text.count(" ") + 1 for text in some]) >= FEW_WORDS:
            return LeftOutColumn(column.name, FREE_TEXT)
    differ = len(levels) >= SHARE * n_known
    if differ and (n_known >= FEWEST or calls_itself_a_row_number(column.name)):
        return LeftOutColumn(column.name, IDENTIFIER)
    return category(column, weights)


def category(column, weights=None):
    """The type of a column as a category, whatever its values."""
    levels, _ = column.factors
    if column.kind == ORDERED:
        return Category(column.name, f"{len(levels)} levels", levels=tuple(levels), ordered=True)
    counts = column.counts(weights)
    return _of_counts(column.name, {levels[k]: counts[k] for k in column.used})


def _of_counts(name, counts, note="", kind=Category, **more):
    levels, joined = sorted(counts, key=_rank), len(counts) > MOST_LEVELS
    if joined:
        levels = sorted(sorted(levels, key=lambda level: -counts[level])[: MOST_LEVELS - 1], key=_rank)
    note += f"{len(counts)} level{'s' * (len(counts) != 1)}{', the rarest joined' * joined}"
    return kind(name, note, levels=tuple(levels), joined=joined, **more)


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
    by_level = Counter()
    for level, count in zip(reduced(levels, digits), counts, strict=True):
        by_level[level] += count
    return _of_counts(column.name, by_level, note, Code, digits=digits, width=width)


def _date(column, dates, order):
    known = dates[~np.isnat(dates)]
    parts = varying_parts(known, order)
    if parts:
        return Date(column.name, ", ".join(parts), order=order, parts=parts)
    return _same(column.name) if len(known) else LeftOutColumn(column.name, "empty")


def _same(name):
    return LeftOutColumn(name, "always the same")


def vote(shares, choices):
    """The reading that most columns favor, given the fraction of each column's cells that it parses; None for a tie."""
    votes = dict.fromkeys(choices, 0)
    for of_column in shares:
        best = max(of_column, key=of_column.get)
        votes[best] += of_column[best] >= 0.5 and min(of_column.values()) < of_column[best]
    return None if len(set(votes.values())) == 1 else max(votes, key=votes.get)


def vote_of_dates(columns):
    """Whether the day or the month comes first ("dmy" or "mdy") in most columns of texts; None if undecided."""
    choices = ("dmy", "mdy")
    known = [column for column in columns if len(column.used)]
    return vote([{order: column.share_of_dates(order) for order in choices} for column in known], choices)


def order_of_dates(column, order=None, told=False):
    """The order in which most texts of a column are dates; None if there is none.

    An order given by the user (`told`) is used if possible. An order inferred from other columns decides between orders
    that read equally many texts.

    Raises
    ------
    UnclearDates
        If several orders read equally many texts.
    """
    shares = {one: column.share_of_dates(one) for one in (*ORDERS, SHORT)}
    if max(shares.values()) < 0.5:
        return None
    if told:
        given = next((one for one in (order, SHORT) if one.endswith(order) and shares[one]), None)
        if given:
            return given
    short, best = shares.pop(SHORT), max(shares, key=shares.get)
    if shares[best] < 0.5:
        return None
    texts = [column.levels[k] for k in column.used]
    if sum(_SECTION.fullmatch(text) is not None for text in texts[:_HEAD]) >= _SECTIONS:
        return None
    alike = [one for one in ("dmy", "mdy") if shares[one] == shares[best]]
    alike += ["ymd"] if short == shares[best] and best == "dmy" and _may_begin_with_years(texts) else []
    if (order is None or "ymd" in alike) and len(alike) > 1 and ("ymd" in alike or any(map(UNCLEAR.search, texts))):
        raise UnclearDates(column.name, texts[0], alike)
    return order if order and shares[order] == shares[best] else best


def _may_begin_with_years(texts):
    """Whether the first numbers of dates such as 14-02-01 are too close together to be days. In dates such as 14/02/01,
    the last numbers must also look like days.
    """
    found = [re.match(r"(\d\d)([-/.])\d\d\2(\d\d)(?!\d)", text, re.ASCII) for text in texts]
    found = [match.groups() for match in found if match]
    firsts, lasts = ({int(groups[k]) for groups in found} for k in (0, 2))
    if not found or max(firsts) - min(firsts) >= _SPAN_OF_YEARS:
        return False
    days = len(found) >= FEWEST and len(firsts) > 1 and max(lasts) - min(lasts) >= _SPAN_OF_YEARS
    return days or any(between == "-" for _, between, _ in found)


def _refuse_decimal_commas(column):
    """Raise if most texts are numbers with a decimal comma, which are not categories."""
    texts = [column.levels[k] for k in column.values[~column.missing][:_HEAD]]
    commas = [text for text in texts if _DECIMAL_COMMA.fullmatch(text)]
    if 2 * len(commas) > len(texts):
        raise ValueError(
            f"Column {column.name!r} of X holds texts such as {commas[0]!r}, numbers with decimal commas: read the "
            "file with spectralcls.datasets.read_table or pandas.read_csv(..., decimal=','), or name the column in "
            "categorical_features."
        )


def refuse_category(column, name):
    """Raise for a category that the user has excluded from `categorical_features`."""
    raise ValueError(
        f"Column {column.name!r} of X holds {column.kind} values such as {column.example!r}, and {name} takes numbers "
        "here: name the column in categorical_features, convert it to numbers, or drop it."
    )


def learn(columns, categorical, weights=None, name="the estimator"):
    """The types of the columns of a data frame.

    Parameters
    ----------
    columns : Columns
    categorical : list of bool or None
        Whether each column is a category; None means that its values decide.
    weights : ndarray (n,), optional
    name : str
        Name of the estimator, for messages.

    Raises
    ------
    ValueError
        If the type of a column is unclear or contradicts `categorical`; the message names the column.
    """
    texts = [c for c, wish in zip(columns, categorical, strict=True) if c.kind == TEXT and not wish]
    for column in texts:
        _refuse_decimal_commas(column)
    order = vote_of_dates(texts)
    try:
        pairs = zip(columns, categorical, strict=True)
        types = [learned(column, wish, weights=weights, order=order) for column, wish in pairs]
    except UnclearDates as error:
        raise ValueError(
            f"Column {error.name!r} of X holds dates such as {error.example!r}, in which day and month cannot be told "
            "apart: convert them with pandas.to_datetime(..., dayfirst=True), or name the column in "
            "categorical_features."
        ) from None
    for column, own, wish in zip(columns, types, categorical, strict=True):
        if own.is_category and wish is False:
            refuse_category(column, name)
    return types


def values_of(types, columns, wanted=None):
    """The numbers of columns of given types, a list of arrays (n,), each in its own precision.

    Columns outside the mask `wanted` are not read; their numbers are NaN.
    """
    if len(columns) != len(types):
        raise ValueError(f"X has {len(columns)} features, but the table was learned with {len(types)}.")
    wanted = [True] * len(types) if wanted is None else wanted
    unread = np.full(columns.n_rows, np.nan, np.float32)
    return [
        values
        for own, column, asked in zip(types, columns, wanted, strict=True)
        for values in (own.read(column).T if asked else [unread] * len(own.features))
    ]


def matrix(types, columns, wanted=None):
    """`values_of` the columns as a matrix (n, d)."""
    values = values_of(types, columns, wanted)
    return np.stack(values, axis=1) if values else np.empty((columns.n_rows, 0))


_CLASSES = {own.__name__: own for own in (Number, LeftOutColumn, Date, Category, Boolean, Code)}


def to_state(types):
    """Types as one JSON text, or as plain values if JSON cannot represent a name or a level."""
    rows = [
        [type(own).__name__, {f.name: v for f in fields(own) if (v := getattr(own, f.name)) != f.default}]
        for own in types
    ]
    try:
        text = json.dumps(rows)
    except TypeError:
        return rows
    return text if from_state(text) == list(types) else rows


def from_state(state):
    """The types from the result of `to_state`."""
    rows = json.loads(state) if isinstance(state, str) else state
    return [
        _CLASSES[name](**{key: tuple(value) if isinstance(value, list) else value for key, value in own.items()})
        for name, own in rows
    ]
