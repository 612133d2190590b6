"""Learned metrics, the ridge and the vote on data that leave nothing, or everything, to be learned."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_iris

from spectralcls import AutoClassifier, KernelRidgeClassifier, ParzenClassifier
from spectralcls.metric import GradientMetric, KernelMetric

LEARNERS = [
    KernelMetric("full"),
    KernelMetric("diagonal"),
    KernelMetric("whiten"),
    GradientMetric("diagonal"),
    GradientMetric("full"),
    KernelRidgeClassifier(),
    KernelRidgeClassifier(max_exact_samples=0, rank=5),
    ParzenClassifier(metric="full"),
    AutoClassifier(),
]
METRICS = [learner for learner in LEARNERS if not is_classifier(learner)]
every = pytest.mark.parametrize("learner", LEARNERS, ids=str)
every_metric = pytest.mark.parametrize("learner", METRICS, ids=str)
pytestmark = pytest.mark.filterwarnings("ignore:No (step|round) improved:sklearn.exceptions.ConvergenceWarning")


def fitted(learner, X, y):
    model = clone(learner).fit(X, y)
    if is_classifier(model):
        p = model.predict_proba(X)
        assert np.isfinite(p).all()
        assert_allclose(p.sum(axis=1), 1)
        assert np.isin(model.predict(X), y).all()
    else:
        assert np.isfinite(model.components_).all() and np.isfinite(model.transform(X)).all()
    return model


@every
def test_a_class_of_one_sample(learner):
    X, y = load_iris(return_X_y=True)
    X, y = np.r_[X[::3], [[9.0, 1.0, 9.0, 1.0]]], np.r_[y[::3], 7]
    model = fitted(learner, X, y)
    if is_classifier(model):
        assert np.mean(model.predict(X[:-1]) == y[:-1]) > 0.9


@every
def test_every_class_of_one_sample(learner):
    """There is no posterior to learn from: no fold of the vote has a class twice."""
    X = np.random.default_rng(0).normal(size=(6, 3))
    model = fitted(learner, X, np.arange(6))
    if isinstance(model, KernelRidgeClassifier | ParzenClassifier):
        assert_array_equal(model.predict(X), np.arange(6))


@every
def test_more_features_than_rows(learner):
    rng = np.random.default_rng(0)
    y = np.arange(30) % 2
    X = rng.normal(size=(30, 90))
    X[:, 0] += 6 * y
    model = fitted(learner, X, y)
    if isinstance(model, KernelMetric) and model.kind != "diagonal":
        outside = np.linalg.svd((X - X.mean(axis=0)) / X.std(axis=0))[2][29:].T * X.std(axis=0)[:, None]
        moved = model.components_ @ outside  # no training point has a component there
        assert np.abs(moved).max() < 1e-5 * np.abs(model.components_).max()


@every_metric
def test_constant_columns_have_no_weight_and_duplicated_ones_the_same(learner):
    X, y = load_iris(return_X_y=True)
    X = np.c_[X[::2], np.zeros(75), np.full(75, 1e6), X[::2, 2]]
    model = fitted(learner, X, y[::2])
    if isinstance(model, KernelMetric):
        assert not model.components_[:, 4:6].any()
    M = model.components_.T @ model.components_
    if isinstance(model, KernelMetric) and model.kind == "diagonal" and model.n_iter_ == 80:
        assert_allclose(M[6, 6], M[2, 2], rtol=0.5)
    shifted = fitted(learner, X + [0, 0, 0, 0, 0, 1e3, 0], y[::2])
    assert_allclose(shifted.components_.T @ shifted.components_, M, rtol=1e-6, atol=1e-9 * np.abs(M).max())


@pytest.mark.parametrize("learner", [learner for learner in LEARNERS if is_classifier(learner)], ids=str)
def test_classifiers_with_constant_and_duplicated_columns(learner):
    X, y = load_iris(return_X_y=True)
    model = fitted(learner, np.c_[X, np.zeros(150), np.full(150, 1e6), X[:, 2], X[:, 2]], y)
    assert np.mean(model.predict(np.c_[X, np.zeros(150), np.full(150, 1e6), X[:, 2], X[:, 2]]) == y) > 0.95


@every
def test_separated_classes_stop(learner):
    """The likelihood has no optimum: every expansion of the map improves it."""
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = np.c_[20.0 * y + rng.uniform(size=80), rng.uniform(size=80)]
    model = fitted(learner, X, y)
    if is_classifier(model):
        assert_array_equal(model.predict(X), y)
    else:
        assert np.linalg.norm(model.components_ * X.std(axis=0)) < 1e3
        assert model.n_iter_ <= 80


@every
def test_one_class_is_an_error(learner):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="classes has to be greater than one; got 1"):
        clone(learner).fit(X, np.ones(150))


@pytest.mark.filterwarnings("ignore:.*predicts the same class for every")
@every
def test_classes_that_are_alike(learner):
    """The same points in both classes: the shares are all that can be known."""
    X = np.repeat(np.random.default_rng(0).normal(size=(40, 2)), 2, axis=0)
    model = fitted(learner, X, np.arange(80) % 2)
    if is_classifier(model):
        p = model.predict_proba(X)
        assert_allclose(p, 0.5, atol=0.2)


@pytest.mark.filterwarnings("ignore:.*predicts the same class for every")
@every
def test_all_points_alike(learner):
    model = fitted(learner, np.full((20, 3), 7.0), np.r_[np.zeros(15), np.ones(5)])
    if isinstance(model, ParzenClassifier | KernelRidgeClassifier):
        assert_array_equal(model.predict(np.full((1, 3), 7.0)), [0])


@pytest.mark.parametrize("n", [60, 1000])
def test_a_budget_too_small_for_anything_is_a_warning(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    y = (X[:, 0] > 0).astype(int)
    with pytest.warns(UserWarning, match=r"time_budget=1e-06 seconds did not suffice"):
        model = AutoClassifier(time_budget=1e-6).fit(X, y)
    assert model.members_ and np.mean(model.predict(X) == y) > 0.8
    assert model.dropped_ or model.n_samples_used_ < n


@every_metric
def test_a_large_offset_does_not_matter(learner):
    X, y = load_iris(return_X_y=True)
    X = X[::2] * 64 // 1 / 64  # so that the sums below are exact
    with warnings.catch_warnings():
        Z, shifted = (clone(learner).fit(X + offset, y[::2]).transform(X[:10] + offset) for offset in (0.0, 2.0**20))
    assert_allclose(shifted, Z, rtol=1e-6, atol=1e-7 * np.abs(Z).max())
