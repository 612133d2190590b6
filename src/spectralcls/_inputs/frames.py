"""Columns of data frames and arrays: their values, missing values, and kinds."""

from collections import Counter
from functools import cache
from numbers import Number
from typing import NamedTuple

import numpy as np

from .._utils.cached import cached_property
from .._utils.conversion import is_missing, named_overflow_errors
from .cells import MINUS, Cells, Form
from .dates import Moments, in_utc, in_zone, moment_of, read_dates, usual_zone

NUMBER, BOOLEAN, TEXT, CATEGORY, ORDERED, DATE = "number", "boolean", "text", "category", "ordered category", "date"
MEANS = "means of the target"  # several numbers for each row, instead of levels
TRUTH_VALUES = [False, True]

# names of the types of objects
_MOMENTS, _DURATIONS = {"date", "datetime"}, {"time", "timedelta"}


def plural(kind):
    """Plural form of a kind of values."""
    return f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"


class _ColumnFields(NamedTuple):
    name: object
    kind: str
    values: np.ndarray
    missing: np.ndarray
    levels: list | None = None
    zone: str | None = None
    form: Form | None = None


class Column(_ColumnFields):
    """One column of a table.

    Attributes
    ----------
    name : str, or int for the position in an array
    kind : str
        "number", "boolean", "text", "category", "ordered category" or "date".
    values : ndarray (n,)
        Floating-point numbers with NaN; datetime64 or timedelta64 for a date; otherwise positions among `levels`, -1
        for a missing value.
    missing : ndarray (n,) of bool
    levels : list or None
        Distinct values, some of which may not occur. Those of an ordered category are in its order, lowest first. Among
        texts there may be numbers and dates, as in a spreadsheet.
    zone : str or None
        Time zone of dates, whose values are then in UTC.
    form : Form or None
        How numbers were written as text.
    """

    def take(self, rows):
        """Some of the rows."""
        return self._replace(values=self.values[rows], missing=self.missing[rows])

    def compact(self):
        """The column without unused levels; an ordered category keeps all levels."""
        if self.levels is None or self.kind == ORDERED or len(self.used) == len(self.levels):
            return self
        return self._selected(self.used)

    def _selected(self, places):
        """The column with only some of its levels; the others are missing."""
        place = np.full(len(self.levels) + 1, -1)
        place[places] = np.arange(len(places))
        values = place[self.values]
        return self._replace(values=values, missing=values < 0, levels=[self.levels[k] for k in places])

    def without(self, words):
        """The column without unused levels and without numbers or levels that are words for a missing value, in lower
        case.
        """
        key = words if isinstance(words, frozenset) else frozenset(words)
        if self.levels is None:
            marks = _numbers_among(key) if self.kind == NUMBER else read_dates(list(key), "ymd").local
            if not len(marks):
                return self
            missing = self.missing | np.isin(self.values, marks)
            nothing = np.array(np.nan if self.kind == NUMBER else "NaT", self.values.dtype)
            return self._replace(values=np.where(missing, nothing, self.values), missing=missing)
        known = vars(self).setdefault("_without", {})
        if key not in known:
            if "+" in self.levels:
                words = key - MINUS  # minus, the opposite of plus
            numbers = _numbers_among(key)
            kept = [k for k in self.used.tolist() if not _is_word(self.levels[k], words, numbers)]
            known[key] = self if len(kept) == len(self.levels) else self._selected(np.array(kept, dtype=np.intp))
        return known[key]

    @cached_property
    def factors(self):
        """Distinct values, and the position of each row's value among them, -1 if missing; not for dates."""
        if self.kind != NUMBER:
            return self.levels, self.values
        found, position = np.unique(self.values[~self.missing], return_inverse=True)
        positions = np.full(len(self.values), -1)
        positions[~self.missing] = position
        return found.tolist(), positions

    def counts(self, weights=None):
        """Number of rows with each level, or their total weight if weights are given."""
        levels, positions = self.factors
        known = positions >= 0
        return np.bincount(positions[known], None if weights is None else weights[known], minlength=len(levels))

    @cached_property
    def used(self):
        """Positions of the levels that occur, ascending."""
        return np.flatnonzero(self.counts())

    @property
    def example(self):
        """The first known value; None if there is none."""
        first = int(np.argmin(self.missing)) if not self.missing.all() else None
        if first is None:
            return None
        return self.values[first] if self.levels is None else self.levels[self.values[first]]

    def expand(self, values):
        """One number per level expanded to one per row, (n,); NaN for a missing value."""
        return np.append(values, np.nan)[self.factors[1]]

    @cached_property
    def cells(self):
        """The levels of a column of texts as `Cells`."""
        return Cells(self.levels, self.counts())

    def moments(self, order):
        """The levels of a column of texts as `Moments`, given an order of day, month and year."""
        known = vars(self).setdefault("_moments", {})
        if order not in known:
            known[order] = read_dates(self.levels, order)
        return known[order]

    def share_of_dates(self, order):
        """Share of the texts that are dates in the given order."""
        return self.cells.share(~np.isnat(self.moments(order).local)) if len(self.levels) else 0.0

    @cached_property
    def are_durations(self):
        """Whether all texts are durations, such as 1h 20m."""
        return self.share_of_dates("duration") == 1

    def zone_of(self, order):
        """The most frequent time zone of texts; None without zones."""
        return usual_zone(self.moments(order).zones, self.cells.counts.tolist())

    def dates_in(self, order, zone):
        """Local dates (n,) in a time zone (None: without zones), or durations; and the mask of the levels of texts that
        are no dates.

        Dates with a zone are not dates if `zone` is None, nor are those without one otherwise.
        """
        if self.kind != TEXT:
            if self.values.dtype.kind == "m":
                return self.values, None
            if (self.zone is None) != (zone is None):
                return np.full(len(self.values), np.datetime64("NaT", "us")), None
            return self.values if zone is None else in_zone(self.values, zone), None
        moments = self.moments(order)
        if zone is None:
            dates = np.where([one is None for one in moments.zones], moments.local, np.datetime64("NaT", "us"))
        else:
            dates = in_zone(in_utc(moments), zone)
        return np.append(dates, np.datetime64("NaT", "us"))[self.values], np.isnat(dates)


