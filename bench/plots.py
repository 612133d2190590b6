"""Pictures of records as SVG, for rows too wide for a table."""

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

STYLE = "spectralcls.plotting.spectralcls"
MARKERS = "o^sDvPX*<>hd"
REPRODUCIBLE = {"svg.hashsalt": "spectralcls", "svg.fonttype": "path"}


def number(value):
    """The median of a figure with a spread, or the number itself; NaN for anything else."""
    if isinstance(value, dict):
        return value["median"]
    return float(value) if isinstance(value, int | float) else np.nan


def save(figure, path, dpi=None):
    path.parent.mkdir(parents=True, exist_ok=True)
    with plt.rc_context(REPRODUCIBLE):
        figure.savefig(path, dpi=dpi, metadata={"Date": None} if path.suffix == ".svg" else None)
    if path.suffix == ".png":
        reduced(path)
    plt.close(figure)


def reduced(path):
    """Write a picture again with 128 colors, which takes a third of the bytes."""
    with Image.open(path) as picture:
        palette = picture.convert("RGB").quantize(128, dither=Image.Dither.NONE)
    palette.save(path, optimize=True)


@dataclass(frozen=True)
class Lines:
    """A line for each column that starts with `columns`, against the column `x`, with a panel for each value of
    `panels`.

    The band is the spread. `level` draws a horizontal line, 1 for ratios.
    """

    rows: list
    x: str
    columns: str = "x "
    panels: tuple = ()
    label: str = "time of the peer / ours"
    level: float = 1.0

    def draw(self, path):
        groups = {}
        for row in self.rows:
            groups.setdefault(", ".join(f"{key} = {row[key]}" for key in self.panels), []).append(row)
        names = list(dict.fromkeys(key for row in self.rows for key in row if key.startswith(self.columns)))
        with plt.style.context(STYLE):
            width = 3.6 * len(groups) + 1.6
            figure, axes = plt.subplots(1, len(groups), figsize=(width, 3.6), sharey=True, squeeze=False)
            for ax, (title, rows) in zip(axes[0], groups.items(), strict=True):
                for name, marker in zip(names, MARKERS * 3, strict=False):
                    self._line(ax, rows, name, marker)
                ax.axhline(self.level, color="grey", linewidth=0.8)
                ax.set(xscale="log", yscale="log", xlabel=self.x, title=title)
                ticks = sorted({row[self.x] for row in rows})
                ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
                ax.minorticks_off()
            axes[0, 0].set_ylabel(self.label)
            axes[0, -1].legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8)
            save(figure, path)

    def _line(self, ax, rows, name, marker):
        rows = sorted((row for row in rows if name in row), key=lambda row: row[self.x])
        x, y = [row[self.x] for row in rows], np.array([number(row[name]) for row in rows])
        (line,) = ax.plot(x, y, marker=marker, markersize=4, label=name.removeprefix(self.columns))
        reach = np.array([row[name]["spread"] if isinstance(row[name], dict) else 0.0 for row in rows])
        ax.fill_between(x, y - reach, y + reach, color=line.get_color(), alpha=0.2, linewidth=0)


@dataclass(frozen=True)
class Dots:
    """A line of dots for each row: one dot for each column, with a bar for its spread. `level` draws a vertical line.

    With `panels` each column has a separate panel, and those in `log` have a logarithmic axis. The row `marked` is
    bold.
    """

    rows: list
    of: str
    columns: tuple
    label: str
    level: float | None = None
    log: tuple = ()
    panels: bool = False
    marked: str | None = None

    @property
    def alt(self):
        return f"{self.label}: {', '.join(str(row[self.of]) for row in self.rows)}"

    def draw(self, path):
        count = len(self.columns) if self.panels else 1
        with plt.style.context(STYLE):
            size = (7.5 + 0.5 * (count - 1), 1.0 + 0.22 * len(self.rows))
            figure, axes = plt.subplots(1, count, figsize=size, sharey=True, squeeze=False)
            places = np.arange(len(self.rows))[::-1]
            for i, (name, marker) in enumerate(zip(self.columns, MARKERS * 3, strict=False)):
                ax = axes[0, i if self.panels else 0]
                values = [number(row.get(name)) for row in self.rows]
                reach = [row[name]["spread"] if isinstance(row.get(name), dict) else 0.0 for row in self.rows]
                marker = "o" if self.panels else marker
                ax.errorbar(values, places, xerr=reach, fmt=marker, markersize=5, linewidth=1, label=name, alpha=0.8)
                for value, place in zip(values, places, strict=True):
                    if self.rows[len(places) - 1 - place][self.of] == self.marked:
                        ax.plot(value, place, marker, color="C1", markersize=7, zorder=3)
                ax.set(xlabel=name if self.panels else self.label, xscale="log" if name in self.log else "linear")
                if name in self.log:
                    ax.xaxis.set_major_formatter("{x:g}")
                if self.level is not None:
                    ax.axvline(self.level, color="grey", linewidth=0.8)
            labels = axes[0, 0].set_yticks(places, [str(row[self.of]) for row in self.rows], fontsize=8)
            for tick in labels:
                if tick.label1.get_text() == self.marked:
                    tick.label1.set_fontweight("bold")
            if len(self.columns) > count:
                axes[0, 0].legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8)
            save(figure, path)
