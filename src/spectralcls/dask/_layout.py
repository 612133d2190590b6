"""Tables on Dask collections, with categories and missing values as in memory.

A data frame is converted to numbers, with positions of known categories instead of levels, so that only arrays are
checked, gathered and sent to the workers. `Layout` describes the numbers and restores the columns for
`spectralcls._inputs`.
"""

from typing import NamedTuple

import numpy as np

from .._inputs.columns import refuse_category
from .._inputs.frames import BOOLEAN, CATEGORY, NUMBER, ORDERED, Columns, of_numbers, of_positions
from .._inputs.table import categorical_columns


class Layout(NamedTuple):
    """Names, kinds and levels of columns that are stored as numbers.

    Attributes
    ----------
    names : list
        Names of the columns, or their positions in an array.
    kinds : list of str
    levels : list of lists, None for numbers
    """

    names: list
    kinds: list
    levels: list

    @classmethod
    def of(cls, X):
        """The layout of a Dask array or data frame.

        Raises
        ------
        ValueError
            For a column that holds neither numbers, booleans nor known categories; the message names it.
        """
        if not hasattr(X, "to_dask_array"):
            d = X.shape[1] if getattr(X, "ndim", 0) == 2 else 0
            return cls(list(range(d)), [NUMBER] * d, [None] * d)
        described = [_described(name, X[name]) for name in X.columns]
        return cls(list(X.columns), [kind for kind, _ in described], [levels for _, levels in described])

    def categorical(self, spec, name):
        """Mask of the categorical columns, from the user's parameter; other columns must be numbers."""
        columns = self.columns(np.empty((0, len(self.names))))
        categorical = categorical_columns(spec, columns)
        for column, wish in zip(columns, categorical, strict=True):
            if wish is False and column.kind in (CATEGORY, ORDERED):
                refuse_category(column, name)
        return categorical

    def has_categories(self, categorical):
        """Whether some columns are categories, by the user's choice or their type."""
        pairs = zip(categorical, self.kinds, strict=True)
        return any(wish or wish is None and kind != NUMBER for wish, kind in pairs)

    def part(self, some):
        """The layout of a slice of the columns."""
        return Layout(self.names[some], self.kinds[some], self.levels[some])

    def numeric(self, X):
        """Convert a Dask data frame to numbers, with NaN for missing values."""
        if not hasattr(X, "dtypes") or all(isinstance(dtype, np.dtype) and dtype.kind in "iuf" for dtype in X.dtypes):
            return X
        return X.map_partitions(self._numeric, meta=self._numeric(X._meta))

    def _numeric(self, part):
        out = part.copy(deep=False)
        for name, kind in zip(self.names, self.kinds, strict=True):
            if kind in (CATEGORY, ORDERED):
                out[name] = part[name].cat.codes.astype(np.float64).where(lambda codes: codes >= 0)
            elif not isinstance(part[name].dtype, np.dtype) or kind != NUMBER:
                out[name] = part[name].astype("Float64").to_numpy(np.float64, na_value=np.nan)
        return out

    def columns(self, X):
        """The columns that an array of these numbers represents."""
        return Columns(self._column(i, X[:, i]) for i in range(len(self.names)))

    def _column(self, i, values):
        if self.levels[i] is None:
            return of_numbers(self.names[i], values)
        positions = np.where(np.isnan(values), -1, values).astype(np.intp)
        return of_positions(self.names[i], self.kinds[i], positions, self.levels[i])


def encoded(table, layout, X):
    """Coordinates of an array of numbers."""
    return table.encode(layout.columns(X)) if table.as_columns else table.scaled(X)


def _described(name, series):
    """(kind, levels) of a column of a Dask data frame."""
    dtype = series.dtype
    if str(dtype) == "category":
        if not series.cat.known:
            raise ValueError(
                f"Column {name!r} of X is categorical, but its categories are not known: X = X.categorize([{name!r}])."
            )
        kind = ORDERED if series.cat.ordered else CATEGORY
        return kind, list(series.cat.categories)
    kind = getattr(dtype, "kind", "O")
    if kind == "b":
        return BOOLEAN, [False, True]
    if kind in "iuf":
        return NUMBER, None
    what = (
        "dates or times: convert them to numbers"
        if kind in "mM"
        else (f"values of type {dtype}: convert to a known category (X.astype({{{name!r}: 'category'}}).categorize())")
    )
    raise ValueError(f"Column {name!r} of X holds {what}, or drop it.")
