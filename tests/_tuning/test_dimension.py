import numpy as np
import pytest
from data import load_npz
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist, pdist

from spectralcls._tuning import dimension as dimension_module
from spectralcls.ccdr import CCDRClassifier
from spectralcls.information import entropic_dimension
from spectralcls.neighbors import knn


def isometric(U, d, seed=0):
    """Points of a manifold turned into R^d by a rotation and a shift."""
    rotation = np.linalg.qr(np.random.default_rng(seed).standard_normal((d, d)))[0]
    return U @ rotation[: U.shape[1]] + 3


def sphere(m, n):
    X = np.random.default_rng(m).standard_normal((n, m + 1))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def swiss_roll(n):
    rng = np.random.default_rng(0)
    angle, height = rng.uniform(4, 14, n), 20 * rng.uniform(size=n)
    return np.column_stack([angle * np.cos(angle), height, angle * np.sin(angle)])


@pytest.mark.parametrize("graph", ["knn", "mst"])
@pytest.mark.parametrize(
    "X, dimension",
    [
        (isometric(np.random.default_rng(0).uniform(size=(600, 1)), 9), 1),
        (isometric(np.random.default_rng(0).uniform(size=(600, 2)), 9), 2),
        (swiss_roll(1000), 2),
        (isometric(sphere(3, 1000), 12), 3),
        (isometric(sphere(5, 1000), 12), 5),
    ],
)
def test_known_manifolds(X, dimension, graph):
    n, resamples = (len(X), 8) if graph == "knn" else (500, 4)
    found = entropic_dimension(X[:n], graph=graph, n_resamples=resamples, random_state=0)
    assert round(found.dimension) == dimension
    assert found.resampled.shape == found.lengths.shape[:1]
    assert found.spread == pytest.approx(found.resampled.std()) and found.spread < 1


def kept(edges):
    """The sum of all edges but the longest twentieth, of which the last counts in part."""
    edges = np.sort(edges, axis=None)[::-1]
    return edges @ np.clip(np.arange(1, len(edges) + 1) - len(edges) / 20, 0, 1)


def test_lengths_are_those_of_the_graphs():
    X = np.random.default_rng(0).standard_normal((40, 3))
    sizes = [30, 40]
    found = entropic_dimension(X, n_neighbors=3, gamma=1.5, sizes=sizes, n_resamples=2, random_state=0)
    expected = kept(knn(X, X, 4)[0][:, 1:] ** 1.5)  # all 40 points, in any order
    np.testing.assert_allclose(found.lengths[:, 1], expected)
    slopes = np.diff(np.log(found.lengths), axis=1)[:, 0] / np.log(40 / 30)
    np.testing.assert_allclose(found.resampled, np.where(slopes < 1, 1.5 / (1 - slopes), np.inf))
    tree = entropic_dimension(X[:3], graph="mst", sizes=[2, 3], n_resamples=1, random_state=0)
    assert tree.lengths[0, 1] == pytest.approx(kept(np.sort(pdist(X[:3]))[:2]))


@pytest.mark.parametrize("most_known", [128, 5])
def test_graphs_of_subsamples_follow_from_one_search(most_known, monkeypatch):
    """The neighbors within a subsample, also where too few of the known ones are drawn."""
    monkeypatch.setattr(dimension_module, "MOST_KNOWN", most_known)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    graphs = dimension_module.NeighborGraphs.of(X, 4, 20, None)
    for size in (20, 50, 80):
        rows = rng.choice(80, size, replace=False)
        expected = knn(X[rows], X[rows], 5)[0][:, 1:]
        np.testing.assert_allclose(np.sort(graphs.edges(rows)), np.sort(expected, axis=None), rtol=1e-12)


@pytest.mark.parametrize("most_paired", [4096, 10])
def test_the_tree_is_the_shortest_and_duplicates_add_nothing(most_paired, monkeypatch):
    monkeypatch.setattr(dimension_module, "MOST_PAIRED", most_paired)
    X = np.random.default_rng(0).standard_normal((60, 3))
    shortest = kept(minimum_spanning_tree(cdist(X, X)).data)
    for points in (X, np.repeat(X, 2, axis=0)):
        found = entropic_dimension(points, graph="mst", gamma=1, sizes=[2, 60], n_resamples=1, random_state=0)
        assert found.lengths[0, 1] == pytest.approx(shortest)


@pytest.mark.parametrize("graph", ["knn", "mst"])
def test_copies_count_once(graph):
    X = np.random.default_rng(0).uniform(size=(200, 2))
    once = entropic_dimension(X, graph=graph, n_resamples=4, random_state=0)
    for times in (2, 5):
        again = entropic_dimension(np.repeat(X, times, axis=0), graph=graph, n_resamples=4, random_state=0)
        assert again.dimension == pytest.approx(once.dimension, rel=1e-12)


@pytest.mark.parametrize("graph", ["knn", "mst"])
@pytest.mark.parametrize("far", [1e4, 1e30, 1e300])
def test_a_far_point_is_named_and_changes_little(far, graph):
    X = swiss_roll(400)
    options = dict(graph=graph, n_resamples=6, random_state=0)
    with pytest.warns(UserWarning, match=r"1 of 401 distinct points are far .*rows 250 of those given") as record:
        found = entropic_dimension(np.insert(X, 250, [far, 0, 0], axis=0), **options)
    assert record[0].filename == __file__
    assert found.dimension == pytest.approx(entropic_dimension(X, **options).dimension, abs=0.15)


