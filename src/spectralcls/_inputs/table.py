"""A learned table: the types of its columns and the coordinates of their numbers."""

from dataclasses import dataclass, field

import numpy as np

from .._tuning import spreads
from .columns import FREE_TEXT, TOLD, learn
from .coordinates import Indicators, Scaled, scaled
from .frames import NUMBER, Columns, of_numbers
from .level_means import with_level_means
from .reading import Reading
from .types import LEFT_OUT, Number, from_state, matrix, to_state, values_of

_OF_NUMBERS = ("center", "scale", "observed", "spread")


@dataclass
class Table:
    """Converts columns to a matrix of numbers, and the numbers to coordinates.

    Attributes
    ----------
    types : list of ColumnType
        Type of each column.
    columns : list of Scaled or Indicators
        Coordinates of each number of the matrix.
    shared : bool
        Whether all numbers share one scale.
    gaps : list of Gap
        Indicators of informative missing values.
    """

    types: list
    columns: list
    shared: bool = False
    gaps: list = field(default_factory=list)

    def __getstate__(self):
        """Store numbers as joint arrays and types as one text, because model files list every object."""
        at = [i for i, column in enumerate(self.columns) if not column.is_category]
        state = {key: np.array([getattr(self.columns[i], key) for i in at]) for key in _OF_NUMBERS}
        others = [column for column in self.columns if column.is_category]
        fixed = {"at": np.array(at, dtype=np.intp), "others": others, "shared": self.shared, "gaps": self.gaps}
        return fixed | state | {"types": to_state(self.types)}

    def __setstate__(self, state):
        self.types, self.shared, self.gaps = from_state(state["types"]), state["shared"], state["gaps"]
        names = [name for own in self.types for name in own.features]
        self.columns = list(state["others"])
        values = zip(*(state[key].tolist() for key in _OF_NUMBERS), strict=True)
        for at, of_number in zip(state["at"].tolist(), values, strict=True):
            self.columns.insert(at, Scaled(names[at], **dict(zip(_OF_NUMBERS, of_number, strict=True))))

    @classmethod
    def learned(cls, columns, categorical, scale, weights=None, name="the estimator", answers=None):
        """Learn a table from columns, and return it with the columns, some of which hold means of the `answers`.

        `categorical` marks the categories (None: the column's values decide), and `scale` says whether to scale
        numbers.
        """
        reading = Reading(learning=True)
        types = learn(columns, categorical, weights, name, reading)
        types, columns = with_level_means(types, columns, answers)
        return cls.of_values(types, values_of(types, columns, reading=reading), scale, weights), columns

    @classmethod
    def of_values(cls, types, values, scale, weights=None):
        """Learn a table from the numbers of columns of known types, a list of arrays (n,)."""
        own = [each for each in types for _ in each.features]
        names = [name for each in types for name in each.features]
        plain = [j for j, each in enumerate(own) if not each.is_category]
        numbers = Scaled.of_columns([names[j] for j in plain], [values[j] for j in plain], scale, weights)
        found = dict(zip(plain, numbers, strict=True))
        for j in set(range(len(own))).difference(plain):
            found[j] = Indicators.learned(own[j], values[j], weights)
        return cls(types, [found[j] for j in range(len(own))])

    @classmethod
    def of_numbers(cls, X, scale, weights=None, names=None, decides=True):
        """Learn a table from an array of numbers; None if they remain unchanged."""
        if names is None:
            return cls.of_values([Number(j) for j in range(X.shape[1])], list(X.T), scale, weights) if scale else None
        columns = Columns(of_numbers(name, values) for name, values in zip(names, X.T, strict=True))
        table, _ = cls.learned(columns, [None if decides else False] * len(columns), scale, weights)
        return table if scale or table.as_columns else None

    @classmethod
    def joined(cls, tables):
        """One table with the columns of several tables."""
        return cls(*([one for table in tables for one in getattr(table, name)] for name in ("types", "columns")))

    def checked(self):
        """Return this table.

        Raises
        ------
        ValueError
            If it has no coordinate.
        """
        if not any(column.width for column in self.columns):
            told = [f"{own.name!r} is left out ({own.note})" for own in self.left_out if own.note in TOLD]
            why = f"{'; '.join(told[:10])}. Name categories in categorical_features" if told else ""
            if any(own.note == FREE_TEXT for own in self.left_out):
                why += ", or turn texts into numbers, as sklearn.feature_extraction.text.TfidfVectorizer does"
            why = why or "all are missing or constant categories"
            raise ValueError(f"No column of X distinguishes samples: {why}.")
        return self

    def check_numbers(self, name):
        """Raise unless every coordinate is a scaled number from the user's data."""
        others = [own.name for own in self.types if own.kind != NUMBER or own.is_category]
        if others or self.gaps:
            what = f"the column {others[0]!r} is not" if others else "those with missing values get indicators"
            raise ValueError(f"This {name} has columns that are not plain numbers: {what}. Encode them before fit.")

    @property
    def numbers(self):
        """Numbers with a coordinate."""
        return [column for column in self.columns if not column.is_category and column.observed]

    @property
    def category_scale(self):
        """Scale of categories: the root mean square of the spreads of the numbers' coordinates; 1 if there are none."""
        spreads = [number.spread for number in self.numbers]
        return float(np.sqrt(np.mean(np.square(spreads)))) or 1.0 if spreads else 1.0

    def share(self, scale):
        """Give all numbers one scale."""
        self.shared = True
        for column in self.columns:
            column.scale = scale

    @property
    def has_categories(self):
        return any(column.is_category for column in self.columns)

    @property
    def features(self):
        """Feature of each coordinate, (d,); features without coordinates are not numbered."""
        widths = [column.width for column in (*self.columns, *self.gaps) if column.width]
        return np.repeat(np.arange(len(widths)), widths)

    @property
    def number_of(self):
        """Position in the matrix of the number from which each coordinate is computed, (d,)."""
        own = np.repeat(np.arange(len(self.columns)), [column.width for column in self.columns])
        return np.concatenate([own, [gap.position for gap in self.gaps if gap.width]]).astype(np.intp)

    @property
    def column_of(self):
        """Position of the column from which each coordinate is computed, (d,)."""
        return np.repeat(np.arange(len(self.types)), [len(own.features) for own in self.types])[self.number_of]

    @property
    def categories(self):
        """Categories with coordinates."""
        return [column for column in self.columns if column.is_category and column.width]

    def spreads(self, X, weights=None):
        """Spread of each coordinate of X, (d,); for categories and gaps, the scale of categories."""
        fixed = [np.repeat(column.is_category, column.width) for column in self.columns]
        gaps = np.ones(sum(gap.width for gap in self.gaps), dtype=bool)
        return np.where(np.concatenate([*fixed, gaps]), self.category_scale, spreads(X, weights))

    @property
    def as_columns(self):
        """Whether queries must be read as columns."""
        return any(own.kind != NUMBER for own in self.types)

    @property
    def left_out(self):
        """Columns that are left out."""
        return [own for own in self.types if own.kind == LEFT_OUT]

    @property
    def log_scales(self):
        """Logarithm of the scale of each coordinate, (d,); 0 for categories and gaps."""
        scales = [np.full(c.width, 0.0 if c.is_category else np.log(c.scale)) for c in self.columns]
        return np.concatenate([*scales, np.zeros(sum(gap.width for gap in self.gaps))])

    def matrix(self, columns):
        """The numbers of columns, (n, d)."""
        return matrix(self.types, columns)

    def encode(self, columns):
        """Coordinates (n, d) of columns, float32 if all are numbers of that precision."""
        wanted = np.isin(np.arange(len(self.types)), self.column_of)
        return self.scaled(matrix(self.types, columns, wanted))

    def scaled(self, X):
        """Coordinates of the matrix of numbers, in its precision."""
        parts, numbers = [], []
        category_scale = self.category_scale if self.has_categories or self.gaps else 1.0
        for j, column in enumerate((*self.columns, None)):
            if column is not None and not column.is_category:
                numbers += [j] * column.width
                continue
            if numbers:
                parts.append(self._scaled(X, numbers))
                numbers = []
            if column is not None and column.width:
                parts.append(column.encode(X[:, j]) * (column.factor * category_scale))
        parts += [
            (np.isnan(X[:, [gap.position]]) * (gap.scale * gap.factor * category_scale)).astype(X.dtype)
            for gap in self.gaps
            if gap.width
        ]
        return np.concatenate(parts, axis=1) if len(parts) > 1 else parts[0]

    def _scaled(self, X, places):
        """Coordinates of the numbers at some positions of the matrix."""
        own = [self.columns[j] for j in places]
        X = X if len(places) == X.shape[1] else X[:, places]
        return scaled(X, np.array([one.center for one in own]), np.array([one.scale for one in own]))


