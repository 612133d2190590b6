"""Numbers far away, such as those that stand for missing ones, are infinitely far and change nothing else."""

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


SOME = {np.float32: (1e26, -3.4028235e38), np.float64: (1e170, -1.7976931348623157e308)}


def few_rows(A, far, rng):
    """Three rows have one or all coordinates far away."""
    A[3, 0], A[4], A[5] = far, far, far / 3


def a_column(A, far, rng):
    A[:, 0] = far


def most_rows(A, far, rng):
    A[rng.random(len(A)) < 0.8] = far


def most_cells(A, far, rng):
    A[rng.random(A.shape) < 0.6] = far


def several_numbers(A, far, rng):
    """Every other cell of a column is one of five numbers, or a number of its own."""
    A[::4, 0] = rng.permutation(np.linspace(0, 1, 5))[rng.integers(0, 5, len(A[::4]))] * far
    A[1::4, 0] = rng.uniform(0.1, 1, len(A[1::4])) * far


PATTERNS = (few_rows, a_column, most_rows, most_cells, several_numbers)


def samples(dtype, far, d, pattern=few_rows, n=300, m=60):
    """Points and queries, with numbers that are far away."""
    rng = np.random.default_rng(d)
    X, Q = rng.normal(size=(n, d)).astype(dtype), rng.normal(size=(m, d)).astype(dtype)
    pattern(X, dtype(far), rng)
    pattern(Q, dtype(far), rng)
    return Q, X


def lengths(Q, X):
    """|q - x| in quotients of the largest coordinate, so that no square overflows or vanishes."""
    difference = Q[:, None].astype(np.float64) / 2 - X[None].astype(np.float64) / 2
    largest = np.maximum(np.abs(difference).max(axis=2, keepdims=True), np.finfo(np.float64).tiny)
    with np.errstate(under="ignore", over="ignore"):
        return 2 * largest[..., 0] * np.sqrt(((difference / largest) ** 2).sum(axis=2))


def check_sums(Q, X, kernel, h):
    with np.errstate(over="ignore", under="ignore"):
        truth, among_points = (PROFILES[kernel](lengths(A, X) / h) for A in (Q, X))
    tolerance = TOLERANCE[X.dtype.type]
    np.testing.assert_allclose(kernel_matrix(Q, X, bandwidth=h, kernel=kernel), truth, atol=tolerance)
    np.testing.assert_allclose(kernel_matrix(X, bandwidth=h, kernel=kernel), among_points, atol=tolerance)
    for points in (X, PackedPoints(X)):
        sums = kernel_sums(Q, points, bandwidth=h, kernel=kernel)
        np.testing.assert_allclose(sums, truth.sum(axis=1), rtol=tolerance, atol=tolerance)
        logs = kernel_sums(Q, points, bandwidth=h, kernel=kernel, log=True)
        seen = truth.sum(axis=1) > 1e-3
        np.testing.assert_allclose(logs[seen], np.log(truth.sum(axis=1)[seen]), rtol=0, atol=10 * tolerance)
        assert not np.isnan(logs).any()
    if X.shape[1] <= 3:
        sums = kernel_sums(Q, X, bandwidth=h, kernel=kernel, rtol=1e-4)
        np.testing.assert_allclose(sums, truth.sum(axis=1), rtol=2e-4, atol=tolerance)


@pytest.mark.parametrize("dtype, far", FAR)
@pytest.mark.parametrize("d", [1, 3, 12, 40])
@pytest.mark.parametrize("kernel", PROFILES)
def test_kernel_values_of_all_others_are_right(dtype, far, d, kernel):
    check_sums(*samples(dtype, far, d), kernel, h=np.sqrt(d) * (1.5 if kernel == "epanechnikov" else 0.5))


@pytest.mark.parametrize("dtype, far", [(dtype, far) for dtype, numbers in SOME.items() for far in numbers])
@pytest.mark.parametrize("d", [2, 12])
@pytest.mark.parametrize("kernel", PROFILES)
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("choice", ["always", "never"])
def test_no_majority_is_needed(dtype, far, d, kernel, pattern, choice, pruning):
    pruning(choice)
    check_sums(*samples(dtype, far, d, pattern), kernel, h=np.sqrt(d) * (1.5 if kernel == "epanechnikov" else 0.5))


@pytest.mark.parametrize("dtype, least", [(np.float32, 1e-7), (np.float64, 1e-150)])
@pytest.mark.parametrize("share", [0.1, 0.9])
def test_close_pairs_among_far_ones(dtype, least, share):
    """Distances far below the bandwidth matter to a kernel that is linear in them."""
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(440, 3)) * least).astype(dtype)
    far = rng.random(440) < share
    X[far] = rng.normal(size=(far.sum(), 3)) * 1e12
    h, near = 800 * least, X[~far]
    truth = np.exp(-lengths(near, near) / h).sum(axis=1)
    sums = kernel_sums(near, X, kernel="laplace", bandwidth=h)
    np.testing.assert_allclose(sums, truth, rtol=40 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", SOME)
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("d", [1, 2])
def test_sums_on_a_grid(dtype, pattern, d, pruning):
    Q, X = samples(dtype, SOME[dtype][1], d, pattern, n=4000, m=2000)
    pruning("never")
    all_pairs = kernel_sums(Q, X, bandwidth=0.2)
    pruning("always")
    np.testing.assert_allclose(kernel_sums(Q, X, bandwidth=0.2), all_pairs, rtol=TOLERANCE[dtype], atol=1e-30)


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
    X[4] = dtype(far) * dtype(0.9)
    truth = lengths(Q, X)
    near = np.delete(np.arange(len(Q)), [3, 4, 5])
    order = np.argsort(truth, axis=1, kind="stable")[:, :k]
    for points in (X, PackedPoints(X)):
        distances, indices = knn(Q, points, k, algorithm=algorithm)
        last = 3 if k == 60 else 0  # far rows come last; float32 may not hold how far they are
        np.testing.assert_array_equal(indices[near, : k - last], order[near, : k - last])
        np.testing.assert_allclose(
            distances[near, : k - last], np.take_along_axis(truth, order, 1)[near, : k - last], rtol=TOLERANCE[dtype]
        )
        if k == 60:
            np.testing.assert_array_equal(np.sort(indices[near, -3:]), np.tile([3, 4, 5], (len(near), 1)))
        assert (indices[[3, 4], 0] == [3, 4]).all() or d == 1


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
