"""Learned metrics against scikit-learn's

Everything runs on one thread. Each case runs in a separate process; the tables give the peak resident memory of this
process.
"""

import resource
import warnings
from multiprocessing import get_context

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis

from bench.data import load, standardized
from bench.measure import QUICK, limited_threads, processor_seconds
from spectralcls.metric import GradientMetric, KernelMetric

SIZES = [300] if QUICK else [1000, 2000, 4000, 10_000]


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
