"""Tables as matrices of numbers: categories become the positions of their levels, missing values NaN."""

import numpy as np

from .._inputs import Columns, Inputs
from .._inputs.columns import Levels, numbers
from .._inputs.frames import NUMBER, ORDERED, is_frame


class Positions(Inputs):
    """Inputs whose coordinates are numbers as they are, and the positions of levels."""

    levels: list | None = None  # of each column, None for a number; None without categories

    def _learn(self, raw, data):
        raw = raw if data.kept is None else raw.take(data.kept) if isinstance(raw, Columns) else raw[data.kept]
        if isinstance(raw, Columns):
            self.levels = [
                None if column.kind == NUMBER else Levels.learned(column, column.kind, data.weights) for column in raw
            ]
        return data._replace(X=self._matrix(raw))

    def __call__(self, X):
        if self.levels is not None and not is_frame(X):
            kinds = [position for position, own in enumerate(self.levels) if own is not None]
            if kinds:
                raise ValueError(
                    f"X must be a data frame like that of fit, in which the columns {kinds} are categories."
                )
        return self._matrix(self._read(X, reset=False))

    def _matrix(self, raw):
        if not isinstance(raw, Columns):
            return raw
        levels = self.levels or [None] * len(raw)
        return np.column_stack(
            [
                numbers(column) if own is None else own.position_of(column)
                for column, own in zip(raw, levels, strict=True)
            ]
        )

    def are_categories(self, d):
        """Which of d columns are unordered categories."""
        if self.levels is None:
            return np.zeros(d, dtype=bool)
        return np.array([own is not None and own.kind != ORDERED for own in self.levels])