@cache
def _numbers_among(words):
    """Words for a missing value that are numbers, such as -999."""
    return [float(word) for word in words if word.lstrip("+-").replace(".", "", 1).isdecimal()]


def _is_word(level, words, numbers):
    if isinstance(level, str):
        level = level.strip().lower()
        if level in words or not numbers:
            return level in words
    try:
        return float(level) in numbers
    except (TypeError, ValueError):
        return False


class Columns(list):
    """The columns of a table that was read and checked."""

    seen: dict = {}  # number and names of the features

    @property
    def n_rows(self):
        return len(self[0].values)

    def take(self, rows):
        """Some of the rows."""
        out = Columns(column.take(rows) for column in self)
        out.seen = self.seen
        return out

    @classmethod
    def joined(cls, parts):
        """The concatenated rows of several tables with the same columns.

        Raises
        ------
        ValueError
            If a column differs in kind between the tables.
        """
        out = cls(_joined(columns) for columns in zip(*parts, strict=True))
        out.seen = parts[0].seen
        return out


def _joined(columns):
    first, kinds = columns[0], {column.kind for column in columns}
    if len(kinds) > 1:
        raise ValueError(
            f"Column {first.name!r} of X holds {plural(min(kinds))} in one part and {plural(max(kinds))} in another."
        )
    missing = np.concatenate([column.missing for column in columns])
    if first.levels is None:
        return first._replace(values=np.concatenate([column.values for column in columns]), missing=missing)
    levels = list(dict.fromkeys(level for column in columns for level in column.levels))
    place = {level: k for k, level in enumerate(levels)}
    values = [np.append([place[level] for level in column.levels], -1)[column.values] for column in columns]
    return first._replace(values=np.concatenate(values).astype(np.intp), missing=missing, levels=levels)


def is_frame(X):
    """Whether X is a data frame; raises TypeError for a lazy one."""
    if hasattr(X, "collect_schema") and hasattr(X, "collect"):
        raise TypeError("X is a LazyFrame, whose rows are not known yet: pass X.collect().")
    return (
        hasattr(X, "columns")
        and not hasattr(X, "dask")
        and (hasattr(X, "__dataframe__") or hasattr(X, "__arrow_c_stream__") or hasattr(X, "iloc"))
    )


def without_stream(X):
    """An object that offers only Arrow's stream of a table, as a table; others unchanged."""
    if not hasattr(X, "__arrow_c_stream__") or hasattr(X, "columns") or hasattr(X, "dtype"):
        return X
    try:
        import pyarrow
    except ImportError:
        raise TypeError("X offers an Arrow stream, which needs pyarrow: install it, or pass a data frame.") from None
    return pyarrow.table(X)


