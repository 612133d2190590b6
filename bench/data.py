"""The folder of the data sets, $SPECTRALCLS_DATA; a bench is skipped with a message if its set is missing."""

import os
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest
from sklearn import datasets

VARIABLE = "SPECTRALCLS_DATA"
BUNDLED = ("iris", "wine", "breast_cancer", "digits")


def folder():
    """The folder as a string, None if the variable is not set."""
    return os.environ.get(VARIABLE) or None


def path(name):
    """Path at which the file called `name` is expected."""
    return Path(folder() or f"${VARIABLE}") / name


def load(name):
    """Arrays of ``<name>.npz`` as a dict."""
    found = path(f"{name}.npz")
    if not found.exists():
        pytest.skip(f"no {found.name}: set {VARIABLE} to the folder that holds it")
    with np.load(found, allow_pickle=False) as file:
        return {key: file[key] for key in file.files}


def bundled(name):
    """A set that comes with scikit-learn, or None: X, and class codes."""
    kind = {"wdbc": "breast_cancer"}.get(name, name)
    return getattr(datasets, f"load_{kind}")(return_X_y=True) if kind in BUNDLED else None


def whole(arrays):
    """X, y and splits of the arrays of a file: X and y, perhaps with rows of splits, or one split in four arrays."""
    if "X" in arrays:
        return arrays["X"], arrays["y"], list(zip(arrays.get("train_idx", ()), arrays.get("test_idx", ()), strict=True))
    X, y = (np.concatenate([arrays[f"{key}_train"], arrays[f"{key}_test"]]) for key in "Xy")
    return X, y, [tuple(np.split(np.arange(len(X)), [len(arrays["X_train"])]))]


@cache
def sets(names=None):
    """{name: function that returns X and y} of all numeric sets of scikit-learn and in the folder."""
    found = {name: partial(bundled, name) for name in ("wdbc", "iris", "wine", "digits")}
    for place in sorted(Path(folder() or ".").glob("*.npz")):
        with np.load(place, allow_pickle=False) as file:
            if {"X", "y"} <= set(file.files) or {"X_train", "y_train"} <= set(file.files):
                found[place.stem] = lambda name=place.stem: whole(load(name))[:2]
    return {name: found[name] for name in sorted(found) if names is None or name in names}


def standardized(X, Q):
    """Points and queries in float64, standardized by the means and deviations of the points."""
    X, Q = X.astype(np.float64), Q.astype(np.float64)
    scale = X.std(axis=0)
    scale[scale == 0] = 1
    return (X - X.mean(axis=0)) / scale, (Q - X.mean(axis=0)) / scale
