"""More pairs than an int32 counts: 47,000 points and queries are 2.2e9."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from spectralcls.kernels import kernel_sums
from spectralcls.neighbors import knn

N = 47_000
assert N * N > 2**31
ROWS = [0, 1, N // 2, N - 2, N - 1]


@pytest.fixture(scope="module")
def points():
    return np.random.default_rng(0).normal(size=(N, 2)).astype(np.float32)


def squared_distances(X):
    return ((X[ROWS, None].astype(np.float64) - X[None].astype(np.float64)) ** 2).sum(-1)


def test_sums_over_more_pairs_than_an_int32_counts(points):
    labels = np.arange(N) % 3
    sums = kernel_sums(points, points, labels=labels, bandwidth=0.3, exclude_self=True)
    values = np.exp(-squared_distances(points) / (2 * 0.3**2))
    values[np.arange(len(ROWS)), ROWS] = 0
    assert_allclose(sums[ROWS], values @ np.eye(3)[labels], rtol=1e-5)


def test_log_sums_over_more_pairs_than_an_int32_counts(points):
    logs = kernel_sums(points, points, bandwidth=0.01, log=True)
    assert_allclose(logs[ROWS], np.log(np.exp(-squared_distances(points) / (2 * 0.01**2)).sum(1)), rtol=1e-5, atol=1e-5)


def test_neighbors_among_more_pairs_than_an_int32_counts(points):
    distances, indices = knn(points, points, 3)
    expected = squared_distances(points)
    assert_allclose(distances[ROWS] ** 2, np.sort(expected, axis=1)[:, :3], rtol=1e-5, atol=1e-12)
    assert_array_equal(indices[ROWS, 0], ROWS)
