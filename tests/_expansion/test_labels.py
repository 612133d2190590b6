"""Certified labels are those of the largest scores over all pairs."""

import numpy as np
import pytest
import reference

from spectralcls import CauchySchwarzClassifier, ISEClassifier, LaplacianISEClassifier, ParzenClassifier
from spectralcls._expansion import certified_labels as certified

RULES = [
    ParzenClassifier(scale=None),
    ISEClassifier(scale=None),
    CauchySchwarzClassifier(scale=None),
    CauchySchwarzClassifier(weighting="symmetric", scale=None),
    LaplacianISEClassifier(weighting="inverse", scale=None),
    LaplacianISEClassifier(weighting="symmetric", scale=None),
]


@pytest.fixture(autouse=True)
def always(pruning, monkeypatch):
    pruning("always")
    monkeypatch.setattr(certified, "MANY", 1)
    monkeypatch.setattr("spectralcls._expansion.expansion.MANY", 1)


def overlapping(rng, n, d, n_classes=4):
    centers = rng.uniform(-1, 1, size=(8, d))
    which = rng.integers(8, size=n)
    return centers[which] + 0.2 * rng.normal(size=(n, d)), (which + rng.integers(2, size=n)) % n_classes


def scored(monkeypatch, fitted):
    """The calls of `scores` from now on: queries and further arguments."""
    calls, scores = [], type(fitted._model).scores
    monkeypatch.setattr(
        type(fitted._model), "scores", lambda self, Q, **how: calls.append((Q, how)) or scores(self, Q, **how)
    )
    return calls


def certain(fitted, Q, tolerance=2.0**-3):
    """Labels that bounds on sums decide, or None."""
    model = fitted._model
    rule = certified.label_rule(model, np.result_type(Q, model.points.X))
    return model.points.certain_labels(Q, model.columns, model.kernel, model.bandwidth, tolerance, rule)


