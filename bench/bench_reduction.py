"""Accuracy of the Parzen classifier by the size of a reduced training set

Letter and shuttle are standardized; the bandwidth is tuned on all points. Everything runs on one thread.
"""

from functools import cache

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from bench.data import load, standardized
from bench.measure import QUICK, compare
from spectralcls.kernel_mean import ParzenClassifier, reduce_training_set


@cache
def problem(name):
    """Training and test part, and the classifier of all points."""
    data = load(name)
    if "X_train" in data:
        X, T, y, u = (data[key] for key in ("X_train", "X_test", "y_train", "y_test"))
    else:
        X, T, y, u = train_test_split(data["X"], data["y"], test_size=0.25, stratify=data["y"], random_state=0)
    X, T = (part.astype(np.float32) for part in standardized(X, T))
    kept = slice(0, 3000 if QUICK else None)
    return X[kept], T[kept], y[kept], u[kept], ParzenClassifier(scale=None).fit(X[kept], y[kept])


@pytest.mark.parametrize("method", ["representative", "weight"])
@pytest.mark.parametrize("share", [0.02, 0.05, 0.1, 0.2])
@pytest.mark.parametrize("name", ["letter", "shuttle"])
def test_reduction(record, name, share, method):
    """A method chooses a fraction of the training points. The table gives the accuracy with the chosen points, with a
    random stratified subset of the same size, and with all points, in percent, and the time of a prediction from all
    points relative to that from the chosen ones.
    """
    X, T, y, u, whole = problem(name)
    h = float(whole.bandwidth_)
    indices, weights = reduce_training_set(X, y, share, method=method, bandwidth=h, random_state=0)
    rest, _ = train_test_split(np.arange(len(X)), train_size=len(indices), stratify=y, random_state=0)
    parzen = ParzenClassifier(bandwidth=h, scale=None)
    random = 100 * parzen.fit(X[rest], y[rest]).score(T, u)
    parzen.fit(X[indices], y[indices], weights)
    row, found = compare({"reduced": lambda: parzen.predict(T), "all points": lambda: whole.predict(T)}, repeats=3)
    reached = {name: 100 * float(np.mean(labels == u)) for name, labels in found.items()}
    row = {"points": len(X), "kept": len(indices), "accuracy": reached["reduced"], "random": random} | row
    record(row | {"accuracy of all": reached["all points"]})