def like(values, X):
    """Values (m, d) as a data frame with the type and names of X, and with its index if the numbers of rows agree.

    The result is an array if X is not a frame or has names that are not strings.
    """
    if not is_frame(X):
        return values
    import narwhals.stable.v2 as nw

    frame = nw.from_native(X, eager_only=True)
    if not all(isinstance(name, str) for name in frame.columns):
        return values
    found = nw.from_numpy(values, schema=frame.columns, backend=frame.implementation).to_native()
    index = nw.maybe_get_index(frame)
    if index is not None and len(index) == len(values):
        found.index = index
    return found


def is_numeric_pandas(X):
    """Whether X is a pandas frame of numbers only, which scikit-learn's checks accept."""
    dtypes = getattr(X, "dtypes", None)
    return hasattr(X, "iloc") and all(
        getattr(dtype, "kind", "O") in "iuf" and "[" not in str(dtype) for dtype in dtypes
    )


def read_columns(X):
    """Columns of a data frame (pandas, polars, Arrow or any other that narwhals supports) or of a 2-D array.

    Raises
    ------
    TypeError, ValueError
        If narwhals does not support the frame, or if a column holds nested values or values of several types; the
        message names the column.
    """
    if not is_frame(X):
        return as_columns(X if hasattr(X, "dtype") else np.array(X, dtype=object))
    if hasattr(X, "iloc") and {str(dtype) for dtype in X.dtypes} <= {"object", "str", "string"}:
        return as_columns(X.to_numpy(dtype=object), X.columns)  # all at once, because each alone would take 1 ms
    import narwhals.stable.v2 as nw

    frame = nw.from_native(X, eager_only=True)
    columns = frame.iter_columns()  # not by name, because narwhals would take an integer for a row
    return Columns(_of_series(series, name, nw) for series, name in zip(columns, frame.columns, strict=True))


def refuse_repeated_names(X):
    """Raise for a data frame in which several columns have the same name."""
    counts = Counter(getattr(X, "column_names", X.columns))  # `columns` of an Arrow table are not its names
    repeated = [name for name, count in counts.items() if count > 1]
    if repeated:
        raise ValueError(f"Several columns of X have the name {str(repeated[0])!r}: rename them.")


def as_columns(array, names=None):
    """The columns of a 2-D array, by position or by name."""
    if array.ndim != 2:
        raise ValueError(f"Expected 2D array, got {array.ndim}D array instead: reshape your data.")
    names = range(array.shape[1]) if names is None else names
    return Columns(of_objects(name, column) for name, column in zip(names, array.T, strict=True))


def of_numbers(name, values):
    """A column of floating-point numbers."""
    return Column(name, NUMBER, values, np.isnan(values))


def of_positions(name, kind, positions, levels):
    """A column of positions among levels, -1 for a missing value."""
    return Column(name, kind, positions, positions < 0, levels)


def of_times(name, values, zone=None):
    """A column of dates or durations; dates with a zone are in UTC."""
    values = values.astype(f"{'timedelta' if values.dtype.kind == 'm' else 'datetime'}64[us]")
    return Column(name, DATE, values, np.isnat(values), zone=zone)


def _of_series(series, name, nw):
    dtype = series.dtype
    if dtype.is_numeric():
        missing = series.is_null().to_numpy().astype(bool)
        kept = series if not missing.any() else series.fill_null(0)
        single = dtype == nw.Float32
        values = np.array(kept.cast(nw.Float32 if single else nw.Float64).to_numpy())
        values[missing] = np.nan
        return of_numbers(name, values)
    if dtype.is_temporal() and dtype != nw.Time:
        zone = getattr(dtype, "time_zone", None)
        if zone is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return of_times(name, series.to_numpy(), zone)
    if dtype == nw.Enum or dtype == nw.Categorical:
        ordered = dtype == nw.Enum or getattr(getattr(series.to_native(), "type", None), "ordered", False)
        levels = series.cat.get_categories().to_list() if ordered else None
        return _of_levels(name, ORDERED if ordered else CATEGORY, series.to_list(), levels)
    if dtype == nw.Boolean:
        return _of_levels(name, BOOLEAN, series.to_list(), TRUTH_VALUES)
    if dtype.is_nested():
        raise ValueError(f"Column {name!r} of X holds nested values ({dtype}): make columns of its parts, or drop it.")
    values = np.empty(len(series), dtype=object)
    values[:] = series.to_list()
    return of_objects(name, values)


