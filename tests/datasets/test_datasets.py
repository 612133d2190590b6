import inspect

import numpy as np
import pytest
from scipy.stats import kstest, norm

from spectralcls import datasets

GENERATORS = [
    datasets.make_two_gaussians,
    datasets.make_two_rings,
    datasets.make_two_spirals,
]
N = 40_000


def assert_moments(X, mean, covariance):
    """Sample moments within five standard errors of the distribution's."""
    covariance = np.asarray(covariance, dtype=np.float64)
    deviation = np.sqrt(np.diag(covariance))
    assert np.all(np.abs(X.mean(axis=0) - mean) < 5 * deviation / np.sqrt(len(X)))
    error = np.sqrt((np.outer(deviation, deviation) ** 2 + covariance**2) / len(X))
    assert np.all(np.abs(np.cov(X.T) - covariance) < 5.5 * error)


@pytest.mark.parametrize("make", GENERATORS)
def test_generators_give_floats_and_labels_the_same_for_the_same_seed(make):
    X, y = make(random_state=1)
    assert X.dtype == np.float64 and y.dtype == np.int64 and X.shape[0] == y.shape[0]
    assert np.array_equal(np.unique(y), np.arange(y.max() + 1))
    again, labels = make(random_state=1)
    assert np.array_equal(X, again) and np.array_equal(y, labels)
    assert not np.array_equal(X, make(random_state=2)[0])
    assert np.array_equal(make(random_state=np.random.RandomState(1))[0], X)
    assert np.any(np.diff(y) < 0)  # shuffled


@pytest.mark.parametrize("make", GENERATORS)
def test_a_total_is_shared_out_to_within_one(make):
    for n_samples in (1, 7, 101):
        y = make(n_samples, random_state=0)[1]
        assert len(y) == n_samples
        if make is datasets.make_two_gaussians:
            assert abs(np.sum(y == 1) - n_samples * 5 / 105) < 1
        else:
            assert np.ptp(np.bincount(y, minlength=2)) <= 1


def test_class_sizes_can_be_given():
    assert np.array_equal(np.bincount(datasets.make_two_rings((7, 3))[1]), [7, 3])
    assert np.array_equal(np.bincount(datasets.make_two_gaussians()[1]), [100, 5])


def test_two_gaussians():
    X, y = datasets.make_two_gaussians((N, N), random_state=0)
    assert_moments(X[y == 0], [2, 2], np.eye(2))
    assert_moments(X[y == 1], [0.6, 0.6], np.eye(2))
    assert kstest(X[y == 0][:, 0] - 2, "norm").pvalue > 1e-3
    wrong = np.mean((X.sum(axis=1) < 2.6) != y)  # the line of equal distance is the best rule
    best = norm.cdf(-np.hypot(1.4, 1.4) / 2)
    assert wrong == pytest.approx(best, abs=5 * np.sqrt(best / len(y)))


def test_rings_have_their_support_and_are_uniform_on_it():
    centers = np.array([[0.0, 0.0], [1.5, -1.0]])
    X, y = datasets.make_two_rings(2 * N, radii=(1, 2.5), width=0.6, centers=centers, random_state=0)
    for label, radius in enumerate((1, 2.5)):
        ring = X[y == label] - centers[label]
        distance = np.hypot(*ring.T)
        inner, outer = radius - 0.3, radius + 0.3
        assert distance.min() >= inner - 1e-12 and distance.max() <= outer + 1e-12
        area = (distance**2 - inner**2) / (outer**2 - inner**2)
        assert kstest(area, "uniform").pvalue > 1e-3
        assert kstest((np.arctan2(*ring.T) / np.pi + 1) / 2, "uniform").pvalue > 1e-3


def test_spirals():
    X, y = datasets.make_two_spirals(4000, turns=2, radius=5, noise=0, random_state=0)
    t = np.hypot(*X.T) / 5
    angle = 4 * np.pi * t + np.pi * y
    np.testing.assert_allclose(X, 5 * t[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), atol=1e-9)
    assert kstest(t**2, "uniform").pvalue > 1e-3
    gap = np.min(np.linalg.norm(X[y == 0][t[y == 0] > 0.5][:, None] - X[y == 1][None], axis=2), axis=1)
    assert np.all(gap > 0.8 * 5 / (2 * 2))  # the arms are radius / (2 turns) apart, measured along the radius
    noisy = datasets.make_two_spirals(2 * N, noise=0.3, random_state=0)[0]
    quiet = datasets.make_two_spirals(2 * N, noise=0, random_state=0)[0]
    assert np.std(noisy - quiet) == pytest.approx(0.3, rel=0.01)


@pytest.mark.parametrize(
    "call",
    [
        lambda: datasets.make_two_rings(0),
        lambda: datasets.make_two_rings((1, 2, 3)),
        lambda: datasets.make_two_rings((1.5, 2)),
        lambda: datasets.make_two_rings(width=2.5),
        lambda: datasets.make_two_rings(radii=(1, 2, 3)),
        lambda: datasets.make_two_spirals(turns=0),
        lambda: datasets.make_two_gaussians(means=[1, 2]),
        lambda: datasets.make_two_rings(10, random_state="x"),
    ],
)
def test_bad_parameters_are_refused(call):
    with pytest.raises(ValueError):
        call()


def test_every_parameter_of_every_generator_is_documented():
    for make in GENERATORS:
        for name in inspect.signature(make).parameters:
            assert name in make.__doc__
