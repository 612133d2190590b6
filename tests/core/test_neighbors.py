import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from reference import neighbors as reference
from scipy.sparse import csr_array, diags_array
from sklearn.neighbors import kneighbors_graph

from spectralcls.kernels import PackedPoints
from spectralcls.linalg import top_eigenpairs
from spectralcls.neighbors import knn, knn_graph, reverse_knn

DTYPES = [np.float32, np.float64]
ALGORITHMS = ["brute", "kd_tree"]


def integers(rng, *shape):
    """Points whose squared distances are exact in any order of summation, with many ties and duplicates."""
    return rng.integers(-6, 7, size=shape)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "m, n, d, k", [(1, 1, 1, 1), (3, 40, 1, 7), (1500, 700, 3, 10), (60, 500, 37, 5), (20, 300, 70, 300)]
)
def test_knn_equals_the_reference_with_ties_by_index(dtype, m, n, d, k):
    rng = np.random.default_rng(0)
    Q, X = integers(rng, m, d).astype(dtype), integers(rng, n, d).astype(dtype)
    expected, order = reference.knn(Q, X, k)
    for algorithm in ALGORITHMS if d < 10 else ["brute"]:
        distances, indices = knn(Q, X, k, algorithm=algorithm)
        np.testing.assert_array_equal(indices, order)
        np.testing.assert_array_equal(distances, expected.astype(dtype))
        assert distances.dtype == dtype and indices.dtype == np.int64


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("offset, scale", [(0, 1), (1e6, 1), (0, 1e-8), (0, 1e8)])
def test_distances_do_not_suffer_from_offset_or_scale(dtype, offset, scale):
    rng = np.random.default_rng(1)
    X = (scale * (rng.standard_normal((1300, 6)) + offset)).astype(dtype)
    distances, indices = knn(X, X, 8, algorithm="brute")
    expected, _ = reference.knn(X, X, 8)
    np.testing.assert_allclose(distances, expected, rtol=3e-7 if dtype == np.float32 else 1e-14)
    assert np.all(distances[:, 0] == 0)


def test_tight_far_clusters_are_resolved():
    rng = np.random.default_rng(2)
    X = (1000 * rng.integers(0, 3, (1200, 1)) + 1e-3 * rng.standard_normal((1200, 12))).astype(np.float32)
    distances, indices = knn(X, X, 6)
    expected, order = reference.knn(X, X, 6)
    np.testing.assert_allclose(distances, expected, rtol=1e-6)
    assert np.mean(indices == order) > 0.999


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [2, 5, 24, 100])
def test_same_bits_for_any_number_of_threads_and_any_batch(dtype, d):
    X = np.random.default_rng(3).standard_normal((1400, d)).astype(dtype)
    once = knn(X, X, 7, algorithm="brute", n_jobs=1)
    for other in (
        knn(X, X, 7, algorithm="brute", n_jobs=3),
        [
            np.vstack(p)
            for p in zip(*(knn(X[i : i + 500], X, 7, algorithm="brute") for i in range(0, 1400, 500)), strict=True)
        ],
    ):
        np.testing.assert_array_equal(once[0], other[0])
        np.testing.assert_array_equal(once[1], other[1])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [1, 9])
def test_crowds_of_ties_are_settled_by_index(dtype, d):
    X = np.repeat(np.arange(3.0), 700)[:, None] * np.ones(d)
    for algorithm in ALGORITHMS:
        distances, indices = knn(X.astype(dtype), X.astype(dtype), 12, algorithm=algorithm)
        np.testing.assert_array_equal(distances, 0)
        np.testing.assert_array_equal(indices, 700 * np.repeat(np.arange(3), 700)[:, None] + np.arange(12))


def test_far_queries_and_huge_values_stay_ordered():
    X = np.array([[0.0], [1.0], [2.0], [5.0]], dtype=np.float32)
    distances, indices = knn(np.array([[3e30]], dtype=np.float32), X, 2, algorithm="brute")
    assert np.isfinite(distances).all()
    distances, indices = knn(np.array([[1e9], [-1e9]]), X.astype(float), 4, algorithm="brute")
    np.testing.assert_array_equal(indices, [[3, 2, 1, 0], [0, 1, 2, 3]])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [2, 30])
def test_reverse_knn_is_the_definition(dtype, d):
    rng = np.random.default_rng(4)
    Q, X = integers(rng, 1100, d).astype(dtype), integers(rng, 400, d).astype(dtype)
    radii = knn(X, X, 6)[0][:, -1]
    graph = reverse_knn(Q, X, radii)
    D = reference.distances(Q, X).astype(dtype)
    inside = D < radii
    np.testing.assert_array_equal(
        np.flatnonzero(inside), np.repeat(np.arange(1100), np.diff(graph.indptr)) * 400 + graph.indices
    )
    np.testing.assert_array_equal(graph.data, D[inside])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [1, 3, 8, 20])
