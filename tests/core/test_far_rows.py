"""A row far away, such as a value that stands for missing ones, is infinitely far and changes nothing else."""

import numpy as np
import pytest

from spectralcls.kernels import PackedPoints, kernel_matrix, kernel_sums
from spectralcls.neighbors import knn, knn_graph, reverse_knn

FAR = [(np.float32, v) for v in (1e10, 3e18, 1e20, 9.96921e36, -3.4028235e38)] + [
    (np.float64, v) for v in (1e50, 1e145, 1e153, 1e200, -1.7976931348623157e308)
]
TOLERANCE = {np.float32: 1e-5, np.float64: 1e-12}
PROFILES = {
    "gaussian": lambda u: np.exp(-(u**2) / 2),
    "laplace": lambda u: np.exp(-u),
    "epanechnikov": lambda u: np.maximum(1 - u**2, 0),
}


def samples(dtype, far, d, n=300, m=60):
    """Points and queries; of both, some have one or all coordinates far away."""
    rng = np.random.default_rng(d)
    X, Q = rng.normal(size=(n, d)).astype(dtype), rng.normal(size=(m, d)).astype(dtype)
    X[7, 0], X[9], X[11] = far, far, dtype(far) / 3
    Q[3, 0], Q[4] = far, far
    return Q, X


def lengths(Q, X):
    """|q - x| in quotients of the largest coordinate, so that no square overflows or vanishes."""
    difference = Q[:, None].astype(np.float64) / 2 - X[None].astype(np.float64) / 2
    largest = np.maximum(np.abs(difference).max(axis=2, keepdims=True), np.finfo(np.float64).tiny)
    with np.errstate(under="ignore", over="ignore"):
        return 2 * largest[..., 0] * np.sqrt(((difference / largest) ** 2).sum(axis=2))


@pytest.mark.parametrize("dtype, far", FAR)
@pytest.mark.parametrize("d", [1, 3, 12, 40])
@pytest.mark.parametrize("kernel", PROFILES)
def test_kernel_values_of_all_others_are_right(dtype, far, d, kernel):
    Q, X = samples(dtype, far, d)
    h = np.sqrt(d) * (1.5 if kernel == "epanechnikov" else 0.5)
    with np.errstate(over="ignore", under="ignore"):
        truth, among_points = (PROFILES[kernel](lengths(A, X) / h) for A in (Q, X))
    tolerance = TOLERANCE[dtype]
    np.testing.assert_allclose(kernel_matrix(Q, X, bandwidth=h, kernel=kernel), truth, atol=tolerance)
    np.testing.assert_allclose(kernel_matrix(X, bandwidth=h, kernel=kernel), among_points, atol=tolerance)
    for points in (X, PackedPoints(X)):
        sums = kernel_sums(Q, points, bandwidth=h, kernel=kernel)
        np.testing.assert_allclose(sums, truth.sum(axis=1), rtol=tolerance, atol=tolerance)
        logs = kernel_sums(Q, points, bandwidth=h, kernel=kernel, log=True)
        seen = truth.sum(axis=1) > 1e-3
        np.testing.assert_allclose(logs[seen], np.log(truth.sum(axis=1)[seen]), rtol=0, atol=10 * tolerance)
        assert not np.isnan(logs).any()
    if d <= 3:
        sums = kernel_sums(Q, X, bandwidth=h, kernel=kernel, rtol=1e-4)
        np.testing.assert_allclose(sums, truth.sum(axis=1), rtol=2e-4, atol=tolerance)


