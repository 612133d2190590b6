"""The sizes that are said to work: a million by a million, and half a million real points against what users have.

SPECTRALCLS_DATA names the folder of the data sets; SPECTRALCLS_BENCH_SHARE (1) takes a share of the points.
"""

import os
import time

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from bench.data import load
from bench.measure import gib_beyond, limit, slots
from spectralcls import ParzenClassifier
from spectralcls._core.threads import effective_n_threads
from spectralcls.kernels import kernel_sums

SHARE = float(os.environ.get("SPECTRALCLS_BENCH_SHARE", 1))


def test_a_million_by_a_million(benchmark):
    """Exact float32 sums of 1 000 000 points at 1 000 000 queries, 10 features, one bandwidth; checked against float64
    at some queries."""
    n, d, h = int(1e6 * SHARE), 10, 1.0
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(2, n, d)).astype(np.float32)
    sums = benchmark.pedantic(kernel_sums, (Q, X), {"bandwidth": h}, rounds=1)
    for i in range(0, n, n // 20):
        exact = np.exp(-((X - Q[i].astype(np.float64)) ** 2).sum(axis=1) / (2 * h * h)).sum()
        np.testing.assert_allclose(sums[i], exact, rtol=1e-5)
    rate = n * n / benchmark.stats.stats.median
    share = rate / limit(slots(d, "float32"), "float32", effective_n_threads())
    benchmark.extra_info.update(
        {
            "n": n,
            "minutes": benchmark.stats.stats.median / 60,
            "pairs/s": rate,
            "% of limit": 100 * share,
        }
    )


def covertype():
    """Standardized float32 features: 500 000 training points, the rest to test."""
    file = load("covertype")
    X, y = file["X"], file["y"]
    order = np.random.default_rng(0).permutation(len(X))
    train, test = order[: int(500_000 * SHARE)], order[500_000 : 500_000 + int(81_012 * SHARE)]
    scaler = StandardScaler().fit(X[train])
    return [array for rows in (train, test) for array in (scaler.transform(X[rows]).astype(np.float32), y[rows])]


def tuned_neighbors(X, y):
    """k-NN whose k is chosen on as many points as Parzen tunes on."""
    some = np.random.default_rng(0).permutation(len(X))[:20_000]
    search = GridSearchCV(KNeighborsClassifier(algorithm="brute"), {"n_neighbors": [1, 3, 5, 9]}, cv=5)
    return search.fit(X[some], y[some]).best_estimator_.set_params(n_jobs=-1).fit(X, y)


@pytest.mark.parametrize("method", ["ParzenClassifier", "k-NN, tuned", "HistGradientBoosting"])
def test_covertype(benchmark, method):
    """Covertype, 54 features: tune and fit, then predict the rest; scikit-learn's k-NN and boosting against Parzen."""
    fit = {
        "ParzenClassifier": lambda X, y: ParzenClassifier().fit(X, y),
        "k-NN, tuned": tuned_neighbors,
        "HistGradientBoosting": lambda X, y: HistGradientBoostingClassifier(random_state=0).fit(X, y),
    }[method]
    X, y, Q, truth = covertype()
    start = time.perf_counter()
    model, fit_gib = gib_beyond(lambda: benchmark.pedantic(fit, (X, y), rounds=1))
    fitted = time.perf_counter()
    labels, predict_gib = gib_beyond(lambda: model.predict(Q))
    done = time.perf_counter()
    benchmark.extra_info.update(
        {
            "train": len(X),
            "test": len(Q),
            "accuracy": float(np.mean(labels == truth)),
            "minutes to tune and fit": (fitted - start) / 60,
            "minutes to predict": (done - fitted) / 60,
            "GiB beyond the data": max(fit_gib, predict_gib),
        }
    )
