"""The one form scores(y) = g(y) (k(y) A) - b, with class sums and with a dense A of either sign."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference import distances, kernel_matrix
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from spectralcls._expansion import Expansion, Rule, TrainingPoints, class_means
from spectralcls._expansion.nearest import nearest_codes
from spectralcls._expansion.rule import break_ties
from spectralcls._inputs.training_data import TrainingData


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    return X[::2], y[::2], X[1::2]


def signed(X, A, offsets, bandwidth, density_weights=None, decision="distance"):
    columns = A if density_weights is None else np.column_stack([A, density_weights])
    return Expansion(Rule(decision), TrainingPoints.of(TrainingData.points(X)), "gaussian", bandwidth, columns, offsets)


@pytest.mark.parametrize("potential", ["convolved", "same"])
@pytest.mark.parametrize("weighting", [None, "inverse", "symmetric"])
@pytest.mark.parametrize("decision", ["density", "distance", "angle"])
def test_every_point_of_the_grid_is_an_expansion(wine, decision, weighting, potential):
    """A built from the fitted parts, dense, gives the scores of the label route, also where no paper tried
    it."""
    X, y, T = wine
    rule = Rule(decision, weighting, potential)
    fitted, _ = class_means(rule, TrainingPoints.of(TrainingData(X, y, np.arange(3))), "gaussian", 1.3)
    columns = np.ones((len(X), 1)) if fitted.columns is None else fitted.columns.reshape(len(X), -1)
    A = (y[:, None] == np.arange(3)) * columns[:, :1] * np.exp(fitted.log_scale)
    density_weights = np.full(len(X), 1 / len(X)) if rule.needs_query_density else None
    expansion = signed(X, A, fitted.offsets, 1.3, density_weights, decision)
    K = kernel_matrix(T, X, bandwidth=1.3)
    g = 1 / np.sqrt(K.mean(axis=1, keepdims=True)) if rule.needs_query_density else 1.0
    expected = g * (K @ A) - fitted.offsets
    if decision == "distance":
        assert_allclose(fitted.scores(T), expected, rtol=1e-11, atol=1e-13)
        assert_allclose(expansion.scores(T), expected, rtol=1e-11, atol=1e-13)
    else:
        assert_allclose(np.exp(fitted.scores(T)), expected, rtol=1e-11)
        scores = expansion.scores(T)
        scores *= expected.sum(axis=1, keepdims=True) / scores.sum(axis=1, keepdims=True)
        assert_allclose(scores, expected, rtol=1e-11)
    assert_array_equal(fitted.scores(T).argmax(axis=1), expansion.scores(T).argmax(axis=1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_signed_expansions(wine, dtype):
    X, _, T = wine
    rng = np.random.default_rng(0)
    A, b, v = rng.normal(size=(len(X), 4)), rng.normal(size=4), rng.uniform(size=len(X))
    K = kernel_matrix(T, X, bandwidth=2.0)
    X, T = X.astype(dtype), T.astype(dtype)
    tolerance = dict(rtol=1e-11, atol=1e-12) if dtype == np.float64 else dict(rtol=1e-3, atol=1e-4)
    assert_allclose(signed(X, A, b, 2.0).scores(T), K @ A - b, **tolerance)
    scaled = (K @ A) / np.sqrt(K @ v)[:, None] - b
    assert_allclose(signed(X, A, b, 2.0, v).scores(T), scaled, **tolerance)


def test_a_signed_expansion_far_away_keeps_the_order_of_its_nearest_point(wine):
    X, _, _ = wine
    A = np.random.default_rng(0).normal(size=(len(X), 3))
    direction = np.eye(X.shape[1])[:4]
    T = 1e5 * direction
    nearest = (X @ direction.T).argmax(axis=0)
    scores = signed(X, A, np.zeros(3), 0.5).scores(T)
    assert_array_equal(scores.argmax(axis=1), A[nearest].argmax(axis=1))
    offsets = np.array([3.0, 1.0, 2.0])
    assert_array_equal(signed(X, A, offsets, 0.5).scores(T).argmax(axis=1), 1)


def test_ties_are_broken_by_the_sums():
    scores = np.array([[1.0, 1.0, 0.0], [1.0, 2.0, 0.0], [3.0, 3.0, 3.0], [-2.0, -2.0, -3.0]])
    log_sums = np.array([[-9.0, -8.0, 0.0], [0.0, -1.0, 0.0], [-1e9, -1e8, -1e7], [-5.0, -np.inf, 0.0]])
    broken = break_ties(scores.copy(), log_sums)
    assert_array_equal(broken.argmax(axis=1), [1, 1, 2, 0])
    assert_allclose(broken, scores, rtol=1e-15)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_nearest_codes_at_any_distance(wine, scale):
    X, y, T = wine
    T = np.vstack([T, 3 * T[:20], 1e5 * T[:20], 1e30 * T[:5]])
    expected = y[distances(T[:-5], X).argmin(axis=1)]
    found = nearest_codes(scale * T, scale * X, y)
    assert_array_equal(found[:-5], expected)
    assert set(found[-5:]) <= {0, 1, 2}  # all distances are equal to rounding there
    folds = np.arange(len(X)) % 4
    separate = distances(X, X)
    separate[folds[:, None] == folds] = np.inf
    expected = y[separate.argmin(axis=1)]
    assert_array_equal(nearest_codes(scale * X, scale * X, y, exclude_groups=(folds, folds)), expected)
