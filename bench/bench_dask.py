"""One fit and one prediction in memory, and on Dask workers of one thread each

The workers are processes of one machine. Points are normal, with 8 features in float64, four classes with different
centers, and chunks of 25 000 rows; the bandwidth is given, or tuned on 2000 points. The processor seconds of all
processes together show the cost of distribution; the seconds on the clock also depend on how many processors are free.
"""

import os
import time
from pathlib import Path

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster

from bench.measure import QUICK, gib_beyond, spread
from bench.pages import view
from spectralcls import LaplacianISEClassifier, ParzenClassifier

N, M, D, CLASSES, ROWS = (4_000, 500, 8, 4, 1_000) if QUICK else (100_000, 20_000, 8, 4, 25_000)
TURNS = 1 if QUICK else 3
GIVEN = {"bandwidth": 1.0, "scale": None, "n_jobs": 1}
WORK = {
    "Parzen": (ParzenClassifier, GIVEN),
    "Parzen, tuned": (ParzenClassifier, {"max_tuning_samples": 2000, "n_jobs": 1}),
    "Laplacian ISE": (LaplacianISEClassifier, GIVEN),
}


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    y = rng.integers(0, CLASSES, N + M)
    X = rng.normal(size=(N + M, D)) + rng.normal(size=(CLASSES, D))[y]
    return X[:N], y[:N], X[N:]


@pytest.fixture(scope="module", params=[0, 1, 2, 4])
def workers(request):
    return request.param


@pytest.fixture(scope="module")
def client(workers):
    if not workers:
        yield None
        return
    options = {"threads_per_worker": 1, "dashboard_address": None, "memory_limit": None}
    with LocalCluster(n_workers=workers, **options) as cluster, Client(cluster) as client:
        yield client


@pytest.mark.parametrize("work", WORK)
def test_workers(record, problem, work, workers, client):
    """Without workers, the same class is fitted to arrays in memory, on one thread."""
    X, y, Q = problem
    kind, parameters = WORK[work]
    expected = kind(**parameters).fit(X, y).predict(Q)
    if client:
        X, y, Q = (da.from_array(A, chunks=(ROWS, *A.shape[1:])).persist() for A in (X, y, Q))
        kind(**GIVEN).fit(X, y).predict(Q[:1]).compute()  # workers import the package at their first task
    found = {"fit": [], "predict": []}
    for _ in range(TURNS):
        model, fit = measured(lambda: kind(**parameters).fit(X, y), client)
        labels, predict = measured(lambda model=model: np.asarray(model.predict(Q)), client)
        found["fit"].append(fit)
        found["predict"].append(predict)
    assert np.mean(labels == expected) > 0.999
    row = {"rows": N, "queries": M}
    for step, turns in found.items():
        clock, processor, grown, client_grown = zip(*turns, strict=True)
        row |= {f"{step}, clock": spread(clock), f"{step}, processor": spread(processor)}
        row |= {f"{step}, worker": max(grown), f"{step}, client": max(client_grown)} if workers else {}
        row |= {} if workers else {f"{step}, client": max(client_grown)}
    record(row)


@view("workers")
def workers_in_short(rows):
    """The table gives the processor seconds of all processes together and, in parentheses, the seconds on the clock. It
    also gives the largest growth in memory, in GiB, of any worker and of the client during a fit or a prediction. Rows
    with 0 workers are for arrays in memory."""
    table = []
    for row in sorted(rows, key=lambda row: (list(WORK).index(row["work"]), row["workers"])):
        line = {"work": row["work"], "workers": row["workers"]}
        for step in ("fit", "predict"):
            seconds, clock = (row[f"{step}, {kind}"]["median"] for kind in ("processor", "clock"))
            line[f"{step}, s"] = f"{seconds:.2f} ({clock:.1f})"
        for place in ("worker", "client"):
            grown = [row[f"{step}, {place}"] for step in ("fit", "predict") if f"{step}, {place}" in row]
            line[f"{place}, GiB"] = f"{max(grown):.3f}" if grown else ""
        table.append(line)
    return [table]


def measured(function, client):
    """The result, seconds on the clock and of all processes, and GiB by which the largest worker and this process
    grew.
    """
    before = client.run(state) if client else {}
    begin, processor = time.perf_counter(), time.process_time()
    result, grown = gib_beyond(function)
    clock, spent = time.perf_counter() - begin, time.process_time() - processor
    after = client.run(state) if client else {}
    spent += sum(after[worker][0] - before[worker][0] for worker in before)
    return result, (clock, spent, max((after[w][1] - before[w][2] for w in before), default=0.0), grown)


def state():
    """Processor seconds of this process, and its peak and current resident size in GiB; resets the peak."""
    status = Path("/proc/self/status").read_text().split("\n")
    sizes = {line.split(":")[0]: int(line.split()[1]) / 2**20 for line in status if line.startswith(("VmHWM", "VmRSS"))}
    Path("/proc/self/clear_refs").write_text("5")
    return sum(os.times()[:2]), sizes["VmHWM"], sizes["VmRSS"]
