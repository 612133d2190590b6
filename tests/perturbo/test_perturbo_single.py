"""Labels of many queries: shares in float32 decide those whose margin exceeds a bound on their error."""

import numpy as np
import pytest
from perturbo_cases import data, fixed

from spectralcls.perturbo import _class_model, _explained
from spectralcls.perturbo._class_model import fit_class
from spectralcls.perturbo._span import Regularization


@pytest.fixture
def counted(monkeypatch):
    """Numbers of queries whose shares were computed in float64."""
    counts = []
    whole = _explained.log_explained

    def log_explained(models, seen, *options):
        counts.append(len(seen[0]))
        return whole(models, seen, *options)

    monkeypatch.setattr(_explained, "log_explained", log_explained)
    return counts


def test_the_bound_is_a_few_times_the_largest_error():
    rng, ratios = np.random.default_rng(0), []
    for X in (np.zeros((300, 3)), rng.normal(size=(300, 3)), rng.normal(size=(10, 3))[rng.integers(10, size=300)]):
        for h in (0.1, 1.0, 30.0):
            for alpha in (1e-6, 1e-3, 1.0, 30.0):
                model, Q = fit_class(X, h, Regularization("tikhonov", alpha)), 1.5 * rng.normal(size=(100, 3))
                shares = model.single.explained(Q)
                ratios.append(np.max(np.abs(shares - model.explained(Q)) / model.single_error(shares)))
    assert 1 / 32 < max(ratios) < 1 / 4


def test_kernel_values_in_float32_are_zero_or_normal_and_so_are_products_of_two():
    K = np.concatenate([[0.0, 1.0], np.exp(-np.linspace(0, 300, 5001))])
    out = np.empty(K.shape, dtype=np.float32)
    _class_model._to_single(K, out)
    some = np.unique(out)[1:3]
    assert some[0] * some[0] >= np.finfo(np.float32).tiny and out.min() == 0
    assert np.all(np.abs(out - K) <= _class_model._NEGLIGIBLE_IN_SINGLE + 2.0**-23 * K)


@pytest.mark.parametrize("n", [255, 256, 700])
def test_float32_values_are_those_of_float64(n):
    rng = np.random.default_rng(0)
    X, w, Q = rng.normal(size=(n, 3)), rng.random(n) + 0.1, rng.normal(size=(50, 3))
    model = fit_class(X, 1.0, Regularization("tikhonov", 0.1), w)
    K = model.single._fill_single(Q, np.empty((n, 50), np.float32), 1)
    np.testing.assert_allclose(K, model.kernel(Q), rtol=3e-7, atol=1e-18)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", ["gaussian", "laplace"])
@pytest.mark.parametrize("alpha", [1.0, 1e-2, 1e-8])
def test_labels_are_those_of_the_scores(alpha, kernel, weighted, counted):
    rng = np.random.default_rng(1)
    X, y = data(300)
    Q = rng.normal(size=(3000, 3)) * rng.choice([1.0, 3.0, 1e3], (3000, 1))  # some out of reach of all kernels
    clf = fixed(alpha=alpha, kernel=kernel).fit(X, y, rng.random(300) + 0.1 if weighted else None)
    labels = clf.predict(Q)
    if alpha > 1e-8:
        assert 0 < sum(counted) < 0.4 * len(Q)
    np.testing.assert_array_equal(labels, clf.decision_function(Q).argmax(axis=1))


def test_ties_of_float32_are_decided_in_float64(counted):
    X, _ = data(300)
    X, y = np.concatenate([X, X + 1e-9]), np.repeat([0, 1], 300)
    Q = np.random.default_rng(1).normal(size=(3000, 3))
    clf = fixed().fit(X, y)
    labels = clf.predict(Q)
    assert counted == [3000]  # the trial decides nothing, and the rest is not tried
    np.testing.assert_array_equal(labels, clf.perturbation(Q).argmin(axis=1))


def test_float64_decides_without_regularization_and_for_few_queries(counted):
    X, y = data()
    Q = np.random.default_rng(1).normal(size=(2048, 3))
    fixed(None, h=0.5).fit(X, y).predict(Q)
    fixed("truncate").fit(X, y).predict(Q)
    fixed().fit(X, y).predict(Q[:-1])
    assert counted == [2048, 2048, 2047]
    fixed().fit(X, y).predict(Q)
    assert sum(counted[3:]) < 800


def test_a_class_without_reach_and_missing_values():
    X, y = data(300)
    Q = np.random.default_rng(1).normal(size=(3000, 3))
    Q[::7, 1] = np.nan
    Q[0] = 1e200
    clf = fixed(alpha=1e-3).fit(X, y)
    np.testing.assert_array_equal(clf.predict(Q), clf.decision_function(Q).argmax(axis=1))
