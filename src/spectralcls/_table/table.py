"""A table that was learned: what each column is, and the coordinates that it becomes."""

from dataclasses import dataclass

import numpy as np

from .columns import Levels, Number
from .frames import NUMBER, ORDERED


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
    def learned(cls, columns, categorical, scale):
        """From columns, which of them are categories (a bool each), and whether numbers are scaled."""
        learned = [
            Levels.learned(column, ORDERED if column.kind == ORDERED else column.kind) if is_category
            else Number.learned(column, scale)
            for column, is_category in zip(columns, categorical, strict=True)
        ]
        variances = [
            np.nanvar(column.values) for column, own in zip(columns, learned, strict=True)
            if own.kind == NUMBER and own.width
        ]
        rms = float(np.sqrt(np.mean(variances))) if variances and not scale else 1.0
        return cls(learned, rms or 1.0)

    @property
    def features(self):
        """Feature of each coordinate, (d,), numbered without those that have none."""
        widths = [column.width for column in self.columns if column.width]
        return np.repeat(np.arange(len(widths)), widths)

    @property
    def categories(self):
        """Categories that have coordinates."""
        return [column for column in self.columns if isinstance(column, Levels) and column.width]

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
        if not parts:
            raise ValueError("No column of X says anything: all are missing or constant categories.")
        return np.concatenate(parts, axis=1)

    def described(self):
        """A line for each column."""
        return [f"{column.name}: {column.described()}" for column in self.columns]
