"""Accuracy of the Parzen classifier against the size of a reduced training set.

Each run times the reduction; ``extra_info`` holds the accuracy of the reduced set next to that of the whole
set and of a stratified random subset of the same size, and the ratio of the times to predict.
Real data from $SPECTRALCLS_DATA (letter, shuttle), skipped where absent.
"""

import time
from functools import cache

import numpy as np
import pytest
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from bench.data import load
from spectralcls.kernel_mean import ParzenClassifier
from spectralcls.kernel_mean._reduction import reduce_training_set


def split(name):
    data = load(name)
    if "X_train" in data:
        parts = data["X_train"], data["X_test"], data["y_train"], data["y_test"]
    else:
        parts = train_test_split(data["X"], data["y"], test_size=0.25, stratify=data["y"], random_state=0)
    scaler = StandardScaler().fit(parts[0])
    return (*(scaler.transform(X).astype(np.float32) for X in parts[:2]), *parts[2:])


def score(model, T, u):
    start = time.perf_counter()
    accuracy = model.score(T, u)
    return float(accuracy), time.perf_counter() - start


@cache
def tuned(name):
    """The data, the classifier of all points, its accuracy and the seconds of its predictions."""
    X, T, y, u = split(name)
    whole = ParzenClassifier(scale=None).fit(X, y)
    return (X, T, y, u), whole, *score(whole, T, u)


@pytest.mark.parametrize("name", ["letter", "shuttle"])
@pytest.mark.parametrize("share", [0.02, 0.05, 0.1, 0.2])
@pytest.mark.parametrize("method", ["representative", "weight"])
def test_reduction(benchmark, name, share, method):
    """A subset of a stated share of the training points, chosen by a method, against all points and a random subset."""
    (X, T, y, u), whole, whole_accuracy, whole_seconds = tuned(name)
    h = float(whole.bandwidth_)
    options = {"method": method, "bandwidth": h, "random_state": 0}
    indices, weights = benchmark.pedantic(reduce_training_set, (X, y, share), options, rounds=1, warmup_rounds=0)
    rest, _ = train_test_split(np.arange(len(X)), train_size=len(indices), stratify=y, random_state=0)
    accuracy, seconds = score(ParzenClassifier(bandwidth=h, scale=None).fit(X[indices], y[indices], weights), T, u)
    benchmark.extra_info.update(
        data=name,
        method=method,
        n=len(X),
        size=len(indices),
        bandwidth=h,
        accuracy=accuracy,
        whole_accuracy=whole_accuracy,
        random_accuracy=score(ParzenClassifier(bandwidth=h, scale=None).fit(X[rest], y[rest]), T, u)[0],
        prediction_speedup=whole_seconds / seconds,
    )
