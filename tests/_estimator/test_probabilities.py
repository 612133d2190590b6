"""Probabilities of classifiers that compare distances, angles or spans: a temperature from held-out scores."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, xlogy
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, train_test_split

from spectralcls.kernel_mean import (
    CauchySchwarzClassifier,
    ISEClassifier,
    LaplacianISEClassifier,
    ParzenClassifier,
)
from spectralcls.perturbo import PerTurboClassifier
from spectralcls.spectral import (
    LaplacianSpectralClassifier,
    SpectralISEClassifier,
    SpectralLaplacianISEClassifier,
)

BY_MEANS = [ISEClassifier, LaplacianISEClassifier, CauchySchwarzClassifier, SpectralISEClassifier]
EVERY = [*BY_MEANS, LaplacianSpectralClassifier, SpectralLaplacianISEClassifier, PerTurboClassifier]


def best_temperature(scores, codes):
    """By a slow search; one label of a thousand is drawn at random."""
    n, n_classes = scores.shape
    targets = (1 - 1e-3) * np.eye(n_classes)[codes] + 1e-3 / n_classes

    def loss(log_t):
        return -(targets * log_softmax(scores / np.exp(log_t), axis=1)).sum() / n

    grid = np.linspace(-12, 8, 400)
    start = grid[np.argmin([loss(t) for t in grid])]
    return np.exp(minimize_scalar(loss, bounds=(start - 0.1, start + 0.1), method="bounded").x)


@pytest.mark.parametrize("cls", BY_MEANS)
def test_temperature_is_that_of_refits_fold_by_fold(cls):
    X, y = load_iris(return_X_y=True)
    X = X + 0.01 * np.random.default_rng(0).normal(size=X.shape)  # iris holds a row twice
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    model = cls(bandwidth_grid=[0.6], scale=None, cv=folds).fit(X, y)
    scores = np.empty((150, 3))
    for train, test in folds:
        scores[test] = cls(0.6, scale=None).fit(X[train], y[train]).decision_function(X[test])
    assert_allclose(model.temperature_, best_temperature(scores, y), rtol=0.02)
    p = log_softmax(model.decision_function(X) / model.temperature_, axis=1)
    assert_allclose(model.predict_log_proba(X), p, rtol=1e-12)
    assert_allclose(model.predict_proba(X), np.exp(p), rtol=1e-12)


@pytest.mark.parametrize("scoring", ["auto", "accuracy", "balanced_accuracy", "neg_log_loss"])
def test_temperature_of_perturbo_is_that_of_leaving_out_one_point(scoring):
    X, y = load_iris(return_X_y=True)
    X = X[::3] + 0.01 * np.random.default_rng(0).normal(size=(50, 4))
    y = y[::3]
    model = PerTurboClassifier(scale=None, scoring=scoring).fit(X, y)
    shares = np.empty((50, 3))
    for i in range(50):
        rest = np.arange(50) != i
        left_out = PerTurboClassifier(model.bandwidth_, alpha=model.alpha_, scale=None).fit(X[rest], y[rest])
        shares[i] = 1 - left_out.perturbation(X[i : i + 1])
    assert_allclose(model.temperature_, best_temperature(shares, y), rtol=0.02)
    p = log_softmax((1 - model.perturbation(X)) / model.temperature_, axis=1)
    assert_allclose(model.predict_log_proba(X), p, rtol=1e-12)


@pytest.mark.parametrize("cls", EVERY)
@pytest.mark.parametrize("labels", [[0, 1, 2], ["c", "a", "b"], [-1, 1, 1]])
def test_probabilities_are_those_of_the_data(cls, labels):
    X, y = load_wine(return_X_y=True)
    y = np.array(labels)[y]
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
    model = cls().fit(X_train, y_train)
    p = model.predict_proba(X_test)
    assert_allclose(p.sum(axis=1), 1)
    assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X_test))
    assert log_loss(y_test, p) < 0.25
    far = model.predict_proba(1e6 * X_test)
    assert np.isfinite(far).all() and np.isfinite(model.predict_log_proba(1e6 * X_test)).all()
    assert_array_equal(clone(model).fit(X_train, y_train).predict_proba(X_test), p)


@pytest.mark.filterwarnings("ignore:.*predicts the same class")
@pytest.mark.parametrize("cls", EVERY)
def test_labels_at_random_get_their_shares(cls):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), rng.choice(3, 300, p=[0.4, 0.35, 0.25])
    p = cls().fit(X[:200], y[:200]).predict_proba(X[200:])
    assert log_loss(y[200:], p) < 1.05 * -xlogy(np.full(3, 1 / 3), np.full(3, 1 / 3)).sum()


@pytest.mark.parametrize("cls", EVERY)
def test_probabilities_come_from_tuning(cls):
    X, y = load_iris(return_X_y=True)
    given = {"alpha": 0.1} if cls is PerTurboClassifier else {}
    model = cls(0.5, **given)
    assert not hasattr(model, "predict_proba") and not hasattr(model.fit(X, y), "predict_log_proba")
    with pytest.raises(AttributeError) as error:
        model.predict_proba(X)
    assert "bandwidth_grid=[h]" in str(error.value)
    assert not hasattr(model, "temperature_")
    tuned = clone(model).set_params(bandwidth="cv", bandwidth_grid=[0.5]).fit(X, y)
    if cls is not LaplacianSpectralClassifier:  # whose grid is of overall widths, with one for each class in proportion
        assert_array_equal(tuned.predict(X), model.predict(X))
    assert tuned.temperature_ > 0
    assert not hasattr(tuned.set_params(bandwidth=0.5).fit(X, y), "temperature_")


def test_of_eigenvectors_there_are_no_probabilities():
    X, y = load_iris(return_X_y=True)
    model = SpectralISEClassifier(n_components=3).fit(X, y)
    assert not hasattr(model, "predict_proba") and not hasattr(model, "temperature_")
    with pytest.raises(AttributeError) as error:
        model.predict_proba(X)
    assert "n_components" in str(error.value)


def test_a_growing_classifier_keeps_its_temperature():
    X, y = load_iris(return_X_y=True)
    some = np.random.default_rng(0).permutation(150)
    for cls in (ISEClassifier, PerTurboClassifier):
        model = cls().fit(X[some[:100]], y[some[:100]])
        before = model.temperature_
        grown = model.partial_fit(X[some[100:]], y[some[100:]])
        assert grown.temperature_ == before
        assert_allclose(grown.predict_proba(X).sum(axis=1), 1)


def test_parzen_needs_no_temperature():
    X, y = load_iris(return_X_y=True)
    assert not hasattr(ParzenClassifier().fit(X, y), "temperature_")
    assert_allclose(ParzenClassifier(0.5).fit(X, y).predict_proba(X).sum(axis=1), 1)
