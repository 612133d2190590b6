"""Kernel ridge regression against dense algebra, and what it chooses against refits without each point."""

import pickle
import warnings
from datetime import date, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from spectralcls import KernelRegressor, KernelRidgeClassifier, KernelRidgeRegressor
from spectralcls._conformal import Residuals
from spectralcls._utils.copies import random_keys
from spectralcls.metric import GradientMetric, KernelMetric
from spectralcls.regression import _kernel_ridge
from spectralcls.regression._ridge_regressor import FOLDS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
Y = np.column_stack([np.sin(X[:, 0]) + X[:, 1], X[:, 2] ** 2]) + 0.1 * RNG.normal(size=(80, 2))
W = RNG.integers(1, 4, 80).astype(float)
Q = RNG.normal(size=(30, 3))


def kernel_of(kernel, A, B, h):
    u = cdist(A, B) / h
    return np.exp(-u) if kernel == "laplace" else np.exp(-(u**2) / 2)


def dense(A, targets, weights, queries, kernel, h, alpha):
    weights = weights / weights.mean()
    mean = np.average(targets, axis=0, weights=weights)
    M = kernel_of(kernel, A, A, h) + np.diag(alpha / weights)
    return mean + kernel_of(kernel, queries, A, h) @ np.linalg.solve(M, targets - mean)


@pytest.mark.parametrize("kernel", ["laplace", "gaussian"])
@pytest.mark.parametrize("weights", [None, W], ids=["alike", "weighted"])
def test_predictions_are_those_of_dense_algebra(kernel, weights):
    model = KernelRidgeRegressor(1.5, alpha=0.3, kernel=kernel, scale=None).fit(X, Y, weights)
    expected = dense(X, Y, np.ones(80) if weights is None else W, Q, kernel, 1.5, 0.3)
    assert_allclose(model.predict(Q), expected, rtol=1e-9, atol=1e-11)
    assert_allclose(model.intercept_, np.average(Y, axis=0, weights=weights))


def test_the_choice_has_the_least_error_of_refits_without_each_point():
    y, losses = Y[:40, 0], {}
    grids = {"bandwidth_grid": [0.7, 3.0], "alpha_grid": [0.01, 0.3]}
    model = KernelRidgeRegressor(scale=None, **grids).fit(X[:40], y)
    centered = y - y.mean()  # the mean is that of all points, as the closed form has it
    for kernel in ("laplace", "gaussian"):
        for h in grids["bandwidth_grid"]:
            for alpha in grids["alpha_grid"]:
                M, errors = kernel_of(kernel, X[:40], X[:40], h) + alpha * np.eye(40), []
                for i in range(40):
                    o = np.delete(np.arange(40), i)
                    k = kernel_of(kernel, X[i : i + 1], X[o], h)
                    errors.append(centered[i] - (k @ np.linalg.solve(M[np.ix_(o, o)], centered[o]))[0])
                losses[kernel, h, alpha] = np.mean(np.square(errors)) / y.var()
    best = min(losses, key=losses.get)
    assert (model.kernel_, model.bandwidth_, model.alpha_) == best
    assert_allclose(model.loss_, losses[best])
    assert_allclose(-model.best_score_, losses[best])


def test_the_grid_goes_on_where_its_end_is_the_best():
    """Of a plane hardly anything is left but the noise."""
    plane = X @ [1.0, -2.0, 3.0] + 1e-3 * RNG.normal(size=80)
    model = KernelRidgeRegressor().fit(X, plane)
    widths, ridges = (np.unique(model.cv_results_[f"param_{name}"]) for name in ("bandwidth", "alpha"))
    assert model.kernel_ == "gaussian" and model.bandwidth_ == widths[-1] and ridges[0] <= 1e-5
    assert_allclose(widths[-1] / widths[0], 24 / 0.7)
    at_ends = KernelRidgeRegressor(bandwidth_grid=widths[:4], alpha_grid=[0.001, 0.01, 0.1]).fit(X, plane)
    assert model.loss_ < 0.1 * at_ends.loss_ and model.loss_ < 1e-5
    assert len(at_ends.cv_results_["params"]) == 24
    tried = np.isfinite(model.cv_results_["mean_test_score"])
    assert np.count_nonzero(tried) < 12 + 12  # not all combinations


