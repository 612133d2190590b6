"""`partial_fit` of the kernel-mean classifiers: a point is one more term."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from spectralcls import CauchySchwarzClassifier, ISEClassifier, LaplacianISEClassifier, ParzenClassifier
from spectralcls.kernels import kernel_sums

CLASSIFIERS = [ParzenClassifier, ISEClassifier, LaplacianISEClassifier, CauchySchwarzClassifier]
every_classifier = pytest.mark.parametrize("make", CLASSIFIERS)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    return X[order], np.array(["ash", "beech", "cedar"])[y[order]]


@every_classifier
@pytest.mark.parametrize("cv", [5, "loo"])
def test_the_first_point_alone_is_nothing_to_validate(make, iris, cv):
    X, y = iris
    model = make(cv=cv, bandwidth_grid=[0.5, 1.0, 2.0]).partial_fit(X[:1], y[:1], np.unique(y))
    assert np.isnan(model.cv_results_["mean_test_score"]).all() and model.bandwidth_ == 1.0
    assert_array_equal(model.predict(X[:3]), y[[0, 0, 0]])


@pytest.mark.parametrize("make", [*CLASSIFIERS, partial(CauchySchwarzClassifier, weighting=None)])
@pytest.mark.parametrize("cv", [5, "loo"])
def test_the_first_points_may_be_of_some_classes_alone(make, iris, cv):
    X, y = iris
    for seen in (["beech"], ["ash", "cedar"]):
        first = np.isin(y, seen)
        model = make(cv=cv, scale=None).partial_fit(X[first], y[first], np.unique(y))
        assert model.cv_results_["mean_test_score"].max() == 1.0
        assert set(model.predict(X)) == set(seen)
        model.partial_fit(X[~first], y[~first], retune=True)
        order = np.argsort(~first, kind="stable")
        whole = make(cv=cv, scale=None).fit(X[order], y[order])
        assert model.bandwidth_ == whole.bandwidth_
        assert_allclose(model.decision_function(X), whole.decision_function(X), rtol=1e-12, atol=1e-13)


def test_only_the_pairs_with_new_points_are_summed(iris, monkeypatch):
    X, y = iris
    model = ISEClassifier(0.6).fit(X[:140], y[:140])
    pairs = []

    def counting(Q, points, **options):
        pairs.append(len(Q) * len(points))
        return kernel_sums(Q, points, **options)

    monkeypatch.setattr("spectralcls._expansion.points.kernel_sums", counting)
    model.partial_fit(X[140:143], y[140:143])
    assert 0 < sum(pairs) <= 2 * 3 * 143


@every_classifier
def test_the_bandwidth_stays_until_it_is_tuned_anew(make, iris):
    X, y = iris
    model = make(scale=None).fit(X[:30], y[:30])
    chosen = model.bandwidth_
    model.partial_fit(X[30:], y[30:])
    assert model.bandwidth_ == chosen and hasattr(model, "cv_results_")
    model.partial_fit(X[:1], y[:1], retune=True)
    assert model.bandwidth_ == make(scale=None).fit(np.r_[X, X[:1]], np.r_[y, y[:1]]).bandwidth_ != chosen
