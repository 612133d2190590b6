"""This checkout against another one, in one run: ``python -m bench.before CHECKOUT [--case WORDS] [--splits N]``.

CHECKOUT has its core built in place. Each call of bench/before_cases.py runs in turns in a process of either
checkout, on one thread, by that process's CPU clock: other work on the machine disturbs both alike. The ratio is the
median of the turns' ratios, above 1 if this checkout is faster; *best* compares the least of all turns. ``--splits``
compares the accuracy of all defaults on so many splits of the papers' sets by a corrected resampled t-test, and
nothing else."""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from bench.before_cases import CASES
from bench.pages import table
from bench.reproduce.data import TITLES
from spectralcls._core import available_variants
from spectralcls.cli.significance import LEVEL, p_value

HERE = Path(__file__).resolve().parent


class Worker:
    """A process of one checkout and variant, which answers a line by a line of JSON."""

    def __init__(self, checkout, variant):
        path = os.pathsep.join([str(checkout / "src"), str(HERE.parent)])
        environment = os.environ | {"PYTHONPATH": path, "SPECTRALCLS_ISA": variant, "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-P", str(HERE / "before_cases.py")]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(command, env=environment, text=True, bufsize=1, **pipes)

    def __call__(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def speeds(checkouts, variants, turns, words):
    """A row for each case and variant."""
    for variant in variants:
        before, after = (Worker(checkout, variant) for checkout in checkouts)
        for name in (name for name in CASES if words in name):
            old, new = [], []
            for turn in range(turns):
                for worker, taken in ((before, old), (after, new))[:: 1 if turn % 2 else -1]:
                    taken.append(worker(name))
            ratios = np.divide(old, new)
            row = {
                "case": name,
                "variant": variant,
                "before, s": float(np.median(old)),
                "after, s": float(np.median(new)),
            }
            yield row | {"ratio": float(np.median(ratios)), "best": min(old) / min(new)}


def accuracies(checkouts, splits):
    """A row for each set and classifier."""
    before, after = (Worker(checkout, available_variants()[0]) for checkout in checkouts)
    for data in TITLES:
        old, new = (worker(f"{data}|{splits}") for worker in (before, after))
        for name in sorted(set(old) & set(new) - {"sizes"}):
            differences = np.subtract(new[name], old[name])
            told_apart = p_value(differences, *new["sizes"]) <= LEVEL
            row = {"set": TITLES[data], "classifier": name, "before": float(np.mean(old[name]))}
            row |= {"after": float(np.mean(new[name])), "difference": float(differences.mean())}
            yield row | {"told apart": "yes" if told_apart else "no"}


def main():
    parser = argparse.ArgumentParser(prog="python -m bench.before", description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--variants", nargs="+", default=[v for v in available_variants() if v != "baseline"])
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--case", default="", metavar="WORDS", help="only cases whose names hold this")
    parser.add_argument("--splits", type=int, help="compare the accuracies of defaults instead")
    arguments = parser.parse_args()
    checkouts = arguments.checkout.resolve(), HERE.parent
    if arguments.splits:
        found = accuracies(checkouts, arguments.splits)
    else:
        found = speeds(checkouts, arguments.variants, arguments.turns, arguments.case)
    rows = []
    for row in found:
        rows.append(row)
        print(row, file=sys.stderr, flush=True)
    print(table(rows))
    print("\nSlower by both ratios, or less accurate and told apart:", *map(str, filter(worse, rows)), sep="\n")


def worse(row):
    return (
        max(row["ratio"], row["best"]) < 0.97
        if "ratio" in row
        else row["told apart"] == "yes" and row["difference"] < 0
    )


if __name__ == "__main__":
    main()
