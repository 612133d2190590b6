"""Certified labels are those of the largest scores over all pairs."""

from types import SimpleNamespace

import numpy as np
import pytest
import reference

from spectralcls import CauchySchwarzClassifier, ISEClassifier, LaplacianISEClassifier, ParzenClassifier
from spectralcls._expansion import certified_labels as certified
from spectralcls.kernels import GRID_QUERIES, BoundedSums, certain_labels, grid_labels

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
    """Two classes that mirror each other: on the plane between them, and a few roundings off it, all scores decide, of
    parts of queries that are too few for the grid."""
    rng = np.random.default_rng(d)
    half = np.abs(rng.normal(size=(800, d)))
    mirror = np.ones(d)
    mirror[0] = -1
    X, y = np.vstack([half, half * mirror]), np.repeat([0, 1], 800)
    Q = rng.normal(size=(3200, d))
    Q[:, 0] = np.repeat([0.0, 1e-16, -1e-15, 1e-15, 1e-8, -1e-5, 1e-3, -1e-2], 400)
    fitted = ParzenClassifier(bandwidth=0.5, scale=None).fit(X, y)
    seen, scores = [], type(fitted._model).scores
    monkeypatch.setattr(type(fitted._model), "scores", lambda self, Q: seen.append(Q) or scores(self, Q))
    monkeypatch.setattr(certified, "TOLERANCES", ())
    found = fitted.predict(Q)
    assert max(map(len, seen)) < GRID_QUERIES
    assert {tuple(q) for q in Q[:1600]} <= {tuple(q) for part in seen for q in part}
    np.testing.assert_array_equal(found[1600:], Q[1600:, 0] < 0)


def test_the_grid_settles_most_queries(monkeypatch):
    rng = np.random.default_rng(2)
    X, y = overlapping(rng, 3000, 2)
    fitted = ParzenClassifier(bandwidth=0.1, scale=None).fit(X, y)
    rows = []
    monkeypatch.setattr(certified, "TOLERANCES", ())
    scores = type(fitted._model).scores
    monkeypatch.setattr(type(fitted._model), "scores", lambda self, Q: rows.append(len(Q)) or scores(self, Q))
    fitted.predict(X)
    assert sum(rows) < 15


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_points_near_a_query_settle_what_the_grid_leaves_open(d, dtype):
    """Classes at random: most margins are narrower than the error of a coarse grid, and wider than rounding."""
    rng = np.random.default_rng(d)
    X, Q = (rng.normal(size=(n, d)).astype(dtype) for n in (3000, 2000))
    y, weights = rng.integers(3, size=len(X)), rng.uniform(0.5, 2, size=len(X)).astype(dtype)
    fitted = ParzenClassifier(bandwidth=0.1, scale=None).fit(X, y, sample_weight=weights)
    rule = certified.label_rule(fitted._model, np.dtype(dtype))
    found = [
        fitted._model.points.by_class(grid_labels, Q, fitted._model.columns, "gaussian", 0.1, tolerance, rule=rule)
        for tolerance in (2.0**-4, 2.0**-10)
    ]
    sums = reference.kernel_sums(Q, X, labels=y, n_labels=3, weights=weights, bandwidth=0.1)
    for labels in found:
        certain = labels >= 0
        assert certain.mean() > 0.93
        np.testing.assert_array_equal(labels[certain], sums.argmax(axis=1)[certain])


def test_a_grid_in_space_pays_where_few_classes_can_win(pruning):
    """Gathering a sum costs more in space than in the plane, and of classes at random the sums of all are gathered."""
    pruning("sampled")
    rng, n = np.random.default_rng(0), 60_000
    centers, component = 3 * rng.normal(size=(8, 3)), rng.integers(8, size=n)
    X = (centers[component] + 0.5 * rng.normal(size=(n, 3))).astype(np.float32)

    def by_grid(y, bandwidth):
        model = ParzenClassifier(bandwidth=bandwidth, scale=None).fit(X, y)._model
        found = certified.from_grid(model, X, certified.label_rule(model, X.dtype), 2.0**-8)
        if found is not None:
            certain = np.flatnonzero(found >= 0)[:500]
            np.testing.assert_array_equal(found[certain], model.scores(X[certain]).argmax(axis=1))
        return found is not None

    pays = {(by_grid(component, h), by_grid(rng.integers(8, size=n), h)) for h in (0.2, 0.3)}
    assert (True, False) in pays and (False, True) not in pays


