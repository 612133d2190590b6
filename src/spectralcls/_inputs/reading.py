"""How the cells of one source are read, and what could not be read: a data frame, unless a subclass is of a file."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .._utils.advice import tell
from .cells import MISSING, Writing

_MOST_CELLS, _MOST_ROWS = 5, 3  # named in a message


class Unclear(ValueError):
    """Raised for a column whose type only the user can decide; says what to do about a file, and about a frame."""

    def __init__(self, what, in_file, in_frame):
        super().__init__(what)
        self.what, self.in_file, self.in_frame = what, in_file, in_frame

    @classmethod
    def of_thousands(cls, cell):
        """Of numbers such as 1.234, whose separator may mean either."""
        return cls(
            f"has numbers such as {cell!r}, in which thousands and fractions cannot be told apart",
            "say --decimal . or --decimal ,",
            "read the file with pandas.read_csv(..., decimal=',') or (..., thousands=','), or with "
            "spectralcls.datasets.read_table",
        )


class Bad(NamedTuple):
    """A cell that does not fit its column."""

    column: Any
    cell: str
    rows: np.ndarray  # that contain it
    kind: str  # of the column
    like: str = ""  # a cell in the unit of the others, from which this one differs
    always: bool = False  # an error even if unknown cells count as missing

    def said(self, place):
        """The cell and its rows, named by a function of rows."""
        return f"{self.cell!r} in {place(self.rows)}" + f" (others are like {self.like!r})" * bool(self.like)


@dataclass
class Reading:
    """The context of a source, with what could not be read.

    Attributes
    ----------
    writing : Writing
    words, own_words : collection of str
        Words for a missing value, in lower case; in columns that the user calls categories, only the own words count.
    order : str or None
        The user's order of dates.
    learning : bool
        Whether types are learned; otherwise the columns are those of a further source.
    bad, unclear : list
        Cells that do not fit, and what is wrong with whole columns.
    notes, numbers : list of str
        What the user should know, and columns of texts that are read as numbers.
    """

    writing: Writing = Writing()
    words: Any = MISSING
    own_words: Any = frozenset()
    order: str | None = None
    learning: bool = False
    bad: list = field(default_factory=list)
    unclear: list = field(default_factory=list)
    notes: list = field(default_factory=list)
    numbers: list = field(default_factory=list)

    of_file = False

    def called(self, name):
        """A column in a sentence."""
        return f"Column {name!r} of X"

    def place(self, rows):
        """Rows in a sentence."""
        return some_rows("row", rows.tolist(), rows.tolist()[:_MOST_ROWS])

    def refuse(self, name, error):
        """Keep an `Unclear` of a column for the message."""
        self.unclear.append(f"{self.called(name)} {error.what}: {error.in_file if self.of_file else error.in_frame}")

    def check(self):
        """Raise a ValueError about everything that could not be read; otherwise tell the notes."""
        if self.unclear:
            raise ValueError(self._where() + "; ".join(self.unclear))
        if self.bad:
            self._refuse_bad()
        for note in self.notes:
            tell(self._where() + note)
        self.notes.clear()

    def _where(self):
        return ""

    def _refuse_bad(self):
        name, kind = self.bad[0].column, self.bad[0].kind
        cells = [bad for bad in self.bad if bad.column == name]
        listed = ", ".join(bad.said(self.place) for bad in cells[:_MOST_CELLS])
        listed += f" and {len(cells) - _MOST_CELLS} more cells" * (len(cells) > _MOST_CELLS)
        if not self.learning:
            raise ValueError(f"{self.called(name)} holds texts, but held {kind}s in fit: {listed}.")
        raise ValueError(
            f"{self.called(name)} holds {kind}s, but not in all cells: {listed}. Correct the cells, make them missing, "
            "or name the column in categorical_features."
        )


def some_rows(unit, rows, shown):
    """Numbers of rows, such as "lines 3, 5 and 2 more"."""
    more = f" and {len(rows) - len(shown)} more" if len(rows) > len(shown) else ""
    return f"{unit}{'s' if len(rows) > 1 else ''} {', '.join(map(str, shown))}{more}"


def vote(shares, choices):
    """The reading that most columns favor, given the fraction of each column's cells that it parses; None for a tie."""
    votes = dict.fromkeys(choices, 0)
    for of_column in shares:
        best = max(of_column, key=of_column.get)
        votes[best] += of_column[best] >= 0.5 and min(of_column.values()) < of_column[best]
    return None if len(set(votes.values())) == 1 else max(votes, key=votes.get)
