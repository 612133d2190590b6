import numpy as np
import pytest
import reference
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.datasets import make_moons

from spectralcls.kernel_mean import ParzenClassifier
from spectralcls.kernel_mean._reduction import _most_perturbing, reduce_training_set

METHODS = ("representative", "perturbation", "weight")


def unbalanced(n=900, seed=0):
    rng = np.random.default_rng(seed)
    X, moon = make_moons(n, noise=0.15, random_state=seed)
    y = np.where(moon == 1, "rare", "common")
    keep = (moon == 0) | (rng.random(n) < 0.2)
    return X[keep], y[keep]


def mean_distance(K, rows, weights, members):
    """Squared distance in the kernel's space of the weighted mean of rows to the mean of the members."""
    a = np.zeros(len(K))
    a[rows] += weights / weights.sum()
    a[members] -= 1 / len(members)
    return a @ K @ a


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_shape_classes_and_total_weights(method, dtype):
    X, y = unbalanced()
    options = {"method": method, "bandwidth": 0.3, "random_state": 0}
    indices, weights = reduce_training_set(X.astype(dtype), y, 60, **options)
    assert len(np.unique(indices)) == len(indices) <= 60 and np.all(np.diff(indices) > 0)
    assert weights.dtype == np.float64 and np.all(weights > 0)
    for label in np.unique(y):
        share = np.mean(y == label)
        assert weights[y[indices] == label].sum() == pytest.approx(np.sum(y == label))
        if method != "representative":
            assert abs(np.sum(y[indices] == label) - 60 * share) < 1


def test_weight_keeps_the_points_of_largest_weight_in_each_class():
    X, y = unbalanced()
    indices, weights = reduce_training_set(X, y, 50, method="weight", bandwidth=0.3)
    density = reference.kernel_sums(X, X, bandwidth=0.3)
    for label in np.unique(y):
        inside, kept = y == label, indices[y[indices] == label]
        left = np.setdiff1d(np.flatnonzero(inside), kept)
        assert density[kept].max() <= density[left].min() * (1 + 1e-12)
        assert np.ptp(weights[y[indices] == label]) < 1e-12


def test_each_point_perturbs_the_span_of_those_before_it_most():
    X, y = unbalanced(300)
    h, own = 0.3, np.flatnonzero(y == "rare")
    K = reference.kernel_matrix(X[own], X[own], bandwidth=h)
    indices, weights = reduce_training_set(X[own], y[own], 8, method="perturbation", bandwidth=h)
    kept = [K.sum(axis=1).argmax()]
    while len(kept) < 8:
        k = K[kept]
        tau = 1 - np.einsum("ij,ij->j", k, np.linalg.solve(k[:, kept], k))
        kept.append(tau.argmax())
    assert_array_equal(indices, np.sort(kept))
    nearest = np.sort(kept)[cdist(X[own], X[own][np.sort(kept)]).argmin(axis=1)]
    assert_array_equal(weights, [np.sum(nearest == i) for i in indices])


def test_points_in_the_span_of_others_are_not_kept():
    X, y = np.array([[0.0], [0.0], [1.0], [1.0], [5.0]]), np.zeros(5)
    indices, weights = reduce_training_set(X, y, 5, method="perturbation", bandwidth=1.0)
    assert len(indices) == 3 and sorted(weights) == [1, 2, 2]


def test_representatives_have_the_mean_of_their_class():
    X, y = unbalanced()
    h, n_seeds = 0.3, 10
    K, distances = reference.kernel_matrix(X, X, bandwidth=h), {}
    for size in (60, 180):
        for seed in range(n_seeds):
            indices, weights = reduce_training_set(X, y, size, bandwidth=h, random_state=seed)
            for label in np.unique(y):
                members, inside = np.flatnonzero(y == label), y[indices] == label
                ours = mean_distance(K, indices[inside], weights[inside], members)
                rng = np.random.default_rng(1)
                draws = [rng.choice(members, inside.sum(), replace=False) for _ in range(20)]
                random = [mean_distance(K, rows, np.ones(len(rows)), members) for rows in draws]
                assert ours < np.mean(random)
                distances.setdefault((size, label), []).append((ours, np.mean(random)))
    means = {key: np.mean(values, axis=0) for key, values in distances.items()}
    assert all(ours < 0.3 * random for ours, random in means.values())
    assert all(means[180, label][0] < 0.1 * means[60, label][0] for label in np.unique(y))