def best(classifier, Q, pruning):
    """Labels by all scores over all pairs."""
    pruning("never")
    return classifier.classes_[classifier._model.scores(Q).argmax(axis=1)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bandwidth", [0.03, 0.2, 2.0])
@pytest.mark.parametrize("classifier", RULES, ids=str)
def test_labels_are_those_of_all_scores(pruning, classifier, bandwidth, dtype):
    rng = np.random.default_rng(0)
    X, y = overlapping(rng, 1200, 6)
    Q = np.vstack([overlapping(rng, 300, 6)[0], 30 * rng.normal(size=(20, 6)), X[:30]]).astype(dtype)
    weights = rng.uniform(0.1, 10, size=len(X))
    fitted = classifier.set_params(bandwidth=bandwidth).fit(X.astype(dtype), y, sample_weight=weights)
    found = fitted.predict(Q)
    np.testing.assert_array_equal(found, best(fitted, Q, pruning))


@pytest.mark.parametrize("classifier", RULES, ids=str)
def test_near_ties_and_ties(pruning, classifier):
    """Mirrored classes, and queries on the plane between them or a few roundings off it: where all scores are tied to
    rounding, one of the tied wins."""
    rng = np.random.default_rng(1)
    half = rng.normal(size=(600, 5))
    X, y = np.vstack([half, half * [-1, 1, 1, 1, 1]]), np.repeat([0, 1], 600)
    Q = rng.normal(size=(400, 5))
    Q[:, 0] = np.repeat([0.0, 1e-16, -1e-12, 1e-8, -1e-5, 1e-3, -1e-2, 0.1], 50)
    fitted = classifier.set_params(bandwidth=0.5).fit(X, y)
    found = fitted.predict(Q)
    pruning("never")
    scores = fitted._model.scores(Q)
    lost = scores.max(axis=1) - scores[np.arange(400), found]
    assert np.all(lost <= 1e-11 * (1 + np.abs(scores).max(axis=1)))
    assert np.mean(lost > 0) < 0.1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("classifier", RULES, ids=str)
def test_labels_in_few_features_are_those_of_all_scores(pruning, classifier, d, dtype):
    """From a grid: with duplicates, queries far from all points, and an offset of a million roundings."""
    rng = np.random.default_rng(d)
    X, y = overlapping(rng, 1200, d)
    X, y = np.vstack([X, X[:200], X[:100]]), np.concatenate([y, y[:200], y[1:101]])
    Q = np.vstack([overlapping(rng, 600, d)[0], 30 * rng.normal(size=(60, d)), X[:300], X[:300] + 1e-7])
    for offset, bandwidth in ((0, 0.05), (0, 0.4), (1e3 if dtype == np.float32 else 1e6, 0.2)):
        fitted = classifier.set_params(bandwidth=bandwidth).fit((X + offset).astype(dtype), y)
        queries = (Q + offset).astype(dtype)
        pruning("always")
        found = fitted.predict(queries)
        np.testing.assert_array_equal(found, best(fitted, queries, pruning))


@pytest.mark.parametrize("d", [1, 2, 3])
def test_margins_at_rounding_in_few_features_are_settled_by_all_pairs(monkeypatch, d):
    """Two classes that mirror each other: on the plane between them, and a few roundings off it, all scores decide."""
    rng = np.random.default_rng(d)
    half = np.abs(rng.normal(size=(800, d)))
    mirror = np.ones(d)
    mirror[0] = -1
    X, y = np.vstack([half, half * mirror]), np.repeat([0, 1], 800)
    Q = rng.normal(size=(3200, d))
    Q[:, 0] = np.repeat([0.0, 1e-16, -1e-15, 1e-15, 1e-8, -1e-5, 1e-3, -1e-2], 400)
    fitted = ParzenClassifier(bandwidth=0.5, scale=None).fit(X, y)
    seen = scored(monkeypatch, fitted)
    monkeypatch.setattr(certified, "TOLERANCES", certified.TOLERANCES[:1])
    found = fitted.predict(Q)
    ((rows, how),) = seen
    assert how == {"all_pairs": True} and len(rows) < 2000
    assert {tuple(q) for q in Q[:1600]} <= {tuple(q) for q in rows}
    np.testing.assert_array_equal(found[1600:], Q[1600:, 0] < 0)


def test_the_grid_settles_most_queries(monkeypatch):
    rng = np.random.default_rng(2)
    X, y = overlapping(rng, 3000, 2)
    fitted = ParzenClassifier(bandwidth=0.1, scale=None).fit(X, y)
    monkeypatch.setattr(certified, "TOLERANCES", certified.TOLERANCES[:1])
    seen = scored(monkeypatch, fitted)
    fitted.predict(X)
    assert sum(len(rows) for rows, _ in seen) < 15


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_points_near_a_query_settle_what_the_grid_leaves_open(d, dtype):
    """Classes at random: most margins are narrower than the error of a coarse grid, and wider than rounding."""
    rng = np.random.default_rng(d)
    X, Q = (rng.normal(size=(n, d)).astype(dtype) for n in (3000, 2000))
    y, weights = rng.integers(3, size=len(X)), rng.uniform(0.5, 2, size=len(X)).astype(dtype)
    fitted = ParzenClassifier(bandwidth=0.1, scale=None).fit(X, y, sample_weight=weights)
    labels = certain(fitted, Q)
    sums = reference.kernel_sums(Q, X, labels=y, n_labels=3, weights=weights, bandwidth=0.1)
    decided = labels >= 0
    assert decided.mean() > 0.93
    np.testing.assert_array_equal(labels[decided], sums.argmax(axis=1)[decided])


@pytest.mark.parametrize("d", [1, 2, 3])
def test_threads_change_no_label(d):
    """Not even whether a label is certain."""
    rng = np.random.default_rng(d)
    X, y = overlapping(rng, 4000, d)
    found = [certain(ParzenClassifier(bandwidth=0.1, scale=None, n_jobs=n).fit(X, y), X) for n in (1, 3)]
    np.testing.assert_array_equal(*found)


def test_most_queries_are_certain_at_once(monkeypatch):
    rng = np.random.default_rng(2)
    X, y = overlapping(rng, 3000, 10)
    fitted = ParzenClassifier(bandwidth=0.1, scale=None).fit(X, y)
    seen = scored(monkeypatch, fitted)
    fitted.predict(X)
    assert sum(len(rows) for rows, _ in seen) < 30


def test_what_rounding_may_decide_is_settled_by_all_pairs(monkeypatch):
    """A lead of 6e-5 is certain, one of 6e-13, a hundred epsilons of the exponents, is not."""
    settled = []
    for difference in (1e-14, 1e-6):
        X = np.array([[0.0], [2 + difference]])
        fitted = ParzenClassifier(bandwidth=0.125, scale=None).fit(X, [0, 1])
        with monkeypatch.context() as patch:
            calls = scored(patch, fitted)
            assert fitted.predict([[1.0]]) == 0
        settled += [difference] * len(calls)
    assert settled == [1e-14]


def test_a_class_without_prior_probability_never_wins(pruning):
    rng = np.random.default_rng(3)
    X, y = overlapping(rng, 900, 5, n_classes=3)
    fitted = ParzenClassifier(bandwidth=0.2, priors=[0.5, 0.0, 0.5], scale=None).fit(X, y)
    found = fitted.predict(X)
    assert not (found == 1).any()
    np.testing.assert_array_equal(found, best(fitted, X, pruning))


@pytest.mark.parametrize("kernel", ["epanechnikov", "laplace"])
def test_other_kernels(pruning, kernel):
    rng = np.random.default_rng(4)
    X, y = overlapping(rng, 900, 5)
    Q = np.vstack([X[:200] + 0.1, X[:5] + 50])
    fitted = ParzenClassifier(bandwidth=0.3, kernel=kernel, scale=None).fit(X, y)
    np.testing.assert_array_equal(fitted.predict(Q), best(fitted, Q, pruning))


def test_bandwidths_of_classes(pruning):
    rng = np.random.default_rng(5)
    X, y = overlapping(rng, 1500, 8)
    fitted = ParzenClassifier(bandwidth={0: 0.02, 1: 0.1, 2: 0.3, 3: 0.05}, scale=None).fit(X, y)
    np.testing.assert_array_equal(fitted.predict(X), best(fitted, X, pruning))


def test_agreement_is_the_accuracy_that_sums_promise():
    """Twice of it is the margin of a certificate; the guide and the tests of sums have the same numbers."""
    assert certified.AGREEMENT == {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-12}


@pytest.mark.parametrize("missing", [None, np.nan])
def test_a_missing_label_in_a_list_of_names_is_no_name(missing):
    """NumPy makes the text "nan" of it."""
    with pytest.raises(ValueError, match="row 1"):
        ParzenClassifier(bandwidth=1.0).fit([[0.0], [1.0], [2.0]], ["ash", missing, "oak"])