@pytest.mark.parametrize("algorithm", ["auto", *ALGORITHMS])
def test_points_kept_for_many_searches_change_no_bit(dtype, d, algorithm):
    rng = np.random.default_rng(6)
    X, Q = integers(rng, 900, d).astype(dtype), integers(rng, 70, d).astype(dtype)
    kept = PackedPoints(X, labels=np.zeros(900, int))
    radii = knn(X, X, 3)[0][:, -1]
    for points in (kept, pickle.loads(pickle.dumps(kept))):
        for queries in (Q, Q[:1], Q.astype(np.float64), Q * 1e30):
            for k in (1, 5, 900):
                expected, found = (knn(queries, to, k, algorithm=algorithm, n_jobs=2) for to in (X, points))
                for one, other in zip(expected, found, strict=True):
                    np.testing.assert_array_equal(one, other)
                    assert one.dtype == other.dtype
        np.testing.assert_array_equal(knn(points, points, 4)[1], knn(X, X, 4)[1])
        assert (reverse_knn(Q, points, radii) != reverse_knn(Q, X, radii)).nnz == 0
    with pytest.raises(ValueError, match="features, but X has"):
        knn(np.hstack([Q, Q]), kept, 1)


def test_kept_points_answer_several_threads_at_once():
    rng = np.random.default_rng(7)
    X, queries = rng.random((50_000, 3)), rng.random((40, 25, 3))
    expected = [knn(Q, X, 8)[1] for Q in queries]
    kept = PackedPoints(X)
    with ThreadPoolExecutor(8) as pool:
        for one, other in zip(pool.map(lambda Q: knn(Q, kept, 8)[1], queries), expected, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("mode", ["connectivity", "distance"])
def test_the_graph_is_that_of_scikit_learn(mode):
    """The same arguments give the same graph: directed, k entries a row, without the point itself."""
    X = np.random.default_rng(6).standard_normal((150, 3))
    graph = knn_graph(X, 6, mode=mode)
    assert graph.nnz == 6 * len(X) and abs(graph - graph.T).max() > 0
    np.testing.assert_allclose(graph.toarray(), kneighbors_graph(X, 6, mode=mode).toarray(), rtol=1e-12)


@pytest.mark.parametrize("symmetrize", ["or", "and", "mean"])
@pytest.mark.parametrize("mode", ["connectivity", "heat", "distance"])
def test_graph_is_symmetric_and_as_defined(mode, symmetrize):
    if (mode, symmetrize) == ("distance", "mean"):
        pytest.skip("not offered: tested as an error below")
    X = np.random.default_rng(5).standard_normal((150, 3))
    directed = knn_graph(X, 6).toarray()
    assert np.all(directed.sum(axis=1) == 6) and np.all(np.diag(directed) == 0)
    both, either = np.minimum(directed, directed.T), np.maximum(directed, directed.T)
    pattern = {"or": either, "and": both, "mean": (directed + directed.T) / 2}[symmetrize]
    D = reference.distances(X, X)
    epsilon = np.mean(D[pattern > 0] ** 2)
    value = {"connectivity": 1, "heat": np.exp(-(D**2) / epsilon), "distance": D}[mode]
    graph = knn_graph(X, 6, mode=mode, symmetrize=symmetrize)
    np.testing.assert_allclose(graph.toarray(), pattern * value, rtol=1e-12)


def test_a_graph_of_similarities_is_symmetric():
    """The normalized graph of 20 clusters, none of which has a neighbor in another, has 20 eigenvalues one."""
    rng = np.random.default_rng(7)
    X = (1e4 * rng.standard_normal((20, 3))).repeat(10, axis=0) + rng.standard_normal((200, 3))
    graph = knn_graph(X, 4, mode="heat")
    np.testing.assert_array_equal(graph.toarray(), knn_graph(X, 4, mode="heat", symmetrize="or").toarray())
    scale = diags_array(graph.sum(axis=0) ** -0.5)
    values = top_eigenpairs(csr_array(scale @ graph @ scale), 21).values
    np.testing.assert_allclose(values[:20], 1, rtol=1e-10)
    assert values[20] < 0.999


def test_graph_keeps_zero_distances_and_a_given_epsilon():
    X = np.repeat(np.arange(4.0), 3)[:, None]
    graph = knn_graph(X, 2, mode="distance", symmetrize="or")
    assert graph.nnz == 24 and np.all(graph.data == 0)
    np.testing.assert_allclose(knn_graph(X[::3], 1, mode="heat", epsilon=2.0).data, np.exp(-1 / 2))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda X: knn(X, X, 0), "k must be"),
        (lambda X: knn(X, X, 11), "n_samples=10"),
        (lambda X: knn(X, X, 2.5), "k must be"),
        (lambda X: knn(X[:, :1], X, 2), "features"),
        (lambda X: knn(X, X, 2, algorithm="ball"), "algorithm"),
        (lambda X: knn(X * np.nan, X, 2), "NaN"),
        (lambda X: knn(X[:0], X, 2), "0 sample"),
        (lambda X: knn_graph(X, 10), "n_samples - 1 = 9"),
        (lambda X: knn_graph(X, 2, mode="distance", symmetrize="mean"), "Half a distance"),
        (lambda X: knn_graph(X, 2, mode="heat", epsilon=-1.0), "epsilon"),
        (lambda X: knn_graph(X, 2, mode="x"), "mode"),
        (lambda X: knn_graph(X, 2, symmetrize="x"), "symmetrize"),
        (lambda X: reverse_knn(X, X, [1.0]), "radii"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.arange(20.0).reshape(10, 2))


