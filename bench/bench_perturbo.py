"""PerTurbo against a tuned SVM, bare LAPACK and BLAS calls, and refitting from scratch

Everything runs on one thread. A ratio below 1 means that the other method is faster than ours.
"""

import numpy as np
import pytest
from scipy.linalg.blas import strsm
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from bench.data import load
from bench.measure import QUICK, compare
from spectralcls.kernels import bandwidth_grid
from spectralcls.perturbo import ActivePool, PerTurboClassifier
from spectralcls.perturbo._span import Regularization

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
