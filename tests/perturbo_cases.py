"""Data and classifiers that the tests of PerTurbo share."""

import numpy as np

from spectralcls.perturbo import PerTurboClassifier

KINDS = ["tikhonov", "truncate", None]


def data(n=60, d=3, n_classes=3, seed=0, apart=1.0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return rng.normal(size=(n, d)) + apart * y[:, None], y


def fixed(kind="tikhonov", h=1.0, alpha=1e-2, **kwargs):
    return PerTurboClassifier(h, regularization=kind, alpha=alpha, scale=None, **kwargs)
