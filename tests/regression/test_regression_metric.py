"""Metrics that a regression learns: against refits, and on targets that few features tell."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.preprocessing import StandardScaler

from spectralcls import KernelRegressor
from spectralcls.metric import GradientMetric, _gradient_metric
from spectralcls.regression._regression_metric import sliced


def problem(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 6))
    return X * [1, 1, 5, 1, 0.1, 1], np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.05 * rng.normal(size=n)


@pytest.mark.parametrize("k", [1, 2])
def test_a_round_is_the_dense_one_and_its_loss_that_of_refits(k, monkeypatch):
    monkeypatch.setattr(_gradient_metric, "_ALPHAS", [0.2])
    X, y = problem(30)
    Y = np.column_stack([y, 3 * X[:, 3]])[:, :k]
    weights = np.random.default_rng(1).integers(1, 4, 30).astype(float)
    weights /= weights.mean()
    h = 1.3
    metric = GradientMetric("full", task="regression", max_iter=1, scale=None)
    metric.fit(X, Y, sample_weight=weights)
    mean = np.average(Y, axis=0, weights=weights)
    T = (Y - mean) / np.sqrt(np.average((Y - mean) ** 2, axis=0, weights=weights))
    r = cdist(X, X)
    h = 2.0 * np.median(r[np.triu_indices(30, 1)])
    K = np.exp(-r / h)
    A = np.linalg.solve(K + np.diag(0.2 / weights), T)
    slope = np.divide(-K / h, r, out=np.zeros_like(r), where=r > 0)
    G = np.einsum("ij,jk,ijd->ikd", slope, A, X[:, None] - X[None])
    M = np.einsum("i,ikd,ike->de", weights, G, G)
    assert_allclose(metric.loss_curve_[0], refitted_error(K, T, weights), rtol=1e-8)
    if metric.best_iter_ == 1:
        L = metric.components_
        assert_allclose(L.T @ L, M * 6 / np.trace(M), atol=1e-5 * 6)
    assert metric.best_iter_ == 1


def refitted_error(K, T, weights):
    """Mean squared error of predictions by all other points."""
    errors = []
    for i in range(len(T)):
        kept = np.arange(len(T)) != i
        A = np.linalg.solve(K[np.ix_(kept, kept)] + np.diag(0.2 / weights[kept]), T[kept])
        errors.append(np.mean((T[i] - K[i, kept] @ A) ** 2))
    return np.average(errors, weights=weights)


@pytest.mark.parametrize("kind", ["diagonal", "full"])
def test_features_that_say_nothing_lose_their_weight(kind):
    X, y = problem()
    M = GradientMetric(kind, task="regression").fit(X, y).components_
    weights = np.diag(M.T @ M)
    assert min(weights[:2]) > 5 * max(weights[2:])


@pytest.mark.parametrize("metric", ["diagonal", "full"])
def test_a_learned_metric_predicts_better(metric):
    X, y = problem(240)
    plain, learned = (KernelRegressor(metric=m).fit(X[:160], y[:160]).score(X[160:], y[160:]) for m in (None, metric))
    assert learned > plain + 0.1


@pytest.mark.parametrize("metric", ["whiten", "diagonal", "full"])
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.filterwarnings("ignore:The metric was learned from the same samples")
def test_the_metric_comes_before_everything_else(metric, k):
    X, y = problem()
    Y = y if k == 1 else np.column_stack([y, X[:, 3]])
    model = KernelRegressor(metric=metric, scale=None).fit(X, Y)
    mapped = KernelRegressor(scale=None).fit(model.metric_.transform(X), Y)
    Z = model.metric_.transform(X)
    assert_allclose(model.predict(X), mapped.predict(Z), rtol=1e-10)
    assert_allclose(model.predict_interval(X[:9]), mapped.predict_interval(Z[:9]), rtol=1e-10)
    assert_allclose(model.bandwidth_, mapped.bandwidth_, rtol=1e-10)
    assert model.degree_ == mapped.degree_
    moved = KernelRegressor(metric=metric, scale=None).fit(X * [1, 2, 4, 8, 16, 32] + 5, Y)
    assert_allclose(moved.predict(X * [1, 2, 4, 8, 16, 32] + 5), model.predict(X), rtol=1e-2, atol=1e-2)


def test_fitted_and_unfitted_transformers():
    X, y = problem()
    fitted = StandardScaler().fit(3 * X)
    model = KernelRegressor(metric=fitted).fit(X, y)
    assert model.metric_ is fitted
    assert_array_equal(clone(KernelRegressor(metric=FrozenEstimator(fitted))).fit(X, y).predict(X), model.predict(X))
    unfitted = KernelRegressor(metric=StandardScaler(), scale=None).fit(X, y, sample_weight=np.arange(1.0, 151.0))
    assert_allclose(unfitted.metric_.mean_, np.average(X, axis=0, weights=np.arange(1.0, 151.0)))


@pytest.mark.parametrize("metric", ["whiten", "diagonal"])
def test_weights_are_repetitions(metric):
    X, y = problem(60)
    weights = np.random.default_rng(3).integers(0, 3, 60)
    rows = np.repeat(np.arange(60), weights)
    weighted = KernelRegressor(metric=metric).fit(X, y, sample_weight=weights)
    repeated = KernelRegressor(metric=metric).fit(X[rows], y[rows])
    assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("metric", ["whiten", "full"])
def test_weights_reach_the_metric_whatever_is_routed(metric):
    X, y = problem(60)
    weights = np.random.default_rng(3).integers(0, 3, 60)
    plain = KernelRegressor(metric=metric).fit(X, y, sample_weight=weights)
    with config_context(enable_metadata_routing=True):
        routed = KernelRegressor(metric=metric).fit(X, y, sample_weight=weights)
        assert_array_equal(routed.predict(X), plain.predict(X))


@pytest.mark.filterwarnings("ignore:y is 2 for all samples")
@pytest.mark.parametrize("metric", ["whiten", "diagonal", "full"])
def test_a_constant_target_teaches_nothing(metric):
    X, _ = problem(40)
    with pytest.warns(ConvergenceWarning, match="No round improved"):
        model = KernelRegressor(metric=metric).fit(X, np.full(40, 2.0))
    assert_allclose(model.predict(X), 2.0)


def test_slices_are_eighths_of_the_leading_component():
    y = np.random.default_rng(0).permutation(80).astype(float)
    assert_array_equal(np.bincount(sliced(y[:, None], None)), 10)
    both = np.column_stack([y, -2 * y])
    found, expected = sliced(both, None), sliced(y[:, None], None)
    assert len(np.unique(found)) == 8 and (np.array_equal(found, expected) or np.array_equal(7 - found, expected))


def test_what_is_refused():
    X, y = problem(20)
    with pytest.raises(ValueError, match="'metric' parameter"):
        KernelRegressor(metric=3).fit(X, y)
    with pytest.raises(ValueError, match="'task' parameter"):
        GradientMetric(task="ranking").fit(X, y)
