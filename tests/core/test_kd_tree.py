"""The k-d tree: its neighbors are those of all pairs, whatever the points, and ties come by index."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import distances as all_distances

from spectralcls.kernels import PackedPoints
from spectralcls.neighbors import knn, knn_graph

DTYPES = [np.float32, np.float64]
KINDS = ["normal", "whole", "clusters", "far", "heavy", "subnormal", "line", "repeated"]


def points(rng, kind, n, d, dtype):
    """Points of dtype; those of "whole" and "repeated" have squared distances that are exact in float64."""
    X = rng.standard_normal((n, d))
    if kind == "whole":
        X = rng.integers(-3, 4, size=(n, d))
    elif kind == "clusters":
        X = 1000 * rng.integers(-1, 2, size=(n, 1)) + 1e-3 * X
    elif kind == "far":
        X = 1e6 + X
    elif kind == "heavy":
        X = np.clip(np.exp(8 * X), 0, 1e12) * np.sign(X)
    elif kind == "subnormal":
        X = np.where(rng.random((n, d)) < 0.5, X, X * np.finfo(dtype).smallest_subnormal * 100)
    elif kind == "line":
        X = np.sort(X[:, :1], axis=0) * (np.arange(d) == d // 2)
    elif kind == "repeated":
        X = rng.integers(-50, 51, size=(9, d))[rng.integers(9, size=n)]
    return X.astype(dtype)


def slow_search(Q, X):
    """Distances in float64, and their order."""
    truth = all_distances(Q, X)
    return truth, np.argsort(truth, axis=1, kind="stable")


def check(found, Q, X, exact=False, slow=None):
    """Distances and indices are those of a slow search; with exact distances, to the index."""
    distances, indices = found
    k = indices.shape[1]
    truth, order = slow or slow_search(Q, X)
    order = order[:, :k]
    nearest = np.take_along_axis(truth, order, 1)
    if exact:
        np.testing.assert_array_equal(indices, order)
    rounding = 4 * np.finfo(np.float64).eps
    np.testing.assert_allclose(np.take_along_axis(truth, indices, 1), nearest, rtol=rounding * X.shape[1])
    np.testing.assert_allclose(distances, nearest, rtol=2 * np.finfo(X.dtype).eps, atol=np.finfo(X.dtype).tiny)
    assert all(len(set(row)) == k for row in indices)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", range(1, 11))
def test_neighbors_are_those_of_all_pairs(d, kind, dtype):
    rng = np.random.default_rng(d)
    X, Q = points(rng, kind, 700, d, dtype), points(rng, kind, 150, d, dtype)
    Q[::3] = X[: len(Q[::3])]
    slow = slow_search(Q, X)
    for k in (1, 2, 7, 100, len(X)):
        found = knn(Q, X, k, algorithm="kd_tree")
        check(found, Q, X, kind in ("whole", "repeated"), slow)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "subnormal"])
@pytest.mark.parametrize("d", [1, 3, 6])
def test_the_bits_are_those_of_the_other_way(d, kind, dtype):
    rng = np.random.default_rng(d)
    X = points(rng, kind, 3000, d, dtype)
    for k in (1, 20):
        tree, tiles = (knn(X, X, k, algorithm=algorithm) for algorithm in ("kd_tree", "brute"))
        np.testing.assert_array_equal(tree[0], tiles[0])
        np.testing.assert_array_equal(tree[1], tiles[1])


@settings(max_examples=80, deadline=None)
@given(
    st.integers(0, 2**31),
    st.sampled_from(DTYPES),
    st.sampled_from(KINDS),
    st.integers(1, 6),
    st.integers(1, 80),
    st.integers(1, 40),
)
def test_neighbors_among_few_points(seed, dtype, kind, d, n, m):
    rng = np.random.default_rng(seed)
    X, Q = points(rng, kind, n, d, dtype), points(rng, kind, m, d, dtype)
    k = int(rng.integers(1, n + 1))
    check(knn(Q, X, k, algorithm="kd_tree"), Q, X, exact=kind in ("whole", "repeated"))
    check(knn(X, X, k, algorithm="kd_tree"), X, X, exact=kind in ("whole", "repeated"))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [1, 2, 5])
def test_all_points_equal(d, dtype):
    X = np.full((100_000, d), 0.1, dtype)
    distances, indices = knn(X, X, 40, algorithm="kd_tree")
    assert np.all(distances == 0) and np.all(indices == np.arange(40))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [1, 3, 8])
def test_places_that_hold_a_hundred_thousand_duplicates(d, dtype):
    """Each of three places holds every third point; the ties for the last neighbor go to the smallest rows."""
    places = np.array([0, 1, 10], dtype)[:, None] * np.ones(d, dtype)
    X = places[np.arange(300_000) % 3]
    for k in (1, 12, 1000):
        distances, indices = knn(places + dtype(0.25), X, k, algorithm="kd_tree")
        np.testing.assert_array_equal(indices, 3 * np.arange(k) + np.arange(3)[:, None])
        np.testing.assert_array_equal(distances, np.full((3, k), np.sqrt(d / 16)).astype(dtype))
    k, n_nearest = 100_003, 100_000
    indices = knn(places[:1], X, k, algorithm="kd_tree")[1][0]
    np.testing.assert_array_equal(indices[:n_nearest], 3 * np.arange(n_nearest))
    np.testing.assert_array_equal(indices[n_nearest:], 3 * np.arange(3) + 1)


def test_ties_of_points_in_different_places():
    """From the center of a circle of whole numbers all are equally far."""
    circle = np.array([(a, b) for a in range(-65, 66) for b in range(-65, 66) if a * a + b * b == 65**2])
    X = np.tile(circle, (400, 1)).astype(np.float32)
    for k in (5, 30, 500):
        distances, indices = knn(np.zeros((20, 2), np.float32), X, k, algorithm="kd_tree")
        assert np.all(distances == 65) and np.all(indices == np.arange(k))


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_point_and_all_points(dtype):
    one = np.array([[2.0, 3.0]], dtype)
    np.testing.assert_array_equal(knn(one + 1, one, 1, algorithm="kd_tree"), [[[np.sqrt(dtype(2))]], [[0]]])
    X = np.random.default_rng(0).integers(0, 30, (2500, 2)).astype(dtype)
    check(knn(X[:50], X, len(X), algorithm="kd_tree"), X[:50], X, exact=True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_what_is_no_number_is_refused(wrong, dtype):
    X = np.zeros((3, 2), dtype)
    bad = X.copy()
    bad[1, 1] = wrong
    for Q, P in ((bad, X), (X, bad)):
        with pytest.raises(ValueError, match="NaN|infinity"):
            knn(Q, P, 1, algorithm="kd_tree")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["normal", "whole", "heavy"])
def test_same_bits_for_any_number_of_threads_and_any_batch(kind, dtype):
    rng = np.random.default_rng(0)
    X = points(rng, kind, 50_000, 3, dtype)
    expected = knn(X, X, 4, algorithm="kd_tree", n_jobs=1)
    for n_jobs in (2, 5):
        found = knn(X, X, 4, algorithm="kd_tree", n_jobs=n_jobs)
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_array_equal(found[1], expected[1])
    for rows in (slice(0, 1), slice(7, 1500), rng.permutation(len(X))):
        found = knn(X[rows], X, 4, algorithm="kd_tree")
        np.testing.assert_array_equal(found[0], expected[0][rows])
        np.testing.assert_array_equal(found[1], expected[1][rows])


def test_neighbors_follow_the_order_of_the_points():
    """Without ties, points in another order have the same neighbors."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 3))
    order = rng.permutation(len(X))
    expected, found = knn(X, X, 6, algorithm="kd_tree"), knn(X, X[order], 6, algorithm="kd_tree")
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(order[found[1]], expected[1])


