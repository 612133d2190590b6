"""Learned metrics and the ridge against scikit-learn's: ``python -m bench.metric [--cases NAME ...]``.

Each case runs in a new process on one thread, for its peak of memory; results are kept in docs/measured/metric.json and
the page is docs/measured/metric.md. What has not run is said to be not measured.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from threadpoolctl import threadpool_limits

from bench.data import path
from bench.page import machine, table
from spectralcls import KernelRidgeClassifier
from spectralcls.metric import KernelMetric
from spectralcls.metric._likelihood import Sample, loss

STORE = Path(__file__).parents[1] / "docs" / "measured" / "metric.json"
LIMIT = 300  # seconds of CPU that scikit-learn gets to reach the loss
ALPHA, FACTOR = 0.1, 2.0  # of the ridges, and their bandwidth in root mean square distances


def letter(n):
    """n standardized rows; more than there are by resampling with noise of half a unit."""
    with np.load(path("letter.npz"), allow_pickle=False) as file:
        X, y = file["X"].astype(np.float64), np.unique(file["y"], return_inverse=True)[1]
    rng = np.random.RandomState(0)
    rows = rng.permutation(len(X))[:n] if n <= len(X) else rng.randint(len(X), size=n)
    X = X[rows] + (rng.normal(scale=0.5, size=(n, X.shape[1])) if n > 20_000 else 0.0)
    return (X - X.mean(axis=0)) / X.std(axis=0), y[rows]


def covertype(n):
    with np.load(path("covertype.npz"), allow_pickle=False) as file:
        X, y = (file["X"], file["y"]) if "X" in file.files else (file["X_train"], file["y_train"])
    rows = np.random.RandomState(0).permutation(len(X))[:n]
    return X[rows].astype(np.float32), y[rows]


def log_loss_of(X, y, components):
    """Leave-one-out log loss of the Parzen posterior at bandwidth 1, all points against all."""
    Y = (X - X.mean(axis=0)).astype(np.float32)
    sample, rows = Sample(Y, y, np.ones(len(y)), int(y.max()) + 1), np.arange(len(y))
    return float(loss(sample, components.T, rows, rows, n_jobs=1)[0])


def kernel_metric(data, n):
    X, y = data(n)
    start = time.process_time()
    metric = KernelMetric(n_jobs=1).fit(X, y)
    found = {"CPU seconds": time.process_time() - start, "steps": metric.n_iter_, "loss": metric.loss_}
    if n <= 10_000:
        found["loss of all points"] = log_loss_of(X, y, metric.components_)
    return found


class Reached(Exception):
    """The loss is there."""


def neighborhood_components(data, n):
    """scikit-learn's until its map has the loss of KernelMetric's, or the limit is over."""
    X, y = data(n)
    target = log_loss_of(X, y, KernelMetric(n_jobs=1).fit(X, y).components_)
    seen = {"steps": 0, "spent": 0.0, "best": np.inf}
    start = time.process_time()

    def watch(flat, n_iter):
        now = time.process_time()
        value = log_loss_of(X, y, np.sqrt(2) * flat.reshape(-1, X.shape[1]))  # its kernel is exp(-r^2)
        seen.update(steps=seen["steps"] + 1, best=min(seen["best"], value))
        seen["spent"] += time.process_time() - now  # on this look
        if value <= target or now - start - seen["spent"] > LIMIT:
            raise Reached

    try:
        NeighborhoodComponentsAnalysis(max_iter=1000, tol=0, random_state=0, callback=watch).fit(X, y)
    except Reached:
        pass
    seconds = time.process_time() - start - seen["spent"]
    return {"CPU seconds": seconds, "steps": seen["steps"], "loss of all points": seen["best"], "target": target}


def ridge(n):
    X, y = letter(n)
    bandwidth = FACTOR * np.sqrt(2 * X.shape[1])
    start, wall = time.process_time(), time.perf_counter()
    model = KernelRidgeClassifier(
        bandwidth, alpha=ALPHA, kernel="gaussian", scale=None, n_jobs=1, max_exact_samples=0
    ).fit(X, y)
    residual = float(model.residuals_.max())
    return {
        "CPU seconds": time.process_time() - start,
        "seconds": time.perf_counter() - wall,
        "residual": residual,
        "steps": model.n_iter_,
    }


def dense_ridge(n):
    X, y = letter(n)
    gamma = 0.5 / (FACTOR**2 * 2 * X.shape[1])
    start, wall = time.process_time(), time.perf_counter()
    KernelRidge(alpha=ALPHA, kernel="rbf", gamma=gamma).fit(X, np.eye(26)[y])
    return {"CPU seconds": time.process_time() - start, "seconds": time.perf_counter() - wall}


SIZES = (1000, 2000, 4000, 10_000)
CASES = {
    **{f"KernelMetric, letter {n}": (kernel_metric, letter, n) for n in SIZES},
    **{f"NeighborhoodComponentsAnalysis, letter {n}": (neighborhood_components, letter, n) for n in SIZES},
    "KernelMetric, covertype 100000": (kernel_metric, covertype, 100_000),
    **{f"KernelRidgeClassifier, letter {n}": (ridge, n) for n in (5000, 10_000, 20_000, 100_000)},
    **{f"KernelRidge, letter {n}": (dense_ridge, n) for n in (5000, 10_000, 20_000)},
}


def run(name):
    function, *arguments = CASES[name]
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        found = function(*arguments)
    return found | {"MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def page(stored):
    rows = [{"case": name} | stored["results"].get(name, {"CPU seconds": "not measured"}) for name in CASES]
    return (
        "\n".join(
            [
                "# Measured: learning a metric, solving a ridge",
                "",
                "Written by `python -m bench.metric`: each case in a new process, on one thread; memory is the peak of the",  # noqa: E501
                "whole process. `NeighborhoodComponentsAnalysis` runs until its map has the leave-one-out log loss (all points",  # noqa: E501
                f"at bandwidth 1) of `KernelMetric`'s, the target, at most {LIMIT} seconds; it trains on all points,",
                "`KernelMetric` holds some out to stop early. The ridges have the Gaussian kernel, alpha",
                f"{ALPHA:g} and 26 columns; `residual` is the largest relative one of the columns. Letter above 20 000 rows is",  # noqa: E501
                "resampled with noise. Nothing is extrapolated.",
                "",
                table(rows),
                "",
                f"CPU time of scikit-learn over that of `KernelMetric` to the same loss: {ratios(stored)}.",
                "",
                f"{stored['machine']}.",
            ]
        )
        + "\n"
    )


def ratios(stored):
    found = []
    for n in SIZES:
        ours = stored["results"].get(f"KernelMetric, letter {n}")
        theirs = stored["results"].get(f"NeighborhoodComponentsAnalysis, letter {n}")
        if ours and theirs:
            least = "" if theirs["loss of all points"] <= theirs["target"] else "more than "
            found.append(f"{least}{theirs['CPU seconds'] / ours['CPU seconds']:.3g} at n = {n}")
    return ", ".join(found) or "not measured"


def main():
    parser = argparse.ArgumentParser(prog="python -m bench.metric", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--cases", nargs="*", default=list(CASES), metavar="NAME", help="all by default; none: the page alone"
    )
    parser.add_argument("--store", type=Path, default=STORE)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(run(arguments.one)))
        return
    stored = json.loads(arguments.store.read_text("utf-8")) if arguments.store.exists() else {"results": {}}
    with threadpool_limits(1):  # as all of it runs
        stored["machine"] = machine()
    for name in arguments.cases:
        if name not in stored["results"]:
            command = [sys.executable, "-m", "bench.metric", "--one", name]
            printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            stored["results"][name] = json.loads(printed.splitlines()[-1])
            print(name, stored["results"][name], flush=True)
        arguments.store.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    arguments.store.with_suffix(".md").write_text(page(stored), encoding="utf-8")


if __name__ == "__main__":
    main()