def names_categories(spec):
    """Whether the user names some columns as categories."""
    return (
        spec is not None
        and not (isinstance(spec, str) and spec == "from_dtype")
        and np.size(spec) > 0
        and (np.asarray(spec).dtype.kind != "b" or bool(np.any(spec)))
    )


def categorical_columns(spec, columns):
    """Whether each column is a category, from a `spec` in the format of HistGradientBoostingClassifier.

    None in the result means that the kind and values of the column decide.
    """
    n = len(columns)
    if spec is None:
        return [False] * n
    if isinstance(spec, str):
        if spec != "from_dtype":
            raise ValueError(f'categorical_features must be "from_dtype", names, positions or a mask, got {spec!r}.')
        return [None] * n
    given = np.asarray(spec)
    if given.dtype.kind == "b":
        if given.shape != (n,):
            raise ValueError(f"categorical_features is a mask of shape {given.shape}, but X has {n} columns.")
        return given.tolist()
    if given.dtype.kind in "iu":
        if given.size and (given.min() < 0 or given.max() >= n):
            raise ValueError(f"categorical_features has positions outside 0 to {n - 1}: {given.tolist()}.")
        return np.isin(np.arange(n), given).tolist()
    wanted, names = given.ravel().tolist(), [column.name for column in columns]
    known = set(names)
    for name in wanted:
        if name not in known:
            raise ValueError(
                f"categorical_features has {name!r}, which is not a column of X: columns are {names[:20]}."
            )
    chosen = set(wanted)
    return [name in chosen for name in names]
