"""PerTurbo against a tuned SVM, bare LAPACK and BLAS calls, and refitting from scratch

Everything runs on one thread. A ratio below 1 means that the other method is faster than ours.
"""

import numpy as np
import pytest
from scipy.linalg import cholesky
from scipy.linalg.blas import dtrsm, strsm
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from bench.data import load
from bench.measure import QUICK, Queries, compare, limited_threads, peak_bytes, processor_seconds
from spectralcls.kernels import bandwidth_grid, kernel_matrix
from spectralcls.perturbo import ActivePool, PerTurboClassifier
from spectralcls.perturbo._class_model import Regularization, fit_class

N = 1000 if QUICK else 10_000
TIKHONOV = Regularization("tikhonov", 1e-3)


def test_letter(record):
    """The classifiers tune, fit and predict, with 4 000 letters for training, 16 000 for the test, and 26 classes. The
    SVM has C = 10 and searches as many bandwidths as PerTurbo, or four, in five folds. The table gives the time of the
    SVM relative to ours, and both accuracies."""
    letter = load("letter")
    order = np.random.default_rng(0).permutation(len(letter["X"]))[: 1500 if QUICK else None]
    X, y, n = letter["X"][order].astype(np.float64), letter["y"][order], len(order) // 5
    X, T, y, t = X[:n], X[n:], y[:n], y[n:]
    bandwidths, folds = bandwidth_grid(X), StratifiedKFold(5, shuffle=True, random_state=0)

    def svm(widths):
        search = GridSearchCV(SVC(C=10, cache_size=500), {"gamma": 0.5 / np.asarray(widths) ** 2}, cv=folds)
        return search.fit(X, y).predict(T)

    functions = {
        "PerTurbo": lambda: PerTurboClassifier(n_jobs=1).fit(X, y).predict(T),
        f"SVM, {len(bandwidths)} bandwidths": lambda: svm(bandwidths),
        "SVM, 4 bandwidths": lambda: svm(bandwidths[2:10:2]),
    }
    row, results = compare(functions, repeats=3, budget=300)
    record(row | {f"{name}, %": 100 * float(np.mean(labels == t)) for name, labels in results.items()})


def test_factorization(record):
    """The time to compute the kernel matrix of one class, add alpha and factor the sum is compared with that of
    `scipy.linalg.cholesky` of the finished matrix, by default and in place. The table also gives the peak memory
    relative to the size of the matrix.
    """
    X = np.random.default_rng(0).normal(size=(N, 16))

    def matrix():
        K = kernel_matrix(X, bandwidth=3.0)
        K.flat[:: N + 1] += TIKHONOV.alpha
        return K

    functions = {
        "fit": lambda: fit_class(X, 3.0, TIKHONOV).triangle.dense(),
        "cholesky": Queries(lambda _, K: cholesky(K, check_finite=False), 1, 1, prepare=matrix),
        "cholesky, in place": Queries(
            lambda _, K: cholesky(K.T, overwrite_a=True, check_finite=False), 1, 1, prepare=matrix
        ),
    }
    row, _ = compare(functions, repeats=3, rtol=1e-8, answer=lambda factor: factor.diagonal())
    record({"n": N} | row | {"memory / matrix": peak_bytes(fit_class, X, 3.0, TIKHONOV) / (8 * N**2)})


def test_scoring(record):
    """The time to score as many queries as the class has samples (kernel values, solve and norms, in blocks) is
    compared with that of the BLAS solve alone on the finished kernel matrix. The table also gives the peak memory
    relative to the size of the factor.
    """
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(N, 16)), rng.normal(size=(N, 16))
    model = fit_class(X, 3.0, TIKHONOV)
    U = model.triangle.dense()

    def solve(_, K):
        return dtrsm(1.0, U, K.T, lower=0, trans_a=1, overwrite_b=1)

    functions = {
        "scores": lambda: model.explained(Q),
        "dtrsm": Queries(solve, 1, 1, prepare=lambda: kernel_matrix(Q, X, bandwidth=3.0)),
    }
    row, results = compare(functions, repeats=3)
    np.testing.assert_allclose(results["scores"], np.einsum("ji,ji->i", *[results["dtrsm"]] * 2), atol=1e-10)
    record({"n": N} | row | {"memory / factor": peak_bytes(model.explained, Q) / (8 * N**2)})