def _of_levels(name, kind, values, levels=None):
    """A column of levels from a list of values, with None or NaN for a missing value."""
    different = dict.fromkeys(values)
    lacking = {value for value in different if is_missing(value)}
    levels = [value for value in different if value not in lacking] if levels is None else levels
    place = {level: k for k, level in enumerate(levels)} | dict.fromkeys(lacking, -1)
    return of_positions(
        name, kind, np.array([place[value] for value in values], dtype=np.intp), list(map(_key, levels))
    )


def _key(value):
    """A level as a plain Python value, so that 1, 1.0 and NumPy's 1 are the same level."""
    return value.item() if isinstance(value, np.generic) else value


def of_objects(name, values):
    """A column whose kind is determined by its values alone."""
    if values.dtype.kind in "iuf":
        return of_numbers(name, values.astype(values.dtype if values.dtype == np.float32 else np.float64))
    if values.dtype.kind == "b":
        return of_positions(name, BOOLEAN, values.astype(np.intp), TRUTH_VALUES)
    if values.dtype.kind in "mM":
        return of_times(name, values)
    values = values.astype(object)
    types = set(map(type, values.tolist()))
    if types == {str}:  # only strings, none of them missing
        return _of_levels(name, TEXT, values.tolist())
    missing = np.array([is_missing(value) for value in values], dtype=bool)
    kinds = {_kind_of(kind) for kind in set(map(type, values[~missing].tolist()))}
    if not kinds:
        return of_numbers(name, np.full(len(values), np.nan))
    if kinds == {NUMBER}:
        numbers = np.full(len(values), np.nan)
        with named_overflow_errors(f"Column {name!r} of X"):
            numbers[~missing] = values[~missing].astype(np.float64)
        return Column(name, NUMBER, numbers, missing)
    if TEXT in kinds and kinds <= {TEXT, NUMBER} | _MOMENTS | _DURATIONS:
        return _of_levels(name, TEXT, np.where(missing, None, values).tolist())
    if kinds <= _MOMENTS or kinds <= _DURATIONS:
        return _of_dates(name, np.where(missing, None, values), missing, kinds <= _DURATIONS)
    if len(kinds) > 1:
        mixed = ", ".join(f"{kind} in row {_first_row(values, missing, kind)}" for kind in sorted(kinds))
        raise ValueError(f"Column {name!r} of X mixes values of several types ({mixed}): convert it to one of them.")
    (kind,) = kinds
    values = np.where(missing, None, values)
    if kind not in (TEXT, BOOLEAN):
        raise ValueError(
            f"Column {name!r} of X holds objects of type {kind}, as in row {_first_row(values, missing, kind)}, which "
            "are neither numbers nor categories: convert or drop it."
        )
    return _of_levels(name, kind, values.tolist(), TRUTH_VALUES if kind == BOOLEAN else None)


def _of_dates(name, values, missing, are_durations):
    """A column of objects of the library `datetime`; times of day are durations since midnight."""
    local, zones = zip(*map(moment_of, values), strict=True)
    local, zone = np.array(local), usual_zone(zones, [1] * len(zones))
    if zone is not None:
        naive = np.flatnonzero([one is None and not lacks for one, lacks in zip(zones, missing, strict=True)])
        if len(naive):
            raise ValueError(
                f"Column {name!r} of X holds dates with and without a time zone (row {naive[0]}): convert them to one."
            )
        local = in_utc(Moments(local, list(zones)))
    return of_times(name, local - np.datetime64(0, "us") if are_durations else local, zone)


def _first_row(values, missing, kind):
    return next(row for row in np.flatnonzero(~missing).tolist() if _kind_of(type(values[row])) == kind)


def _kind_of(kind):
    """The kind of a column with values of this type, or the name of the type."""
    if issubclass(kind, str):
        return TEXT
    if issubclass(kind, bool | np.bool_):
        return BOOLEAN
    if issubclass(kind, Number) and not issubclass(kind, complex):
        return NUMBER
    names = [one.__name__ for one in kind.__mro__]
    return next((name for name in names if name in _MOMENTS | _DURATIONS), names[0])
