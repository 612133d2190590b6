"""PerTurbo against a tuned SVM, bare LAPACK and BLAS calls, and refitting from scratch, in the same run.

Sizes: SPECTRALCLS_BENCH_PERTURBO_N (default 10000 points in one class). The letter data is looked for in
SPECTRALCLS_DATA. ``extra_info`` holds the peer's time, the ratio, rates and the memory allocated at the peak.
"""

import os

import numpy as np
import pytest
from scipy.linalg import cholesky
from scipy.linalg.blas import dtrsm
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from bench.measure import peak_bytes, timed
from spectralcls.datasets import load
from spectralcls.kernels import bandwidth_grid, kernel_matrix
from spectralcls.perturbo import ActivePool, PerTurboClassifier
from spectralcls.perturbo._class_model import Regularization, fit_class

N = int(os.environ.get("SPECTRALCLS_BENCH_PERTURBO_N", 10_000))
TIKHONOV = Regularization("tikhonov", 1e-3)


def test_letter_against_tuned_svm(benchmark):
    """Tune, fit and predict: 4 000 letters for training, 16 000 for the test, 26 classes. The peer is an SVM tuned by
    grid search over as many bandwidths with the five folds of its default, in one process as it comes and in one
    process a core."""
    letter = load("letter")
    order = np.random.default_rng(0).permutation(len(letter.data))
    X, y = letter.data[order].astype(np.float64), letter.target[order]
    X, T, y, t = X[:4000], X[4000:], y[:4000], y[4000:]

    def tune_fit_predict():
        return PerTurboClassifier().fit(X, y).predict(T)

    predicted = benchmark.pedantic(tune_fit_predict, rounds=3)
    bandwidths = bandwidth_grid(X)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    svm = GridSearchCV(SVC(C=10, cache_size=500), {"gamma": 0.5 / bandwidths**2}, cv=folds)
    svm_predicted, one = timed(lambda: svm.fit(X, y).predict(T))
    _, all_cores = timed(lambda: svm.set_params(n_jobs=-1).fit(X, y).predict(T))
    accuracy, ours = np.mean(predicted == t), benchmark.stats.stats.median
    assert accuracy >= 0.925
    benchmark.extra_info.update(
        {
            "bandwidths": len(bandwidths),
            "accuracy, %": 100 * accuracy,
            "accuracy of the SVM, %": 100 * np.mean(svm_predicted == t),
            "seconds of the SVM": one,
            "seconds of the SVM, a process a core": all_cores,
            "times the SVM": one / ours,
            "times the SVM, a process a core": all_cores / ours,
        }
    )


def test_factorization_against_bare_cholesky(benchmark):
    """One class: kernel matrix, alpha and factor, against `scipy.linalg.cholesky` on the ready matrix, as it comes and
    told to work in place."""
    X = np.random.default_rng(0).normal(size=(N, 16))
    K = kernel_matrix(X, bandwidth=3.0)
    K.flat[:: N + 1] += TIKHONOV.alpha
    factor, plain = timed(cholesky, K, check_finite=False)
    diagonal = factor.diagonal().copy()
    del factor
    in_place = [timed(cholesky, K.T, overwrite_a=True, check_finite=False)[1]]
    del K
    model = benchmark.pedantic(fit_class, (X, 3.0, TIKHONOV), rounds=3)
    np.testing.assert_allclose(model.triangle.dense().diagonal(), diagonal, rtol=1e-8)
    del model
    K = kernel_matrix(X, bandwidth=3.0)
    K.flat[:: N + 1] += TIKHONOV.alpha
    in_place.append(timed(cholesky, K.T, overwrite_a=True, check_finite=False)[1])
    del K
    ours, bare = benchmark.stats.stats.median, float(np.mean(in_place))
    benchmark.extra_info.update(
        {
            "n": N,
            "seconds of scipy.linalg.cholesky": plain,
            "seconds of it in place": bare,
            "% of its speed": 100 * plain / ours,
            "% of its speed in place": 100 * bare / ours,
            "Gflop/s": N**3 / 3e9 / ours,
            "memory at the peak / matrix": peak_bytes(fit_class, X, 3.0, TIKHONOV) / (8 * N**2),
        }
    )


