"""How the cells of one source, a data frame or a file, are read, and what could not be read."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .._utils.advice import tell
from .cells import MISSING, Writing

_MOST_COLUMNS, _MOST_CELLS, _MOST_ROWS = 20, 5, 3  # named in a message
_WIDTH = 24  # characters of a cell that are shown
_ADVICE = {  # for cells of a further file that do not fit, by the kind of their column
    "level": "; --unknown missing treats unknown levels as missing values",
    "date": ", write dates as in the first file, or set --unknown missing for missing values",
    "number": ", set --decimal if the file has another decimal sign, or --unknown missing for missing values",
}


class Unclear(ValueError):
    """Raised for a column that only the user can explain; says what to do about a file, and about a frame. Each brace
    in `what` stands for one of the `cells`.
    """

    def __init__(self, what, *cells, in_file, in_frame):
        super().__init__(what)
        self.what, self.cells, self.in_file, self.in_frame = what, cells, in_file, in_frame

    @classmethod
    def of_thousands(cls, cell):
        """Of numbers such as 1.234, whose separator may mean either."""
        return cls(
            "has numbers such as {}, in which thousands and fractions cannot be told apart",
            cell,
            in_file="say --decimal . or --decimal ,",
            in_frame="read the file with pandas.read_csv(..., decimal=',') or (..., thousands=','), or with "
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
    source : Source or None
        The file; None for a data frame.
    unknown : {"error", "missing"}
        What happens with cells that do not fit.
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
    source: Any = None
    unknown: str = "error"
    bad: list = field(default_factory=list)
    unclear: list = field(default_factory=list)
    notes: list = field(default_factory=list)
    numbers: list = field(default_factory=list)

    @classmethod
    def of(cls, source, decimal=None, earlier=None, **options):
        """The context of a file, given the user's decimal sign and the usual one of an earlier file."""
        usual = None if source.delimiter is None else "," if source.delimiter == ";" else "."
        writing = Writing(decimal, usual=usual, commas=source.delimiter == ",", earlier=earlier)
        return cls(writing, source=source, **options)

    @property
    def of_file(self):
        return self.source is not None

    def called(self, name):
        """A column in a sentence."""
        return f"column {name!r}" if self.of_file else f"Column {name!r} of X"

    def place(self, rows):
        """Rows in a sentence."""
        shown = rows[:_MOST_ROWS].tolist()
        if self.of_file:
            return some_rows(self.source.unit, rows, self.source.places(shown))
        return some_rows("row", rows, shown)

    def named(self, column, cell):
        """A level or a number of a column in a sentence, with its first row."""
        rows = np.flatnonzero(column.values == (cell if column.levels is None else column.levels.index(cell)))
        return f"{cell!r} in {self.place(rows[:1])}"

    def refuse(self, column, error):
        """Keep an `Unclear` of a column for the message."""
        what = error.what.format(*(self.named(column, cell) for cell in error.cells))
        self.unclear.append(f"{self.called(column.name)} {what}: {error.in_file if self.of_file else error.in_frame}")

    def note_two_units(self, column):
        """Keep a note on a column of levels that are numbers with different words."""
        two = column.without(self.words).cells.of_two_units()
        if two:
            self.notes.append(
                f"{self.called(column.name)} has numbers with different words after them, such as "
                f"{' and '.join(self.named(column, cell) for cell in two)}, and is taken as levels, not numbers: "
                "convert them if the words are units"
            )

    def check(self):
        """Raise a ValueError about everything that could not be read; otherwise tell the notes."""
        where = f"{self.source.path}: " if self.of_file else ""
        if self.unclear:
            raise ValueError(where + "; ".join(self.unclear))
        if self.bad and (self.unknown == "error" or any(bad.always for bad in self.bad)):
            raise ValueError(where + self._all_bad())
        if self.bad:
            rows: Counter = Counter()
            for bad in self.bad:
                rows[bad.column] += len(bad.rows)
            named = listed([f"{name} ({count})" for name, count in rows.items()])
            tell(f"{where}unknown cells count as missing; their number by column: {named}")
        for note in self.notes:
            tell(where + note)
        self.bad.clear()
        self.notes.clear()

    def _all_bad(self):
        """One message about all cells that do not fit, by column."""
        columns = list(dict.fromkeys(bad.column for bad in self.bad))
        lines = []
        for name in columns[:_MOST_COLUMNS]:
            cells = [bad for bad in self.bad if bad.column == name]
            shown = [
                f"{shortened(bad.cell)!r} in {self.place(bad.rows)}"
                + f" (others are like {bad.like!r})" * bool(bad.like)
                for bad in cells[:_MOST_CELLS]
            ]
            shown += [f"and {len(cells) - _MOST_CELLS} other cells"] * (len(cells) > _MOST_CELLS)
            lines.append(f"{self.called(name)}: {', '.join(shown)}")
        lines += [f"and {len(columns) - _MOST_COLUMNS} more columns"] * (len(columns) > _MOST_COLUMNS)
        kinds = {bad.kind for bad in self.bad}
        what = f"are no {' or '.join(sorted(kinds))}s, unlike the others of their column" + " in fit" * (
            not self.learning
        )
        what = "the model does not know" if kinds == {"level"} else what
        advice = ", make them missing, or name the column in categorical_features"
        if self.of_file and self.learning:
            advice = ", name words for missing values with --missing, list the column in --categories, or --drop it"
        elif self.of_file:
            advice = next(text for kind, text in _ADVICE.items() if kind in kinds)
        return (
            "\n  ".join([f"there are {'levels' if 'level' in kinds else 'cells'} that {what}:", *lines])
            + f"\nCorrect them{advice}."
        )


def listed(names):
    """The first of some names in a sentence."""
    return ", ".join(map(repr, names[:_MOST_COLUMNS])) + (", ..." if len(names) > _MOST_COLUMNS else "")


def shortened(text):
    """Shorten a cell or a name to one short line."""
    text = " ".join(str(text).split())
    return text if len(text) <= _WIDTH else text[: _WIDTH - 3] + "..."


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