@pytest.mark.parametrize("graph", ["knn", "mst"])
@pytest.mark.parametrize("n", [20, 41])
def test_far_points_beside_few_are_left_out(n, graph):
    """However few edges there are: the estimate is that of the others, draws and all."""
    X = np.random.default_rng(0).normal(size=(n, 2))
    options = dict(graph=graph, random_state=0)
    with pytest.warns(UserWarning, match="They are left out"):
        found = entropic_dimension(np.vstack([[[1e6, 1e6]], X]), **options)
    expected = entropic_dimension(X, **options)
    assert found.dimension == pytest.approx(expected.dimension)
    np.testing.assert_allclose(found.lengths, expected.lengths)
    with pytest.warns(UserWarning, match="They are left out"):
        found = entropic_dimension(np.vstack([[[1e6, 1e6]], X]), sizes=[n // 2, n + 1], **options)
    assert found.sizes.tolist() == [n // 2, n]


@pytest.mark.parametrize("draw", ["normal", "exponential"])
def test_ordinary_tails_have_no_far_points(draw):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        for n, d in ((30, 1), (300, 1), (300, 3)):
            entropic_dimension(getattr(rng, draw)(size=(n, d)), n_resamples=1, random_state=0)  # warnings are errors


def test_heavy_tails_are_a_line():
    X = np.random.default_rng(0).standard_cauchy((300, 1)) ** 3
    with pytest.warns(UserWarning, match=r"\(rows \d+, \d+, \d+, \d+, \d+, \.\.\. of those given\)"):
        assert entropic_dimension(X, random_state=0).dimension == pytest.approx(1, abs=0.3)


@pytest.mark.parametrize("trimmed", [0.02, 0.1])
def test_the_share_of_edges_left_out_hardly_matters(trimmed, monkeypatch):
    """Between a fiftieth and a tenth; without any, one far point is the answer."""
    X = np.random.default_rng(0).normal(size=(600, 4))
    usual = entropic_dimension(X, random_state=0).dimension
    monkeypatch.setattr(dimension_module, "TRIMMED", trimmed)
    assert entropic_dimension(X, random_state=0).dimension == pytest.approx(usual, rel=0.04)


def test_invariant_to_scale_and_order_and_deterministic():
    X = sphere(3, 300)
    first = entropic_dimension(X, random_state=3)
    for scale in (1e-300, 1e4, 1e300):
        again = entropic_dimension(scale * X, random_state=3, n_jobs=2)
        assert first.dimension == pytest.approx(again.dimension, rel=1e-9)
    assert entropic_dimension(1e4 * X + 5, random_state=3).dimension == pytest.approx(first.dimension, rel=0.05)
    assert entropic_dimension(X[::-1], random_state=3).dimension == pytest.approx(first.dimension, rel=1e-9)
    tiny = entropic_dimension((X * 1e-41).astype(np.float32), random_state=3)
    assert tiny.dimension == pytest.approx(first.dimension, rel=0.1)


def test_satimage_classes():
    """Paper 004, section V-D: 13, 7, 13, 10, 6, 13."""
    data = load_npz("satimage")
    of_class = [data["X_train"][data["y_train"] == c] for c in range(6)]
    dimensions = np.array([entropic_dimension(X, n_resamples=8, random_state=0).dimension for X in of_class])
    assert np.all((4.5 < dimensions) & (dimensions < 14))
    # The order of the paper: classes 2 and 5 are simple, 1, 3 and 6 are not.
    assert dimensions[[1, 4]].max() < dimensions[[0, 2, 5]].min()


@pytest.mark.parametrize(
    "options, message",
    [
        ({"graph": "x"}, "graph"),
        ({"gamma": 0.0}, "gamma"),
        ({"sizes": [3, 4]}, "sizes"),
        ({"sizes": [10, 90]}, "sizes"),
        ({"n_resamples": 0}, "n_resamples"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        entropic_dimension(np.random.default_rng(0).standard_normal((50, 2)), **options)


def test_duplicates_only():
    with pytest.raises(ValueError, match="duplicates"):
        entropic_dimension(np.ones((30, 2)))
    with pytest.raises(ValueError, match="without duplicates there are 2 of n_samples=30"):
        entropic_dimension(np.repeat([[1.0], [2.0]], 15, axis=0))
    with pytest.raises(ValueError, match="NaN"):
        entropic_dimension(np.full((30, 2), np.nan))


def test_ccdr_takes_one_component_more_than_the_largest_dimension_of_a_class():
    rng = np.random.default_rng(0)
    X = np.concatenate([isometric(rng.uniform(size=(200, m)), 8, seed=m) for m in (1, 3)] + [rng.normal(size=(3, 8))])
    y = np.repeat([0, 1, 2], [200, 200, 3])  # the last class is too small for an estimate
    model = CCDRClassifier(n_components="intrinsic", beta=1.0, scale=None).fit(X, y)
    assert model.n_components_ == 4 == 1 + round(entropic_dimension(X[y == 1], random_state=0).dimension)
    with pytest.raises(ValueError, match="no class has the 7 distinct labeled points"):
        CCDRClassifier(n_components="intrinsic").fit(X[[0, 1, 2, 200, 201, 202]], y[[0, 1, 2, 200, 201, 202]])


@pytest.mark.parametrize("longest, named", [(70.0, False), (84.0, True)])
def test_points_are_far_if_the_longest_edges_are_four_fifths_of_the_length(longest, named):
    X = np.append(np.random.default_rng(0).uniform(size=50), 1e3)[:, None]
    edges = np.append(np.ones(95), np.full(5, longest))
    if not named:
        assert not dimension_module.named_far_points(X, edges, 4, np.arange(51), "So.", None).any()
        return
    with pytest.warns(UserWarning, match="rows 50"):
        far = dimension_module.named_far_points(X, edges, 4, np.arange(51), "So.", None)
    assert far.nonzero()[0].tolist() == [50]
