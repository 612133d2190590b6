"""PerTurbo with missing values, against direct evaluation in long double."""

import numpy as np
import pytest
from perturbo_cases import KINDS, data, fixed
from reference import perturbo as reference

from spectralcls import PerTurboClassifier
from spectralcls._inputs.completion import Completion
from spectralcls.perturbo import ActivePool


def completed(X, codes, weights=None, features=None):
    return Completion.learned(X, codes, weights, features).of_rows(X, codes)


def with_gaps(X, seed, share=0.3):
    return np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)


def gaps(n=60, d=3, share=0.3):
    X, y = data(n, d)
    return with_gaps(X, 1, share), y, with_gaps(data(25, d, seed=2)[0], 3, share)


def seen_by(c, Q, X, y, weights=None):
    """Queries as if they were points of class c that complete no others."""
    weights = np.append(np.ones(len(X)) if weights is None else weights, np.zeros(len(Q)))
    return completed(np.concatenate([X, Q]), np.append(y, np.full(len(Q), c)), weights)[len(X) :]


def explained(Q, X, h, alpha, weights=1.0):
    """1 - tau of complete queries, a sample of weight w having alpha / w on its place; in long double."""
    K = reference.kernel(X, X, h) + np.diag(np.broadcast_to(alpha / weights, len(X)))
    k = reference.kernel(X, Q, h)
    return (k * reference.solve(K, k)).sum(axis=0)


@pytest.mark.parametrize("widths", [0.7, [0.5, 0.8, 1.3]])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("samples", ["complete", "with gaps"])
def test_every_class_judges_what_it_expects(widths, weighted, samples):
    X, y, Q = gaps()
    if samples == "complete":
        X, y = data()
    weights = np.random.default_rng(4).integers(1, 4, len(X)) * 1.0 if weighted else None
    weights = None if weights is None else weights / weights.mean()  # alpha is for a mean of one
    model = fixed(h=widths if np.ndim(widths) == 0 else dict(enumerate(widths))).fit(X, y, weights)
    filled, of_each = completed(X, y, weights), np.ones(len(X)) if weights is None else weights
    shares = np.stack(
        [
            explained(seen_by(c, Q, X, y, weights), filled[y == c], h, 1e-2, of_each[y == c]).astype(float)
            for c, h in enumerate(np.broadcast_to(widths, 3))
        ],
        axis=1,
    )
    np.testing.assert_allclose(model.decision_function(Q), np.log(shares), rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.perturbation(Q), 1 - shares, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.score_samples(Q), np.log(shares).max(axis=1), rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rank", [None, 12])
def test_every_factor_is_that_of_the_completed_points(kind, rank):
    X, y, Q = gaps()
    model = fixed(kind, h=0.5, rank=rank).fit(X, y)
    whole = fixed(kind, h=0.5, rank=rank).fit(completed(X, y), y)
    np.testing.assert_array_equal(model.perturbation(data()[0]), whole.perturbation(data()[0]))
    one_by_one = np.concatenate([model.decision_function(q[None]) for q in Q])
    np.testing.assert_allclose(model.decision_function(Q), one_by_one, rtol=1e-8, atol=1e-8)


def test_a_complete_query_beside_one_with_gaps_keeps_its_score():
    X, y, Q = gaps()
    model, both = fixed().fit(X, y), np.concatenate([data(9, seed=5)[0], Q])
    found = model.decision_function(both)
    np.testing.assert_allclose(found[:9], model.decision_function(both[:9]), rtol=0, atol=1e-12)


@pytest.mark.parametrize("distance", [1e2, 1e6])
def test_far_queries_with_gaps_go_to_the_nearest_point_in_what_they_have(distance):
    X, y, _ = gaps(share=0.0)
    X[0], X[1] = [3, 0, 0], [0, 3, 0]
    model = fixed(h=0.3).fit(X / 3, y)
    Q = np.array([[distance, np.nan, 0.0], [np.nan, distance, 0.0]])
    nearest = [y[X[:, 0].argmax()], y[X[:, 1].argmax()]]
    np.testing.assert_array_equal(model.predict(Q), nearest)
    assert np.isfinite(model.decision_function(Q)).all()


def test_a_bandwidth_that_dwarfs_all_distances_leaves_what_the_classes_differ_in():
    X, y, Q = gaps()
    filled, h = completed(X, y), 1e6
    found = fixed(h=h, alpha=1.0).fit(X, y).decision_function(Q)
    shares = np.stack([explained(seen_by(c, Q, X, y), filled[y == c], h, 1.0) for c in range(3)], axis=1)
    np.testing.assert_allclose(np.diff(found), np.diff(shares).astype(float), rtol=1e-4, atol=1e-18)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_tuning_completes_fold_by_fold(kind, weighted):
    X, y, _ = gaps(96)
    weights = np.random.default_rng(4).integers(1, 4, len(X)) * 1.0 if weighted else None
    fold = np.arange(len(X)) // 3 % 4
    folds = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(4)]
    model = PerTurboClassifier(
        bandwidth_grid=[0.4, 0.8, 1.6], alpha_grid=[1e-2, 1e-1], regularization=kind, cv=folds, scale=None
    ).fit(X, y, weights)
    completion = Completion.learned(X, y, weights, folds=fold)
    filled, seen = completion.of_own_class(X, y), [completion.of_class(X, c) for c in range(3)]
    for place, params in enumerate(model.cv_results_["params"]):
        for f, (train, test) in enumerate(folds):
            own, others = (None, None) if weights is None else (weights[train], weights[test])
            trial = fixed(kind, params["bandwidth"], params.get("alpha", 1.0)).fit(filled[f][train], y[train], own)
            shares = np.column_stack([trial.decision_function(seen[c][f, test])[:, c] for c in range(3)])
            score = np.average(shares.argmax(axis=1) == y[test], weights=others)
            assert model.cv_results_[f"split{f}_test_score"][place] == pytest.approx(score, abs=1e-12)
    by_default = PerTurboClassifier(regularization=kind, scale=None).fit(X, y)
    assert "split4_test_score" in by_default.cv_results_


def test_a_pool_is_complete_and_its_classifier_need_not_be():
    X, y, Q = gaps()
    model, row = fixed().fit(X, y), np.argmax(np.isnan(Q).any(axis=1))
    with pytest.raises(ValueError, match=f"pool contains NaN: row {row}. Its samples"):
        ActivePool(model, Q)
    others, labels = data(20, seed=7)
    pool = ActivePool(model, others).label([3], labels[[3]])
    np.testing.assert_allclose(pool.perturbation, model.perturbation(np.delete(others, 3, axis=0)), rtol=0, atol=1e-10)