def test_results_are_plain_csr():
    assert isinstance(knn_graph(np.arange(9.0)[:, None], 2), csr_array)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(
    "dtype, scales", [(np.float64, [1e-300, 1e-160, 1e155, 1e200, 1e307]), (np.float32, [1e-30, 1e-20, 1e19, 1e37])]
)
def test_neighbors_do_not_depend_on_the_scale(algorithm, dtype, scales):
    """Squared distances overflow or vanish; the distances themselves are finite numbers."""
    X = np.random.default_rng(0).uniform(-1, 1, (40, 3)).astype(dtype)
    for k in (3, 40):
        distances, indices = knn(X, X, k, algorithm=algorithm)
        for scale in np.ldexp(1.0, np.round(np.log2(scales)).astype(int)).astype(dtype):
            scaled = knn(X * scale, X * scale, k, algorithm=algorithm)
            np.testing.assert_array_equal(scaled[1], indices)
            np.testing.assert_allclose(scaled[0] / scale, distances, rtol=1e-6 if dtype == np.float32 else 1e-14)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_distances_that_no_number_holds_are_infinite_and_their_order_is_right(algorithm):
    distances, indices = knn([[1.7e308]], [[-1.7e308], [1e308]], 2, algorithm=algorithm)
    np.testing.assert_array_equal(indices, [[1, 0]])
    np.testing.assert_allclose(distances, [[7e307, np.inf]])
    X = np.array([[1e-5], [2e-5], [4e-5]])  # near each other
    np.testing.assert_array_equal(knn(X, X, 2, algorithm=algorithm)[1], [[0, 1], [1, 0], [2, 1]])


