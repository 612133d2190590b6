"""Definitions of tables and figures, the criteria for agreement, and the list of all tables and figures."""

import importlib
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

from .cells import Cell

PAPERS = {
    "000": "The Laplacian spectral classifier",
    "001": "Information theoretic learning: ISE classifiers (thesis)",
    "002": "Spectral kernels for classification",
    "003": "PerTurbo",
    "004": "Classification constrained dimensionality reduction (CCDR)",
}
STANDARD_ERRORS = 2  # two means agree if they differ by at most this many standard errors of the difference
DEVIATIONS = 2  # a number is in the paper's spread within this many deviations of single trials
POINTS = 1.5  # the least spread in percentage points, also used if a paper gives no deviation
VERDICTS = ("agrees", "in the spread", "outside")


class Ours(NamedTuple):
    """Our number: mean and deviation over trials; the deviation of a single one is None."""

    mean: float
    deviation: float | None
    trials: int


@dataclass(frozen=True)
class Entry:
    """A number of a paper, and the place of ours: ``path`` leads to it in the value of the cell, as x or [mean,
    deviation].

    `points` is the number of percentage points in one unit (for counts: 100 / size of the test set). It is None if the
    paper's number has another unit and no deviation; our deviation is then used for the paper's.
    """

    row: str
    column: str
    paper: float | None  # None: "N.I.", and ours is the number of trials with a singular kernel matrix
    deviation: float | None
    cell: Cell
    path: tuple
    points: float | None = 1.0
    digits: int = 1
    row_total: float | None = None  # our row of counts is scaled to this sum, the printed size of the class
    trials: int = 1  # of the paper
    allowance: float = POINTS  # the least spread in percentage points
    counted: bool = True  # False if other numbers imply it, such as the diagonal of a confusion matrix
    specified: bool = True  # whether the paper says what the data are

    def ours(self, store):
        """Our number, or None if there is no result."""
        value = store.value(self.cell)
        for step in self.path:
            if value is None:
                return None
            row, value = value, value[step]
        if value is None:
            return None
        if self.row_total is not None:
            value *= self.row_total / sum(row)
        mean, deviation = value if isinstance(value, list) else (value, None)
        return Ours(mean, deviation, self.cell.trials)

    def z(self, ours):
        """The difference over its standard error; None if a deviation is unknown.

        The splits overlap, so the means are less certain than z suggests.
        """
        if self.paper is None or not ours.deviation or (self.deviation is None and self.points is not None):
            return None
        theirs = ours.deviation if self.deviation is None else self.deviation
        return (ours.mean - self.paper) / sqrt(theirs**2 / self.trials + ours.deviation**2 / ours.trials)

    def verdict(self, ours):
        """One of `VERDICTS`, or "not comparable"."""
        if not self.specified:
            return "not comparable"
        if self.paper is None:
            return "agrees" if ours.mean > 0 else "outside"
        z, difference = self.z(ours), abs(ours.mean - self.paper)
        if difference < 0.5 * 10**-self.digits if z is None else abs(z) <= STANDARD_ERRORS:
            return "agrees"
        if self.points is None:
            spread = DEVIATIONS * (ours.deviation or 0.0)
        else:
            spread = max(DEVIATIONS * (self.deviation or 0.0), self.allowance / self.points)
        return "in the spread" if difference <= spread + 1e-9 else "outside"


@dataclass(frozen=True)
class Table:
    name: str  # "001:9.1"
    title: str
    entries: tuple
    reading: str = ""  # how an ambiguous paper is read


@dataclass(frozen=True)
class Figure:
    """`draw` is "module.function": ``function(source, values of the cells)`` returns (figure, caption)."""

    name: str  # "001:fig9.6"
    title: str
    draw: str
    cells: tuple = ()
    arguments: tuple = ()

    def function(self):
        module, name = self.draw.rsplit(".", 1)
        return getattr(importlib.import_module(f"{__package__}.{module}"), name)


@dataclass(frozen=True)
class Reason:
    """The reason why a group of numbers is outside. The group is given by tables and, optionally, rows and columns."""

    group: str
    sentence: str
    tables: tuple
    rows: tuple = ()
    columns: tuple = ()

    def covers(self, table, entry):
        return (
            table.name.split(":")[1] in self.tables
            and (not self.rows or entry.row in self.rows)
            and (not self.columns or entry.column in self.columns)
        )


def everything(trials):
    """All tables and figures, with at most this many trials; some protocols have fewer."""
    found = []
    for paper in PAPERS:
        module = importlib.import_module(f"{__package__}.registry_{paper}")
        found += [*module.tables(trials), *module.figures(trials)]
    return found


def reasons(paper):
    """The reasons, written by hand, why numbers of a paper are outside."""
    return importlib.import_module(f"{__package__}.registry_{paper}").REASONS


def select(wanted, trials):
    """Those named ("001:9.3", "001:fig9.6", or a paper, "002"), in the order of the papers."""
    items = everything(trials)
    if not wanted:
        return items
    lowered = [name.lower() for name in wanted]
    unknown = [name for name in lowered if name not in PAPERS and not any(item.name.lower() == name for item in items)]
    if unknown:
        raise ValueError(
            f"There is no table or figure {', '.join(unknown)}. There are: "
            f"{', '.join(item.name for item in items)}; "
            f"or a whole paper: {', '.join(PAPERS)}."
        )
    return [item for item in items if item.name.lower() in lowered or item.name.split(":")[0] in lowered]
