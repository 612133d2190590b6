"""Kernel sums that leave out unseen what the rounded result cannot see, beside all pairs.

Class log-sums at the bandwidth that the Parzen classifier chooses, on raw and standardized real data, and on noise,
where nothing can be left out and nothing must be lost. All pairs are timed on a sample of the queries and
extrapolated in proportion (``extra_info`` says how many). Single-threaded processor time.
"""

import time

import numpy as np
import pytest

from bench import data
from spectralcls import ParzenClassifier
from spectralcls.kernels import kernel_sums

SKIPPING = "SPECTRALCLS_SKIPPING"
SIZES = {
    "letter": (16_000, 4_000), "satimage": (4_435, 2_000), "shuttle": (43_500, 14_500), "covertype": (100_000, 20_000),
}


def standardized(X, Q):
    scale = X.std(axis=0)
    scale[scale == 0] = 1
    return (X - X.mean(axis=0)) / scale, (Q - X.mean(axis=0)) / scale


def problem(name, raw):
    """float32 points, labels and queries of a data set."""
    arrays = data.load(name)
    if "X" in arrays:
        order, n = np.random.default_rng(0).permutation(len(arrays["X"])), SIZES[name][0]
        X, y = (arrays[key][order] for key in "Xy")
        X, y, Q = X[:n], y[:n], X[n : n + SIZES[name][1]]
    else:
        X, y, Q = arrays["X_train"], arrays["y_train"], arrays["X_test"]
    X, Q = X.astype(np.float64), Q.astype(np.float64)
    if not raw:
        X, Q = standardized(X, Q)
    return X.astype(np.float32), np.unique(y, return_inverse=True)[1], Q.astype(np.float32)


def noise(name, d):
    draw = np.random.default_rng(0)
    values = draw.normal(size=(30_000, d)) if name == "gaussian" else draw.uniform(size=(30_000, d))
    values = values.astype(np.float32)
    return values[:20_000], draw.integers(2, size=20_000), values[20_000:]


def measure(benchmark, monkeypatch, X, y, Q, **info):
    h = float(ParzenClassifier(max_tuning_samples=4000).fit(X, y).bandwidth_)
    options = dict(labels=y, n_labels=int(y.max()) + 1, bandwidth=h, log=True, n_jobs=1)
    n_sampled = min(len(Q), max(1000, int(2e8 / len(X))))
    seconds = {"sampled": [], "never": []}

    def turn():
        for choice, queries in (("sampled", Q), ("never", Q[:n_sampled])):
            monkeypatch.setenv(SKIPPING, choice)
            start = time.process_time()
            result[choice] = kernel_sums(queries, X, **options)
            seconds[choice].append((time.process_time() - start) * len(Q) / len(queries))

    result = {}
    benchmark.pedantic(turn, rounds=3, warmup_rounds=0)
    ours, truth = result["sampled"][:n_sampled], result["never"]
    assert (ours.argmax(axis=1) == truth.argmax(axis=1)).all()
    ratio = float(np.median(np.divide(seconds["never"], seconds["sampled"])))
    benchmark.extra_info.update(
        n=len(X), m=len(Q), d=X.shape[1], bandwidth=h, n_sampled=n_sampled,
        seconds=float(np.median(seconds["sampled"])),
        all_pairs_seconds=float(np.median(seconds["never"])), all_pairs_ratio=ratio, **info,
    )
    return ratio


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("name", SIZES)
def test_data(benchmark, monkeypatch, name, raw):
    measure(benchmark, monkeypatch, *problem(name, raw), data=name, raw=raw)


@pytest.mark.parametrize("d", [10, 50])
@pytest.mark.parametrize("name", ["gaussian", "uniform"])
def test_noise(benchmark, monkeypatch, name, d):
    measure(benchmark, monkeypatch, *noise(name, d), data=f"{name} noise")
