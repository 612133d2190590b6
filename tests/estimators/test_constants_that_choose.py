"""Constants that decide: each test names the effect for which the value was chosen, and fails at half and at twice it.
Constants with a longer story are tested where their subject is."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.stats import binom, norm

import spectralcls as sc
from spectralcls._tuning.dimension import NeighborGraphs
from spectralcls.ccdr._eigenmap import constrained_eigenmap
from spectralcls.density._least_squares_cv import _without_noise
from spectralcls.ensemble._budget import Clock, next_ensemble
from spectralcls.ensemble._loss import Loss
from spectralcls.ensemble._target_map import residual_quantiles
from spectralcls.regression._logistic import curvatures


@pytest.mark.parametrize(("rest", "kept"), [(0.7e-6, 0), (1.5e-6, 1)])
def test_a_direction_that_eq_20_would_amplify_a_million_times_is_dropped(rest, kept):
    """Two points with loops: 1 - lambda is (loop - edge) / (loop + edge)."""
    G = csr_array([[1 + rest, 1 - rest], [1 - rest, 1 + rest]])
    found = constrained_eigenmap(G, n_classes=0, n_components=1)
    assert len(found.eigenvalues) == kept
    assert_allclose(1 - found.eigenvalues, [rest] * kept, rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_that_bound_changes_exceed_the_true_ones_by_ten_times_the_error_of_float32(dtype):
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(60, 2)).astype(dtype), rng.normal(size=(9, 2)).astype(dtype)
    y = np.arange(60) % 3
    left_out = sc.ParzenClassifier(bandwidth=0.8, scale=None).fit(X, y)._leave_one_out()
    rise, fall = left_out._moves(Q, np.zeros(9), np.arange(9))
    k = np.exp(-((Q[:, None].astype(float) - X) ** 2).sum(axis=2) / (2 * 0.8**2))
    per_class = [left_out.weights * np.exp(-logs) * np.eye(3)[y].T for logs in (left_out.own, left_out.others)]
    own, others = (k @ each.T for each in per_class)
    for found, exact in ((rise, own), (fall, others.sum(axis=1, keepdims=True) - others)):
        assert_allclose(found / exact - 1, 1e-4, rtol=0.3)


@pytest.mark.parametrize("k", [4, 10, 30])
def test_one_point_in_a_hundred_thousand_finds_too_few_of_its_known_neighbors_in_a_subsample(k):
    X = np.random.default_rng(0).normal(size=(800, 2))
    graphs = NeighborGraphs.of(X, k, 400, None)
    assert 1e-7 < binom.cdf(k - 1, graphs.distances.shape[1], 0.5) < 1e-4


def test_numbers_that_differ_by_rounding_are_equal():
    step = 2.0**-26
    X = np.array([[1.0], [1.0 + 0.45 * step], [1.0 + 0.9 * step]])
    assert_array_equal(_without_noise(X, np.ones(1)), [[1.0], [1.0], [1.0 + step]])


def test_the_curvature_of_a_point_that_is_all_but_certain_is_raised():
    p = np.array([0.25, 0.5, 0.7, 2.0])[:, None] * 1e-8  # two classes: the curvature is 2 p (1 - p)
    assert_allclose(curvatures(np.hstack([p, 1 - p]), np.full(4, 3.0)), 3e-8 * np.array([1, 1, 1.4, 4]), rtol=1e-6)


def test_residuals_of_a_millionth_weigh_no_more_than_a_zero():
    weights = Loss("absolute").importance(np.array([[0.0], [0.7e-6], [1.4e-6]]))
    assert_allclose(weights[:, 0], [1e6, 1e6, 1e6 / 1.4])


def test_a_mean_over_quantiles_of_residuals_is_a_mean_over_the_residuals():
    """To one and a half per cent for the exponential of normal residuals: the tail beyond the last quantile."""
    residuals = norm.ppf((np.arange(20_000) + 0.5) / 20_000)[:, None]
    found = np.exp(residual_quantiles(residuals)).mean() / np.exp(residuals).mean()
    assert 0.01 < 1 - found < 0.018


def test_a_time_budget_begins_with_two_hundred_points():
    first = [next_ensemble(10_000, [], [], Clock(60.0), n_classes=c)[0] for c in (2, 100)]
    assert first == [200, 400]


@pytest.mark.parametrize(("n_classes", "too_many"), [(450, False), (800, True)])
def test_logistic_regression_of_2000_samples_takes_some_600_classes(n_classes, too_many):
    data = SimpleNamespace(X=np.random.default_rng(0).normal(size=(2000, 3)), n_classes=n_classes)
    model = sc.KernelLogisticClassifier(max_tuning_samples=None)
    if too_many:
        with pytest.raises(ValueError, match="800 classes, 2000 samples"):
            model._check_size(data)
    else:
        model._check_size(data)