def test_neighbors_move_along_with_the_points():
    """Whole numbers far away are moved, and axes exchanged, without rounding."""
    X = np.random.default_rng(0).integers(-200, 200, (20_000, 3)).astype(np.float32)
    expected = knn(X, X, 6, algorithm="kd_tree")
    for moved in (X + np.float32(2**20), X[:, [2, 0, 1]] * np.float32([1, -1, 1]), X * np.float32(2**-30)):
        found = knn(moved, moved, 6, algorithm="kd_tree")
        np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.parametrize(
    ("n", "d", "spread"), [(40_000, 3, 1.0), (9000, 9, 1.0), (9000, 9, 0.01), (9000, 20, 1.0), (50, 20, 1.0)]
)
def test_the_choice_between_tree_and_tiles_changes_no_bit(n, d, spread):
    rng = np.random.default_rng(n)
    X = (rng.integers(10, size=(n, 1)) + spread * rng.standard_normal((n, d))).astype(np.float32)
    for Q, k in ((X[:1], 1), (X[:300] + np.float32(0.5), 12), (X, 3)):
        expected, *found = (knn(Q, X, k, algorithm=algorithm) for algorithm in ("brute", "kd_tree", "auto"))
        for distances, indices in found:
            np.testing.assert_array_equal(distances, expected[0])
            np.testing.assert_array_equal(indices, expected[1])


def test_the_graph_is_the_same_through_tree_and_tiles():
    X = np.random.default_rng(0).integers(0, 12, (3000, 3)).astype(float)
    tree, tiles = (knn_graph(X, 8, mode="distance", algorithm=algorithm) for algorithm in ("kd_tree", "brute"))
    assert (tree != tiles).nnz == 0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["normal", "whole", "repeated"])
def test_the_trial_of_a_few_queries_is_their_answer(kind, dtype):
    X, Q = (points(np.random.default_rng(i), kind, n, 3, dtype) for i, n in ((0, 20_000), (1, 17)))
    kept = PackedPoints(X)
    knn(np.repeat(Q, 200, axis=0), kept, 5)  # so many that a tree is built
    for m in (1, 2, 16, 17):
        for k in (1, 10):
            distances, indices = knn(Q[:m], kept, k)
            expected = knn(Q[:m], X, k, algorithm="brute")
            np.testing.assert_array_equal(distances, expected[0])
            np.testing.assert_array_equal(indices, expected[1])
