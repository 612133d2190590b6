"""Growing classifiers, and input that is bad or unusual."""

import pickle

import numpy as np
import pytest
from perturbo_cases import data, fixed
from scipy.linalg import LinAlgWarning
from sklearn.base import clone

from spectralcls.perturbo import PerTurboClassifier


def test_partial_fit_first_is_fit_and_keeps_the_tuned_values():
    X, y = data()
    first = PerTurboClassifier().partial_fit(X, y, classes=[0, 1, 2])
    h, alpha = first.bandwidth_, first.alpha_
    whole = PerTurboClassifier().fit(X, y)
    assert (h, alpha) == (whole.bandwidth_, whole.alpha_)
    first.partial_fit(X + 0.1, y)
    assert (first.bandwidth_, first.alpha_) == (h, alpha)


def test_classes_become_large():
    X, y = data(n=120)
    grown = fixed(rank=25).fit(X[:60], y[:60]).partial_fit(X[60:], y[60:])
    whole = fixed(rank=25).fit(X, y)
    np.testing.assert_array_equal(grown.decision_function(X), whole.decision_function(X))
    assert np.all(grown.trace_residuals_ > 0)


def test_growth_by_a_copy_without_a_ridge_changes_nothing_and_can_go_on():
    X, y = data()
    clf = fixed(alpha=1e-17).fit(X, y)
    before, states = clf.decision_function(X), clf._models
    with pytest.raises(ValueError):
        clf.partial_fit(np.concatenate([X[:2], X[:1]]), y[[0, 1, 0]])
    assert clf._models is states
    np.testing.assert_array_equal(clf.decision_function(X), before)
    clf.partial_fit(X[:1] + 0.5, y[:1])
    expected = fixed(alpha=1e-17).fit(np.concatenate([X, X[:1] + 0.5]), np.append(y, y[0]))
    np.testing.assert_allclose(clf.decision_function(X), expected.decision_function(X), rtol=1e-6, atol=1e-9)


def test_duplicates_in_a_class_leave_the_full_span_as_it_is():
    X, y = data()
    twice, labels = np.concatenate([X, X[:5]]), np.concatenate([y, y[:5]])
    with pytest.warns(LinAlgWarning, match="samples lie in the span"):
        clf = fixed(None, h=0.5).fit(twice, labels)
    np.testing.assert_allclose(
        clf.perturbation(X + 0.3), fixed(None, h=0.5).fit(X, y).perturbation(X + 0.3), atol=1e-10
    )
    with pytest.warns(LinAlgWarning, match="span"):
        clf.partial_fit(X[:1], y[:1])
    assert list(clf.ranks_) == [20, 20, 20]


def test_truncation_of_a_class_of_equal_samples():
    X = np.concatenate([np.zeros((5, 2)), np.eye(2)])
    clf = fixed("truncate", retained=1.0).fit(X, [0] * 5 + [1] * 2)
    assert list(clf.ranks_) == [1, 2]
    np.testing.assert_allclose(clf.perturbation(X[:1])[0, 0], 0, atol=1e-12)


def test_duplicates_across_classes_and_a_class_of_one_sample():
    X, y = data()
    X[1] = X[0]
    y = np.where(np.arange(60) == 7, 9, y)
    clf = fixed().fit(X, y)
    tau = clf.perturbation(X[7:8])
    assert tau[0, 3] == pytest.approx(1 - 1 / 1.01)
    PerTurboClassifier().fit(X, y)
    PerTurboClassifier(regularization="truncate").fit(X, y)


def test_alpha_too_small_names_the_class_and_the_pivot():
    X, y = data()
    X = np.concatenate([X, X[:1]])
    labels = np.array(["a", "b", "c"])[np.append(y, 0)]
    with pytest.raises(np.linalg.LinAlgError, match=r"class 'a'.*pivot is .*alpha=1e-17.*Raise alpha"):
        fixed(alpha=1e-17).fit(X, labels)


@pytest.mark.parametrize(
    "parameters",
    [
        {"alpha": 0.0},
        {"alpha": -1.0},
        {"bandwidth": 0.0},
        {"bandwidth": [1.0, 2.0]},
        {"bandwidth": [1.0, 2.0, np.nan]},
        {"bandwidth": "narrow"},
        {"retained": 0.0},
        {"rank": 0},
        {"bandwidth_grid": [1.0, -1.0], "bandwidth": "cv"},
        {"alpha_grid": [], "alpha": "cv"},
        {"regularization": "truncate", "bandwidth": "cv", "cv": "loo"},
    ],
)
def test_bad_parameters(parameters):
    X, y = data()
    with pytest.raises(ValueError):
        PerTurboClassifier(**{"bandwidth": 1.0, "alpha": 1e-2} | parameters).fit(X, y)


def test_a_single_class_needs_no_tuning():
    X, _ = data()
    alone = fixed().fit(X, np.zeros(60))
    assert np.all(alone.predict(X) == 0) and alone.decision_function(X).shape == (60,)


def test_new_class_needs_a_common_bandwidth():
    X, y = data()
    clf = fixed(h={0: 1.0, 1: 1.0, 2: 2.0}).fit(X, y)
    with pytest.raises(ValueError, match="class-wise"):
        clf.partial_fit(X[:1], [7])


def test_named_classes_have_their_bandwidths_before_their_samples():
    X, y = data()
    named = fixed(h={0: 1.0, 1: 1.5, 2: 2.0})
    whole = clone(named).fit(X, y).perturbation(X)
    for first in ([2], [0, 1]):
        early = np.isin(y, first)
        named = clone(named).partial_fit(X[early], y[early], classes=[0, 1, 2]).partial_fit(X[~early], y[~early])
        np.testing.assert_allclose(named.perturbation(X), whole, atol=1e-9)


@pytest.mark.parametrize("kind", ["tikhonov", "truncate", None])
def test_a_stream_may_begin_with_one_class_and_chooses_when_the_second_comes(kind):
    X, y = data(n=90, n_classes=3)
    order = np.argsort(y, kind="stable")
    X, names = X[order], np.array(["ash", "birch", "cedar"])[y[order]]
    stream = PerTurboClassifier(regularization=kind).partial_fit(X[:10], names[:10], classes=["cedar", "ash", "birch"])
    assert stream.classes_.tolist() == ["ash", "birch", "cedar"] and set(stream.predict(X)) == {"ash"}
    assert stream.class_counts_.tolist() == [10, 0, 0] and not hasattr(stream, "best_score_")
    stream.partial_fit(X[10:45], names[10:45])
    whole = PerTurboClassifier(regularization=kind).fit(X[:45], names[:45])
    assert (stream.bandwidth_, stream.alpha_) == (whole.bandwidth_, whole.alpha_)
    np.testing.assert_array_equal(stream.predict_proba(X), np.column_stack([whole.predict_proba(X), np.zeros(90)]))
    np.testing.assert_array_equal(stream.perturbation(X), np.column_stack([whole.perturbation(X), np.ones(90)]))
    assert np.isfinite(stream.decision_function(X)).all()
    pickle.loads(pickle.dumps(stream)).partial_fit(X[45:], names[45:])
    stream.partial_fit(X[45:], names[45:], classes=["ash", "birch", "cedar"])
    assert stream.bandwidth_ == whole.bandwidth_ and stream.classes_.tolist() == ["ash", "birch", "cedar"]
