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
from . import defaults, pages, speed, today_page  # noqa: E402
from .cells import Store, run  # noqa: E402
from .data import MissingData, Source  # noqa: E402
from .registry import PAPERS, Table, select  # noqa: E402

OUT = Path(__file__).resolve().parents[2] / "docs" / "results"


def parser():
    found = argparse.ArgumentParser(prog="python -m bench.reproduce", description="The papers' tables and figures.")
    found.add_argument(
        "tables",
        nargs="*",
        metavar="TABLE",
        help="001:9.3, 003:2, 004:I, 001:fig9.6, a paper (002), today, defaults or speed",
    )
    found.add_argument("--data", default=folder(), metavar="DIR", help="folder of the .npz files")
    found.add_argument("--trials", type=int, default=100, metavar="N", help="at most so many trials (100)")
    found.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="processes (all cores)")
    found.add_argument("--out", type=Path, default=OUT, metavar="DIR", help="where pages go (docs/results)")
    found.add_argument("--before", metavar="FOLDER", help="for defaults: a built checkout of the earlier commit")
    found.add_argument("--offline", action="store_true", help="do not look for missing data on OpenML")
    found.add_argument("--finished", action="store_true", help="compute nothing: pages from finished cells")
    found.add_argument("--quiet", action="store_true", help="no progress")
    return found


@plt.style.context("spectralcls.plotting.spectralcls")
def main(arguments=None):
    options = parser().parse_args(arguments)
    extra = {name for name in options.tables if name in ("today", "defaults", "speed")}
    if not options.tables:
        extra = {"today", "speed"}
    if "defaults" in extra and not options.before:
        sys.exit("defaults are compared with those of an earlier commit: --before takes a checkout of it")
    wanted = [name for name in options.tables if name not in extra]
    try:
        items = select(wanted, options.trials) if wanted or not options.tables else []
    except ValueError as error:
        sys.exit(str(error))
    options.out.mkdir(parents=True, exist_ok=True)
    store = Store(options.out / "cells.json")
    source = Source(options.data, not options.offline)
    if not options.finished:
        compute(items, extra, store, source, options)
    pictures = draw(items, store, source, options.out)
    command = " ".join([*options.tables, f"--trials {options.trials}", *["--finished"] * options.finished])
    counts = pages.write_pages(items, store, pictures, options.out, command)
    if "today" in extra:
        today_page.write_page(store, options.out)
    if "defaults" in extra:
        defaults.write_page(store, options.out, options.before, options.trials)
    if "speed" in extra:
        speed.write_page(store, options.out, options.jobs)
    if set(counts) == set(PAPERS) and not options.tables:
        seconds = sum(kept["seconds"] for kept in store.cells.values())
        pages.overview(counts, seconds, options.out, options.trials, options.jobs)
    for failure in sorted(set(store.failures.values())):
        print(failure)
    for paper, count in counts.items():
        print(f"{paper}: {pages.summary(count)}")


def compute(items, extra, store, source, options):
    """First what the tables and figures show, then what explains the entries that differ."""
    tables = [item for item in items if isinstance(item, Table)]
    first = [entry.cell for table in tables for entry in table.entries]
    first += [wanted for item in items if not isinstance(item, Table) for wanted in item.cells]
    first += today_page.cells() if "today" in extra else []
    first += defaults.cells(options.before, options.trials) if "defaults" in extra else []
    first += speed.cells() if "speed" in extra else []
    run(first, store, source, jobs=options.jobs, silent=options.quiet)
    counted = [entry for table in tables if table.counted for entry in table.entries]
    differing = [entry for entry in counted if entry.agrees(store) is False]
    second = [entry.explanation for entry in differing if entry.explanation is not None]
    run(second, store, source, jobs=options.jobs, silent=options.quiet)


def draw(items, store, source, out):
    """Draw the figures; {name: caption, or why there is none}."""
    captions = {}
    (out / "figures").mkdir(exist_ok=True)
    for figure in items:
        if isinstance(figure, Table):
            continue
        values = [store.value(wanted) for wanted in figure.cells]
        lacking = [wanted for wanted, value in zip(figure.cells, values, strict=True) if value is None]
        if lacking:
            captions[figure.name] = store.failure(lacking[0]) or "not drawn"
            continue
        try:
            with warnings.catch_warnings():  # bandwidths that are tried and leave a map undetermined
                warnings.simplefilter("ignore", ConvergenceWarning)
                picture, caption = figure.function()(source, *values, **dict(figure.arguments))
        except MissingData as missing:
            captions[figure.name] = str(missing)
            continue
        number = figure.name.partition(":fig")[2]
        picture.supxlabel(f"after figure {number} of the paper", x=0.99, ha="right", fontsize=7, color="gray")
        picture.savefig(out / "figures" / pages.picture_name(figure), dpi=100)
        plt.close(picture)
        captions[figure.name] = caption
    return captions


if __name__ == "__main__":
    main()