def test_a_class_with_few_distinct_points_gives_them_with_their_shares():
    X = np.repeat([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]], [5, 3, 2], axis=0)
    y = np.array([0] * 8 + [1] * 2)
    indices, weights = reduce_training_set(X, y, 8, bandwidth=0.5, random_state=0)
    assert_allclose(weights, [5, 3, 2], rtol=1e-6)
    assert_array_equal(X[indices], np.unique(X, axis=0)[[0, 2, 1]])


@pytest.mark.parametrize("method", METHODS)
def test_a_sample_of_weight_two_counts_like_two(method):
    X, y = unbalanced(200)
    options = {"size": 150, "method": method, "bandwidth": 0.4, "random_state": 0}
    doubled = np.where(np.arange(len(X)) % 3 == 0, 2, 1)
    indices, weights = reduce_training_set(X, y, sample_weight=doubled, **options)
    for label in np.unique(y):
        assert weights[y[indices] == label].sum() == pytest.approx(doubled[y == label].sum())
    zero = np.ones(len(X))
    zero[::2] = 0
    indices, _ = reduce_training_set(X, y, sample_weight=zero, **options)
    assert np.all(indices % 2 == 1)


def test_the_whole_set_is_kept_where_it_fits():
    X, y = unbalanced(100)
    indices, weights = reduce_training_set(X, y, 10_000, method="weight", bandwidth=0.4)
    assert_array_equal(indices, np.arange(len(X)))
    assert_allclose(weights, 1)


def test_it_is_deterministic_and_float_size_is_a_share():
    X, y = unbalanced()
    first, again = (reduce_training_set(X, y, 0.1, bandwidth=0.3, random_state=3) for _ in range(2))
    for a, b in zip(first, again, strict=True):
        assert_array_equal(a, b)
    by_number = reduce_training_set(X, y, round(0.1 * len(X)), bandwidth=0.3, random_state=3)
    assert_array_equal(first[0], by_number[0])


def test_a_tenth_of_the_representatives_classifies_like_all_of_them():
    X, y = make_moons(4000, noise=0.25, random_state=0)
    T, u = make_moons(4000, noise=0.25, random_state=1)
    h = 0.25
    whole = ParzenClassifier(bandwidth=h).fit(X, y)
    indices, weights = reduce_training_set(X, y, 0.05, bandwidth=h, random_state=0)
    reduced = ParzenClassifier(bandwidth=h).fit(X[indices], y[indices], sample_weight=weights)
    assert np.mean(reduced.predict(T) == whole.predict(T)) > 0.99


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"size": 1}, "fewer than the 2 classes"),
        ({"size": 0}, "size"),
        ({"size": 1.5}, "size"),
        ({"size": 10, "bandwidth": 0.0}, "bandwidth"),
        ({"size": 10, "method": "best"}, "method"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    X, y = unbalanced(100)
    with pytest.raises(ValueError, match=message):
        reduce_training_set(X, y, **arguments)


def test_a_class_without_weight_is_named():
    X, y = unbalanced(100)
    with pytest.raises(ValueError, match="rare"):
        reduce_training_set(X, y, 10, sample_weight=(y == "common").astype(float))


@pytest.mark.parametrize("method", ["representative", "weight"])
def test_points_that_are_all_equal(method):
    y = np.repeat([0, 1], 5)
    rows, weights = reduce_training_set(np.ones((10, 2)), y, 4, method=method, random_state=0)
    assert set(y[rows]) == {0, 1}
    np.testing.assert_allclose(np.bincount(y[rows], weights), [5, 5])


@pytest.mark.parametrize("apart, kept", [(1.3e-5, 2), (0.8e-5, 1)])
def test_a_point_in_the_span_of_others_is_not_kept(apart, kept):
    """Its remainder, 1 - exp(-apart^2) for two points, is then less than 1e-10."""
    X = np.array([[0.0], [apart]])
    assert len(_most_perturbing(X, np.arange(2), 2, np.ones(2), 1.0, 1)[0]) == kept
