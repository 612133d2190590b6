"""Kernel regression against weighted least squares solved point by point."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference import PROFILES, distances

from spectralcls import KernelRegressor
from spectralcls.regression._quantiles import kernel_quantiles


def problem(n=80, d=2, k=None, seed=0):
    rng = np.random.default_rng(seed)
    X, Q = rng.normal(size=(n, d)), rng.normal(size=(15, d))
    y = np.sin(2 * X[:, 0]) + X.sum(axis=1) + 0.1 * rng.normal(size=n) + 5
    y = y if k is None else np.column_stack([y * (i + 1) + X[:, i % d] ** 2 for i in range(k)])
    return X, y, Q, rng.uniform(0.5, 2, n)


def slow(Q, X, y, w, h, degree, kernel="gaussian"):
    out = []
    for q, row in zip(Q, PROFILES[kernel](distances(Q, X) / h), strict=True):
        A = np.column_stack([np.ones(len(X)), X - q]) if degree else np.ones((len(X), 1))
        root = np.sqrt(w * row)[:, None]
        out.append(np.linalg.lstsq(root * A, root * y.reshape(len(X), -1), rcond=None)[0][0])
    return np.array(out).reshape(len(Q), *y.shape[1:])


@pytest.mark.parametrize("k", [None, 3])
@pytest.mark.parametrize("kernel", ["gaussian", "laplace", "triweight", "linear"])
@pytest.mark.parametrize("degree", [0, 1])
def test_it_is_weighted_least_squares(degree, kernel, k):
    X, y, Q, w = problem(k=k)
    h = 0.8 if kernel == "gaussian" else 2.5
    found = KernelRegressor(h, degree=degree, kernel=kernel, scale=None).fit(X, y, w).predict(Q)
    assert_allclose(found, slow(Q, X, y, w, h, degree, kernel), rtol=1e-11 if degree == 0 else 1e-6)


@pytest.mark.parametrize("cv", ["loo", 4])
def test_cv_is_the_held_out_error(cv):
    X, y, _, w = problem()
    grid = [0.3, 0.6, 1.2]
    model = KernelRegressor(bandwidth_grid=grid, cv=cv, scale=None).fit(X, y, w)
    assert len(model.cv_results_["params"]) == 6
    best = model.cv_results_["params"][np.argmax(model.cv_results_["mean_test_score"])]
    assert best == {"bandwidth": model.bandwidth_, "degree": model.degree_}
    if cv != "loo":
        return
    variance = np.average((y - np.average(y, weights=w)) ** 2, weights=w)
    for params, score in zip(model.cv_results_["params"], model.cv_results_["mean_test_score"], strict=True):
        held_out = [
            slow(X[[i]], np.delete(X, i, 0), np.delete(y, i), np.delete(w, i), params["bandwidth"], params["degree"])[0]
            for i in range(len(X))
        ]
        assert_allclose(score, 1 - np.average((y - held_out) ** 2, weights=w) / variance, rtol=1e-5)


def test_a_line_is_followed_beyond_the_data_and_a_mean_is_not():
    X = np.linspace(0, 1, 50)[:, None]
    y = 3 * X[:, 0] - 1
    assert_allclose(KernelRegressor(0.2, degree=1).fit(X, y).predict([[1.3]]), 2.9, rtol=1e-5)
    assert KernelRegressor(0.2, degree=0).fit(X, y).predict([[1.3]]) < 2


@pytest.mark.parametrize("degree", [0, 1])
@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
def test_far_from_all_points_it_is_the_nearest_target(kernel, degree):
    X, y, _, _ = problem()
    far = 1e5 * np.array([[1.0, 0.1], [-0.3, 1.0]])
    nearest = distances(far, X).argmin(axis=1)
    model = KernelRegressor(0.01, degree=degree, kernel=kernel).fit(X, y)
    assert_allclose(model.predict(far), y[nearest], rtol=1e-6)


def test_the_place_of_the_data_does_not_matter():
    X, y, Q, _ = problem()
    grid = 2.0**-20
    X, Q = np.round(X / grid) * grid, np.round(Q / grid) * grid
    for degree in (0, 1):
        expected = KernelRegressor(0.5, degree=degree).fit(X, y).predict(Q)
        moved = KernelRegressor(0.5, degree=degree).fit(X + 1e6, y + 1e6).predict(Q + 1e6)
        assert_allclose(moved - 1e6, expected, atol=1e-7)


def test_copies_are_weights():
    X, y, Q, _ = problem(40)
    counts = np.random.default_rng(0).integers(1, 4, len(X))
    weighted = KernelRegressor().fit(X, y, counts)
    repeated = KernelRegressor().fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert_allclose(repeated.cv_results_["mean_test_score"], weighted.cv_results_["mean_test_score"], rtol=1e-9)
    assert_allclose(repeated.predict(Q), weighted.predict(Q), rtol=1e-9)
    assert_allclose(repeated.predict_interval(Q), weighted.predict_interval(Q), rtol=1e-9)


def test_equal_points_of_different_targets_are_no_copies():
    X, y = np.repeat(np.arange(10.0), 5)[:, None], np.random.default_rng(0).normal(size=50)
    model = KernelRegressor(degree=0, bandwidth_grid=[1e-3]).fit(X, y)
    assert model.n_tuning_samples_ == 50
    others = np.repeat(y.reshape(10, 5).sum(axis=1), 5) - y
    expected = 1 - np.mean((y - others / 4) ** 2) / y.var()
    assert_allclose(model.cv_results_["mean_test_score"], [expected])


def test_a_subsample_is_held_out_from_all_points():
    X, y, _, _ = problem(400)
    few, all_points = KernelRegressor(max_tuning_samples=300).fit(X, y), KernelRegressor().fit(X, y)
    assert few.n_tuning_samples_ == 300
    assert abs(np.log2(few.bandwidth_ / all_points.bandwidth_)) <= 0.5 + 1e-9


def test_tolerance_is_kept():
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(5000, 2)), rng.normal(size=(3000, 2))
    y = np.sin(X[:, 0])
    exact, close = (KernelRegressor(0.2, degree=0, tolerance=t).fit(X, y) for t in (None, 1e-3))
    assert np.abs(close.predict(Q) - exact.predict(Q)).max() <= 2.01e-3 * np.ptp(y)
    assert KernelRegressor(0.2, tolerance=1e-3).fit(X, y).degree_ == 0
    with pytest.raises(ValueError, match="tolerance needs degree=0"):
        KernelRegressor(degree=1, tolerance=1e-3).fit(X, y)


def test_many_features_take_means():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 11))
    assert KernelRegressor().fit(X, X[:, 0]).degree_ == 0


# Intervals


@pytest.mark.parametrize("weighted", [False, True])
def test_quantiles_are_those_of_the_sorted_weights(weighted):
    X, y, Q, w = problem(97)
    K = PROFILES["gaussian"](distances(Q, X) / 0.5) * (w if weighted else 1)
    shares = (0.0, 0.05, 0.5, 0.95, 1.0)
    found = kernel_quantiles(Q, X, y, w if weighted else None, "gaussian", 0.5, shares, None)
    order = np.argsort(y)
    cumulative = np.cumsum(K[:, order], axis=1) / K.sum(axis=1, keepdims=True)
    for column, share in enumerate(shares):
        first = (cumulative < np.clip(share, 1e-12, 1 - 1e-12)).sum(axis=1)
        assert_array_equal(found[:, column], y[order][first])
    far = kernel_quantiles(1e4 * Q, X, y, None, "gaussian", 0.5, (0.5,), None)
    assert_array_equal(far[:, 0], y[distances(1e4 * Q, X).argmin(axis=1)])


@pytest.mark.parametrize("degree", [0, 1])
def test_intervals_cover_and_follow_the_noise(degree):
    rng = np.random.default_rng(0)
    X, Q = rng.uniform(-2, 2, size=(2, 3000, 1))

    def target(X):
        return 2 * X[:, 0] + (0.1 + (X[:, 0] > 0)) * rng.normal(size=len(X))

    model = KernelRegressor(0.25, degree=degree, scale=None).fit(X, target(X))
    low, high = model.predict_interval(Q, coverage=0.8).T
    y = target(Q)
    assert abs(np.mean((low <= y) & (y <= high)) - 0.8) < 0.05
    width = high - low
    assert np.median(width[Q[:, 0] > 0.5]) > 5 * np.median(width[Q[:, 0] < -0.5])


def test_intervals_are_predictions_plus_quantiles_of_the_residuals():
    X, y, Q, w = problem(60, k=2)
    model = KernelRegressor(0.7, degree=1, scale=None).fit(X, y, w)
    residuals = y - [
        slow(X[[i]], np.delete(X, i, 0), np.delete(y, i, 0), np.delete(w, i), 0.7, 1)[0] for i in range(60)
    ]
    found = model.predict_interval(Q, coverage=0.8)
    assert found.shape == (15, 2, 2)
    for output in range(2):
        ends = kernel_quantiles(Q, X, residuals[:, output], w, "gaussian", 0.7, (0.1, 0.9), None)
        assert_allclose(found[:, output], model.predict(Q)[:, [output]] + ends, rtol=1e-4)


def test_intervals_out_of_reach_are_those_at_the_nearest_point():
    X, y, _, _ = problem()
    model = KernelRegressor(1.5, degree=0, kernel="linear").fit(X, y)
    far = np.array([[90.0, 1.0]])
    nearest = X[distances(far, X).argmin(axis=1)]
    assert_array_equal(model.predict_interval(far), model.predict_interval(nearest))


def test_what_is_refused():
    X, y, Q, _ = problem()
    with pytest.raises(ValueError, match="coverage must lie between"):
        KernelRegressor(1.0).fit(X, y).predict_interval(Q, coverage=1.0)
    with pytest.raises(ValueError, match="reaches every point"):
        KernelRegressor(kernel="uniform", bandwidth_grid=[1e-6]).fit(X, y)
    with pytest.raises(ValueError, match="'degree' parameter"):
        KernelRegressor(degree=2).fit(X, y)
