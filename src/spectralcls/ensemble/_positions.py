"""Tables as matrices of numbers: categories become the positions of their levels, missing values NaN."""

import numpy as np

from .._inputs import Columns, Inputs
from .._inputs.inputs import plain, take


class Positions(Inputs):
    """Inputs whose coordinates are numbers as given, parts of dates, and positions of levels."""

    _tells_of_far_values = True

    def _learn(self, raw, data, unlabeled=()):
        given, raw = self._learned_rows(raw, data)
        data, rows = self._with_units(data._replace(X=self._coordinates(raw)))
        self._draw(given if rows is None else take(given, rows), data)
        return data

    def __call__(self, X):
        return self._coordinates(self._read(X, reset=False))

    def _coordinates(self, raw):
        if isinstance(raw, Columns):
            return plain(raw) if self.table is None else self.table.matrix(raw)
        return raw

    def are_categories(self, d):
        """Mask of the unordered categories among d columns."""
        if self.table is None:
            return np.zeros(d, dtype=bool)
        return np.array([number.is_category and not number.ordered for number in self.table.columns])
