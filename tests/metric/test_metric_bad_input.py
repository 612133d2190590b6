"""Learned metrics where some columns leave nothing to be learned, and a vote without time."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import load_iris

from spectralcls import AutoClassifier
from spectralcls.metric import GradientMetric, KernelMetric

METRICS = [*map(KernelMetric, ("full", "diagonal", "whiten")), *map(GradientMetric, ("diagonal", "full"))]
pytestmark = pytest.mark.filterwarnings("ignore:No (step|round) improved:sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("kind", ["full", "whiten"])
def test_a_direction_without_training_points_is_not_moved_along(kind):
    rng = np.random.default_rng(0)
    y = np.arange(30) % 2
    X = rng.normal(size=(30, 90))
    X[:, 0] += 6 * y
    components = KernelMetric(kind).fit(X, y).components_
    outside = np.linalg.svd((X - X.mean(axis=0)) / X.std(axis=0))[2][29:].T * X.std(axis=0)[:, None]
    assert np.abs(components @ outside).max() < 1e-5 * np.abs(components).max()


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_constant_columns_have_no_weight_and_duplicated_ones_the_same(metric):
    X, y = load_iris(return_X_y=True)
    X = np.c_[X[::2], np.zeros(75), np.full(75, 1e6), X[::2, 2]]
    model, shifted = (clone(metric).fit(X + [0, 0, 0, 0, 0, by, 0], y[::2]) for by in (0, 1e3))
    M = model.components_.T @ model.components_
    if isinstance(model, KernelMetric):
        assert not model.components_[:, 4:6].any()
        if model.kind == "diagonal" and model.n_iter_ == 80:
            assert_allclose(M[6, 6], M[2, 2], rtol=0.5)
    assert_allclose(shifted.components_.T @ shifted.components_, M, rtol=1e-6, atol=1e-9 * np.abs(M).max())


@pytest.mark.parametrize("n", [60, 1000])
def test_a_budget_too_small_for_anything_is_a_warning(n):
    X = np.random.default_rng(0).normal(size=(n, 4))
    y = (X[:, 0] > 0).astype(int)
    with pytest.warns(UserWarning, match=r"time_budget=1e-06 seconds did not suffice"):
        model = AutoClassifier(time_budget=1e-6).fit(X, y)
    assert model.members_ and np.mean(model.predict(X) == y) > 0.8
    assert model.dropped_ or model.n_samples_used_ < n
