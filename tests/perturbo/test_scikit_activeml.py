"""Query strategies of scikit-activeml work on the classifiers, behind its wrapper for those of scikit-learn."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from spectralcls import AutoClassifier, KernelRidgeClassifier, ParzenClassifier, PerTurboClassifier

pytest.importorskip("skactiveml")
from skactiveml.classifier import SklearnClassifier  # noqa: E402
from skactiveml.pool import MonteCarloEER, UncertaintySampling  # noqa: E402

CLASSIFIERS = [ParzenClassifier(), KernelRidgeClassifier(), PerTurboClassifier(), AutoClassifier()]


def pool():
    """Points of three classes, of which ten are labeled, and their truth."""
    X, truth = make_blobs(80, centers=3, random_state=0)
    labels = np.full(len(X), np.nan)
    labels[:10] = truth[:10]
    return X, labels, truth


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=lambda each: type(each).__name__)
def test_missing_labels_and_given_classes(classifier):
    X, labels, truth = pool()
    wrapped = SklearnClassifier(classifier, classes=[0, 1, 2, 3]).fit(X, labels)
    alone = classifier.fit(X[:10], truth[:10])
    np.testing.assert_array_equal(wrapped.predict(X), alone.predict(X))
    np.testing.assert_allclose(wrapped.predict_proba(X)[:, :3], alone.predict_proba(X), rtol=1e-12)
    assert not wrapped.predict_proba(X)[:, 3].any()  # a class without a label yet


@pytest.mark.parametrize("classifier", CLASSIFIERS[:3], ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("strategy", [UncertaintySampling, MonteCarloEER])
def test_strategies_ask_for_a_candidate(classifier, strategy):
    X, labels, _ = pool()
    candidates = np.flatnonzero(np.isnan(labels))[:6]
    asked = strategy(random_state=0).query(
        X, labels, clf=SklearnClassifier(classifier, classes=[0, 1, 2]), candidates=candidates
    )
    assert asked[0] in candidates


def test_costs_of_mistakes_turn_labels():
    X, labels, _ = pool()
    dear = np.ones((3, 3)) - np.eye(3)
    dear[2, :2] = 1e6  # taking class 2 for another
    wrapped = SklearnClassifier(ParzenClassifier(), classes=[0, 1, 2], cost_matrix=dear).fit(X, labels)
    likely = wrapped.predict_proba(X)[:, 2] > 1e-5
    assert likely.any() and (wrapped.predict(X)[likely] == 2).all()