def test_graphs_of_extreme_data():
    points = np.array([[1e-5], [2e-5], [4e-5]])  # far from the query, near each other
    np.testing.assert_allclose(knn([[1e155]], points, 3, algorithm="kd_tree")[0], [[1e155] * 3])
    X = np.random.default_rng(0).standard_normal((5, 2))
    for mode, unit in (("distance", 1e200), ("heat", 1.0), ("connectivity", 1.0)):
        np.testing.assert_allclose(
            knn_graph(X * 1e200, 4, mode=mode).toarray() / unit, knn_graph(X, 4, mode=mode).toarray()
        )
    near = np.array([[0.0], [0.0], [1.0]], dtype=np.float32)
    graph = knn_graph(near, 1, mode="heat", symmetrize="or", epsilon=1e-300)
    np.testing.assert_array_equal(graph.toarray(), [[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    reverse = reverse_knn(X * 1e200, X * 1e200, np.full(5, 1e200))
    np.testing.assert_allclose(reverse.toarray() / 1e200, reverse_knn(X, X, np.ones(5)).toarray())


def test_graphs_are_symmetric_to_the_bit():
    """The tree and the search for tied neighbors round a distance differently; a graph has one value for an edge."""
    rng = np.random.default_rng(16)
    X = rng.standard_normal((38, 5))[rng.integers(0, 12, 38)]
    for mode in ("distance", "heat"):
        graph = knn_graph(X, 9, mode=mode, symmetrize="or").toarray()
        np.testing.assert_array_equal(graph, graph.T)


def skippable(kind, dtype):
    """Points, and queries about them, of which a search through a filter sees few, or should see all."""
    rng = np.random.default_rng(17)
    centers = rng.uniform(-1, 1, size=(6, 20))
    X = centers[rng.integers(6, size=1500)] + 0.02 * rng.standard_normal((1500, 20))
    Q = np.vstack([X[:90] + 0.01 * rng.standard_normal((90, 20)), rng.standard_normal((9, 20)), X[:2] + 1e30])
    if kind == "integers":
        X, Q = integers(rng, 1500, 9), integers(rng, 101, 9)
    elif kind == "duplicates":
        X, Q = np.repeat(X[:5], 300, axis=0), np.vstack([X[:5], X[:5] + 1e-3])
    elif kind == "offset":
        X, Q = X + 1e6, Q[:99] + 1e6
    elif kind == "wide":
        X, Q = np.repeat(X, 20, axis=1), np.repeat(Q, 20, axis=1)
    elif kind == "tiny":
        X, Q = X * 2.0**-100, Q[:99] * 2.0**-100
    elif kind == "constant":
        X[:, 1:] = Q[:, 1:] = 3
    elif kind == "few":
        X, Q = X[:13], Q[:5]
    return Q.astype(dtype), X.astype(dtype)


KINDS = ["clusters", "integers", "duplicates", "offset", "wide", "tiny", "constant", "few"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [1, 10, 200])
def test_neighbors_through_the_filter_are_those_among_all_pairs(pruning, kind, dtype, k):
    Q, X = skippable(kind, dtype)
    k = min(k, len(X))
    pruning("always")
    distances, indices = knn(Q, X, k, algorithm="brute")
    pruning("never")
    expected, order = knn(Q, X, k, algorithm="brute")
    np.testing.assert_array_equal(distances, expected)
    np.testing.assert_array_equal(indices, order)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_reverse_neighbors_through_the_filter_are_those_among_all_pairs(pruning, kind, dtype):
    Q, X = skippable(kind, dtype)
    radii = np.nextafter(knn(X, X, min(5, len(X)), algorithm="brute")[0][:, -1], dtype(np.inf))
    radii[::7] *= 3
    radii[0] = np.inf
    pruning("always")
    graph = reverse_knn(Q, X, radii)
    pruning("never")
    expected = reverse_knn(Q, X, radii)
    assert graph.nnz >= len(Q)
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(graph, part), getattr(expected, part))


@pytest.mark.parametrize("choice", ["always", "sampled"])
def test_same_bits_through_the_filter_for_any_number_of_threads(pruning, choice):
    pruning(choice)
    rng = np.random.default_rng(18)
    centers = rng.uniform(-1, 1, size=(30, 12))
    X = (centers[rng.integers(30, size=6000)] + 0.05 * rng.standard_normal((6000, 12))).astype(np.float32)
    one, five = knn(X, X, 7, n_jobs=1), knn(X, X, 7, n_jobs=5)
    np.testing.assert_array_equal(one[0], five[0])
    np.testing.assert_array_equal(one[1], five[1])
    np.testing.assert_array_equal(one[1][:, 0], np.arange(6000))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 3, 7, 8, 9, 16, 17, 31, 54, 100])
@pytest.mark.parametrize("n", [1, 5, 37, 3000])
def test_few_queries_find_what_many_find(d, n, dtype):
    """A scan for a few, tiles otherwise: the same bits, duplicates and ties by index included."""
    rng = np.random.default_rng(d)
    X = np.round(rng.normal(size=(n, d)) * 4).astype(dtype) / 4
    X[n // 2 :] = X[: n - n // 2]
    Q = np.concatenate([X[:3], rng.normal(size=(5, d)).astype(dtype), np.full((1, d), 1e6, dtype)])
    for k in {1, min(n, 7), n}:
        many = knn(np.concatenate([Q] * 8), X, k, algorithm="brute")
        for m in (1, len(Q)):
            for threads in (1, 3):
                few = knn(Q[:m], PackedPoints(X), k, n_jobs=threads)
                np.testing.assert_array_equal(few[0], many[0][:m])
                np.testing.assert_array_equal(few[1], many[1][:m])


def test_a_tree_of_kept_points_is_built_when_it_pays():
    """The answers before and after it are the same."""
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(5000, 3)).astype(np.float32), rng.normal(size=(40, 3)).astype(np.float32)
    points, (distances, indices) = PackedPoints(X), knn(Q, X, 5, algorithm="kd_tree")
    for i in range(40):
        found = knn(Q[i : i + 1], points, 5)
        np.testing.assert_array_equal(found[0][0], distances[i])
        np.testing.assert_array_equal(found[1][0], indices[i])
