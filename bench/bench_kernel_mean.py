"""Tuning and prediction of the kernel-mean classifiers against plain passes and scikit-learn, in the same run.

SPECTRALCLS_BENCH_KERNEL_MEAN_N sets the number of points (20000), d = 16, float32. ``extra_info`` holds the
time of one plain all-pairs pass, how many of them tuning costs, pairs a second, and the memory beyond the
data at the peak.
"""

import os

import numpy as np
import pytest
from sklearn.neighbors import KernelDensity

from bench.measure import peak_bytes, timed
from spectralcls.kernel_mean import (
    CauchySchwarzClassifier,
    ISEClassifier,
    LaplacianISEClassifier,
    ParzenClassifier,
)
from spectralcls.kernels import bandwidth_grid, kernel_sums
from tests.folds import stratified_folds

N = int(os.environ.get("SPECTRALCLS_BENCH_KERNEL_MEAN_N", 20_000))
D = 16
CLASSIFIERS = [ParzenClassifier, ISEClassifier, LaplacianISEClassifier, CauchySchwarzClassifier]


def problem(n=N):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, D)).astype(np.float32)
    return X, (X[:, 0] + X[:, 1] ** 2 + rng.normal(scale=0.5, size=n) > 1).astype(int)


@pytest.mark.parametrize("n_bandwidths", [16, 50])
@pytest.mark.parametrize("make", CLASSIFIERS)
def test_tuning_against_one_pass(benchmark, make, n_bandwidths):
    """Fit with ``bandwidth="cv"``; the score of the winner is checked by refitting its folds."""
    X, y = problem()
    ratio = 2.0 if n_bandwidths == 16 else 2**0.25  # of one h^2 to the next
    grid = bandwidth_grid(X, n_bandwidths, ratio)
    model = make(bandwidth_grid=grid, max_tuning_samples=None)
    one_pass = timed(lambda: kernel_sums(X, X, labels=y, bandwidth=1.0), repeats=3)[1]
    benchmark.pedantic(model.fit, (X, y), rounds=2)
    folds = stratified_folds(X, y, 5)
    fixed = make(bandwidth=model.bandwidth_)
    hits = sum(
        np.sum(fixed.fit(X[folds != fold], y[folds != fold]).predict(X[folds == fold]) == y[folds == fold])
        for fold in range(5)
    )
    np.testing.assert_allclose(model.cv_results_["mean_test_score"].max(), hits / len(y), atol=5 / len(y))
    benchmark.extra_info.update(
        seconds_of_one_pass=one_pass,
        passes=benchmark.stats.stats.min / one_pass,
        accuracy=hits / len(y),
        peak_bytes_per_point=peak_bytes(lambda: model.fit(X, y)) / len(X),
    )


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_prediction_against_one_pass(benchmark, make):
    X, y = problem()
    model = make(bandwidth=0.7).fit(X, y)
    one_pass = timed(lambda: kernel_sums(X, X, labels=y, bandwidth=0.7), repeats=3)[1]
    benchmark.pedantic(model.predict, (X,), rounds=3)
    best = benchmark.stats.stats.min
    benchmark.extra_info.update(
        pairs_per_second=len(X) ** 2 / best,
        passes=best / one_pass,
        peak_bytes_per_query=peak_bytes(lambda: model.predict(X)) / len(X),
    )


def test_log_densities_against_scikit_learn(benchmark):
    """Two `KernelDensity` with one leaf, so that they are exact, against `score_samples` and `predict`."""
    X, y = problem(min(N, 4_000))
    model = ParzenClassifier(bandwidth=0.7, scale=None).fit(X, y)
    log_density = benchmark.pedantic(model.score_samples, (X,), rounds=3)
    peers = [KernelDensity(bandwidth=0.7, leaf_size=len(X)).fit(X[y == c]) for c in (0, 1)]

    def joint():
        return np.stack([peer.score_samples(X) for peer in peers], axis=1) + np.log(model.class_prior_)

    expected = joint()
    np.testing.assert_allclose(log_density, np.logaddexp(*expected.T), rtol=1e-4, atol=1e-4)
    assert np.mean(model.predict(X) == expected.argmax(axis=1)) > 0.999
    peer_seconds = timed(joint)[1]
    benchmark.extra_info.update(peer_seconds=peer_seconds, speedup=peer_seconds / benchmark.stats.stats.min)