def test_small_ridges_are_tried_only_where_their_digits_count():
    plane = X @ [1.0, -2.0, 3.0]
    for changed in ({"X": X.astype(np.float32)}, {"max_exact_samples": 50}):
        points = changed.pop("X", X)
        model = KernelRidgeRegressor(**changed).fit(points, plane)
        assert model.alpha_ == 0.001
        assert_allclose(model.predict(points), plane, atol=0.05 * plane.std())


@pytest.mark.filterwarnings("ignore:No round improved:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", ["diagonal", "full", "whiten"])
def test_a_metric_is_the_map_fitted_first(kind):
    model = KernelRidgeRegressor(2.0, alpha=0.1, kernel="gaussian", metric=kind).fit(X, Y[:, 0])
    mapped = model._inputs(X)
    own = KernelRidgeRegressor(2.0, alpha=0.1, kernel="gaussian", scale=None).fit(mapped, Y[:, 0])
    assert_allclose(model.predict(Q), own.predict(model._inputs(Q)), rtol=1e-9)
    kinds = {"whiten": KernelMetric}
    assert isinstance(model.metric_, kinds.get(kind, GradientMetric))
    with pytest.warns(UserWarning, match="metric was learned from the same samples"):
        ends = model.predict_interval(Q)
    assert (ends[:, 0] < ends[:, 1]).all()


def test_a_metric_helps_where_few_features_tell():
    rng = np.random.default_rng(3)
    P = rng.normal(size=(400, 8))
    y = np.sin(3 * P[:, 0])
    plain, learned = (KernelRidgeRegressor(metric=metric).fit(P[:200], y[:200]) for metric in (None, "diagonal"))
    assert 1 - learned.score(P[200:], y[200:]) < 0.5 * (1 - plain.score(P[200:], y[200:]))


def test_one_machine_fits_numbers_and_classes():
    """Indicators of two classes as numbers: the same scores."""
    codes = (Y[:, 0] > 0).astype(int)
    options = {"alpha": 0.1, "kernel": "gaussian", "scale": None}
    scores = KernelRidgeClassifier(2.0, **options).fit(X, codes).decision_function(Q)
    indicators = np.eye(2)[codes]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        numbers = KernelRidgeRegressor(2.0, **options).fit(X, indicators).predict(Q)
    assert_allclose(numbers[:, 1] - numbers[:, 0], scores, rtol=1e-9, atol=1e-12)


def test_conjugate_gradients_answer_as_the_factor():
    exact, iterated = (KernelRidgeRegressor(2.0, alpha=0.1, max_exact_samples=n, tol=1e-10).fit(X, Y) for n in (99, 0))
    assert_allclose(iterated.predict(Q), exact.predict(Q), rtol=1e-7, atol=1e-9)
    assert iterated.residuals_.shape == (2,)


@pytest.mark.parametrize("alpha", [1e-3, 1e-5])
def test_conjugate_gradients_converge_with_small_ridges_of_the_laplace_kernel(alpha):
    points = np.random.default_rng(0).normal(size=(3000, 3))
    targets = np.sin(2 * points[:, 0]) + points[:, 1] ** 2
    options = {"bandwidth": 4.0, "alpha": alpha, "kernel": "laplace", "scale": None}
    iterative = KernelRidgeRegressor(**options, max_exact_samples=0, rank=100).fit(points, targets)
    exact = KernelRidgeRegressor(**options).fit(points, targets)
    assert iterative.n_iter_ < 60
    assert_allclose(iterative.predict(points), exact.predict(points), atol=1e-3)


