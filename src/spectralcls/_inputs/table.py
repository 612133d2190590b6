"""A table that was learned: what each column is, and the coordinates that it becomes."""

from dataclasses import dataclass, field

import numpy as np

from .._tuning import spreads
from .columns import Dates, Gap, LeftOut, Levels, Number, numbers, reason_to_leave_out, scaled
from .frames import BOOLEAN, NUMBER, Column

_OF_NUMBERS = ("center", "scale", "observed", "spread")


@dataclass
class Table:
    """Columns, side by side as coordinates."""

    columns: list  # of Number and Levels
    shared: bool = False  # whether all numbers have one scale
    gaps: list = field(default_factory=list)  # columns whose missing values say something

    def __getstate__(self):
        """Numbers side by side as arrays: model files list every object."""
        at = [i for i, column in enumerate(self.columns) if type(column) is Number]
        others = [column for column in self.columns if type(column) is not Number]
        state = {key: np.array([getattr(self.columns[i], key) for i in at]) for key in _OF_NUMBERS}
        names = [self.columns[i].name for i in at]
        same = len({type(name) for name in names}) == 1 and isinstance(names[0], str | int)
        return {
            "at": np.array(at, dtype=np.intp),
            "others": others,
            "names": np.array(names) if same else names,
            "shared": self.shared,
            "gaps": self.gaps,
        } | state

    def __setstate__(self, state):
        names = state["names"].tolist() if isinstance(state["names"], np.ndarray) else state["names"]
        values = zip(names, *(state[key].tolist() for key in _OF_NUMBERS), strict=True)
        columns = list(state["others"])
        for at, (name, *of_number) in zip(state["at"].tolist(), values, strict=True):
            columns.insert(at, Number(name, **dict(zip(_OF_NUMBERS, of_number, strict=True))))
        self.columns, self.shared, self.gaps = columns, state["shared"], state["gaps"]

    @classmethod
    def learned(cls, columns, categorical, scale, weights=None):
        """From columns, which of them are categories (a bool each), and whether numbers are scaled."""
        pairs = zip(columns, categorical, strict=True)
        learned = [learned_column(column, is_category, scale, weights) for column, is_category in pairs]
        plain = [place for place, own in enumerate(learned) if own is None]
        names, values = [columns[place].name for place in plain], [numbers(columns[place]) for place in plain]
        for place, number in zip(plain, Number.of_columns(names, values, scale, weights), strict=True):
            learned[place] = number
        return cls(learned)

    @classmethod
    def of_numbers(cls, X, scale, weights=None, names=None):
        """The columns of an array of numbers; None if they are taken as they are."""
        names = range(X.shape[1]) if names is None else names
        columns = [Column(name, NUMBER, values, np.isnan(values)) for name, values in zip(names, X.T, strict=True)]
        table = cls.learned(columns, [False] * len(columns), scale, weights)
        return table if scale or table.left_out else None

    @classmethod
    def joined(cls, tables):
        """The columns of several tables."""
        return cls([column for table in tables for column in table.columns])

    def checked(self):
        """The table itself.

        Raises
        ------
        ValueError
            If it has no coordinate.
        """
        if not any(column.width for column in self.columns):
            raise ValueError("No column of X can tell samples apart: all are missing or constant categories.")
        return self

    @property
    def category_scale(self):
        """Scale of categories: root mean square of the standard deviations of the numbers; 1 if they are scaled."""
        spreads = [number.spread for column in self.columns for number in column.numbers if number.observed]
        return float(np.sqrt(np.mean(np.square(spreads)))) or 1.0 if spreads else 1.0

    def share(self, scale):
        """Give all numbers one scale."""
        self.shared = True
        for column in self.columns:
            column.scale = scale

    @property
    def has_categories(self):
        return any(isinstance(column, Levels) for column in self.columns)

    @property
    def features(self):
        """Feature of each coordinate, (d,), numbered without those that have none."""
        widths = [column.width for column in (*self.columns, *self.gaps) if column.width]
        return np.repeat(np.arange(len(widths)), widths)

    @property
    def column_of(self):
        """Place of the column that each coordinate comes from, (d,)."""
        own = np.repeat(np.arange(len(self.columns)), [column.width for column in self.columns])
        return np.concatenate([own, [gap.position for gap in self.gaps if gap.width]]).astype(np.intp)

    @property
    def categories(self):
        """Categories that have coordinates."""
        return [column for column in self.columns if isinstance(column, Levels) and column.width]

    def spreads(self, X, weights=None):
        """Spread of each coordinate of X, (d,); that of categories is the scale of their indicators."""
        columns = (*self.columns, *self.gaps)
        fixed = [np.repeat(isinstance(column, Levels | Gap), column.width) for column in columns]
        return np.where(np.concatenate(fixed), self.category_scale, spreads(X, weights))

    @property
    def as_columns(self):
        """Whether queries have to be read as columns."""
        return any(not isinstance(column, Number) for column in self.columns)

    @property
    def left_out(self):
        """Columns without coordinates that could have some."""
        return [column for column in self.columns if isinstance(column, LeftOut)]

    @property
    def log_scales(self):
        """Logarithm of the scale of each coordinate, (d,): 0 for those of categories."""
        scales = [
            [np.log(number.scale) for number in column.numbers if number.observed] or [0.0] * column.width
            for column in self.columns
        ]
        return np.concatenate([*scales, np.zeros(sum(gap.width for gap in self.gaps))])

    @staticmethod
    def plain(columns):
        """Columns of numbers and truth values as a matrix (n, d), without scales; float32 if all are."""
        values = [numbers(column) for column in columns]
        single = all(column.dtype == np.float32 for column in values)
        return np.column_stack([column.astype(np.float32 if single else np.float64, copy=False) for column in values])

    def encode(self, columns):
        """Coordinates (n, d) of columns, float32 if all are numbers of that precision."""
        if len(columns) != len(self.columns):
            raise ValueError(f"X has {len(columns)} features, but the table was learned with {len(self.columns)}.")
        parts, category_scale = [], self.category_scale
        for own, column in zip(self.columns, columns, strict=True):
            if own.width:
                part = own.encode(column)
                parts.append(part * (own.factor * category_scale) if isinstance(own, Levels) else part)
        parts.extend(self._gaps_of([columns[gap.position].missing for gap in self.gaps if gap.width], parts[0].dtype))
        return np.concatenate(parts, axis=1)

    def _gaps_of(self, missing, dtype):
        """Coordinates (n, 1) of the gaps that count, from the mask of each."""
        gaps, category_scale = [gap for gap in self.gaps if gap.width], self.category_scale
        return [
            (mask * (gap.scale * gap.factor * category_scale)).astype(dtype)[:, None]
            for gap, mask in zip(gaps, missing, strict=True)
        ]

    def scaled(self, X):
        """Coordinates of an array of numbers, for a table without categories; in its precision."""
        gaps = self._gaps_of([np.isnan(X[:, gap.position]) for gap in self.gaps if gap.width], X.dtype)
        observed = [own.observed for own in self.columns]
        if not all(observed):
            X = X[:, observed]
        centers, scales = zip(*[(own.center, own.scale) for own in self.columns if own.observed], strict=True)
        X = scaled(X, np.array(centers), np.array(scales))
        return np.concatenate([X, *gaps], axis=1) if gaps else X

    def described(self):
        """A line for each column."""
        return [f"{column.name}: {column.described()}" for column in self.columns]


