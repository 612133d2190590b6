"""Mean shift against steps taken one by one, and scikit-learn's."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference import PROFILES, distances
from sklearn.cluster import MeanShift
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from spectralcls import KernelMeanShift, ParzenDensity
from spectralcls.density import _ascent
from spectralcls.kernels import kernel_variance

SHADOWS = {"gaussian": "gaussian", "epanechnikov": "uniform", "quartic": "epanechnikov", "triweight": "quartic"}


def blobs(n=150, d=2, seed=0):
    return make_blobs(n, d, centers=4, cluster_std=0.6, center_box=(-6, 6), random_state=seed)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", SHADOWS)
def test_climbers_take_the_steps_of_mean_shift(kernel, weighted):
    X, _ = blobs()
    w = np.random.default_rng(0).uniform(0.5, 2, len(X)) if weighted else np.ones(len(X))
    h = 1.0 / np.sqrt(kernel_variance(kernel, 2))
    model = KernelMeanShift(h, kernel=kernel, tol=1e-9).fit(X, sample_weight=w)
    places = X.copy()
    for _ in range(3000):
        K = PROFILES[SHADOWS[kernel]](distances(places, X) / h) * w
        before, places = places, K @ X / K.sum(axis=1, keepdims=True)
        if np.abs(places - before).max() < 1e-12 * h:
            break
    centers = model.cluster_centers_
    assert_allclose(distances(places, centers).min(axis=1), 0, atol=1e-2 * h)
    assert_array_equal(distances(places, centers).argmin(axis=1), model.labels_)


@pytest.mark.parametrize("kernel", SHADOWS)
def test_centers_are_modes_of_the_density(kernel):
    X, _ = blobs()
    h = 0.8 / np.sqrt(kernel_variance(kernel, 2))
    model = KernelMeanShift(h, kernel=kernel, tol=1e-7).fit(X)
    density = ParzenDensity(h, kernel=kernel).fit(X)
    at_centers = density.score_samples(model.cluster_centers_)
    assert_allclose(model.mode_log_density_, at_centers, atol=1e-9)
    assert (np.diff(at_centers) <= 0).all()
    for angle in np.linspace(0, 2 * np.pi, 8):
        around = model.cluster_centers_ + 0.02 * h * np.array([np.cos(angle), np.sin(angle)])
        assert (density.score_samples(around) <= at_centers + 1e-9).all()


@pytest.mark.parametrize("seed", [40, 43, 56, 58])
def test_no_sample_belongs_to_a_mode_below_it(seed):
    X, h = np.random.default_rng(seed).normal(size=(40, 5)), 2.0 if seed == 40 else 1.5
    model = KernelMeanShift(h, kernel="epanechnikov").fit(X)
    own = ParzenDensity(h, kernel="epanechnikov").fit(X).score_samples(X)
    assert (model.mode_log_density_[model.labels_] >= own - 1e-9).all()
    assert_array_equal(model.predict(X), model.labels_)


def test_it_is_scikit_learns_with_a_flat_kernel():
    X, y = blobs(200)
    ours, theirs = KernelMeanShift(2.0, kernel="epanechnikov").fit(X), MeanShift(bandwidth=2.0).fit(X)
    assert len(ours.cluster_centers_) == len(theirs.cluster_centers_)
    gaps = distances(theirs.cluster_centers_, ours.cluster_centers_).min(axis=1)
    assert gaps.max() < 0.1
    assert adjusted_rand_score(ours.labels_, theirs.labels_) > 0.99


def test_a_label_is_the_mode_that_a_sample_climbs_to_not_the_nearest_one():
    X, y = make_moons(400, noise=0.05, random_state=0)
    X = np.vstack([X, np.repeat(X[[np.argmax(X[:, 1] * (y == 0)), np.argmin(X[:, 1] + 9 * (y == 0))]], 300, axis=0)])
    model = KernelMeanShift(0.25).fit(X)
    nearest = distances(X, model.cluster_centers_).argmin(axis=1)
    assert (model.labels_ != nearest).any()
    assert_array_equal(model.predict(X), model.labels_)


def test_samples_of_no_weight_are_labeled_and_move_nothing():
    X, _ = blobs()
    w = np.ones(len(X))
    w[::7] = 0
    with_them, without = KernelMeanShift(1.0).fit(X, sample_weight=w), KernelMeanShift(1.0).fit(X[w > 0])
    assert_array_equal(with_them.cluster_centers_, without.cluster_centers_)
    assert_array_equal(with_them.labels_, without.predict(X))


def test_single_samples_are_no_cluster_if_a_cluster_has_more():
    X = np.vstack([blobs()[0], [[99.0, 99.0]]])
    assert KernelMeanShift(1.0).fit(X).labels_[-1] == len(set(KernelMeanShift(1.0).fit(X).labels_)) - 1
    alone = KernelMeanShift(1.0, min_cluster_size=2, cluster_all=False).fit(X)
    assert alone.labels_[-1] == -1 and alone.labels_[:-1].min() == 0
    assert KernelMeanShift(1.0, min_cluster_size=2).fit(X).labels_[-1] >= 0
    with pytest.raises(ValueError, match="No mode has min_cluster_size=1000"):
        KernelMeanShift(1.0, min_cluster_size=1000).fit(X)


def test_queries_out_of_reach():
    X, _ = blobs()
    far = [[500.0, 0.0]]
    model = KernelMeanShift(2.0, kernel="quartic").fit(X)
    assert model.predict(far) == distances(far, model.cluster_centers_).argmin()
    assert KernelMeanShift(2.0, kernel="quartic", cluster_all=False).fit(X).predict(far) == -1
    # A Gaussian reaches from everywhere: the first step leads to the nearest sample.
    gaussian = KernelMeanShift(0.5).fit(X)
    nearest = distances(far, X).argmin()
    assert gaussian.predict(far) == gaussian.labels_[nearest]


def test_climbers_in_one_cell_are_found():
    cells = np.random.default_rng(0).integers(-1, 2, (200, 3)) * 1.0
    cells[cells == 0] *= np.resize([1, -1], np.count_nonzero(cells == 0))
    first, group = _ascent.equal_rows(cells)
    expected, _, sizes = np.unique(cells, axis=0, return_index=True, return_counts=True)
    assert len(first) == len(expected) and sorted(np.bincount(group)) == sorted(sizes)
    assert_array_equal(cells[first][group], cells)
    assert (first[group] <= np.arange(200)).all()


def test_an_unfinished_climb_says_so():
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        KernelMeanShift(1.0, max_iter=2).fit(blobs()[0])


def test_a_climb_that_ends_with_the_last_step_is_finished():
    apart = 10.0 * np.arange(5)[:, None]
    assert_array_equal(KernelMeanShift(1e-3, max_iter=1).fit(apart).labels_, np.arange(5))


def test_the_reference_rule():
    X, _ = blobs(300)
    spread = np.sqrt(X.var(axis=0, ddof=1).mean())
    assert_allclose(KernelMeanShift().fit(X).bandwidth_, spread * (4 / (6 * 300)) ** (1 / 8))
    assert KernelMeanShift().fit(np.ones((4, 2))).labels_.tolist() == [0] * 4
