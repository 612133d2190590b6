"""Accuracies of the defaults in this checkout and another one: ``python -m bench.before CHECKOUT [--splits N]``.

CHECKOUT must have its core built in place. Both use the same splits of the papers' sets, each in a separate process; a
corrected resampled t-test shows which differences are significant. Speeds are compared by ``pytest bench
--benchmark-only`` (see CONTRIBUTING.md)."""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from bench.pages import table
from bench.reproduce.data import TITLES
from spectralcls._core import available_variants
from spectralcls.cli.significance import LEVEL, p_value

HERE = Path(__file__).resolve().parent


class Worker:
    """A process of one checkout and variant that answers each line of input with a line of JSON."""

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
    parser.add_argument("--splits", type=int, default=25, metavar="N", help="of each set (default: 25)")
    arguments = parser.parse_args()
    rows = []
    for row in accuracies((arguments.checkout.resolve(), HERE.parent), arguments.splits):
        rows.append(row)
        print(row, file=sys.stderr, flush=True)
    print(table(rows))
    worse = [row for row in rows if row["told apart"] == "yes" and row["difference"] < 0]
    print("\nLess accurate and told apart:", *map(str, worse), sep="\n")


if __name__ == "__main__":
    main()
