"""What becomes of a column: coordinates of a Gaussian kernel whose factor is that of the column's kind.

The factor of an unordered category is 1 for equal levels and lambda otherwise. With an indicator of scale s for each
level two different levels are ``sqrt(2) s`` apart, so that ``lambda = exp(-s^2 / h^2)``. Ordered levels are their
ranks.
"""

import re
from dataclasses import dataclass

import numpy as np

from .._tuning.spread import centers_and_spreads, moments
from .._utils.advice import tell
from .._utils.conversion import brought_into_range
from .dates import date_parts, varying_parts
from .frames import BOOLEAN, DATE, NUMBER, ORDERED, TEXT, plural
from .identifiers import calls_itself_a_key, is_identifier

MOST_TEXTS = 255  # different texts, more of which are no categories
MANY_UNSEEN = 10  # values without a level that was seen, from which on the column is thought to be coded anew
MOST_LEVELS = 48  # levels of a category with coordinates of their own; the rarest of more become one
_DECIMAL_COMMA = re.compile(r"\s*[+-]?(?:\d{1,3}(?:[.' ]\d{3})+|\d*),\d+\s*")
_HEAD = 1000  # texts of which most have to have one
RARE = 3.0  # scales that rare values of a mostly constant column lie from the others, root mean square, at most
FEWEST_GAPS = 10  # missing values of a column, and others, from which on its gaps may say something
UNIT = 1e-6  # a spread this near to 1 is one


@dataclass
class Number:
    """A column of numbers: ``(x - center) / scale``."""

    name: object
    center: float = 0.0
    scale: float = 1.0
    observed: bool = True
    spread: float = 1.0  # of the coordinate
    kind = NUMBER

    @property
    def width(self):
        return int(self.observed)

    @classmethod
    def of_columns(cls, names, columns, scale, weights=None):
        """One for each name, from its values (n,), NaN where they are missing; `scale` says whether to scale them."""
        observed = [not np.isnan(values).all() for values in columns]
        if scale:
            centers, scales = centers_and_scales(columns, weights)
            found = zip(names, centers.tolist(), scales.tolist(), observed, strict=True)
            return [cls(*of_column) if of_column[-1] else cls(of_column[0], observed=False) for of_column in found]
        spreads = centers_and_spreads(columns, weights)[1].tolist()
        found = zip(names, observed, spreads, strict=True)
        return [cls(name, observed=some, spread=spread if some else 1.0) for name, some, spread in found]

    @property
    def numbers(self):
        return [self]

    def values(self, column):
        """The numbers themselves, (n, 1)."""
        return numbers(column)[:, None]

    def encode(self, column):
        return self.of(numbers(column))

    def of(self, values):
        """Coordinates of numbers."""
        return scaled(values[:, None], self.center, self.scale)[:, : self.width]

    def described(self):
        return "a number" if self.observed else "missing everywhere, ignored"


@dataclass
class Dates:
    """A column of dates or durations: the numbers of those parts that are not the same everywhere."""

    name: object
    parts: dict  # Number of each part, by its name
    order: str | None = None  # of texts
    kind = DATE

    @property
    def width(self):
        return sum(number.width for number in self.parts.values())

    @property
    def numbers(self):
        return list(self.parts.values())

    @classmethod
    def learned(cls, column, scale, weights=None):
        """From a column of dates or durations; `scale` says whether to center and scale the numbers."""
        values, order = date_parts(column.dates), column.order
        names = varying_parts(column.dates, order) or ("days",)
        parts = Number.of_columns(names, [values[name] for name in names], scale, weights)
        return cls(column.name, dict(zip(names, parts, strict=True)), order)

    def values(self, column):
        """Numbers of the parts, (n, parts)."""
        dates = column.dates_in(self.order)
        if dates is None and not column.missing.all():
            raise ValueError(
                f"Column {self.name!r} of X holds {plural(column.kind)}, but dates when the estimator was fitted."
            )
        if dates is None:
            return np.full((len(column.values), len(self.parts)), np.nan)
        values = date_parts(dates)
        return np.column_stack([values.get(name, np.full(len(column.values), np.nan)) for name in self.parts])

    def encode(self, column):
        parts = zip(self.numbers, self.values(column).T, strict=True)
        return np.concatenate([number.of(values) for number, values in parts], axis=1)

    def described(self):
        return f"a date: {', '.join(self.parts)}" if self.width else "missing everywhere, ignored"


