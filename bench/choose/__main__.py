"""``python -m bench.choose [NAME ...]``: measure, and write docs/choose.md, its picture, the README's table.

Numbers are kept in docs/measured/choose.json: given names of classes, only these are measured anew; ``--keep`` measures
nothing.
"""

import argparse
import json
import re
from pathlib import Path

import numpy as np

from bench.data import folder
from bench.page import machine
from bench.reproduce.data import Source
from bench.reproduce.today import TITLES
from spectralcls._utils.progress import progress

from . import tree
from .measure import PEER, POINTS, accuracy, classifiers, memory
from .words import WORDS

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "docs" / "measured" / "choose.json"


def measure(found, names, trials):
    """Put new numbers of these classifiers in the place of the old ones."""
    with progress("choose", len(TITLES)) as step:
        rates = accuracy(Source(folder()), trials, names, step)
    for data, row in rates.items():
        found["data"].setdefault(data, {}).update(row)
    with progress("memory", len(names)) as step:
        for name in names:
            step(name)
            found["mebibytes"][name] = memory(name)
    found["machine"], found["trials"] = machine(), trials


def summary(found):
    """{classifier: points behind the best of each set on average, seconds added over the sets, MiB}."""
    names = next(iter(found["data"].values()))
    rates = {name: np.array([row[name]["rate"] for row in found["data"].values()]) for name in names}
    best = np.max(list(rates.values()), axis=0)
    return {
        name: {
            "behind": float(np.mean(best - rate)),
            "seconds": sum(row[name]["seconds"] for row in found["data"].values()),
            "mebibytes": found["mebibytes"].get(name),
        }
        for name, rate in rates.items()
    }


def ordered(rows):
    """Our classifiers, the most accurate first."""
    return sorted((name for name in rows if name != PEER), key=lambda name: rows[name]["behind"])


def link(name, prefix):
    return f"[`{name}`]({prefix}{GUIDE[name]})" if name in GUIDE else f"`{name}`"


GUIDE = {
    **dict.fromkeys(
        ("ParzenClassifier", "ISEClassifier", "LaplacianISEClassifier", "CauchySchwarzClassifier"), "kernel_mean.md"
    ),
    **dict.fromkeys(
        ("SpectralISEClassifier", "SpectralLaplacianISEClassifier", "LaplacianSpectralClassifier"), "spectral.md"
    ),
    "AutoClassifier": "metric.md",
    "KernelRidgeClassifier": "metric.md",
    "PerTurboClassifier": "perturbo.md",
    "CCDRClassifier": "ccdr.md",
    "SpectralKernelClassifier": "text.md",
}


def which(rows, prefix):
    """The table that decides."""
    lines = ["| classifier | use when | avoid when | points behind the best | seconds | MiB |", "|---|" + "---|" * 5]
    for name in [*ordered(rows), PEER]:
        use, avoid = WORDS.get(name, ("for comparison: scikit-learn's `SVC`, grid search", ""))
        row = rows[name]
        lines.append(
            f"| {link(name, prefix)} | {use} | {avoid} | {row['behind']:.1f} | {row['seconds']:.2f} "
            f"| {'not measured' if row['mebibytes'] is None else format(row['mebibytes'], '.0f')} |"
        )
    return "\n".join(lines)


def short(rows):
    """The README's table: what decides, without the costs that the page explains."""
    lines = ["| classifier | use when | points behind the best | seconds |", "|---|---|---|---|"]
    for name in [*ordered(rows), PEER]:
        use = WORDS.get(name, ("for comparison: scikit-learn's `SVC`, grid search",))[0]
        lines.append(f"| `{name}` | {use} | {rows[name]['behind']:.1f} | {rows[name]['seconds']:.2f} |")
    return "\n".join(lines)


def explanation(found):
    sets = ", ".join(TITLES[name] for name in found["data"])
    splits = "one random split" if found["trials"] == 1 else f"{found['trials']} random splits"
    return (
        f"Written by `python -m bench.choose`: the defaults of every class, features standardized, {splits} of each of "
        f"{len(found['data'])} data sets ({sets}). *Points behind the best*: per cent of the test set, mean distance "
        "from the best of this table on each set. *Seconds*: processor time of tuning and training, added over the "
        f"sets, one split each, one thread. *MiB*: memory that fitting and predicting {POINTS} points of 20 features "
        f"takes beyond the data. {found['machine']}."
    )


def fill(path, blocks):
    """Put each text between ``<!-- choose NAME -->`` and ``<!-- end -->``."""
    text = path.read_text(encoding="utf-8")
    for name, block in blocks.items():
        place = re.compile(rf"(<!-- choose {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text, count = place.subn(lambda m, block=block: f"{m[1]}{block}\n{m[2]}", text)
        if not count:
            raise SystemExit(f"{path} has no place <!-- choose {name} --> ... <!-- end -->")
    path.write_text(text, encoding="utf-8")


def facts(rows):
    """What the tree says about a class."""
    return {
        name: f"{row['behind']:.1f} points behind the best, {row['seconds']:.{1 if row['seconds'] < 10 else 0}f} s"
        for name, row in rows.items()
    }


def main():
    parser = argparse.ArgumentParser(prog="python -m bench.choose", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="classes to measure (default: all)")
    parser.add_argument("--trials", type=int, default=5, help="splits of each data set")
    parser.add_argument("--keep", action="store_true", help="measure nothing: pages from the numbers of the last run")
    arguments = parser.parse_args()
    found = {"data": {}, "mebibytes": {}}
    if KEPT.exists() and (arguments.keep or arguments.names):
        found = json.loads(KEPT.read_text(encoding="utf-8"))
    if not arguments.keep:
        measure(found, arguments.names or list(classifiers()), arguments.trials)
        KEPT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    rows = summary(found)
    fill(
        ROOT / "docs" / "choose.md",
        {
            "which": which(rows, "guide/"),
            "how": explanation(found),
        },
    )
    fill(ROOT / "README.md", {"which": short(rows)})
    tree.draw(facts(rows), ROOT / "docs" / "images" / "choose.png")


if __name__ == "__main__":
    main()
