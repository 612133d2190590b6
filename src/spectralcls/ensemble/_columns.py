"""Tables as matrices of numbers: categories become the positions of their levels, missing values NaN."""

import numpy as np

from .._inputs import Columns, Inputs
from .._inputs.columns import Dates, LeftOut, Levels, Number
from .._inputs.frames import as_columns, is_frame
from .._inputs.inputs import take, warn_of_columns_left_out
from .._inputs.table import Table, categorical_columns


class Positions(Inputs):
    """Inputs whose coordinates are numbers as they are, parts of dates, and the positions of levels."""

    _tells_of_far_values = True

    def _learn(self, raw, data, unlabeled=()):
        raw, names = take(raw, data.kept), self.seen.get("feature_names_in_")
        if not isinstance(raw, Columns) and names is not None and Table.of_numbers(raw, False, None, names) is not None:
            raw = as_columns(raw, names)
        if isinstance(raw, Columns):
            self.table = Table.learned(raw, categorical_columns("from_dtype", raw), False, data.weights)
            if self.table.left_out:
                warn_of_columns_left_out(self.name, self.table.left_out)
        data = data._replace(X=self._matrix(raw))
        self._draw(raw, data)
        return data

    def _read(self, X, *, reset, ensure_min_samples=1):
        named = is_frame(X) or isinstance(X, Columns)
        if not (reset or named) and self.table is not None and self.table.as_columns:
            kinds = [position for position, own in enumerate(self.table.columns) if not isinstance(own, Number)]
            raise ValueError(
                f"X must be a data frame like that of fit, in which the columns {kinds} are no plain numbers."
            )
        raw = super()._read(X, reset=reset, ensure_min_samples=ensure_min_samples)
        return raw if reset or self.table is None or isinstance(raw, Columns) else as_columns(raw)

    def __call__(self, X):
        return self._matrix(self._read(X, reset=False))

    def _matrix(self, raw):
        if not isinstance(raw, Columns):
            return raw
        own = [Number(column.name) for column in raw] if self.table is None else self.table.columns
        return np.concatenate([each.values(column) for each, column in zip(own, raw, strict=True)], axis=1)

    def are_categories(self, d):
        """Which of d columns are unordered categories."""
        if self.table is None:
            return np.zeros(d, dtype=bool)
        columns = self.table.columns
        return np.array([isinstance(own, Levels) and not own.ordered for own in columns for _ in range(_width(own))])


def _width(own):
    return 0 if isinstance(own, LeftOut) else len(own.parts) if isinstance(own, Dates) else 1
