"""Labels and class sums with pruning, against all pairs

Pairs that cannot change the rounded result are pruned before they are computed. Points are float32, raw or
standardized; `ParzenClassifier` chose the bandwidth. Everything runs on one thread. The time of each method includes
one construction of its packed points, tree or index. With more than 4e9 pairs, the time of all pairs is measured for
two numbers of queries and extrapolated linearly, with the fixed time counted once.
"""

import pickle

import numpy as np
import pytest

from bench.data import load, standardized
from bench.measure import QUICK, Queries, pruning, side_by_side
from bench.pages import pick, view
from spectralcls import ParzenClassifier
from spectralcls.kernels import PackedPoints, kernel_sums

SIZES = {
    "letter": (16_000, 4_000),
    "satimage": (4_435, 2_000),
    "shuttle": (43_500, 14_500),
    "covertype 30000": (30_000, 20_000),
    "covertype 100000": (100_000, 20_000),
    "covertype 500000": (500_000, 81_012),
    "skin": (50_000, 20_000),
    "curved 256": (8_000, 2_000),
    "curved 784": (8_000, 2_000),
}
AGREEMENT = 5000  # least number of queries whose labels are compared
if QUICK:
    SIZES = {"letter": (2_000, 500), "curved 256": (1_000, 200)}
each_scale = pytest.mark.parametrize("raw", [False, True])


def problem(name, raw):
    """float32 points, labels and queries of a data set."""
    (n, m), arrays = SIZES[name], curved(int(name.split()[1])) if name.startswith("curved") else load(name.split()[0])
    if "X" in arrays:
        order = np.random.default_rng(0).permutation(len(arrays["X"]))
        X, y = (arrays[key][order] for key in "Xy")
        X, y, Q = X[:n], y[:n], X[n : n + m]
    else:
        X, y, Q = arrays["X_train"], arrays["y_train"], arrays["X_test"]
    X, Q = (X, Q) if raw else standardized(X, Q)
    return X.astype(np.float32), np.unique(y, return_inverse=True)[1], Q.astype(np.float32)


def curved(d):
    """Eight classes on a curved twelve-dimensional surface in d features, with a little noise."""
    draw = np.random.default_rng(0)
    y = draw.integers(8, size=10_000)
    inner = draw.normal(size=(8, 12))[y] + draw.normal(size=(len(y), 12)) * 0.85 ** np.arange(12)
    X = np.tanh(inner @ draw.normal(size=(12, 64)) / 3.5) @ draw.normal(size=(64, d)) / 8
    return {"X": X + 0.05 * draw.normal(size=X.shape), "y": y}


def tuned_bandwidth(X, y):
    return float(ParzenClassifier(scale=None, max_tuning_samples=2000).fit(X, y).bandwidth_)


def measure(X, y, Q):
    """A row with the seconds of all pairs, and their time relative to labels, sums, and sums within a tolerance."""
    h, n, m = tuned_bandwidth(X, y), len(X), len(Q)
    fitted = ParzenClassifier(bandwidth=h, scale=None, n_jobs=1).fit(X, y)
    stored = pickle.dumps(fitted)
    fitted.predict(Q[:2])  # packs the points of `fitted`; a copy from `stored` must pack them

    def sums(way, **more):
        def call(q):
            with pruning(way):
                return kernel_sums(Q[:q], PackedPoints(X, labels=y), bandwidth=h, log=True, n_jobs=1, **more)

        return Queries(call, m, n if way == "never" else 1)

    def labels(way, prepare):
        def call(q, model):
            with pruning(way):
                return model.predict(Q[:q])

        return Queries(call, m, n if way == "never" else 1, prepare=prepare)

    functions = {
        "labels": labels("sampled", lambda: pickle.loads(stored)),
        "labels, second call": labels("sampled", lambda: fitted),
        "sums": sums("sampled"),
        "sums, rtol=1e-3": sums("sampled", rtol=1e-3),
        "labels of all pairs": labels("never", lambda: pickle.loads(stored)),
        "sums of all pairs": sums("never"),
    }
    times, results = side_by_side(functions, repeats=7, budget=120, threads=1)
    truth = results["labels of all pairs"]
    differ = np.count_nonzero(results["labels"][: len(truth)] != truth)
    assert len(truth) >= min(m, AGREEMENT) and differ <= 1e-3 * len(truth)
    row = {"n": n, "m": m, "d": X.shape[1], "h": h}
    row |= {"all pairs, s": times["labels of all pairs"].median, "labels, s": times["labels"].median}
    for name in ("labels", "labels, second call", "sums", "sums, rtol=1e-3"):
        theirs = np.array(times[f"{name.partition(',')[0]} of all pairs"].turns)
        row[f"x {name}"] = float(np.median(theirs[-len(times[name].turns) :] / times[name].turns[-len(theirs) :]))
    row |= {"labels that differ": f"{differ} of {len(truth)}", "turns": len(times["labels of all pairs"].turns)}
    return row | {"measured": times["labels of all pairs"].sampled}


@pytest.mark.every_isa
@each_scale
@pytest.mark.parametrize("name", SIZES)
def test_labels_and_sums(record, name, raw):
    """The table gives the time of all pairs relative to `ParzenClassifier.predict` and to class sums. The first call
    packs the points, and the fitted classifier keeps them for the second. The record also has the number of labels that
    differ from those computed from all pairs.
    """
    record(measure(*problem(name, raw)))


@view("labels_and_sums")
def labels_and_sums_in_short(rows):
    return [pick(rows, "name", "raw", "isa", "n", "m", "x *")]