@pytest.mark.parametrize("clusters", [1, 2])
def test_what_binds(record, clusters):
    """The table shows the cost of a query and the reason for float64. There are five classes of 2 000 samples in the
    given number of clusters, with 10 features and tuned bandwidth and alpha. *BLAS* is a matrix product with as many
    multiply-adds as the solves need, n_l^2 / 2 for each query and class. *Gap* is the median of the second smallest tau
    divided by the smallest, minus one. The last column gives the percentage of labels that change if the solves use the
    same factors rounded to float32.
    """
    n, m = N // 5, 2000
    X, y = make_classification(
        5 * n + m, 10, n_informative=8, n_redundant=0, n_classes=5, n_clusters_per_class=clusters, random_state=0
    )
    X, y, Q = X[: 5 * n], y[: 5 * n], X[5 * n :]
    A, B = np.ones((n, n // 2)), np.ones((n // 2, m))
    with limited_threads(1):
        model = PerTurboClassifier(n_jobs=1).fit(X, y)
    row, results = compare({"scores": lambda: model.perturbation(Q), "BLAS": lambda: [A @ B for _ in range(5)]})
    tau, Z, shares = results["scores"], model._queries(Q), []
    for each in model._models:
        U, K = each.triangle.dense().astype(np.float32), each.kernel(Z).astype(np.float32)
        shares.append(np.square(strsm(1.0, U, np.asfortranarray(K.T), side=1, lower=0)).sum(axis=1))
    least = np.partition(tau, 1, axis=1)
    row |= {"alpha": model.alpha_, "gap": float(np.median(least[:, 1] / least[:, 0] - 1))}
    differ = tau.argmin(axis=1) != np.argmax(shares, axis=0)
    record({"n": len(X)} | row | {"other labels in float32, %": 100 * float(np.mean(differ))})


@pytest.mark.parametrize("n_per_class", [200, 2000])
def test_a_label(record, n_per_class):
    """The table gives the time to add one label in a problem of two classes and score a pool of 5 000 again, and the
    time of a refit with new scores relative to that. The lower limit is one read of the solved pool, measured by a
    matrix product with it.
    """
    rng, pool_size = np.random.default_rng(0), 500 if QUICK else 5000
    y, pool_y = np.repeat([0, 1], n_per_class), rng.integers(2, size=pool_size)
    X = rng.normal(size=(len(y), 16)) + y[:, None]
    pool_X = rng.normal(size=(pool_size, 16)) + pool_y[:, None]
    pool = ActivePool(PerTurboClassifier(3.0, alpha=1e-3, scale=None, n_jobs=1).fit(X, y), pool_X)
    pool.label(0, pool_y[0]).label(np.argmax(pool_y != pool_y[0]), 1 - pool_y[0])  # both buffers are now large enough
    solve, weights = np.ones((n_per_class, pool_size)), np.ones(n_per_class)

    def label():
        i = pool.remaining[0]
        pool.label(i, pool_y[i])
        return pool.margin

    def refit():
        labeled = np.setdiff1d(np.arange(pool_size), pool.remaining)
        model = PerTurboClassifier(3.0, alpha=1e-3, scale=None, n_jobs=1)
        model.fit(np.concatenate([X, pool_X[labeled]]), np.concatenate([y, pool_y[labeled]]))
        return model.perturbation(pool_X[pool.remaining])

    row, _ = compare(
        {"a label": label, "refit and score": refit, "read of the solve": lambda: weights @ solve}, repeats=15
    )
    np.testing.assert_allclose(pool.perturbation, refit(), atol=1e-9)
    record(row | {"bytes of the solve": solve.nbytes})


@pytest.mark.parametrize("rank", [30] if QUICK else [300, 1000])
def test_many_points_in_a_class(record, rank):
    """In a problem of two classes, a class of 200 000 points has a partial factor; the other class has 1 000 points.
    The table gives processor seconds, the accuracy, the fraction of the trace left out, and the peak memory; the kernel
    matrix would take 298 GiB.
    """
    rng, n = np.random.default_rng(0), 20 * N
    y = (np.arange(n + 1000) >= n).astype(int)
    X = rng.normal(size=(len(y), 4)) + 2 * y[:, None]
    model = PerTurboClassifier(2.0, alpha=1e-3, scale=None, rank=rank, n_jobs=1)
    with limited_threads(1):
        _, fit = processor_seconds(model.fit, X, y)
        accuracy, score = processor_seconds(model.score, X[::20], y[::20])
    row = {"n": n, "fit, s": fit, "10 000 queries, s": score, "accuracy, %": 100 * accuracy}
    row |= {"trace left out": model.trace_residuals_[0] / n, "GiB": peak_bytes(model.fit, X, y) / 2**30}
    record(row | {"GiB of the matrix": 8 * n**2 / 2**30})
