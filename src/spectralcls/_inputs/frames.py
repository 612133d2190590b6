"""Columns of data frames and arrays: their values, which of them are missing, and of what kind they are."""

from collections import Counter
from datetime import date, datetime
from numbers import Number
from typing import NamedTuple

import numpy as np

from .._utils.cached import cached_property
from .._utils.conversion import is_missing, named_overflow_errors
from .dates import ORDERS, UNCLEAR, read_dates

NUMBER, BOOLEAN, TEXT, CATEGORY, ORDERED, DATE = "number", "boolean", "text", "category", "ordered category", "date"

_DATES = {  # by their types; a time of day is one of the first day
    "date": "datetime64[D]",
    "datetime": "datetime64[us]",
    "time": "datetime64[us]",
    "timedelta": "timedelta64[us]",
}
_FIRST_DAY = date(1970, 1, 1)


def plural(kind):
    """Several values of a kind."""
    return f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"


class _Fields(NamedTuple):
    name: object
    kind: str
    values: np.ndarray
    missing: np.ndarray
    levels: list | None = None


class Column(_Fields):
    """One column.

    Attributes
    ----------
    name : str, or int for the position in an array
    kind : str
        "number", "boolean", "text", "category", "ordered category" or "date".
    values : ndarray (n,)
        Floating point with NaN for a number, datetime64 or timedelta64 for a date, objects otherwise.
    missing : ndarray (n,) of bool
    levels : list or None
        All levels of an ordered category, lowest first.
    """

    def take(self, rows):
        """Some of the rows."""
        return self._replace(values=self.values[rows], missing=self.missing[rows])

    @property
    def dates(self):
        """Dates or durations, also of texts that all are dates or times of day in one order; otherwise None.

        Raises
        ------
        ValueError
            If the texts are dates with the day or the month first, and either order reads all of them.
        """
        return self.values if self.kind == DATE else self._dated[1]

    @property
    def order(self):
        """The order in which texts are dates, as ``"dmy"``."""
        return self._dated[0]

    @cached_property
    def _dated(self):
        texts = self.values[~self.missing] if self.kind == TEXT else ()
        possible = [order for order in ORDERS if len(texts) and read_dates(texts[:1], order) is not None]
        found = ((order, self.dates_in(order)) for order in possible)
        order, dates = next(((order, dates) for order, dates in found if dates is not None), (None, None))
        if order == "dmy" and any(map(UNCLEAR.search, texts)) and self.dates_in("mdy") is not None:
            raise ValueError(
                f"Column {self.name!r} of X holds dates such as {texts[0]!r}, in which day and month cannot be told "
                "apart: make dates of them, as pandas.to_datetime(..., dayfirst=True) does, or name the column in "
                "categorical_features."
            )
        return order, dates

    def dates_in(self, order):
        """Dates or durations, of texts those in an order; None if they are none."""
        texts, known = self.values[~self.missing], vars(self).get("_dated")
        if order is None or self.kind != TEXT or known and known[0] == order:
            return self.dates
        read = read_dates(texts, order) if len(texts) else None
        if read is None:
            return None
        dates = np.full(len(self.values), np.datetime64("NaT", "us"))
        dates[~self.missing] = read
        return dates


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
        """The rows of several tables with the same columns, one below the other.

        Raises
        ------
        ValueError
            If a column is of one kind here and of another there.
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
    values, missing = (np.concatenate([getattr(column, name) for column in columns]) for name in ("values", "missing"))
    return first._replace(values=values, missing=missing)


def is_frame(X):
    """Whether X is a data frame that is not an array."""
    return (
        hasattr(X, "columns")
        and not hasattr(X, "dask")
        and (hasattr(X, "__dataframe__") or hasattr(X, "__arrow_c_stream__") or hasattr(X, "iloc"))
    )


def like(values, X):
    """Values (m, d) as a data frame of X's kind and names, and of its index if it has as many rows.

    An array as it is if X is none, or has other names than strings.
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
    """Whether scikit-learn's own checks take the frame: pandas, and numbers only."""
    dtypes = getattr(X, "dtypes", None)
    return hasattr(X, "iloc") and all(
        getattr(dtype, "kind", "O") in "iuf" and "[" not in str(dtype) for dtype in dtypes
    )


def read_columns(X):
    """Columns of a data frame (pandas, polars, Arrow and whatever else narwhals knows) or of a 2-D array.

    Raises
    ------
    TypeError, ValueError
        For a frame that narwhals does not know, and a column of nested values or of values of several types: in one
        sentence that names the column.
    """
    if not is_frame(X):
        return as_columns(X if hasattr(X, "dtype") else np.array(X, dtype=object))
    if hasattr(X, "iloc") and {str(dtype) for dtype in X.dtypes} <= {"object", "str", "string"}:
        return as_columns(X.to_numpy(dtype=object), X.columns)  # at once: one by one takes a millisecond each
    import narwhals.stable.v2 as nw

    frame = nw.from_native(X, eager_only=True)
    columns = frame.iter_columns()  # by position: to narwhals a name that is an integer is a row
    return Columns(_of_series(series, name, nw) for series, name in zip(columns, frame.columns, strict=True))


