"""The folder of the data sets, $SPECTRALCLS_DATA; a bench is skipped with a message if its set is missing."""

import os
from pathlib import Path

import numpy as np
import pytest

VARIABLE = "SPECTRALCLS_DATA"


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


def standardized(X, Q):
    """Points and queries in float64, standardized by the means and deviations of the points."""
    X, Q = X.astype(np.float64), Q.astype(np.float64)
    scale = X.std(axis=0)
    scale[scale == 0] = 1
    return (X - X.mean(axis=0)) / scale, (Q - X.mean(axis=0)) / scale