def test_intervals_by_conjugate_gradients_are_those_of_the_other_folds():
    options = {"alpha": 0.1, "kernel": "gaussian", "scale": None}
    model = KernelRidgeRegressor(2.0, max_exact_samples=0, tol=1e-10, **options).fit(X, Y)
    folds = (np.argsort(np.argsort(random_keys(model.points_))) % FOLDS)[model._order]
    centered, by_others = Y - Y.mean(axis=0), np.empty_like(Y)
    for fold in range(FOLDS):
        o = folds != fold
        M = kernel_of("gaussian", X[o], X[o], 2.0) + 0.1 * np.eye(np.count_nonzero(o))
        by_others[~o] = kernel_of("gaussian", X[~o], X[o], 2.0) @ np.linalg.solve(M, centered[o])
    unit = Y.std(axis=0)
    expected = Residuals.of((centered - by_others) / unit, np.ones(80), X)
    predicted = (model.predict(Q) - Y.mean(axis=0)) / unit
    ends = expected.ends(Q, predicted, 0.8) * unit[:, None] + Y.mean(axis=0)[:, None]
    assert_allclose(model.predict_interval(Q, coverage=0.8), ends, rtol=1e-4, atol=1e-6)


def test_intervals_in_cells_come_from_all_of_them(monkeypatch):
    """Also where the first cells scatter less than the others; the same after a file."""
    monkeypatch.setattr(_kernel_ridge, "MANY", 600)
    monkeypatch.setattr(_kernel_ridge, "CELL", 100)
    rng = np.random.default_rng(5)
    P = rng.normal(size=(3000, 2))
    y = P[:, 0] + 0.5 * rng.normal(size=3000) * (P[:, 1] > 0)
    model = KernelRidgeRegressor(max_exact_samples=0, max_tuning_samples=200).fit(P[:1500], y[:1500])
    low, high = model.predict_interval(P[1500:], coverage=0.8).T
    assert abs(np.mean((low <= y[1500:]) & (y[1500:] <= high)) - 0.8) < 0.04
    assert_array_equal(
        pickle.loads(pickle.dumps(model)).predict_interval(P[:9], coverage=0.8).T[0],
        model.predict_interval(P[:9], 0.8).T[0],
    )


@pytest.mark.parametrize("exponent", [-990, -3, 8, 990])
def test_units_of_the_target_change_no_bit(exponent):
    numbers = np.round(Y * 1024)
    expected = KernelRidgeRegressor().fit(X, numbers).predict(Q)
    assert_array_equal(
        KernelRidgeRegressor().fit(X, np.ldexp(numbers, exponent)).predict(Q), np.ldexp(expected, exponent)
    )


@pytest.mark.parametrize("unit", [1e-300, 1e300])
def test_outputs_may_be_as_small_and_large_as_float64(unit):
    expected = KernelRidgeRegressor().fit(X, Y[:, 0]).predict(Q)
    assert_allclose(KernelRidgeRegressor().fit(X, Y[:, 0] * unit).predict(Q) / unit, expected, rtol=1e-9, atol=1e-11)


def test_a_shift_of_integers_changes_only_the_rounding_of_the_answer():
    y = RNG.integers(0, 100, 80)
    expected, moved = (KernelRidgeRegressor().fit(X, y + shift).predict(Q) for shift in (0, 2**40))
    assert_allclose(moved - 2**40, expected, atol=1e-3)


def test_more_outputs_than_rows_and_a_constant_target():
    many = KernelRidgeRegressor().fit(X[:5], RNG.normal(size=(5, 12)))
    assert many.predict(Q).shape == (30, 12)
    with pytest.warns(UserWarning, match="y is 0.1 for all samples, and so is every prediction"):
        assert_array_equal(KernelRidgeRegressor().fit(X, np.full(80, 0.1)).predict(Q), 0.1)


def test_far_from_all_points_the_prediction_is_the_mean():
    model = KernelRidgeRegressor(1.0, alpha=0.1).fit(X, Y[:, 0])
    assert_allclose(model.predict(np.full((1, 3), 1e6)), Y[:, 0].mean())


