"""``python -m bench.choose [--trials N] [--keep]``: measure, and write docs/choose.md, its picture, the README's table.

``--keep`` measures nothing and writes the pages from the numbers of the last run, docs/measured/choose.json.
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
from spectralcls._progress import progress

from . import tree
from .measure import PEER, POINTS, abilities, accuracy, memory
from .words import WORDS

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "docs" / "measured" / "choose.json"
YES = {True: "yes", False: ""}


def measured(trials):
    source = Source(folder())
    with progress("choose", len(TITLES)) as step:
        rates = accuracy(source, trials, step)
    return {"machine": machine(), "trials": trials, "data": rates, "mebibytes": memory()}


def summary(found):
    """{classifier: points behind the best of each set on average, seconds added over the sets, MiB}."""
    rates = {name: np.array([row[name]["rate"] for row in found["data"].values()]) for name in found["mebibytes"]}
    best = np.max(list(rates.values()), axis=0)
    return {
        name: {
            "behind": float(np.mean(best - rate)),
            "seconds": sum(row[name]["seconds"] for row in found["data"].values()),
            "mebibytes": found["mebibytes"][name],
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
    "AutoClassifier": "metric.md", "KernelRidgeClassifier": "metric.md",
    "PerTurboClassifier": "perturbo.md", "CCDRClassifier": "ccdr.md", "SpectralKernelClassifier": "text.md",
}


def which(rows, prefix):
    """The table that decides."""
    lines = ["| classifier | use when | avoid when | points behind the best | seconds | MiB |", "|---|" + "---|" * 5]
    for name in [*ordered(rows), PEER]:
        use, avoid = WORDS.get(name, ("for comparison: scikit-learn's `SVC`, grid search", ""))
        row = rows[name]
        lines.append(
            f"| {link(name, prefix)} | {use} | {avoid} | {row['behind']:.1f} | {row['seconds']:.2f} "
            f"| {row['mebibytes']:.0f} |"
        )
    return "\n".join(lines)


def can(rows):
    """The table of capabilities."""
    able = {name: abilities(name) for name in ordered(rows)}
    columns = list(next(iter(able.values())))
    lines = ["| classifier | " + " | ".join(columns) + " |", "|---|" + "---|" * len(columns)]
    for name, row in able.items():
        lines.append(f"| `{name}` | " + " | ".join(YES[row[column]] for column in columns) + " |")
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
    return (
        f"Written by `python -m bench.choose`: the defaults of every class, features standardized, {found['trials']} "
        f"splits of each of {len(found['data'])} data sets ({sets}). *Points behind the best*: per cent of the test "
        "set, mean distance from the best of this table on each set. *Seconds*: processor time of tuning and training, "
        f"added over the sets, one split each, one thread. *MiB*: memory that fitting and predicting {POINTS} points "
        f"of 20 features takes beyond the data. {found['machine']}."
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
        name: f"{row['behind']:.1f} points behind the best, {row['seconds']:.2g} s" for name, row in rows.items()
    }


def main():
    parser = argparse.ArgumentParser(prog="python -m bench.choose", description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=5, help="splits of each data set")
    parser.add_argument("--keep", action="store_true", help="measure nothing: pages from the numbers of the last run")
    arguments = parser.parse_args()
    if not arguments.keep:
        KEPT.write_text(json.dumps(measured(arguments.trials), indent=1) + "\n", encoding="utf-8")
    found = json.loads(KEPT.read_text(encoding="utf-8"))
    rows = summary(found)
    fill(ROOT / "docs" / "choose.md", {
        "which": which(rows, "guide/"), "can": can(rows), "how": explanation(found),
    })  # fmt: skip
    fill(ROOT / "README.md", {"which": short(rows)})
    tree.draw(facts(rows), ROOT / "docs" / "images" / "choose.png")


if __name__ == "__main__":
    main()
