"""``python -m bench.reproduce [TABLE ...] [--data DIR] [--trials N] [--jobs N] [--out DIR]``."""

import argparse
import os
import sys
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from sklearn.exceptions import ConvergenceWarning  # noqa: E402

from ..data import folder  # noqa: E402
from . import pages  # noqa: E402
from .cells import Store, run  # noqa: E402
from .data import MissingData, Source  # noqa: E402
from .registry import Table, select  # noqa: E402
from .results import Results  # noqa: E402

OUT = Path(__file__).resolve().parents[2] / "docs" / "results"


def parser():
    found = argparse.ArgumentParser(prog="python -m bench.reproduce", description="The papers' tables and figures.")
    found.add_argument("tables", nargs="*", metavar="TABLE", help="001:9.3, 003:2, 001:fig9.6, or a paper (002)")
    found.add_argument("--data", default=folder(), metavar="DIR", help="folder of the .npz files")
    found.add_argument("--trials", type=int, default=100, metavar="N", help="at most so many trials (100)")
    found.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="processes (all cores)")
    found.add_argument("--out", type=Path, default=OUT, metavar="DIR", help="where pages go (docs/results)")
    found.add_argument("--offline", action="store_true", help="do not look for missing data on OpenML")
    found.add_argument("--pages", action="store_true", help="compute nothing: pages from the record")
    found.add_argument("--quiet", action="store_true", help="no progress")
    return found


@plt.style.context("spectralcls.plotting.spectralcls")
def main(arguments=None):
    options = parser().parse_args(arguments)
    try:
        items = select(options.tables, options.trials)
    except ValueError as error:
        sys.exit(str(error))
    options.out.mkdir(parents=True, exist_ok=True)
    if not options.pages:
        compute(items, options)
    for paper, count in pages.write_pages(options.out).items():
        print(f"{paper}: {pages.summary(count)}")


def compute(items, options):
    """Run the unfinished cells, draw the figures, and enter the results into the record."""
    store = Store(options.out / "cells.json")
    source = Source(options.data, not options.offline)
    cells = [entry.cell for item in items if isinstance(item, Table) for entry in item.entries]
    cells += [cell for item in items if not isinstance(item, Table) for cell in item.cells]
    run(cells, store, source, jobs=options.jobs, silent=options.quiet)
    results = Results(options.out)
    results.note(items, store, draw(items, store, source, options.out))
    results.save()
    for failure in sorted(set(store.failures.values())):
        print(failure)


def draw(items, store, source, out):
    """Draw the figures. Returns {name: {"caption": text}, or {"missing": reason} if a figure cannot be drawn}."""
    captions = {}
    (out / "figures").mkdir(exist_ok=True)
    for figure in items:
        if isinstance(figure, Table):
            continue
        values = [store.value(wanted) for wanted in figure.cells]
        lacking = [wanted for wanted, value in zip(figure.cells, values, strict=True) if value is None]
        if lacking:
            captions[figure.name] = {"missing": store.failure(lacking[0]) or "not drawn"}
            continue
        try:
            with warnings.catch_warnings():  # bandwidths that are tried and leave a map undetermined
                warnings.simplefilter("ignore", ConvergenceWarning)
                picture, caption = figure.function()(source, *values, **dict(figure.arguments))
        except MissingData as missing:
            captions[figure.name] = {"missing": str(missing)}
            continue
        if number := figure.name.partition(":fig")[2]:
            picture.supxlabel(f"after figure {number} of the paper", x=0.99, ha="right", fontsize=7, color="gray")
        picture.savefig(out / "figures" / pages.picture_name(figure), dpi=100)
        plt.close(picture)
        captions[figure.name] = {"caption": caption}
    return captions


if __name__ == "__main__":
    main()