def refuse_repeated_names(X):
    """Raise for a data frame in which several columns have one name."""
    counts = Counter(getattr(X, "column_names", X.columns))  # the columns of an Arrow table are not its names
    repeated = [name for name, count in counts.items() if count > 1]
    if repeated:
        raise ValueError(f"Several columns of X have the name {str(repeated[0])!r}: rename them.")


def as_columns(array, names=None):
    """The columns of a 2-D array, by position or by name."""
    if array.ndim != 2:
        raise ValueError(f"Expected 2D array, got {array.ndim}D array instead: reshape your data.")
    names = range(array.shape[1]) if names is None else names
    return Columns(_of_objects(name, column) for name, column in zip(names, array.T, strict=True))


def _of_series(series, name, nw):
    dtype = series.dtype
    missing = series.is_null().to_numpy().astype(bool)
    if dtype.is_numeric():
        kept = series if not missing.any() else series.fill_null(0)
        single = dtype == nw.Float32
        values = np.array(kept.cast(nw.Float32 if single else nw.Float64).to_numpy())
        values[missing] = np.nan
        return Column(name, NUMBER, values, np.isnan(values))
    if dtype.is_temporal() and dtype != nw.Time:
        if getattr(dtype, "time_zone", None) is not None:
            series = series.dt.replace_time_zone(None)  # the time on the wall there
        return _of_dates(name, series.to_numpy())
    if dtype == nw.Enum or dtype == nw.Categorical:
        ordered = dtype == nw.Enum or getattr(getattr(series.to_native(), "type", None), "ordered", False)
        levels = series.cat.get_categories().to_list() if ordered else None
        kind = ORDERED if ordered else CATEGORY
        return Column(name, kind, _objects(series.to_list()), missing, levels)
    if dtype == nw.Boolean:
        return Column(name, BOOLEAN, _objects(series.to_list()), missing)
    if dtype.is_nested():
        raise ValueError(f"Column {name!r} of X holds nested values ({dtype}): make columns of its parts, or drop it.")
    return _of_objects(name, _objects(series.to_list()), missing)


def _objects(values):
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def _of_objects(name, values, missing=None):
    """A column whose kind only its values tell."""
    if values.dtype.kind in "iuf":
        values = values.astype(values.dtype if values.dtype == np.float32 else np.float64)
        return Column(name, NUMBER, values, np.isnan(values))
    if values.dtype.kind == "b":
        return Column(name, BOOLEAN, values.astype(object), np.zeros(len(values), dtype=bool))
    if values.dtype.kind in "mM":
        return _of_dates(name, values)
    values = values.astype(object)
    lacking = np.array([is_missing(value) for value in values], dtype=bool)
    missing = lacking if missing is None else missing | lacking
    kinds = {_kind_of(value) for value in values[~missing]}
    if not kinds:
        return Column(name, NUMBER, np.full(len(values), np.nan), missing)
    if kinds == {"number"}:
        numbers = np.full(len(values), np.nan)
        with named_overflow_errors(f"Column {name!r} of X"):
            numbers[~missing] = values[~missing].astype(np.float64)
        return Column(name, NUMBER, numbers, missing)
    if len(kinds) > 1:
        raise ValueError(
            f"Column {name!r} of X mixes values of several types ({', '.join(sorted(kinds))}): convert it to one of "
            "them."
        )
    (kind,) = kinds
    if kind in _DATES:
        values = values.copy()
        values[missing] = None
        if kind == "time":
            values[~missing] = [datetime.combine(_FIRST_DAY, time, None) for time in values[~missing]]
        return _of_dates(name, values.astype(_DATES[kind]))
    if kind not in (TEXT, BOOLEAN):
        raise ValueError(
            f"Column {name!r} of X holds objects of type {kind}, which are neither numbers nor categories: convert or "
            "drop it."
        )
    return Column(name, kind, values, missing)


def _of_dates(name, values):
    values = values.astype(f"{'timedelta' if values.dtype.kind == 'm' else 'datetime'}64[us]")
    return Column(name, DATE, values, np.isnat(values))


def _kind_of(value):
    if isinstance(value, str):
        return TEXT
    if isinstance(value, bool | np.bool_):
        return BOOLEAN
    if isinstance(value, Number) and not isinstance(value, complex):
        return "number"
    names = [kind.__name__ for kind in type(value).__mro__]
    return next((name for name in names if name in _DATES), names[0])
