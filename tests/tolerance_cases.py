"""Point sets made to break a bound on the error of kernel sums."""

import numpy as np


def clusters(rng, n, d):
    centers = rng.uniform(-30, 30, size=(6, d))
    scales = 10.0 ** rng.uniform(-3, 0.5, size=(n, 1))
    return centers[rng.integers(6, size=n)] + rng.normal(size=(n, d)) * scales


def line(rng, n, d):
    return np.outer(rng.uniform(-40, 40, size=n), rng.normal(size=d)) + 1e-3 * rng.normal(size=(n, d))


def outliers(rng, n, d):
    return rng.standard_cauchy(size=(n, d))


def far_outliers(rng, n, d):
    X = rng.normal(size=(n, d))
    X[: n // 50] *= 1e12
    return X


def duplicates(rng, n, d):
    return rng.integers(-3, 4, size=(n, d)).astype(float)


def dense_beside_empty(rng, n, d):
    X = rng.normal(size=(n, d)) * 0.2
    X[: n // 10] = rng.uniform(-15, 15, size=(n // 10, d))
    return X


def on_the_lattice(rng, n, d):
    return rng.integers(-40, 41, size=(n, d)) * 0.25


def offset(rng, n, d):
    return clusters(rng, n, d) + 1e6


DATA = (clusters, line, outliers, far_outliers, duplicates, dense_beside_empty, on_the_lattice, offset)
