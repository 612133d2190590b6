"""What a table and a figure are, and the list of all of them."""

import importlib
from dataclasses import dataclass

from .cells import Cell

PAPERS = {
    "000": "The Laplacian spectral classifier",
    "001": "Information theoretic learning: ISE classifiers (thesis)",
    "002": "Spectral kernels for classification",
    "003": "PerTurbo",
    "004": "Classification constrained dimensionality reduction (CCDR)",
}
POINTS = 1.5  # the least tolerance, in points of per cent


@dataclass(frozen=True)
class Entry:
    """A number of a paper and where ours is: ``path`` leads into the cell's value, to x or [mean, deviation].

    `points`: how many points of per cent one unit is (for counts: 100 / size of the test set); None where the
    paper's number is of one random draw in another unit, and two of *our* deviations are the tolerance.
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
    calibrated: bool = False  # a size of the data that the paper leaves open was chosen for such agreement

    def ours(self, store):
        """(mean, deviation or None), or None where there is no result."""
        value = store.value(self.cell)
        for step in self.path:
            if value is None:
                return None
            row, value = value, value[step]
        if value is None:
            return None
        if self.row_total is not None:
            value *= self.row_total / sum(row)
        return tuple(value) if isinstance(value, list) else (value, None)

    def tolerance(self, ours):
        if self.points is None:
            return 2 * (ours[1] or 0.0)
        return max(2 * (self.deviation or 0.0), POINTS / self.points)

    def agrees(self, store):
        """True or False, None without a result."""
        ours = self.ours(store)
        if ours is None:
            return None
        return ours[0] > 0 if self.paper is None else abs(ours[0] - self.paper) <= self.tolerance(ours) + 1e-9


@dataclass(frozen=True)
class Table:
    name: str  # "001:9.1"
    title: str
    entries: tuple
    reading: str = ""  # of the paper, where it leaves something open


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


def everything(trials):
    """All tables and figures, with so many trials where the paper's protocol has no fewer."""
    found = []
    for paper in PAPERS:
        module = importlib.import_module(f"{__package__}.registry_{paper}")
        found += [*module.tables(trials), *module.figures(trials)]
    return found


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