@dataclass
class Gap:
    """Whether a column lacks its value: a coordinate that varies as a standardized number, and is never missing."""

    position: int  # of the column
    scale: float
    factor: float = 1.0
    kind = "gap"

    @classmethod
    def learned(cls, position, missing, weights=None):
        """From the mask of missing values; None if they are too few to learn from, or all but too few."""
        if not FEWEST_GAPS <= np.count_nonzero(missing) <= len(missing) - FEWEST_GAPS:
            return None
        share = np.average(missing, weights=weights)
        return cls(position, float(min(1 / np.sqrt(share * (1 - share)), RARE)))

    @property
    def width(self):
        return int(self.factor != 0)


@dataclass
class LeftOut:
    """A column without coordinates."""

    name: object
    reason: str
    kind = "left out"
    width, numbers = 0, ()

    def encode(self, column):
        return np.empty((len(column.values), 0))

    values = encode

    def described(self):
        return f"left out: {self.reason}"


def reason_to_leave_out(column):
    """Why a column says nothing about new samples; None if it may.

    Texts of which nearly all differ, or of which there are too many for a category, and whole numbers of that kind
    whose name calls them a key.

    Raises
    ------
    ValueError
        If most texts are numbers with decimal commas.
    """
    known = column.values[~column.missing]
    if column.kind == TEXT:
        _refuse_decimal_commas(column.name, known[:_HEAD])
        if is_identifier(known, column.name):
            return "an identifier"
        return f"text of more than {MOST_TEXTS} values" if len(set(known)) > MOST_TEXTS else None
    named = column.kind == NUMBER and isinstance(column.name, str) and calls_itself_a_key(column.name)
    return "an identifier" if named and is_identifier(known, column.name) else None


def _refuse_decimal_commas(name, texts):
    """Raise if most texts are numbers as much of the world writes them: they are no categories."""
    commas = [text for text in texts if _DECIMAL_COMMA.fullmatch(text)]
    if 2 * len(commas) > len(texts):
        raise ValueError(
            f"Column {name!r} of X holds texts such as {commas[0]!r}, numbers with decimal commas: read the file with "
            "spectralcls.datasets.read_table or pandas.read_csv(..., decimal=','), or name the column in "
            "categorical_features."
        )


