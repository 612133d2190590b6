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
from ..plots import save  # noqa: E402
from . import pages  # noqa: E402
from .cells import Store  # noqa: E402
from .data import MissingData, Source  # noqa: E402
from .results import Results  # noqa: E402
from .tables import Table, select  # noqa: E402

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
    store, source = Store(options.out), Source(options.data, not options.offline)
    store.run([cell for item in items for cell in item.cells], source, options.jobs, options.quiet)
    results = Results(options.out)
    for item in items:
        if isinstance(item, Table):
            results.note(item, store)
        else:
            results.note_figure(item, draw(item, store, source, options.out / "figures"))
    results.save()
    for failure in sorted(set(store.failures.values())):
        print(failure)


def draw(figure, store, source, folder):
    """Draw a figure. Returns {"caption": text}, or {"missing": reason}."""
    values = [store.value(wanted) for wanted in figure.cells]
    for wanted, value in zip(figure.cells, values, strict=True):
        if value is None:
            return {"missing": store.failures.get(wanted.key, "not drawn")}
    try:
        with warnings.catch_warnings():  # bandwidths that are tried and leave a map undetermined
            warnings.simplefilter("ignore", ConvergenceWarning)
            picture, caption = figure.drawn(source, values)
    except MissingData as missing:
        return {"missing": str(missing)}
    if number := figure.name.partition(":fig")[2]:
        picture.supxlabel(f"after figure {number} of the paper", x=0.99, ha="right", fontsize=7, color="gray")
    save(picture, folder / pages.picture_name(figure), dpi=100)
    return {"caption": caption}


if __name__ == "__main__":
    main()
