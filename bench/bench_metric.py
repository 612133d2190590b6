"""Learned metrics and kernel ridge regression against scikit-learn's

Everything runs on one thread. Each case runs in a separate process; the tables give the peak resident memory of this
process.
"""

import resource
import warnings
from multiprocessing import get_context

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis

from bench.data import load, standardized
from bench.measure import QUICK, limited_threads, processor_seconds
from spectralcls import KernelRidgeClassifier
from spectralcls.metric import GradientMetric, KernelMetric

SIZES, RIDGES = ([300], [300]) if QUICK else ([1000, 2000, 4000, 10_000], [5000, 10_000, 20_000])
ALPHA, FACTOR = 0.1, 2.0  # of the ridges, and their bandwidth in root mean square distances


def letter(n):
    """n training and 4000 other rows, standardized."""
    data = load("letter")
    order, y = np.random.RandomState(0).permutation(len(data["X"])), np.unique(data["y"], return_inverse=True)[1]
    train, test = order[:n], order[-4000:]
    return *standardized(data["X"][train], data["X"][test]), y[train], y[test]


METRICS = {
    "KernelMetric": lambda: KernelMetric(n_jobs=1),
    "GradientMetric": lambda: GradientMetric(n_jobs=1),
    **{
        f"NeighborhoodComponentsAnalysis, {steps} steps": lambda steps=steps: NeighborhoodComponentsAnalysis(
            max_iter=steps, random_state=0
        )
        for steps in (10, 50, 200)
    },
}


def alone(function, *arguments):
    """The row of a function in a new process, on one thread."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(_alone, (function, *arguments))


def _alone(function, *arguments):
    with warnings.catch_warnings(), limited_threads(1):
        warnings.simplefilter("ignore")
        row = function(*arguments)
    return row | {"MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def learned(method, n):
    X, Q, y, truth = letter(n)
    metric, seconds = processor_seconds(METRICS[method]().fit, X, y)
    neighbors = KNeighborsClassifier(5).fit(metric.transform(X), y)
    plain = KNeighborsClassifier(5).fit(X, y).score(Q, truth)
    return {
        "seconds": seconds,
        "accuracy": 100 * neighbors.score(metric.transform(Q), truth),
        "not learned": 100 * plain,
    }


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("method", METRICS)
def test_metrics(record, method, n):
    """The data are rows of letter. The table gives the processor seconds to learn a map from n rows, and the accuracy
    of 5-NN on 4000 other rows after mapping, in percent. *Not learned* is the accuracy on standardized features.
    `NeighborhoodComponentsAnalysis` is scikit-learn's.
    """
    if n > 4000 and "200" in method:
        pytest.skip("takes hours")
    record(alone(learned, method, n))


def ridge(ours, n):
    X, _, y, _ = letter(n)
    width = FACTOR * np.sqrt(2 * X.shape[1])
    if ours:
        options = dict(alpha=ALPHA, kernel="gaussian", scale=None, n_jobs=1, max_exact_samples=0)
        model, seconds = processor_seconds(KernelRidgeClassifier(width, **options).fit, X, y)
        return {"seconds": seconds, "residual": float(model.residuals_.max()), "steps": model.n_iter_}
    peer = KernelRidge(alpha=ALPHA, kernel="rbf", gamma=0.5 / width**2)
    return {"seconds": processor_seconds(peer.fit, X, np.eye(26)[y])[1]}


@pytest.mark.parametrize("n", RIDGES)
@pytest.mark.parametrize("method", ["KernelRidgeClassifier", "KernelRidge"])
def test_ridge(record, method, n):
    """The table gives the processor seconds of a fit to the letter data with the Gaussian kernel and alpha = 0.1; the
    targets are the indicator columns of the 26 classes. `KernelRidgeClassifier` iterates to a tolerance at every size
    (`max_exact_samples=0`; by default, it iterates only beyond 6000 points); scikit-learn's `KernelRidge` solves
    exactly. `residual` is the largest relative residual of the columns."""
    record(alone(ridge, method == "KernelRidgeClassifier", n))
