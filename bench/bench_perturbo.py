"""PerTurbo beside a tuned SVM, bare LAPACK and BLAS calls, and refitting from scratch, in the same run.

Sizes: SPECTRALCLS_BENCH_PERTURBO_N (default 10000 points in one class). The letter data is looked for in
SPECTRALCLS_DATA. ``extra_info`` holds the peer's time, the ratio, rates and the memory allocated at the peak.
"""

import os
import time
import tracemalloc

import numpy as np
import pytest
from scipy.linalg import cholesky
from scipy.linalg.blas import dtrsm
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from spectralcls.active import ActivePool
from spectralcls.bandwidth import bandwidth_grid
from spectralcls.datasets import load
from spectralcls.kernels import kernel_matrix
from spectralcls.perturbo import PerTurboClassifier
from spectralcls.perturbo._class_model import Regularization, fit_class

N = int(os.environ.get("SPECTRALCLS_BENCH_PERTURBO_N", 10_000))
TIKHONOV = Regularization("tikhonov", 1e-3)


def seconds(function, *args, repeats=1, **kwargs):
    """Best time of some calls, and the last result."""
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        result = function(*args, **kwargs)
        best = min(best, time.perf_counter() - start)
    return best, result


def peak_bytes(function, *args, **kwargs):
    """Memory that NumPy arrays take at the peak of a call, beyond what there was."""
    tracemalloc.start()
    function(*args, **kwargs)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_letter_beside_tuned_svm(benchmark):
    letter = load("letter")
    order = np.random.default_rng(0).permutation(len(letter.data))
    X, y = letter.data[order].astype(np.float64), letter.target[order]
    X, T, y, t = X[:4000], X[4000:], y[:4000], y[4000:]

    def tune_fit_predict():
        return PerTurboClassifier().fit(X, y).predict(T)

    predicted = benchmark.pedantic(tune_fit_predict, rounds=1)
    bandwidths = bandwidth_grid(X)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    svm = GridSearchCV(SVC(C=10, cache_size=500), {"gamma": 0.5 / bandwidths**2}, cv=folds)
    svm_seconds, svm_predicted = seconds(lambda: svm.fit(X, y).predict(T))
    accuracy = np.mean(predicted == t)
    assert accuracy >= 0.925
    benchmark.extra_info.update(
        n_bandwidths=len(bandwidths), accuracy=accuracy, svm_accuracy=np.mean(svm_predicted == t),
        svm_seconds=svm_seconds, speedup=svm_seconds / benchmark.stats.stats.min,
    )  # fmt: skip


def test_factorisation_beside_bare_cholesky(benchmark):
    X = np.random.default_rng(0).normal(size=(N, 16))
    K = kernel_matrix(X, bandwidth=3.0)
    K.flat[:: N + 1] += TIKHONOV.alpha
    bare, factor = seconds(cholesky, K, check_finite=False, repeats=2)
    del K
    model = benchmark.pedantic(fit_class, (X, 3.0, TIKHONOV), rounds=2)
    np.testing.assert_allclose(model.triangle.dense().diagonal(), factor.diagonal(), rtol=1e-8)
    del model, factor
    benchmark.extra_info.update(
        n=N, bare_cholesky_seconds=bare, share_of_bare_speed=bare / benchmark.stats.stats.min,
        gflops=N**3 / 3e9 / benchmark.stats.stats.min,
        peak_over_matrix=peak_bytes(fit_class, X, 3.0, TIKHONOV) / (8 * N**2),
    )  # fmt: skip


def test_scoring_beside_bare_triangular_solve(benchmark):
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(N, 16)), rng.normal(size=(N, 16))
    model = fit_class(X, 3.0, TIKHONOV)
    K = kernel_matrix(Q, X, bandwidth=3.0)
    U = model.triangle.dense()
    bare, solved = seconds(dtrsm, 1.0, U, K.T, lower=0, trans_a=1, overwrite_b=1)
    explained = benchmark.pedantic(model.explained, (Q,), rounds=1)
    np.testing.assert_allclose(explained, np.einsum("ji,ji->i", solved, solved), atol=1e-10)
    benchmark.extra_info.update(
        n=N, bare_solve_seconds=bare, share_of_bare_speed=bare / benchmark.stats.stats.min,
        gflops=N**3 / 1e9 / benchmark.stats.stats.min,
        peak_over_block=peak_bytes(model.explained, Q) / (8 * N**2),
    )  # fmt: skip


@pytest.mark.parametrize("n_per_class", [200, 2000])
def test_a_label_beside_refit_and_rescore(benchmark, n_per_class, pool_size=5000, n_labels=20):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], n_per_class)
    X = rng.normal(size=(len(y), 16)) + y[:, None]
    pool_y = rng.integers(2, size=pool_size)
    pool_X = rng.normal(size=(pool_size, 16)) + pool_y[:, None]
    clf = PerTurboClassifier(3.0, alpha=1e-3)
    pool = ActivePool(clf.fit(X, y), pool_X)
    pool.label(0, pool_y[0]).label(
        np.argmax(pool_y != pool_y[0]), 1 - pool_y[0]
    )  # both buffers have room now

    queue = iter(pool.remaining[: n_labels + 1])

    def label():
        i = next(queue)
        pool.label(i, pool_y[i])
        return pool.margin

    benchmark.pedantic(label, rounds=n_labels, warmup_rounds=1)
    labelled = np.setdiff1d(np.arange(pool_size), pool.remaining)
    X, y = np.concatenate([X, pool_X[labelled]]), np.concatenate([y, pool_y[labelled]])
    remaining = pool_X[pool.remaining]
    refit, tau = seconds(
        lambda: PerTurboClassifier(3.0, alpha=1e-3).fit(X, y).perturbation(remaining), repeats=2
    )
    np.testing.assert_allclose(pool.perturbation, tau, atol=1e-9)
    read = 8 * n_per_class * pool_size
    benchmark.extra_info.update(
        n_per_class=n_per_class, pool=pool_size, refit_seconds=refit, bytes_of_the_solve=read,
        speedup=refit / benchmark.stats.stats.median,
        gigabytes_per_second=read / 1e9 / benchmark.stats.stats.median,
    )  # fmt: skip


def test_two_hundred_thousand_points_in_a_class(benchmark, n=200_000, rank=300):
    rng = np.random.default_rng(0)
    y = (np.arange(n + 1000) >= n).astype(int)
    X = rng.normal(size=(len(y), 4)) + 2 * y[:, None]
    clf = PerTurboClassifier(2.0, alpha=1e-3, max_rank=rank)
    benchmark.pedantic(clf.fit, (X, y), rounds=1)
    benchmark.extra_info.update(
        n=n, rank=rank, relative_trace_residual=clf.trace_residuals_[0] / n,
        accuracy=clf.score(X[::50], y[::50]),
        peak_gib=peak_bytes(clf.fit, X, y) / 2**30,
    )  # fmt: skip
