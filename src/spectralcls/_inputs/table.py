"""A table that was learned: what each column is, and the coordinates that it becomes."""

from dataclasses import dataclass

import numpy as np

from .columns import Levels, Number, moments, numbers, scaled

NOTHING = "No column of X says anything: all are missing or constant categories."


@dataclass
class Table:
    """Columns and their layout as coordinates.

    Attributes
    ----------
    columns : list of Number and Levels
    unit : float
        What a distance of 1 between categories is in the numbers' units: 1 if they are scaled.
    """

    columns: list
    unit: float = 1.0

    @classmethod
    def learned(cls, columns, categorical, scale, weights=None):
        """From columns, which of them are categories (a bool each), and whether numbers are scaled.

        Rows of weight 0 count as if they were not there.
        """
        if weights is not None:
            kept = weights > 0
            columns, weights = [column.take(kept) for column in columns], weights[kept]
        learned = [
            Levels.learned(column, column.kind, weights)
            if is_category
            else Number.learned(column.name, numbers(column), scale, weights)
            for column, is_category in zip(columns, categorical, strict=True)
        ]
        if not any(column.width for column in learned):
            raise ValueError(NOTHING)
        if scale:
            return cls(learned)
        variances = [
            moments(numbers(column)[~column.missing], None if weights is None else weights[~column.missing])[1] ** 2
            for column, own in zip(columns, learned, strict=True)
            if isinstance(own, Number) and own.observed
        ]
        return cls(learned, float(np.sqrt(np.mean(variances))) or 1.0 if variances else 1.0)

    @classmethod
    def of_numbers(cls, X, weights=None):
        """The scaled columns of an array of numbers."""
        if weights is not None:
            kept = weights > 0
            X, weights = X[kept], weights[kept]
        columns = [Number.learned(name, column, True, weights) for name, column in enumerate(X.T)]
        if not any(column.observed for column in columns):
            raise ValueError(NOTHING)
        return cls(columns)

    @property
    def has_categories(self):
        return any(isinstance(column, Levels) for column in self.columns)

    @property
    def features(self):
        """Feature of each coordinate, (d,), numbered without those that have none."""
        widths = [column.width for column in self.columns if column.width]
        return np.repeat(np.arange(len(widths)), widths)

    @property
    def categories(self):
        """Categories that have coordinates."""
        return [column for column in self.columns if isinstance(column, Levels) and column.width]

    @property
    def log_units(self):
        """Logarithm of the scale of each coordinate, (d,): 0 for those of categories."""
        units = [np.full(c.width, np.log(c.scale) if isinstance(c, Number) else 0.0) for c in self.columns]
        return np.concatenate(units)

    def places(self, category):
        """Coordinates of one column."""
        start = 0
        for column in self.columns:
            if column is category:
                return np.arange(start, start + column.width)
            start += column.width
        raise KeyError(category)

    def encode(self, columns):
        """Coordinates (n, d) of columns, float32 if all are numbers of that precision."""
        if len(columns) != len(self.columns):
            raise ValueError(f"X has {len(columns)} features, but the table was learned with {len(self.columns)}.")
        parts = []
        for own, column in zip(self.columns, columns, strict=True):
            if own.width:
                part = own.encode(column)
                parts.append(part * (own.factor * self.unit) if isinstance(own, Levels) else part)
        return np.concatenate(parts, axis=1)

    def scaled(self, X):
        """Coordinates of an array of numbers, for a table without categories; in its precision."""
        observed = [own.observed for own in self.columns]
        if not all(observed):
            X = X[:, observed]
        centers, scales = zip(*[(own.center, own.scale) for own in self.columns if own.observed], strict=True)
        return scaled(X, np.array(centers), np.array(scales))

    def described(self):
        """A line for each column."""
        return [f"{column.name}: {column.described()}" for column in self.columns]
