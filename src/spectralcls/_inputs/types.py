"""The types of columns: a type converts the values of its column to numbers, from every source.

The numbers are those of the column, positions of levels, or parts of dates.
"""

import json
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np

from .._utils.advice import tell
from .cells import Form
from .dates import WITHOUT_DATE, date_parts
from .frames import BOOLEAN, CATEGORY, DATE, MEANS, NUMBER, TEXT, of_positions, plural
from .orders import order_of_dates
from .reading import Bad, Reading, Unclear, vote
from .units import PERCENT, THOUSANDS, unit_of

LEFT_OUT = "left out"
MOST_LEVELS = 48  # a category of more levels has means of the target or, without a target, joins the rarest ones
MANY_UNSEEN = 10  # at least this many values, all of unseen levels, indicate another coding
_MOST_BAD = 100  # distinct cells of a column that are listed as not fitting
# Words for false and true, in several languages.
_PAIRS = (
    "false true|no yes|n y|f t|- +|nein ja|n j|falsch wahr|non oui|faux vrai|no si|no sí|falso verdadero|falso vero"
    "|off on"
)
TRUTH = [tuple(pair.split()) for pair in _PAIRS.split("|")]
_IS_TRUE = {word: float(k) for pair in TRUTH for k, word in enumerate(pair)}


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
        Words for a missing value; None means those of the source.
    kind : str
        "number", "boolean", "category", "date" or "left out".
    features : list
        Names of the numbers computed from each value.
    levels : tuple
        Levels of a category.
    decimal : str or None
        Decimal sign of numbers in texts.
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

    def shown(self, number):
        """The first number of a value as a text."""
        return f"{number:g}"

    def read(self, column, reading=None):
        """Numbers (n, len(features)) of a column, NaN for a missing value.

        Raises
        ------
        ValueError
            If the column is of another kind. Cells of a text column that do not fit are kept in `reading`.
        """
        raise NotImplementedError

    def _known(self, column, reading):
        """A column of texts in which words for a missing value are missing."""
        return column.without(reading.words if self.words is None else self.words)

    def _refuse(self, column, wrong, reading, kind=None, like=""):
        """Keep the levels of a column that are wrong, (n_levels,)."""
        for code in np.flatnonzero(wrong)[: _MOST_BAD + 1].tolist():
            rows = np.flatnonzero(column.values == code)
            if len(rows):
                reading.bad.append(Bad(self.name, str(column.levels[code]), rows, kind or self.kind, like))


@dataclass(frozen=True)
class Number(ColumnType):
    """Numbers; Booleans count as 0 and 1.

    Attributes
    ----------
    decimal, unit, grouped, thousandths
        How the numbers were written; see `Form`.
    """

    decimal: str | None = None  # type: ignore[misc]
    unit: str | None = None
    grouped: bool = False
    thousandths: bool = False

    kind = NUMBER

    @property
    def form(self):
        return Form(self.decimal, self.unit, self.grouped, self.thousandths)

    def read(self, column, reading=None):
        if column.kind == BOOLEAN:
            return column.expand([0.0, 1.0])[:, None]
        reading = reading or Reading()
        if column.kind == TEXT:
            return self._of_texts(self._known(column, reading), reading)[:, None]
        if column.kind != NUMBER:
            raise ValueError(f"Column {column.name!r} of X holds {plural(column.kind)}, but held numbers in fit.")
        if column.form is not None:
            return self._in_unit(column.values, column, column.form.unit, reading)[:, None]
        if self.unit == PERCENT and _exceed_one(column.values):
            largest = reading.named(column, float(np.nanmax(column.values)))
            reading.unclear.append(
                f"{reading.called(self.name)} has numbers above 1, but percentages in the table that the rules were "
                f"learned from: as a number, 5 % is 0.05, and the largest one is {largest}"
            )
        infinite = np.isinf(column.values)
        if infinite.any():
            cell = f"{column.values[infinite][0]}"
            reading.bad.append(Bad(self.name, cell, np.flatnonzero(infinite), NUMBER, always=True))
        return column.values[:, None]

    def _of_texts(self, column, reading):
        if not len(column.levels):
            return np.full(len(column.values), np.nan)
        cells = column.cells
        sign, unclear = cells.sign(reading.writing, None if reading.learning else self.form)
        if unclear is not None:
            reading.refuse(column, Unclear.of_thousands(unclear))
        found = cells.read(sign)
        values = self._in_unit(found.values, column, found.unit, reading)
        like = cells.first(np.isfinite(values)) if found.unit and np.isfinite(values).any() else ""
        for mask, other in ((found.measured, like), (~found.measured, "")):
            self._refuse(column, np.isnan(values) & mask, reading, like=other)
        return column.expand(values)

    def _in_unit(self, values, column, unit, reading):
        """Numbers or levels of a column in a unit as numbers in the learned one; another unit is an error."""
        if None in (unit, self.unit) or unit == self.unit or not np.any(values[np.isfinite(values)]):
            return values
        own, theirs = (unit_of("", name) for name in (self.unit, unit))
        if own.kind == theirs.kind and own.kind not in ("", "money", "number"):
            if own.factor != theirs.factor:
                reading.notes.append(f"{reading.called(self.name)} has numbers in {unit}, converted to {self.unit}")
            return theirs.converted(values, own)
        if unit and self.unit or PERCENT in (unit, self.unit) or self.unit == THOUSANDS:
            known = [f"numbers in {name}" if name else "numbers without a unit" for name in (unit, self.unit)]
            first = int(np.argmax(np.isfinite(values) & (values != 0)))
            cell = float(values[first]) if column.levels is None else column.levels[first]
            reading.unclear.append(
                f"{reading.called(self.name)} has {known[0]}, but {known[1]} in the table that the rules were learned "
                f"from: convert {reading.named(column, cell)} and the others"
            )
        return values


