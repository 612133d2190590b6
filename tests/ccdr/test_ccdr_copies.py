"""Equal rows are one point of CCDR: they land at one place, and copies of all change nothing but the scale."""

import numpy as np
import pytest

from spectralcls import CCDR, CCDRClassifier


def samples(n=90, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] > 0).astype(int)


def up_to_signs(Z):
    return Z * np.sign(Z[np.abs(Z).argmax(axis=0), np.arange(Z.shape[1])])


@pytest.mark.parametrize("times", [2, 5])
@pytest.mark.parametrize("extension", ["symmetric", "nearest", "full"])
def test_every_row_given_several_times(times, extension):
    X, y = samples()
    single = CCDR(3, extension=extension, scale=None).fit(X, y)
    copied = CCDR(3, extension=extension, scale=None).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(copied.eigenvalues_, single.eigenvalues_, atol=1e-9)
    expected = up_to_signs(single.embedding_) / np.sqrt(times)
    np.testing.assert_allclose(up_to_signs(copied.embedding_), np.repeat(expected, times, axis=0), atol=1e-7)
    Q = samples(40, seed=1)[0]
    expected = up_to_signs(single.transform(Q)) / np.sqrt(times)
    if extension != "full":
        np.testing.assert_allclose(up_to_signs(copied.transform(Q)), expected, atol=1e-7)


def test_some_rows_given_several_times_in_any_order():
    X, y = samples()
    rng = np.random.default_rng(2)
    rows = rng.permutation(np.r_[np.arange(90), rng.integers(90, size=120)])
    y = np.where(np.arange(90) % 7 == 0, -1, y)
    model = CCDR(3, unlabeled=-1, scale=None).fit(X[rows], y[rows])
    Z = model.embedding_
    for row in range(90):
        own = Z[rows == row]
        np.testing.assert_array_equal(own, np.tile(own[0], (len(own), 1)))
    np.testing.assert_array_equal(model.transform(X[rows]), Z)
    np.testing.assert_allclose(model.extend(X[rows], y[rows]), Z, atol=1e-8 * np.abs(Z).max())
    again = CCDR(3, unlabeled=-1, scale=None).fit(X[np.sort(rows)], y[np.sort(rows)])
    np.testing.assert_allclose(
        up_to_signs(again.embedding_), up_to_signs(Z[np.argsort(rows, kind="stable")]), atol=1e-8
    )


def test_copies_of_two_classes_lie_between_them():
    X, y = samples()
    rows = np.r_[np.arange(90), 0, 1]
    labels = np.r_[y, 1 - y[:2]]
    model = CCDR(1, scale=None).fit(X[rows], labels)
    np.testing.assert_array_equal(model.embedding_[[0, 1]], model.embedding_[[90, 91]])
    copied, single = (CCDRClassifier(beta=1.0, n_components=2).fit(*data) for data in ((X[rows], labels), (X, y)))
    assert copied.score(X, y) > single.score(X, y) - 0.1


def test_all_rows_equal_and_two_rows_many_times():
    X = np.zeros((12, 2))
    assert np.isfinite(CCDR(1, scale=None).fit(X, np.arange(12) % 2).embedding_).all()
    X[6:] = 1.0
    model = CCDR(1, n_neighbors=4, scale=None).fit(X, np.repeat([0, 1], 6))
    assert len(np.unique(model.embedding_)) == 2


def test_the_row_of_an_isolated_point_is_that_of_the_user():
    X = np.r_[np.zeros((4, 1)), np.ones((4, 1)), [[1e9]]]
    with pytest.raises(ValueError, match="the first is row 8.*larger epsilon"):
        CCDR(1, n_neighbors=1, epsilon=1.0, unlabeled=-1, scale=None).fit(X, np.r_[np.zeros(4), np.ones(4), -1])
    graph = np.zeros((4, 4))
    graph[0, 1] = graph[1, 0] = 1.0
    with pytest.raises(ValueError, match="row 3.*singular: give them edges, or label or remove them"):
        CCDR(1, affinity="precomputed", unlabeled=-1, beta=1.0, scale=None).fit(graph, [0, 1, 0, -1])