@dataclass
class Levels:
    """A column of categories: indicators of scale `scale`, or ranks times it."""

    name: object
    kind: str
    levels: list  # those with positions of their own, in the order of these; no keys, which not all formats keep
    n_positions: int
    pooled: int | None  # position of the levels that are too rare; unseen ones take it too
    scale: float  # of the indicators: the squared distance of two random rows is 2 on average
    factor: float = 1.0  # found by the search; 0 leaves the column out
    numbers = ()

    @property
    def is_text(self):
        return bool(self.levels) and all(isinstance(level, str) for level in self.levels)

    @property
    def ordered(self):
        return self.kind == ORDERED

    @property
    def width(self):
        if self.n_positions < 2 or self.factor == 0:
            return 0
        return 1 if self.ordered or self.n_positions == 2 else self.n_positions

    @classmethod
    def learned(cls, column, kind, weights=None):
        """From a column whose values are levels of that kind."""
        known = [_level(value) for value in column.values[~column.missing]]
        weights = np.ones(len(known)) if weights is None else weights[~column.missing]
        counts = {}
        for value, weight in zip(known, weights, strict=True):
            counts[value] = counts.get(value, 0) + weight
        if column.kind == TEXT and len(counts) > MOST_TEXTS:
            raise ValueError(
                f"Column {column.name!r} of X is text with {len(counts)} different values, too many for a category: "
                "drop it, make features of it, or convert it to a categorical dtype, whose rare levels are joined."
            )
        pooled = None
        if kind == ORDERED and column.levels is not None:
            levels = [_level(value) for value in column.levels]
        else:
            levels = sorted(counts, key=_order)
            if len(levels) > MOST_LEVELS and kind != ORDERED:
                levels = sorted(sorted(levels, key=counts.get, reverse=True)[: MOST_LEVELS - 1], key=_order)
                pooled = len(levels)
        positions = {level: i for i, level in enumerate(levels)}
        n_positions = len(levels) + (pooled is not None)
        which = np.array([positions.get(value, pooled) for value in known], dtype=np.intp)
        scale = _level_scale(which, n_positions, kind == ORDERED, weights)
        return cls(column.name, kind, levels, n_positions, pooled, scale)

    def position_of(self, column):
        """Position of each level, NaN for a missing value and, unless rare levels were joined, an unseen one.

        Raises
        ------
        ValueError
            If the levels are text, and the column holds numbers.
        """
        if column.kind == NUMBER and not column.missing.all() and self.is_text:
            raise ValueError(
                f"Column {self.name!r} of X holds numbers, but levels such as {self.levels[0]!r} when the "
                "estimator was fitted: give the levels themselves, not their codes."
            )
        if column.kind == NUMBER and column.values.dtype.kind == "f":
            column = column._replace(values=column.values.astype(object))
        positions = {level: i for i, level in enumerate(self.levels)}
        position = np.full(len(column.values), np.nan)
        unseen = np.nan if self.pooled is None else self.pooled
        rows = np.flatnonzero(~column.missing)
        for row in rows:
            position[row] = positions.get(_level(column.values[row]), unseen)
        if self.levels and len(rows) >= MANY_UNSEEN and np.isnan(position).all():
            tell(
                f"Column {self.name!r} of X has {len(rows)} values, and none of the levels that it had in fit: "
                f"{column.values[rows[0]]!r} now, {', '.join(map(repr, self.levels[:3]))} then. They count as missing. "
                "Code the levels as in fit."
            )
        return position

    def values(self, column):
        """Positions of the levels, (n, 1)."""
        return self.position_of(column)[:, None]

    def encode(self, column):
        """Coordinates without `factor`, NaN where there is no position."""
        position = self.position_of(column)
        if self.width == 1:
            spread = 1.0 if self.ordered else np.sqrt(2.0)
            return (position * spread * self.scale)[:, None]
        out = (position[:, None] == np.arange(self.width)) * self.scale
        out[np.isnan(position)] = np.nan
        return out

    def described(self):
        if self.n_positions < 2:
            return f"a {self.kind} of one level, ignored" if self.n_positions else "missing everywhere, ignored"
        joined = "" if self.pooled is None else ", the rarest joined"
        kind = "an ordered category" if self.ordered else "a truth value" if self.kind == BOOLEAN else "a category"
        return f"{kind} of {self.n_positions} levels{joined}"


def numbers(column):
    """The values of a column of numbers, or of truth values as 0 and 1.

    Raises
    ------
    ValueError
        For a column of anything else.
    """
    if column.kind == BOOLEAN:
        return np.where(column.missing, np.nan, np.where(column.missing, False, column.values).astype(np.float64))
    if column.kind != NUMBER:
        raise ValueError(
            f"Column {column.name!r} of X holds {plural(column.kind)}, but numbers when the estimator was fitted."
        )
    return column.values


def scaled(X, center, scale):
    """``(X - center) / scale`` in the precision of X; X itself if that changes nothing."""
    if not np.any(center) and np.all(scale == 1):
        return X
    with np.errstate(over="ignore", invalid="ignore"):
        return brought_into_range((X - np.asarray(center, X.dtype)) / np.asarray(scale, X.dtype))


def centers_and_scales(columns, weights=None):
    """Center and spread of each of several columns; (0, 1) if the spread is 1, and for a constant the scale 1."""
    centers, spreads = centers_and_spreads(columns, weights, farthest=RARE)
    plain = np.abs(spreads - 1) < UNIT
    return np.where(plain, 0.0, centers), np.where(plain | (spreads == 0), 1.0, spreads)


def _level(value):
    """A level as a key: 1, 1.0 and numpy's 1 are the same."""
    return value.item() if isinstance(value, np.generic) else value


def _order(level):
    return type(level).__name__ if isinstance(level, str) else "", level


def _level_scale(which, n_positions, ordered, weights):
    """Scale at which the mean squared distance between two random rows is 2, as between standardized numbers."""
    if n_positions < 2 or not len(which):
        return 1.0
    if ordered:
        return float(1 / (moments(which, weights)[1] or 1.0))
    shares = np.bincount(which, weights, minlength=n_positions) / weights.sum()
    return float(1 / np.sqrt(max(1 - shares @ shares, 1e-12))) if shares.max() < 1 else 1.0