def test_scoring_against_bare_triangular_solve(benchmark):
    """As many queries as the class has samples: kernel values, solve and norms, in blocks, against BLAS's solve alone
    on the ready kernel matrix."""
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(N, 16)), rng.normal(size=(N, 16))
    model = fit_class(X, 3.0, TIKHONOV)
    U = model.triangle.dense()

    def bare():
        K = kernel_matrix(Q, X, bandwidth=3.0)
        return timed(dtrsm, 1.0, U, K.T, lower=0, trans_a=1, overwrite_b=1)

    solved, before = bare()
    expected = np.einsum("ji,ji->i", solved, solved)
    del solved
    explained = benchmark.pedantic(model.explained, (Q,), rounds=2)
    np.testing.assert_allclose(explained, expected, atol=1e-10)
    alone, ours = (before + bare()[1]) / 2, benchmark.stats.stats.median
    benchmark.extra_info.update(
        {
            "n": N,
            "queries": N,
            "seconds of dtrsm": alone,
            "% of its speed": 100 * alone / ours,
            "Gflop/s": N**3 / 1e9 / ours,
            "memory at the peak / factor": peak_bytes(model.explained, Q) / (8 * N**2),
        }
    )


@pytest.mark.parametrize("n_per_class", [200, 2000])
def test_a_label_against_refit_and_rescore(benchmark, n_per_class, pool_size=5000, n_labels=20):
    """A label of one of two classes arrives and a pool of 5 000 is scored anew, against a refit and a new score. The
    limit is one read of the pool's solve; how fast a bare product with that solve reads it is measured, too."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], n_per_class)
    X = rng.normal(size=(len(y), 16)) + y[:, None]
    pool_y = rng.integers(2, size=pool_size)
    pool_X = rng.normal(size=(pool_size, 16)) + pool_y[:, None]
    clf = PerTurboClassifier(3.0, alpha=1e-3, scale=None)
    pool = ActivePool(clf.fit(X, y), pool_X)
    pool.label(0, pool_y[0]).label(np.argmax(pool_y != pool_y[0]), 1 - pool_y[0])  # both buffers have room now

    queue = iter(pool.remaining[: n_labels + 1])

    def label():
        i = next(queue)
        pool.label(i, pool_y[i])
        return pool.margin

    benchmark.pedantic(label, rounds=n_labels, warmup_rounds=1)
    labeled = np.setdiff1d(np.arange(pool_size), pool.remaining)
    X, y = np.concatenate([X, pool_X[labeled]]), np.concatenate([y, pool_y[labeled]])
    remaining = pool_X[pool.remaining]
    tau, refit = timed(
        lambda: PerTurboClassifier(3.0, alpha=1e-3, scale=None).fit(X, y).perturbation(remaining), repeats=2
    )
    np.testing.assert_allclose(pool.perturbation, tau, atol=1e-9)
    solve = np.ones((n_per_class, pool_size))
    read, label_seconds = timed(np.ones(n_per_class).dot, solve, repeats=5)[1], benchmark.stats.stats.median
    benchmark.extra_info.update(
        {
            "seconds of refit and score": refit,
            "times refit and score": refit / label_seconds,
            "bytes of the solve": solve.nbytes,
            "GB/s": solve.nbytes / 1e9 / label_seconds,
            "GB/s of a bare product": solve.nbytes / 1e9 / read,
        }
    )


@pytest.mark.parametrize("rank", [300, 1000])
def test_two_hundred_thousand_points_in_a_class(benchmark, rank, n=200_000):
    """A class of 200 000 points (and one of 1 000) by a partial factor of given rank."""
    rng = np.random.default_rng(0)
    y = (np.arange(n + 1000) >= n).astype(int)
    X = rng.normal(size=(len(y), 4)) + 2 * y[:, None]
    clf = PerTurboClassifier(2.0, alpha=1e-3, scale=None, rank=rank)
    benchmark.pedantic(clf.fit, (X, y), rounds=1)
    accuracy, score_seconds = timed(clf.score, X[::20], y[::20])
    benchmark.extra_info.update(
        {
            "n": n,
            "trace left out / trace": clf.trace_residuals_[0] / n,
            "accuracy, %": 100 * accuracy,
            "seconds for 10 000 queries": score_seconds,
            "GiB at the peak": peak_bytes(clf.fit, X, y) / 2**30,
            "GiB of the kernel matrix": 8 * n**2 / 2**30,
        }
    )