@pytest.mark.parametrize("dtype, far", [(np.float32, 3e38), (np.float64, 1e300)])
@pytest.mark.parametrize("d", [2, 8, 30])
def test_they_are_right_where_pairs_are_pruned(dtype, far, d, pruning):
    Q, X = samples(dtype, far, d, n=3000, m=100)
    h = 0.3 * np.sqrt(d)
    with np.errstate(over="ignore", under="ignore"):
        truth = PROFILES["gaussian"](lengths(Q, X) / h).sum(axis=1)
    pruning("always")
    sums = kernel_sums(Q, X, bandwidth=h)
    np.testing.assert_allclose(sums, truth, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


@pytest.mark.parametrize("dtype, first, second", [(np.float32, 9.96921e36, 1e37), (np.float64, 1e299, 1.00001e299)])
def test_two_rows_far_away_are_far_from_each_other(dtype, first, second):
    X = np.r_[np.random.default_rng(0).normal(size=(50, 2)), [[first, 0], [second, 0], [first, 0], [-first, 0]]]
    K = kernel_matrix(X.astype(dtype), bandwidth=1.0)
    np.testing.assert_allclose(K[-4:, -4:], [[1, 0, 1, 0], [0, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1]], atol=1e-30)
    np.testing.assert_allclose(K[-4:, :-4], 0, atol=1e-30)


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_a_far_row_among_copies_of_one_point(dtype):
    X = np.r_[np.ones((99, 2)), [[np.finfo(dtype).max, 0]]].astype(dtype)
    Q = np.array([[1, 2], [1, 1]], dtype)
    for points in (X, PackedPoints(X)):
        sums = kernel_sums(Q, points, bandwidth=1.0)
        np.testing.assert_allclose(sums, 99 * np.exp([-0.5, 0]), rtol=TOLERANCE[dtype])


@pytest.mark.parametrize("dtype, far", FAR)
@pytest.mark.parametrize("d", [1, 2, 12, 40])
@pytest.mark.parametrize("algorithm", ["brute", "kd_tree", "auto"])
@pytest.mark.parametrize("k", [3, 60])
def test_neighbors_of_all_others_are_right(dtype, far, d, algorithm, k):
    Q, X = samples(dtype, far, d, n=60)
    X[9] = dtype(far) * dtype(0.9)
    truth = lengths(Q, X)
    near = np.delete(np.arange(len(Q)), [3, 4])
    order = np.argsort(truth, axis=1, kind="stable")[:, :k]
    for points in (X, PackedPoints(X)):
        distances, indices = knn(Q, points, k, algorithm=algorithm)
        last = 3 if k == 60 else 0  # far rows come last; float32 may not hold how far they are
        np.testing.assert_array_equal(indices[near, : k - last], order[near, : k - last])
        np.testing.assert_allclose(
            distances[near, : k - last], np.take_along_axis(truth, order, 1)[near, : k - last], rtol=TOLERANCE[dtype]
        )
        if k == 60:
            np.testing.assert_array_equal(np.sort(indices[near, -3:]), np.tile([7, 9, 11], (len(near), 1)))
        assert (indices[[3, 4], 0] == [7, 9]).all() or d == 1


@pytest.mark.parametrize("dtype, far", FAR)
@pytest.mark.parametrize("d", [2, 20])
def test_graphs_of_all_others_are_those_without_the_far_row(dtype, far, d):
    X = np.random.default_rng(d).normal(size=(200, d)).astype(dtype)
    Y = np.insert(X, 50, 0, axis=0)
    Y[50, 0] = far
    others = np.delete(np.arange(201), 50)
    with np.errstate(over="ignore"):
        graph = knn_graph(Y, 4, mode="distance", symmetrize=None)[others][:, others]
    np.testing.assert_array_equal(graph.toarray(), knn_graph(X, 4, mode="distance", symmetrize=None).toarray())
    radii = knn(X, X, 4)[0][:, -1]
    reverse = reverse_knn(Y, Y, np.insert(radii, 50, 0))
    np.testing.assert_array_equal(reverse[others][:, others].toarray(), reverse_knn(X, X, radii).toarray())
    assert reverse[[50]].nnz == reverse[:, [50]].nnz == 0


@pytest.mark.parametrize("factor, counts", [(0.5, True), (2.0, False)])
def test_the_scale_of_a_graph_is_that_of_edges_up_to_a_million_medians(factor, counts):
    """One more edge would decide alone; the chain has edges of length one."""
    X = np.r_[np.arange(40.0), 39 + factor * 1e6][:, None]
    lengths = knn_graph(X, 1, mode="distance").data
    counted = lengths if counts else lengths[lengths < 1e6]
    scale = (counted**2).sum() / len(counted)
    directed = knn_graph(X, 1, mode="heat", symmetrize=None)
    np.testing.assert_allclose(directed.data, np.exp(-(lengths**2) / scale), atol=1e-300)