def _exceed_one(values):
    """Whether most nonzero numbers exceed 1 in absolute value."""
    some = np.abs(values[np.isfinite(values) & (values != 0)])
    return len(some) > 0 and float(np.median(some)) > 1


@dataclass(frozen=True)
class LeftOutColumn(ColumnType):
    """A column without information about new rows."""

    kind = LEFT_OUT

    @property
    def features(self):
        return []

    def read(self, column, reading=None):
        return np.empty((len(column.values), 0))


@dataclass(frozen=True)
class Date(ColumnType):
    """Dates or durations, with a number for each part that varies.

    Attributes
    ----------
    order : str or None
        Order of day, month and year in texts, such as ``"dmy"``.
    parts : tuple of str
        Parts that become numbers: days, month, weekday.
    zone : str or None
        Time zone of the parts; None if the dates have no zone.
    ends : tuple of float
        First and last day.
    """

    order: str | None = None
    parts: tuple = ()
    zone: str | None = None
    ends: tuple = ()

    kind = DATE
    takes_numbers = False

    @property
    def features(self):
        return [self.name if part == "days" else f"{self.name} ({part})" for part in self.parts]

    def read(self, column, reading=None):
        if column.missing.all():
            return np.full((len(column.values), len(self.parts)), np.nan)
        reading = reading or Reading()
        if column.kind == TEXT:
            column = self._known(column, reading)
            order = self.order or order_of_dates(column) or "ymd"
            dates, misfits = column.dates_in(order, self.zone)
            self._refuse(column, misfits, reading)
            other_clock = column.expand(misfits & ~np.isnat(column.moments(order).local)) == 1
        elif column.kind == DATE:
            dates = column.dates_in(None, self.zone)[0]
            other_clock = ~column.missing & np.isnat(dates)
        else:
            raise ValueError(f"Column {self.name!r} of X holds {plural(column.kind)}, but held dates in fit.")
        if other_clock.any():
            has, had = ("no time zone", "one") if self.zone else ("a time zone", "none")
            reading.unclear.append(
                f"{reading.called(self.name)} has dates with {has}, but had {had} in fit: which moments are meant? "
                f"Convert them, in {reading.place(np.flatnonzero(other_clock))}"
            )
        values = date_parts(dates)
        self._warn_beyond(values["days"], reading)
        return np.column_stack([values.get(name, np.full(len(column.values), np.nan)) for name in self.parts])

    def shown(self, number):
        if not self.ends or self.order in WITHOUT_DATE:
            return f"{number:g} (days)"
        return str(np.datetime64(int(np.floor(number)), "D"))

    def _warn_beyond(self, days, reading):
        """Warn if most dates of a further source lie outside those of the first one."""
        if reading.learning or not self.ends or self.order in WITHOUT_DATE:
            return
        known = days[~np.isnan(days)]
        outside = np.count_nonzero((known < self.ends[0]) | (known > self.ends[1]))
        if 2 * outside > len(known):
            first, last = map(self.shown, self.ends)
            tell(
                f"{reading.called(self.name)}: {outside} of {len(known)} dates lie outside those of fit, {first} to "
                f"{last}. Kernel methods do not extrapolate: expect poor predictions, and intervals and p-values that "
                "do not hold."
            )