@pytest.mark.parametrize("d", [1, 2, 3])
def test_threads_change_no_label(monkeypatch, d):
    """Not even whether a label is certain."""
    monkeypatch.setattr(certified, "TOLERANCES", ())
    rng = np.random.default_rng(d)
    X, y = overlapping(rng, 4000, d)
    found = [
        certified.from_grid(model, X, certified.label_rule(model, X.dtype), 2.0**-8)
        for model in (ParzenClassifier(bandwidth=0.1, scale=None, n_jobs=n).fit(X, y)._model for n in (1, 3))
    ]
    np.testing.assert_array_equal(*found)


def test_most_queries_are_certain_at_once(monkeypatch):
    rng = np.random.default_rng(2)
    X, y = overlapping(rng, 3000, 10)
    fitted = ParzenClassifier(bandwidth=0.1, scale=None).fit(X, y)
    rows = []
    scores = type(fitted._model).scores
    monkeypatch.setattr(type(fitted._model), "scores", lambda self, Q: rows.append(len(Q)) or scores(self, Q))
    fitted.predict(X)
    assert sum(rows) < 30


def test_what_rounding_may_decide_is_settled_by_all_pairs(pruning, monkeypatch):
    """Exponents of 1e4 that differ by 1e6 of their epsilons are certain, by a hundred they are not."""
    pruning("sampled")  # of so few pairs none
    settled = []
    for difference in (1e-14, 1e-10):
        X = np.array([[0.0], [2 + difference]])
        fitted = ParzenClassifier(bandwidth=2**-0.5 / 100, scale=None).fit(X, [0, 1])
        scores = type(fitted._model).scores
        with monkeypatch.context() as patch:
            patch.setattr(type(fitted._model), "scores", lambda self, Q: settled.append(difference) or scores(self, Q))  # noqa: B023
            assert fitted.predict([[1.0]]) == 0
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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_certain_class_leads_by_what_two_sums_of_each_class_may_disagree(dtype):
    """Pruned and whole sums are each within `AGREEMENT` of the truth, and so are those of the rival; distances are
    rounded on top."""
    largest_log_sum = 16  # of a sum relative to its scale
    roundings = 2 * certified.ROUNDINGS * np.finfo(dtype).eps * largest_log_sum
    needed = 4 * certified.AGREEMENT[np.dtype(dtype)] + 2 * roundings
    lead = needed * np.array([0.97, 1.03])
    sums = np.stack([np.exp(lead), np.ones(2)], axis=1)[..., None]  # of two queries and two classes
    rule = SimpleNamespace(decision="density", needs_query_density=False)
    model = SimpleNamespace(rule=rule, log_scale=np.zeros(2), offsets=np.zeros(2))
    bounded = BoundedSums(np.zeros((2, 1, 2)), sums[:, None], 0.0)
    found = certain_labels(bounded, certified.label_rule(model, np.dtype(dtype)))
    np.testing.assert_array_equal(found, [certified.UNCERTAIN, 0])


def test_agreement_is_the_accuracy_that_sums_promise():
    """Twice of it is the margin of a certificate; the guide and the tests of sums have the same numbers."""
    assert certified.AGREEMENT == {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-12}


@pytest.mark.parametrize("missing", [None, np.nan])
def test_a_missing_label_in_a_list_of_names_is_no_name(missing):
    """NumPy makes the text "nan" of it."""
    with pytest.raises(ValueError, match="row 1"):
        ParzenClassifier(bandwidth=1.0).fit([[0.0], [1.0], [2.0]], ["ash", missing, "oak"])
