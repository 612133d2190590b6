import numpy as np
import pytest
from data import load_npz
from perturbo_cases import KINDS, data, fixed
from reference import perturbo as reference
from sklearn.datasets import load_iris, load_wine
from sklearn.neighbors import KNeighborsClassifier

from spectralcls.perturbo import PerTurboClassifier
from spectralcls.perturbo._class_model import fit_class
from spectralcls.perturbo._span import Regularization

# --- tau against direct evaluation --------------------------------------------------------------------------


OF_CLASSES = [0.5, 1.0, 2.0]
TAU = [  # settings, the slow evaluation of a query and the samples of class c, and how near they are
    *(
        ({"alpha": alpha}, lambda Q, X, c, alpha=alpha: reference.tau(Q, X, 1.0, alpha), 1e-10)
        for alpha in (1, 1e-2, 1e-4)
    ),
    ({"kind": None, "h": 0.5}, lambda Q, X, c: reference.tau(Q, X, 0.5), 1e-8),
    ({"kind": "truncate"}, lambda Q, X, c: reference.truncated_tau(Q, X, 1.0), 1e-10),
    ({"h": dict(enumerate(OF_CLASSES))}, lambda Q, X, c: reference.tau(Q, X, OF_CLASSES[c], 1e-2), 1e-10),
    ({"kernel": "laplace"}, lambda Q, X, c: 1 - reference.explained(Q, X, 1.0, 1e-2, "laplace"), 1e-12),
]


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize(("options", "slow", "atol"), TAU)
def test_tau_equals_the_slow_evaluation(options, slow, atol, offset):
    X, y = data()
    Q = np.random.default_rng(1).normal(size=(40, 3)) * 2 + offset
    X = X + offset
    found = fixed(**options).fit(X, y).perturbation(Q)
    for c in range(3):
        np.testing.assert_allclose(found[:, c], slow(Q, X[y == c], c).astype(float), rtol=0, atol=max(atol, 1e-10))


def test_blocks_of_queries_do_not_change_the_result(monkeypatch):
    X, y = data()
    clf = fixed().fit(X, y)
    whole = clf.decision_function(X)
    monkeypatch.setattr("spectralcls.perturbo._class_model.BLOCK", 4)
    np.testing.assert_allclose(clf.decision_function(X), whole, rtol=1e-12)


def test_full_perturbation_vanishes_on_training_samples_and_lies_between_0_and_1():
    X, y = data()
    clf = fixed(None, h=0.5).fit(X, y)
    tau = clf.perturbation(np.concatenate([X, 100 * X]))
    assert np.all((0 <= tau) & (tau <= 1))
    np.testing.assert_allclose(tau[np.arange(len(X)), y], 0, atol=1e-12)


def test_decision_is_the_log_of_the_explained_share():
    X, y = data()
    clf = fixed().fit(X, y)
    np.testing.assert_allclose(clf.decision_function(X), np.log1p(-clf.perturbation(X)), rtol=1e-10)
    np.testing.assert_array_equal(clf.predict(X), clf.perturbation(X).argmin(axis=1))
    np.testing.assert_allclose(clf.score_samples(X), clf.decision_function(X).max(axis=1))
    two = fixed().fit(X[y < 2], y[y < 2])
    tau = two.perturbation(X)
    np.testing.assert_allclose(two.decision_function(X), np.log1p(-tau[:, 1]) - np.log1p(-tau[:, 0]), rtol=1e-9)


# --- common limits of the regularizations -------------------------------------------------------------------


def test_the_regularizations_meet():
    X, y = data()
    Q = np.random.default_rng(1).normal(size=(40, 3))
    full = fixed(None, h=0.5).fit(X, y).perturbation(Q)
    np.testing.assert_allclose(fixed(h=0.5, alpha=1e-12).fit(X, y).perturbation(Q), full, atol=1e-8)
    np.testing.assert_allclose(fixed("truncate", h=0.5, retained=1.0).fit(X, y).perturbation(Q), full, atol=1e-8)


# --- the nearest samples of a class ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")
def test_as_many_nearest_samples_as_there_are_distinct_ones_are_the_class(kind):
    X, y = data(n=30)
    X, y = np.tile(X, (3, 1)), np.tile(y, 3)  # 10 distinct points in each class
    Q = np.concatenate([np.random.default_rng(1).normal(size=(40, 3)), [[40.0, 0, 0], [0, 1e4, 0]]])
    exact, near = (fixed(kind, h=0.6, rank=rank).fit(X, y) for rank in (None, 12))
    np.testing.assert_allclose(near.perturbation(Q), exact.perturbation(Q), atol=1e-7)
    np.testing.assert_allclose(near.decision_function(Q), exact.decision_function(Q), rtol=1e-7, atol=1e-7)
    assert np.all(near.ranks_ == 10) and np.all(near.trace_residuals_ < 1e-10)