@dataclass(frozen=True)
class Category(ColumnType):
    """Levels, each represented by its position.

    Attributes
    ----------
    levels : tuple
        The levels with separate positions.
    joined : bool
        Whether one more position stands for all other levels, including new ones, because there are many levels.
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

    def read(self, column, reading=None):
        if reading is not None and reading.of_file:
            return self._of_file(as_texts(column), reading)
        if column.kind == NUMBER and not column.missing.all() and not self.takes_numbers:
            raise ValueError(
                f"Column {column.name!r} of X holds numbers, but held levels such as {self.levels[0]!r} in fit: give "
                "the levels themselves, not their codes."
            )
        return self._placed(column)

    def _of_file(self, column, reading):
        """Positions of the levels in a further file, where an unknown level does not fit."""
        words = set(reading.words if self.words is None else self.words) - {str(level).lower() for level in self.levels}
        column = column.without(words | {""})
        self._refuse(column, np.isnan(self.positions(column.levels)), reading, kind="level")
        return self._placed(column)

    def _placed(self, column):
        levels = column.factors[0]
        found = self.positions(levels)
        positions = column.expand(found)
        known = positions[~column.missing]
        if len(known) >= MANY_UNSEEN and (np.isnan(known) | (known >= len(self.levels)) & (len(self.levels) > 0)).all():
            was = ", ".join(map(repr, self.levels[:3]))
            tell(
                f"Column {self.name!r} of X has {len(known)} values, but none of the levels that it had in fit: "
                f"{column.example!r} now, {was} then. They count as {'rare' if self.joined else 'missing'}. Code the "
                "levels as in fit."
            )
        return positions[:, None]


@dataclass(frozen=True)
class LevelMeans(Category):
    """A category of many levels, represented by means of the target; a new level by the mean of all.

    Attributes
    ----------
    means : tuple of tuples
        Coordinates of each level, relative to the mean of all rows.
    """

    means: tuple = ()

    is_category = False

    @property
    def features(self):
        n = len(self.means[0])
        return [self.name] if n == 1 else [f"{self.name} ({k})" for k in range(n)]

    def _placed(self, column):
        if column.kind == MEANS:
            return column.values
        known = replace(self, joined=True)
        positions = Category._placed(known, column)[:, 0]
        means = np.vstack([self.means, np.zeros(len(self.means[0])), np.full(len(self.means[0]), np.nan)])
        return means[np.where(np.isnan(positions), -1, positions).astype(np.intp)]


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
            levels = [_IS_TRUE.get(str(level).lower()) for level in levels]
        return np.array([float(level) if level in (0, 1) else np.nan for level in levels])

    def _placed(self, column):
        positions = super()._placed(column)
        return np.where(column.missing[:, None], 0.0, positions) if self.is_mark else positions


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

    def read(self, column, reading=None):
        return super().read(as_texts(column), reading)


def as_texts(column):
    """A column converted to texts, whole numbers without a decimal point; a column with levels unchanged."""
    if column.levels is not None:
        return column
    known = ~column.missing
    found, position = np.unique(column.values[known], return_inverse=True)
    positions = np.full(len(column.values), -1)
    positions[known] = position
    if column.kind == NUMBER:
        texts = [f"{level:.0f}" if level.is_integer() else repr(level) for level in found.astype(float).tolist()]
    else:
        texts = [str(level).replace("T", " ").removesuffix(" 00:00:00.000000") for level in found]
    return of_positions(column.name, TEXT, positions, texts)


def padded(texts, width):
    """The texts; if all consist of digits and none begins with zero, leading zeros fill them up to `width`."""
    if all(text.isdecimal() and text[0] != "0" for text in texts):
        return [text.rjust(width, "0") for text in texts]
    return texts


def reduced(texts, digits):
    """The first `digits` characters of the texts; the whole texts if `digits` is 0."""
    return [text[:digits] for text in texts] if digits else texts


def values_of(types, columns, wanted=None, reading=None):
    """The numbers of columns of given types, a list of arrays (n,), each in its own precision.

    Columns outside the mask `wanted` are not read; their numbers are NaN.

    Raises
    ------
    ValueError
        If cells do not fit their column.
    """
    if len(columns) != len(types):
        raise ValueError(f"X has {len(columns)} features, but the table was learned with {len(types)}.")
    wanted = [True] * len(types) if wanted is None else wanted
    reading = Reading() if reading is None else reading
    unread = np.full(columns.n_rows, np.nan, np.float32)
    pairs = list(zip(types, columns, wanted, strict=True))
    if reading.of_file:
        pairs = [(own, column if column.kind == own.kind else as_texts(column), asked) for own, column, asked in pairs]
    numbers = [column for own, column, asked in pairs if asked and own.kind == NUMBER]
    reading.writing = replace(reading.writing, found=vote_of_signs(numbers, reading.words))
    out = [
        values
        for own, column, asked in pairs
        for values in (own.read(column, reading).T if asked else [unread] * len(own.features))
    ]
    reading.check()
    return out


def vote_of_signs(columns, words):
    """The decimal sign that most columns of numbers and texts favor; None if this is undecided."""
    shares = []
    for column in columns:
        if column.form is not None and column.form.decimal:
            shares.append({sign: float(sign == column.form.decimal) for sign in ".,"})
        elif column.kind == TEXT:
            shares.append(column.without(words).cells.shares)
    return vote(shares, ".,")


def matrix(types, columns, wanted=None):
    """`values_of` the columns as a matrix (n, d)."""
    values = values_of(types, columns, wanted)
    return np.stack(values, axis=1) if values else np.empty((columns.n_rows, 0))


_CLASSES = {own.__name__: own for own in (Number, LeftOutColumn, Date, Category, LevelMeans, Boolean, Code)}


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
    return [_CLASSES[name](**{key: _tuples(value) for key, value in own.items()}) for name, own in rows]


def _tuples(value):
    return tuple(map(_tuples, value)) if isinstance(value, list | tuple) else value
