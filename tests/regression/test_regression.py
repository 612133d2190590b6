"""Kernel regression against weighted least squares solved point by point."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference import PROFILES, distances

from spectralcls import KernelRegressor
from spectralcls._conformal import FEW, Residuals
from spectralcls.regression import KernelRidgeRegressor, _form, _kernel_regressor, _ridge_regressor


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


@pytest.mark.parametrize("degree", [0, 1])
@pytest.mark.parametrize("weighted", [False, True])
def test_predictions_without_a_sample_are_those_of_refits(weighted, degree):
    X, y, Q, w = problem(40)
    w = w if weighted else np.ones(40)
    model = KernelRegressor(0.7, degree=degree, scale=None).fit(X, y, w)
    others = [np.delete(np.arange(40), i) for i in range(40)]
    refits = [slow(X[[i]], X[o], y[o], w[o], 0.7, degree)[0] for i, o in enumerate(others)]
    assert_allclose(model._predictions_left_out()[:, 0], refits, rtol=1e-5 if degree else 1e-10)
    expected = Residuals.of((y - refits)[:, None], w, X)
    low, high = expected.ends(Q, model.predict(Q)[:, None], 0.8)[:, 0].T
    assert_allclose(model.predict_interval(Q, coverage=0.8), np.column_stack([low, high]), rtol=1e-4)


def test_intervals_of_several_outputs_are_those_of_each():
    X, y, Q, w = problem(60, k=2)
    both = KernelRegressor(0.7, degree=1, kernel="triweight").fit(X, y, w).predict_interval(Q)
    for j in range(2):
        alone = KernelRegressor(0.7, degree=1, kernel="triweight").fit(X, y[:, j], w).predict_interval(Q)
        assert_allclose(both[:, j], alone, rtol=1e-6)


@pytest.mark.filterwarnings("ignore:y is 0 for all samples")
def test_copies_of_one_sample_leave_the_interval_open():
    copies = KernelRegressor(bandwidth=1.0, degree=0).fit([[3.0], [3.0], [3.0]], [0.0, 0.0, 0.0])
    assert_array_equal(copies.predict_interval([[3.0], [4.0]], coverage=0.5), [[-np.inf, np.inf]] * 2)


@pytest.mark.parametrize("exponent", [-1000, 990])
def test_the_score_has_no_unit(exponent):
    X, y, Q, _ = problem(60)
    expected = KernelRegressor(0.7).fit(X, y).score(Q, np.sin(Q[:, 0]))
    huge = KernelRegressor(0.7).fit(X, np.ldexp(y, exponent))
    assert huge.score(Q, np.ldexp(np.sin(Q[:, 0]), exponent)) == expected


def test_too_few_samples_leave_the_interval_open():
    X, y, Q, _ = problem(9)
    model = KernelRegressor(1.0, degree=0).fit(X[:8], y[:8])
    assert np.isinf(model.predict_interval(Q)).all() and np.isfinite(model.predict_interval(Q, coverage=0.8)).all()
    assert np.isfinite(KernelRegressor(1.0, degree=0).fit(X, y).predict_interval(Q)).all()


def categories(rng, n):
    pd = pytest.importorskip("pandas")
    frame, total = pd.DataFrame({"x": rng.normal(size=n)}), 0
    for name in ("a", "b"):
        codes = rng.integers(0, 6, n)
        frame[name], total = np.array(list("uvwxyz"))[codes], total + codes % 3
    return frame, np.sin(frame["x"].to_numpy()) + total + rng.normal(0, 0.5, n)


def wave(rng, n):
    X = rng.uniform(-3, 3, (n, 1))
    return X, np.sin(X[:, 0]) + 0.3 * rng.normal(size=n)


def slopes(rng, n):
    X = rng.normal(size=(n, 5))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n)


@pytest.mark.parametrize("draw", [wave, slopes, categories])
@pytest.mark.parametrize("n, draws", [(30, 60), (120, 20), (800, 3)])
def test_intervals_hold_the_targets_of_new_samples(draw, n, draws):
    """The quantiles of the residuals around a query held 63 of 90 with two categories."""
    covered = []
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        train, test = draw(rng, n), draw(rng, 400)
        low, high = KernelRegressor(n_jobs=1).fit(*train).predict_interval(test[0], coverage=0.9).T
        covered.append(np.mean((low <= test[1]) & (test[1] <= high)))
    assert abs(np.mean(covered) - 0.9) < 0.015


@pytest.mark.parametrize("cls", [KernelRegressor, KernelRidgeRegressor])
def test_the_choice_without_a_sample_matters_for_few(cls, monkeypatch):
    """With residuals at the common choice, intervals of 30 samples contain one of 100 targets less, or two."""
    covered = []
    for few in (0, FEW):
        for module in (_kernel_regressor, _ridge_regressor):
            monkeypatch.setattr(module, "FEW", few)
        found = []
        for seed in range(40):
            rng = np.random.default_rng(seed)
            (X, y), (Q, truth) = slopes(rng, 30), slopes(rng, 200)
            low, high = cls(n_jobs=1).fit(X, y).predict_interval(Q).T
            found.append(np.mean((low <= truth) & (truth <= high)))
        covered.append(np.mean(found))
    assert covered[0] + 0.008 < covered[1]


def test_a_learned_metric_is_warned_of():
    X, y, Q, _ = problem(60)
    with pytest.warns(UserWarning, match="metric was learned from the same samples"):
        KernelRegressor(metric="diagonal").fit(X, y).predict_interval(Q)


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


def test_what_is_refused():
    X, y, Q, _ = problem()
    with pytest.raises(ValueError, match="coverage must be a number between"):
        KernelRegressor(1.0).fit(X, y).predict_interval(Q, coverage=1.0)
    with pytest.raises(ValueError, match="reaches row .* and 79 more from another sample"):
        KernelRegressor(kernel="uniform", bandwidth_grid=[1e-6]).fit(X, y)
    with pytest.raises(ValueError, match="'degree' parameter"):
        KernelRegressor(degree=2).fit(X, y)


# Units, far values, samples that no kernel reaches


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("unit", [2.0**-1000, 1e-200, 1e-40, 1e39, 1e160, 1e300])
def test_units_of_the_target_do_not_matter(unit, dtype):
    X, y, Q, _ = problem(100)
    X, Q = X.astype(dtype), Q.astype(dtype)
    expected, found = (KernelRegressor().fit(X, y * u) for u in (1.0, unit))
    assert (found.bandwidth_, found.degree_) == (expected.bandwidth_, expected.degree_)
    rtol = 1e-5 if dtype == np.float32 else 1e-10
    assert_allclose(found.predict(Q) / unit, expected.predict(Q), rtol=rtol)
    assert_allclose(found.predict_interval(Q) / unit, expected.predict_interval(Q), rtol=rtol)


@pytest.mark.filterwarnings("ignore:.* in the target, row 300")  # rightly
@pytest.mark.parametrize("far", [-9999.0, 1e8, -1e30])
def test_one_far_target_leaves_the_others_their_digits_in_float32(far):
    X, y, Q, _ = problem(300)
    X, y, Q = np.r_[X, [[40.0, 40.0]]].astype(np.float32), np.r_[y, far], Q.astype(np.float32)
    model = KernelRegressor(0.3, degree=0, scale=None).fit(X, y)
    without = KernelRegressor(0.3, degree=0, scale=None).fit(X[:-1], y[:-1])
    assert_allclose(model.predict(Q), without.predict(Q), rtol=1e-5)
    assert_allclose(model.predict(X[-1:]), far)


@pytest.mark.filterwarnings("ignore:.*as far from the column")
@pytest.mark.parametrize("far", [1e3, 1e5, 1e9])
def test_one_far_sample_does_not_decide_the_bandwidth(far):
    X, y = wave(np.random.default_rng(0), 300)
    y = np.sin(X[:, 0])
    model = KernelRegressor().fit(np.r_[X, [[far]]], np.r_[y, 0.0])
    assert model.score(X, y) > 0.99


def test_a_best_bandwidth_at_the_end_of_the_grid_is_told():
    rng = np.random.default_rng(0)
    x, y = np.repeat(rng.uniform(size=100), 2), np.repeat(rng.normal(size=100), 2)  # pairs that know each other alone
    with pytest.warns(UserWarning, match="smallest of those tried"):
        KernelRegressor(degree=0).fit((x + 1e-9 * rng.normal(size=200))[:, None], y + 1e-3 * rng.normal(size=200))


def test_a_kernel_wider_than_the_data_is_no_reason_to_warn():
    X, y, _, _ = problem()
    y = X @ [1.0, -2.0] + np.random.default_rng(1).normal(size=len(X))
    assert KernelRegressor().fit(X, y).bandwidth_ > np.ptp(X)  # of a line the widest is the best


@pytest.mark.parametrize("kernel", ["epanechnikov", "uniform", "quartic", "linear"])
def test_a_sample_that_no_kernel_reaches_gets_the_prediction_at_the_nearest(kernel):
    x = np.r_[np.random.default_rng(0).uniform(0, 1, 100), 50.0]
    y = np.sin(6 * x)
    with pytest.warns(UserWarning, match=r"reaches row 100 from another sample"):
        model = KernelRegressor(0.1, kernel=kernel, scale=None).fit(x[:, None], y)
    scores = dict(zip(model.cv_results_["param_degree"], model.cv_results_["mean_test_score"], strict=True))
    places = np.r_[x[:100], x[:100].max()]
    held_out = [
        slow(place[None, None], np.delete(x, i)[:, None], np.delete(y, i), np.ones(100), 0.1, 0, kernel)[0]
        for i, place in enumerate(places)
    ]
    assert_allclose(scores[0], 1 - np.mean((y - held_out) ** 2) / y.var(), rtol=1e-9)
    assert_allclose(model.predict([[50.0]]), y[-1:])


@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
@pytest.mark.parametrize("weighted", [False, True])
def test_samples_at_one_place_are_one_point(kernel, weighted, monkeypatch):
    rng = np.random.default_rng(0)
    X = np.r_[rng.integers(0, 4, (200, 2)), [[9, 9]]].astype(float)  # the last one alone
    y, w = X.sum(axis=1) + rng.normal(size=201), rng.uniform(0.5, 2, 201) if weighted else None
    found = KernelRegressor(kernel=kernel).fit(X, y, w)
    assert len(found._form.points.X) == 17
    monkeypatch.setattr(_form, "places_of", lambda X: None)
    expected = KernelRegressor(kernel=kernel).fit(X, y, w)
    scores = "mean_test_score"
    assert_allclose(found.cv_results_[scores], expected.cv_results_[scores], rtol=1e-4)  # of slopes at small bandwidths
    Q = rng.uniform(0, 5, (20, 2))
    assert_allclose(found.predict(Q), expected.predict(Q), rtol=1e-5)
    assert_allclose(found.predict_interval(Q), expected.predict_interval(Q), rtol=1e-5)


def test_intervals_of_samples_in_one_place_are_quantiles_of_the_targets():
    """About the mean of all but one: no new target is better known by its place."""
    y = np.random.default_rng(0).normal(size=200)
    low, high = KernelRegressor(1.0, degree=0).fit(np.full((200, 2), 3.7), y).predict_interval([[3.7, 3.7]])[0]
    assert 0.88 <= np.mean((y >= low) & (y <= high)) <= 0.93


def test_an_interval_of_few_samples_in_one_place_has_no_end():
    for X, y in (([[3.0]] * 4, [0.0, 1.0, 2.0, 3.0]), ([[3.0]], [1.0])):
        interval = KernelRegressor(1.0, degree=0).fit(X, y).predict_interval([[3.0], [9.0]])
        assert_array_equal(interval, [[-np.inf, np.inf]] * 2)


@pytest.mark.parametrize("cls", [KernelRegressor, KernelRidgeRegressor])
def test_up_to_three_hundred_samples_are_left_out_of_the_choice(cls, monkeypatch):
    X, y, _, _ = problem(40)
    model, found = cls().fit(X, np.random.default_rng(1).normal(size=40)), []
    for few in (0, 39, 40):
        for module in (_kernel_regressor, _ridge_regressor):
            monkeypatch.setattr(module, "FEW", few)
        found.append(model._predictions_left_out())
    assert_allclose(found[0], found[1], rtol=1e-9)
    assert np.abs(found[2] - found[0]).max() > 0.01 and FEW == 300


def test_lines_are_tried_up_to_ten_features():
    X = np.random.default_rng(0).normal(size=(100, 10))
    assert KernelRegressor().fit(X, X[:, 0]).degree_ == 1


def test_a_slope_is_damped_by_1e_8_of_the_variance_of_the_kernel():
    """Where nearly all weight is on one sample: here as much as the variance of the samples around the query."""
    x, y, q = np.array([0.0, 5.6]), np.array([0.0, 1.0]), -1.0
    w = np.exp(-((x - q) ** 2) / 2)
    w /= w.sum()
    deviations = x - w @ x
    variance = w @ deviations**2
    assert 0.2 < variance / 1e-8 < 5
    expected = w @ y + w @ (deviations * y) / (variance + 1e-8) * (q - w @ x)
    found = KernelRegressor(1.0, degree=1, scale=None).fit(x[:, None], y).predict([[q]])
    assert_allclose(found, expected, rtol=1e-3)