@pytest.mark.parametrize("cls", [KernelRidgeRegressor, KernelRegressor])
def test_what_is_no_number_is_refused_by_name(cls):
    days = pd.date_range("2024-01-01", periods=80)
    for dates in (days, days.to_numpy(), [date(2024, 1, 1) + timedelta(i) for i in range(80)], days - days[0]):
        with pytest.raises(ValueError, match="y holds dates or durations.*days since"):
            cls().fit(X, dates)
    for text in (np.repeat(["low", "high"], 40), np.array(["low", 1.0] * 40, dtype=object)):
        with pytest.raises(ValueError, match="y holds text, 'low' in row .*predict classes"):
            cls().fit(X, text)
    lacking = np.where(np.arange(80) == 7, np.nan, Y[:, 0])
    for y in (lacking, pd.Series(lacking), np.column_stack([Y[:, 0], lacking])):
        with pytest.raises(ValueError, match="Input y contains NaN: row 7. Leave out samples without a target"):
            cls().fit(X, y)


@pytest.mark.parametrize("cls", [KernelRidgeRegressor, KernelRegressor])
def test_what_could_be_made_numbers_says_how(cls):
    numbers = Y[:, 0]
    for text in (numbers.astype(str), numbers.astype(str).astype(object)):
        with pytest.raises(ValueError, match=r"y holds text, '.*' in row 0, and .* numbers: pass y.astype\(float\)"):
            cls().fit(X, text)
    with pytest.raises(ValueError, match="y holds objects of type Period, as in row .*, and .* predicts numbers"):
        cls().fit(X, pd.period_range("2024", periods=80, freq="D"))
    with pytest.raises(ValueError, match="y holds objects of type csr_array"):
        cls().fit(X, csr_array(Y))
    for far in (np.inf, -np.inf):
        with pytest.raises(ValueError, match="Input y contains infinity: row 7"):
            cls().fit(X, np.where(np.arange(80) == 7, far, numbers))
    with pytest.raises(ValueError, match="Input y contains NaN: row 7"):
        cls().fit(X, np.ma.masked_array(numbers, np.arange(80) == 7))
    as_objects = [Decimal(str(number)) for number in numbers]
    assert_allclose(cls(2.0).fit(X, as_objects).predict(Q), cls(2.0).fit(X, numbers).predict(Q), rtol=1e-9)


@pytest.mark.parametrize("cls", [KernelRidgeRegressor, KernelRegressor])
def test_targets_that_look_like_a_mistake_are_named(cls):
    with pytest.warns(UserWarning, match="y has two values, 0 and 1. If these are classes"):
        cls().fit(X, Y[:, 0] > 0)
    y = Y[:, 0].copy()
    y[7] = 1e9
    with pytest.warns(UserWarning, match="the value 1e.09 in the target, row 7, is"):
        cls().fit(X, y)
    weights = np.arange(80) > 1
    with pytest.warns(UserWarning, match="in the target, row 7"):
        cls().fit(X, y, weights.astype(float))


@pytest.mark.parametrize("cls", [KernelRidgeRegressor, KernelRegressor])
def test_what_probably_is_no_mistake_is_not_named(cls):
    """Thirty targets of two values; a target 4.9 times as far from the median as all others, where 20 is named."""
    rng = np.random.default_rng(0)
    two = np.arange(31) % 2
    cls(1.0).fit(rng.normal(size=(30, 2)), two[:30])
    with pytest.warns(UserWarning, match="two values"):
        cls(1.0).fit(rng.normal(size=(31, 2)), two)
    y = rng.uniform(-1.0, 1.0, size=80)
    y -= np.median(np.delete(y, 7))
    for times in (4.9, 20.0):
        y[7] = times * np.abs(np.delete(y, 7)).max()
        if times < 5:
            cls(1.0).fit(X, y)
            continue
        with pytest.warns(UserWarning, match="in the target, row 7"):
            cls(1.0).fit(X, y)
