"""Tables as matrices of numbers: categories become the positions of their levels, missing values NaN."""

import numpy as np

from .._inputs import Columns, Inputs
from .._inputs.columns import Dates, LeftOut, Levels, Number, numbers
from .._inputs.frames import as_columns, is_frame
from .._inputs.inputs import take, warn_of_columns_left_out
from .._inputs.table import Table, categorical_columns, learned_column


class Positions(Inputs):
    """Inputs whose coordinates are numbers as they are, parts of dates, and the positions of levels."""

    own: list | None = None  # what was learned of each column; None if all are numbers

    def _learn(self, raw, data):
        raw = take(raw, data.kept)
        if not isinstance(raw, Columns) and "feature_names_in_" in self.seen:
            table = Table.of_numbers(raw, False, None, self.seen["feature_names_in_"])
            raw = raw if table is None else as_columns(raw, self.seen["feature_names_in_"])
        if isinstance(raw, Columns):
            categorical = categorical_columns("from_dtype", raw)
            pairs = zip(raw, categorical, strict=True)
            self.own = [learned_column(column, is_category, False, data.weights) for column, is_category in pairs]
            left_out = [own for own in self.own if isinstance(own, LeftOut)]
            if left_out:
                warn_of_columns_left_out(self.name, left_out)
        return data._replace(X=self._matrix(raw))

    def _read(self, X, *, reset, ensure_min_samples=1):
        if not reset and self.own is not None and not is_frame(X):
            kinds = [position for position, own in enumerate(self.own) if not isinstance(own, Number)]
            if kinds:
                raise ValueError(
                    f"X must be a data frame like that of fit, in which the columns {kinds} are no plain numbers."
                )
        raw = super()._read(X, reset=reset, ensure_min_samples=ensure_min_samples)
        return raw if reset or self.own is None or isinstance(raw, Columns) else as_columns(raw)

    def __call__(self, X):
        return self._matrix(self._read(X, reset=False))

    def _matrix(self, raw):
        if not isinstance(raw, Columns):
            return raw
        own = self.own or [Number(column.name) for column in raw]
        return np.concatenate([_values(*pair) for pair in zip(own, raw, strict=True)], axis=1)

    def are_categories(self, d):
        """Which of d columns are unordered categories."""
        if self.own is None:
            return np.zeros(d, dtype=bool)
        return np.array([isinstance(own, Levels) and not own.ordered for own in self.own for _ in range(_width(own))])


def _width(own):
    return 0 if isinstance(own, LeftOut) else len(own.parts) if isinstance(own, Dates) else 1


def _values(own, column):
    if isinstance(own, LeftOut):
        return np.empty((len(column.values), 0))
    if isinstance(own, Dates):
        return own.values(column)
    return (own.position_of(column) if isinstance(own, Levels) else numbers(column))[:, None]