def learned_column(column, is_category, scale, weights=None):
    """What becomes of a column; None for numbers, which are learned together."""
    if is_category:
        return Levels.learned(column, column.kind, weights)
    if column.dates is not None:
        return Dates.learned(column, scale, weights)
    reason = reason_to_leave_out(column)
    if reason is not None:
        return LeftOut(column.name, reason)
    return None


def names_categories(spec):
    """Whether a user names columns that are categories."""
    return (
        spec is not None
        and not (isinstance(spec, str) and spec == "from_dtype")
        and np.size(spec) > 0
        and (np.asarray(spec).dtype.kind != "b" or bool(np.any(spec)))
    )


def categorical_columns(spec, columns):
    """Which columns are categories, as HistGradientBoostingClassifier reads its parameter of that name."""
    n = len(columns)
    if spec is None:
        return [False] * n
    if isinstance(spec, str):
        if spec != "from_dtype":
            raise ValueError(f'categorical_features must be "from_dtype", names, positions or a mask, got {spec!r}.')
        texts = [column.kind != NUMBER and column.dates is None for column in columns]
        return [text and reason_to_leave_out(column) is None for text, column in zip(texts, columns, strict=True)]
    given = np.asarray(spec)
    if given.dtype.kind == "b":
        if given.shape != (n,):
            raise ValueError(f"categorical_features is a mask of shape {given.shape}, but X has {n} columns.")
        return given.tolist()
    if given.dtype.kind in "iu":
        if given.size and (given.min() < 0 or given.max() >= n):
            raise ValueError(f"categorical_features has positions outside 0 to {n - 1}: {given.tolist()}.")
        return np.isin(np.arange(n), given).tolist()
    names = [column.name for column in columns]
    unknown = [name for name in given.tolist() if name not in names]
    if unknown:
        raise ValueError(f"categorical_features has {unknown[0]!r}, which is no column of X: there are {names[:20]}.")
    return [name in set(given.tolist()) for name in names]


def require_numbers(columns, categorical, name):
    """Raise for the first column that is neither a category nor numbers."""
    for column, is_category in zip(columns, categorical, strict=True):
        if is_category or column.kind in (NUMBER, BOOLEAN) or column.dates is not None or reason_to_leave_out(column):
            continue
        example = next(iter(column.values[~column.missing]), None)
        raise ValueError(
            f"Column {column.name!r} of X holds {column.kind} values such as {example!r}, and {name} takes numbers "
            "here: name the column in categorical_features, make numbers of it, or drop it."
        )