@pytest.mark.parametrize("kernel", ["gaussian", "laplace"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_query_is_explained_by_its_nearest_samples(kind, weighted, kernel):
    rng = np.random.default_rng(3)
    X, Q, weights = rng.normal(size=(200, 4)), rng.normal(size=(30, 4)), rng.integers(1, 4, 200) * 1.0
    weights = weights if weighted else None
    form, regularization = dict(kernel=kernel), Regularization(kind, 1e-2 if kind == "tikhonov" else 0.0)
    model = fit_class(X, 2.0, regularization, weights, rank=20, **form)
    for q, found in zip(Q, model.explained(Q), strict=True):
        own = np.argsort(np.square(X - q).sum(axis=1))[:20]
        some = None if weights is None else weights[own]
        expected = fit_class(X[own], 2.0, regularization, some, **form).explained(q[None])[0]
        assert found == pytest.approx(expected, abs=1e-8)
    np.testing.assert_allclose(model.explained(Q, n_jobs=2), model.explained(Q), rtol=0)


def test_more_nearest_samples_explain_more_and_the_residual_says_so():
    X, y = data(n=900)
    exact = fixed(h=0.7).fit(X, y)
    errors, residuals = [], []
    for rank in (10, 40, 160):
        near = fixed(h=0.7, rank=rank).fit(X, y)
        assert np.all(near.ranks_ == rank) and np.all(near.perturbation(X) > exact.perturbation(X) - 1e-9)
        errors.append((near.perturbation(X + 0.1) - exact.perturbation(X + 0.1)).mean())
        residuals.append(near.trace_residuals_.mean())
    assert errors[0] > errors[1] > errors[2] > 0 and residuals[0] > residuals[1] > residuals[2] > 0
    assert errors[2] < 0.01 and np.all(np.array(errors) < 3 * np.array(residuals))


@pytest.mark.parametrize("kind", ["tikhonov", "truncate"])
def test_many_samples_are_represented_by_the_nearest_ones(kind, monkeypatch):
    """Neither the order of the samples nor copies in place of weights matter; `partial_fit` is `fit`."""
    X, y = data(n=400)
    Q, rng = X + 0.1, np.random.default_rng(0)
    few = fixed(kind, h=0.7).fit(X, y)
    monkeypatch.setattr("spectralcls.perturbo._perturbo_classifier.MANY", 300)
    monkeypatch.setattr("spectralcls.perturbo._perturbo_classifier.NEAREST", 50)
    many = fixed(kind, h=0.7).fit(X, y)
    assert np.all(few.trace_residuals_ == 0) and np.all(many.trace_residuals_ > 0) and np.all(many.ranks_ == 50)
    assert np.mean(many.predict(Q) == few.predict(Q)) > 0.95
    grown = fixed(kind, h=0.7).fit(X[:200], y[:200]).partial_fit(X[200:300], y[200:300])
    assert np.all(grown.trace_residuals_ == 0)
    grown.partial_fit(X[300:], y[300:])
    np.testing.assert_allclose(grown.decision_function(Q), many.decision_function(Q), rtol=1e-9)
    counts, exact = rng.integers(1, 3, 400), fixed(kind, h=0.7, rank=10_000).fit(X, y)
    np.testing.assert_array_equal(exact.perturbation(Q), few.perturbation(Q))
    weighted = fixed(kind, h=0.7).fit(X, y, sample_weight=counts)
    order = rng.permutation(counts.sum())
    copied = fixed(kind, h=0.7).fit(np.repeat(X, counts, axis=0)[order], np.repeat(y, counts)[order])
    np.testing.assert_allclose(copied.perturbation(Q), weighted.perturbation(Q), atol=1e-9)
    np.testing.assert_allclose(copied.trace_residuals_, weighted.trace_residuals_, rtol=1e-6)


def test_rank_leaves_small_classes_exact():
    X, y = data(n=60)
    y = (np.arange(60) < 50).astype(int)
    clf = fixed(rank=20).fit(X, y)
    assert clf.trace_residuals_[0] == 0 and clf.trace_residuals_[1] > 0


def test_truncation_keeps_the_share_of_the_trace():
    X, y = data(n=90)
    values = np.linalg.eigvalsh(reference.kernel(X[y == 0], X[y == 0], 1.0).astype(float))
    kept = fixed("truncate", retained=0.5).fit(X, y)
    assert kept.ranks_[0] == 1 + np.sum(np.cumsum(values[::-1]) < 0.5 * values.sum())


# --- sample weights -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("h", [0.5, 1e9])
@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")
def test_a_weight_counts_copies(kind, h):
    X, y = data()
    Q = np.random.default_rng(1).normal(size=(40, 3))
    counts = np.random.default_rng(2).integers(0, 4, size=len(X))
    weighted = fixed(kind, h=h).fit(X, y, sample_weight=counts)
    copied = fixed(kind, h=h).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.perturbation(Q), copied.perturbation(Q), atol=1e-9)
    np.testing.assert_allclose(weighted.decision_function(Q), copied.decision_function(Q), rtol=1e-6, atol=1e-12)


def test_weights_are_those_of_the_weighted_form():
    X, y = data()
    Q = np.random.default_rng(1).normal(size=(40, 3))
    w = np.random.default_rng(2).uniform(0.1, 5, size=len(X))
    w /= w.mean()  # as the classifier does
    clf = fixed(h=2.0, alpha=1e-2).fit(X, y, sample_weight=w)
    for c in range(3):
        own = y == c
        K, k = (reference.kernel(X[own], A, 2.0).astype(float) for A in (X[own], Q))
        tau = 1 - np.einsum("ij,ij->j", k, np.linalg.solve(K + np.diag(1e-2 / w[own]), k))
        np.testing.assert_allclose(clf.perturbation(Q)[:, c], tau, atol=1e-9)


# --- limits of the bandwidth --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("h", [1e-3, 1e-8])
def test_tiny_bandwidth_is_nearest_neighbor(kind, h):
    X, y = data()
    Q = np.random.default_rng(1).normal(size=(200, 3)) * 3
    clf = fixed(kind, h=h).fit(X, y)
    assert np.all(clf.perturbation(Q) == 1)
    np.testing.assert_array_equal(clf.predict(Q), KNeighborsClassifier(1).fit(X, y).predict(Q))
    assert np.all(np.isfinite(clf.decision_function(Q)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("h", [1e-300, 1e-200, 1e200, 1e300])
@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")
def test_no_bandwidth_overflows(kind, h, scale):
    X, y = data()
    scores = fixed(kind, h=h).fit(X * scale, y).decision_function(3 * X * scale)
    assert np.all(np.isfinite(scores))


@pytest.mark.parametrize(("kernel", "far"), [("gaussian", 1.0), ("laplace", 40.0)])
def test_far_queries_follow_the_logarithm_of_the_long_double_share(kernel, far):
    X, y = data()
    Q = far * np.array([[30.0, 10.0, -20.0], [60.0, 0.0, 0.0], [-70.0, 20.0, 0.0]])
    clf = fixed(kernel=kernel).fit(X, y)
    expected = np.stack([np.log(reference.explained(Q, X[y == c], 1.0, 1e-2, kernel)) for c in range(3)], axis=1)
    np.testing.assert_allclose(clf.decision_function(Q), expected.astype(float), rtol=1e-10)
    assert np.all(clf.decision_function(Q) < -600)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("h", [1e9, 1e20, 1e100])
@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")
def test_huge_bandwidth_is_the_nearest_mean(kind, h):
    X, y = data()
    Q = np.random.default_rng(1).normal(size=(200, 3)) * 3
    means = np.stack([X[y == c].mean(axis=0) for c in range(3)])
    nearest = ((Q[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    alpha = 1e-9  # n / (n + alpha) is close to 1, so that the variances cancel
    np.testing.assert_array_equal(fixed(kind, h=h, alpha=alpha).fit(X, y).predict(Q), nearest)


@pytest.mark.parametrize("kernel, h", [("gaussian", 1e6), ("laplace", 1e11)])
def test_the_flat_limit_joins_the_direct_evaluation(kernel, h):
    X, y = data()
    Q = np.random.default_rng(1).normal(size=(50, 3))
    clf = fixed(h=h, alpha=1.0, kernel=kernel).fit(X, y)
    for c, model in enumerate(clf._models):
        constant, excess, flat = model.flat_limit(Q)
        n = np.longdouble(len(X[y == c]))
        direct = n / (n + 1) - reference.explained(Q, X[y == c], h, 1.0, kernel)
        assert flat.all() and constant == float(1 / (n + 1))
        np.testing.assert_allclose(excess, direct.astype(float), rtol=1e-5)


def test_huge_bandwidth_prefers_the_larger_class():
    X, _ = data()
    y = (np.arange(60) < 40).astype(int)
    assert np.all(fixed(h=1e12).fit(X, y).predict(X) == 1)


# --- as a user would ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")
def test_accuracy_without_tuning_by_hand(kind):
    X, y = load_iris(return_X_y=True)
    assert PerTurboClassifier(regularization=kind).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.93


def test_novelty_recipe():
    X, y = load_wine(return_X_y=True)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(X))
    train, held_out = order[:120], order[120:]
    clf = PerTurboClassifier().fit(X[train], y[train])
    threshold = np.quantile(clf.score_samples(X[held_out]), 0.05)
    novel = X[held_out] * rng.uniform(3, 5, size=X[held_out].shape)
    assert np.mean(clf.score_samples(novel) < threshold) > 0.95
    assert np.all(clf.score_samples(X) <= 0)


def test_letter_recognition():
    letter = load_npz("letter")
    order = np.random.default_rng(0).permutation(20000)
    X, y = letter["X"][order], letter["y"][order]
    clf = PerTurboClassifier(bandwidth_grid=[2.0, 2.8, 4.0], alpha_grid=[1e-3, 1e-2]).fit(X[:4000], y[:4000])
    assert clf.score(X[4000:8000], y[4000:8000]) >= 0.92
