"""The columns of a table, learned from one file and used to read others."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .._inputs.columns import MIXED
from .._inputs.frames import BOOLEAN, CATEGORY, DATE, NUMBER
from .._inputs.reading import Reading, listed, shortened
from .._inputs.types import LEFT_OUT, Number, from_state, to_state, values_of
from .._utils.typing import Array, ArrayLike

_MOST_SHOWN = 20


@dataclass(frozen=True)
class Schema:
    """The columns of a table, learned by :func:`read_table`, for other files of the same kind.

    Parameters
    ----------
    columns : tuple
        One object for each column of the file, in order, with `name`, `kind` ("number", "boolean", "category", "date"
        or "left out"), `note`, `missing` (the fraction of rows without a value) and `examples`. Numbers have `decimal`
        and `unit`, categories and booleans `levels`, dates `parts`.
    target : str, default=None
        Name of the column with the classes.
    words : tuple of str, default=()
        Words for a missing value.
    dialect : tuple, default=()
        The user's options for the format of the file: encoding, delimiter, comment, skip, header, sheet.
    width : int, default=0
        Number of columns of a file without a header, whose names are positions; 0 with a header.
    headed : str, default=""
        Description of the header's position, or "no header"; empty for Parquet.
    usual : str, default=None
        Usual decimal sign in files with this delimiter.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from spectralcls.datasets import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     old, new = Path(folder, "old.csv"), Path(folder, "new.csv")
    ...     _ = old.write_text("color,size,kind\\nred,1,x\\nblue,2,y\\nred,3,y\\n")
    ...     _ = new.write_text("size,color\\n5,blue\\n")
    ...     schema = read_table(old, target="kind").schema
    ...     table = read_table(new, schema=schema)
    >>> schema.feature_names, schema.categorical_features
    (['color', 'size'], [0])
    >>> table.data
    array([[0., 5.]])
    """

    columns: tuple
    target: str | None = None
    words: tuple = ()
    dialect: tuple = ()
    width: int = 0
    headed: str = ""
    usual: str | None = None

    def __getstate__(self):
        """Store two strings however many columns there are, because a model file lists every object."""
        own = {name: value for name, value in vars(self).items() if name != "columns"}
        return {"columns": to_state(self.columns), "json": json.dumps(own)}

    def __setstate__(self, state):
        own = {
            key: tuple(value) if isinstance(value, list) else value for key, value in json.loads(state["json"]).items()
        }
        vars(self).update(own | {"columns": tuple(from_state(state["columns"]))})

    @classmethod
    def of_numbers(cls, names: Sequence[str]) -> Self:
        """Make a schema of columns that are all numbers.

        Parameters
        ----------
        names : iterable of str
            Names of the columns.

        Returns
        -------
        schema : Schema
            A schema in which every column is a number.
        """
        return cls(tuple(Number(str(name)) for name in names), words=("", "nan"))

    @property
    def used(self) -> list[Any]:
        """Columns that are not left out."""
        return [column for column in self.columns if column.kind != LEFT_OUT]

    @property
    def names(self) -> list[str]:
        """Names of the columns that a file must have; they also locate its header."""
        return [column.name for column in self.used]

    @property
    def feature_names(self) -> list[str]:
        """Names of the columns of the encoded matrix."""
        return [name for column in self.used for name in column.features]

    @property
    def categorical_features(self) -> list[int]:
        """Positions of the categories and booleans in the encoded matrix."""
        are = [column.is_category for column in self.used for _ in column.features]
        return [position for position, is_category in enumerate(are) if is_category]

    def encode(self, source: Any, *, unknown: str = "error", decimal: str | None = None) -> Array:
        """Encode a part of a file as a matrix.

        Parameters
        ----------
        source : Source
            A source read by :func:`table_parts`.
        unknown : {"error", "missing"}, default="error"
            Treatment of a cell that does not fit its column, such as a level that the schema does not have.
        decimal : {".", ","}, default=None
            Decimal sign of the file; None takes that of the schema.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Numbers, and codes of categories and booleans; NaN if a value is missing.

        Raises
        ------
        ValueError
            If columns are missing, or cells cannot be read; one message lists them.
        """
        from ._file_columns import columns_of

        names, used = Counter(source.table.column_names), self.used
        lacking = [name for name in self.names if name not in names]
        if lacking:
            headed = f" ({source.headed})" if source.headed else ""
            raise ValueError(f"{source.path}: no column {listed(lacking)}; there are {listed(list(names))}{headed}")
        twice = [name for name in self.names if names[name] > 1]
        if twice:
            raise ValueError(f"{source.path}: more than one column {twice[0]!r}: rename one of them")
        reading = Reading.of(source, decimal, self.usual, words=frozenset(self.words), unknown=unknown)
        plain = {column.name for column in used if column.kind == NUMBER}
        columns = columns_of(source, self.names, reading.words, plain)
        return numbers_of(used, columns, reading, self.feature_names)

    def frame(self, X: ArrayLike) -> Any:
        """Convert the encoded matrix to a pandas data frame, in which categories have names.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            As `encode` returns it.

        Returns
        -------
        frame : pandas.DataFrame of shape (n_samples, n_features)
            Numbers, booleans, and categories with names.
        """
        import pandas as pd

        columns, types = [], [own for own in self.used for _ in own.features]
        for own, values in zip(types, np.asarray(X).T, strict=True):
            if own.kind == CATEGORY:
                values = pd.Categorical.from_codes(np.where(np.isnan(values), -1, values).astype(int), own.level_names)
            elif own.kind == BOOLEAN:
                values = pd.Series(values).map({0.0: False, 1.0: True}).astype("boolean")
            columns.append(pd.Series(values))
        return pd.concat(columns, axis=1, keys=self.feature_names)

    def summary(self) -> str:
        """Summarize the kinds of the columns in a few lines.

        Returns
        -------
        text : str
            Counts of the kinds of columns, codes of which not all are numbers, and the columns left out.
        """
        plurals = {NUMBER: "numbers", DATE: "dates", BOOLEAN: "booleans", CATEGORY: "categories"}
        counts = [(sum(c.kind == kind for c in self.used), kind) for kind in plurals]
        taken = ", ".join(f"{n} {kind if n == 1 else plurals[kind]}" for n, kind in counts if n)
        missing = np.mean([column.missing for column in self.used or self.columns])
        mixed = [f"{column.name} ({column.note})" for column in self.used if MIXED in column.note]
        text = f"columns: {taken or 'none'}; {100 * missing:.1f} % missing"
        if self.headed:
            text += f"; {self.headed}{', so that names are positions' * bool(self.width)}"
        out = [f"{column.name} ({column.note})" for column in self.columns if column.kind == LEFT_OUT]
        for title, names, how in (
            ("categories because of cells without a number", mixed, "with --numbers, these cells are errors"),
            ("left out", out, "with --categories or --numbers, a column is used anyway"),
        ):
            if names:
                more = f", and {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else ""
                text += f"\n{title}: {', '.join(names[:_MOST_SHOWN])}{more}; {how}"
        return text

    def describe(self) -> str:
        """Describe each column in a line: kind, fraction of missing values, examples, and remarks.

        Returns
        -------
        text : str
            The lines, below a line of titles.
        """
        shown = self.columns[:_MOST_SHOWN] if len(self.columns) > 2 * _MOST_SHOWN else self.columns
        rows = [("column", "kind", "", "missing", "examples")]
        for c in shown:
            rows.append((shortened(c.name), c.kind, c.note, f"{100 * c.missing:.1f} %", " | ".join(c.examples)))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        if len(shown) < len(self.columns):
            lines.append(f"and {len(self.columns) - len(shown)} more columns")
        return "\n".join(lines)


def numbers_of(types, columns, reading, names):
    """The numbers of columns as a matrix (n, d)."""
    values = values_of(types, columns, reading=reading)
    single = all(part.dtype == np.float32 for part in values)
    X = np.empty((columns.n_rows, len(values)), np.float32 if single else np.float64, order="F")
    for j, part in enumerate(values):
        X[:, j] = part
    if X.size and all(np.isnan(column).all() for column in X.T):
        raise ValueError(f"{reading.source.path}: all values are missing in the columns that are used: {listed(names)}")
    return X
