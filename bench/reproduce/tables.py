"""The papers: their tables and figures (``papers/*.toml``), the place of each number among ours, and the verdicts.

A table of ``papers/*.toml`` has `numbers`, a row of columns for each of its rows, and says which `cell` computes ours
and which `path` leads to a number in the value of the cell. In these, in the titles `row` and `column`, and in the
arguments of the cell, ``{row}`` and ``{column}`` stand for the names of the place. `only` has other settings for single
rows. A table of another form names the function that makes its entries, its `kind`.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from math import sqrt
from pathlib import Path
from typing import NamedTuple

from .cells import Cell, cell, function_of

FOLDER = Path(__file__).parent / "papers"
STANDARD_ERRORS = 2  # two means agree if they differ by at most this many standard errors of the difference
DEVIATIONS = 2  # a number is in the paper's spread within this many deviations of single trials
POINTS = 1.5  # the least spread in percentage points, also used if a paper gives no deviation
VERDICTS = ("agrees", "in the spread", "outside")


@cache
def published(name):
    """What papers/NAME.toml holds."""
    return tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def line(text):
    """A text of several lines as one."""
    return " ".join(text.split())


PAPERS = {path.stem: published(path.stem)["title"] for path in sorted(FOLDER.glob("0*.toml"))}


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

    @property
    def cells(self):
        return [entry.cell for entry in self.entries]


@dataclass(frozen=True)
class Figure:
    """`draw` is "module.function": ``function(source, values of the cells, **arguments)`` returns the figure and the
    values of its caption.
    """

    name: str  # "001:fig9.6"
    title: str
    draw: str
    caption: str
    cells: tuple
    arguments: dict

    def drawn(self, source, values):
        """The figure, and its caption."""
        picture, found = function_of(self.draw)(source, *values, **self.arguments)
        return picture, self.caption.format(**found)


def covers(reason, table, entry):
    """Whether a reason of a paper concerns a number; it names tables and, optionally, rows and columns."""
    return (
        table.name.split(":")[1] in reason["tables"]
        and entry.row in reason.get("rows", [entry.row])
        and entry.column in reason.get("columns", [entry.column])
    )


def cell_of(spec, trials, **names):
    """The cell of a table of TOML, in which text is filled with names, with at most this many trials."""
    filled = {key: value.format(**names) if isinstance(value, str) else value for key, value in spec.items()}
    return cell(**filled | ({"trials": min(trials, filled["trials"])} if "trials" in filled else {}))


def pair(number):
    """A number and its deviation, None if it has none."""
    return number if isinstance(number, list) else (number, None)


def plain(spec, trials):
    """Entries of a table whose rows all have the same form."""
    for row, numbers in spec["numbers"].items():
        own, titles = spec | spec.get("only", {}).get(row, {}), spec.get("titles", {})
        for column, number in numbers.items():
            names = {"row": row, "column": column}
            shown = {name: titles.get(title, title) for name, title in names.items()}
            options = {key: own[key] for key in ("digits", "trials", "counted", "specified") if key in own}
            yield Entry(
                own.get("row", "{row}").format(**shown),
                own.get("column", "{column}").format(**shown),
                *pair(number),
                cell_of(own["cell"], trials, **names),
                tuple(step.format(**names) for step in own["path"]),
                points=None if own.get("points") == "ours" else 1.0,
                **options,
            )


def everything(trials):
    """All tables and figures, with at most this many trials; some protocols have fewer."""
    for number in PAPERS:
        found = published(number)
        for spec in found["tables"]:
            entries, reading = plain(spec, trials), spec.get("reading", "")
            if "kind" in spec:
                entries, reading = function_of(spec["kind"])(spec, trials)
            yield Table(f"{number}:{spec['name']}", spec["title"], tuple(entries), line(reading))
        for spec in found["figures"]:
            cells = tuple(cell_of(each, trials) for each in spec.get("cells", ()))
            name = f"{number}:{spec['name']}"
            yield Figure(name, spec["title"], spec["draw"], line(spec["caption"]), cells, spec.get("arguments", {}))


def select(wanted, trials):
    """Those named ("001:9.3", "001:fig9.6", or a paper, "002"), in the order of the papers."""
    items, lowered = list(everything(trials)), [name.lower() for name in wanted]
    names = {item.name.lower() for item in items} | set(PAPERS)
    if unknown := [name for name in lowered if name not in names]:
        raise ValueError(
            f"There is no table or figure {', '.join(unknown)}. There are: "
            f"{', '.join(item.name for item in items)}; or a whole paper: {', '.join(PAPERS)}."
        )
    return [item for item in items if not wanted or {item.name.lower(), item.name.split(":")[0]} & set(lowered)]
