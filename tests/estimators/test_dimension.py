import numpy as np
import pytest
from data import load_npz
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist, pdist

from spectralcls.information._dimension import class_dimensions, entropic_dimension
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


def test_lengths_are_those_of_the_graphs():
    X = np.random.default_rng(0).standard_normal((40, 3))
    sizes = [30, 40]
    found = entropic_dimension(X, n_neighbors=3, gamma=1.5, sizes=sizes, n_resamples=2, random_state=0)
    expected = np.sum(knn(X, X, 4)[0][:, 1:] ** 1.5)  # all 40 points, in any order
    np.testing.assert_allclose(found.lengths[:, 1], expected)
    slopes = np.diff(np.log(found.lengths), axis=1)[:, 0] / np.log(40 / 30)
    np.testing.assert_allclose(found.resampled, np.where(slopes < 1, 1.5 / (1 - slopes), np.inf))
    tree = entropic_dimension(X[:3], graph="mst", sizes=[2, 3], n_resamples=1, random_state=0)
    assert tree.lengths[0, 1] == pytest.approx(pdist(X[:3]).sum() - pdist(X[:3]).max())


def test_the_tree_is_the_shortest_and_duplicates_add_nothing():
    X = np.random.default_rng(0).standard_normal((60, 3))
    shortest = minimum_spanning_tree(cdist(X, X)).sum()
    for points in (X, np.repeat(X, 2, axis=0)):
        sizes = [2, len(points)]
        found = entropic_dimension(points, graph="mst", gamma=1, sizes=sizes, n_resamples=1, random_state=0)
        assert found.lengths[0, 1] == pytest.approx(shortest)


def test_invariant_to_scale_and_deterministic():
    X = sphere(3, 300)
    first = entropic_dimension(X, random_state=3)
    again = entropic_dimension(1e4 * X + 5, random_state=3, n_jobs=2)
    assert first.dimension == pytest.approx(again.dimension, rel=1e-9)


def test_satimage_classes():
    """Paper 004, section V-D: 13, 7, 13, 10, 6, 13."""
    data = load_npz("satimage")
    found = class_dimensions(data["X_train"], data["y_train"], n_resamples=8, random_state=0)
    dimensions = np.array([found[c].dimension for c in range(6)])
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
