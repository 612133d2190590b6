import pickle
import warnings

import numpy as np
import pytest
import reference_perturbo as reference
from data import load_npz
from scipy.linalg import LinAlgWarning
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from spectralcls.perturbo import PerTurboClassifier
from spectralcls.perturbo._tuning import stratified_folds, subsample, tune

KINDS = ["tikhonov", "truncate", None]


def data(n=60, d=3, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return rng.normal(size=(n, d)) + y[:, None], y


def fixed(kind="tikhonov", h=1.0, alpha=1e-2, **kwargs):
    return PerTurboClassifier(h, regularization=kind, alpha=alpha, **kwargs)


@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")  # some checks have duplicates
@parametrize_with_checks([PerTurboClassifier(regularization=kind) for kind in KINDS])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


# --- tau against direct evaluation --------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [1.0, 1e-2, 1e-4])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_tau_equals_long_double(alpha, offset):
    X, y = data()
    Q = np.random.default_rng(1).normal(size=(40, 3)) * 2
    X, Q = X + offset, Q + offset
    found = fixed(alpha=alpha).fit(X, y).perturbation(Q)
    for c in range(3):
        np.testing.assert_allclose(found[:, c], reference.tau(Q, X[y == c], 1.0, alpha), rtol=0, atol=1e-10)


def test_full_tau_equals_long_double():
    X, y = data()
    Q = np.random.default_rng(1).normal(size=(40, 3))
    found = fixed(None, h=0.5).fit(X, y).perturbation(Q)
    for c in range(3):
        np.testing.assert_allclose(found[:, c], reference.tau(Q, X[y == c], 0.5), rtol=0, atol=1e-8)


def test_truncated_tau_keeps_95_percent_of_the_trace():
    X, y = data()
    Q = np.random.default_rng(1).normal(size=(40, 3))
    found = fixed("truncate").fit(X, y).perturbation(Q)
    for c in range(3):
        np.testing.assert_allclose(found[:, c], reference.truncated_tau(Q, X[y == c], 1.0), atol=1e-10)


def test_one_bandwidth_per_class():
    X, y = data()
    h = [0.5, 1.0, 2.0]
    found = fixed(h=h).fit(X, y).perturbation(X)
    for c in range(3):
        np.testing.assert_allclose(found[:, c], reference.tau(X, X[y == c], h[c], 1e-2), atol=1e-10)


def test_blocks_of_queries_do_not_change_the_result(monkeypatch):
    X, y = data()
    clf = fixed().fit(X, y)
    whole = clf.decision_function(X)
    monkeypatch.setattr("spectralcls.perturbo._class_model._BLOCK", 100)
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
    np.testing.assert_allclose(
        two.decision_function(X), np.log1p(-tau[:, 1]) - np.log1p(-tau[:, 0]), rtol=1e-9
    )


def test_float32_queries_give_the_float64_answer():
    X, y = data()
    X = X.astype(np.float32)
    np.testing.assert_array_equal(
        fixed().fit(X, y).decision_function(X),
        fixed().fit(X.astype(float), y).decision_function(X.astype(float)),
    )


# --- common limits of the regularisations -------------------------------------------------------------------


def test_the_regularisations_meet():
    X, y = data()
    Q = np.random.default_rng(1).normal(size=(40, 3))
    full = fixed(None, h=0.5).fit(X, y).perturbation(Q)
    np.testing.assert_allclose(fixed(h=0.5, alpha=1e-12).fit(X, y).perturbation(Q), full, atol=1e-8)
    np.testing.assert_allclose(
        fixed("truncate", h=0.5, retained=1.0).fit(X, y).perturbation(Q), full, atol=1e-8
    )
    np.testing.assert_allclose(
        fixed("truncate", h=0.5, retained=1.0, truncation="count").fit(X, y).perturbation(Q), full, atol=1e-8
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pivoting", ["random", "greedy"])
def test_a_partial_factor_of_full_rank_is_the_exact_one(kind, pivoting):
    X, y = data(n=90)
    Q = np.random.default_rng(1).normal(size=(40, 3))
    exact = fixed(kind, h=0.6).fit(X, y)
    low = fixed(kind, h=0.6, tol=1e-14, pivoting=pivoting).fit(X, y)
    np.testing.assert_allclose(low.perturbation(Q), exact.perturbation(Q), atol=1e-7)
    assert np.all(low.trace_residuals_ < 1e-10)


def test_a_partial_factor_keeps_the_promised_residual():
    X, y = data(n=600)
    exact = fixed(h=1.0).fit(X, y)
    errors = []
    for rank in (20, 60, 150):
        low = fixed(h=1.0, max_rank=rank).fit(X, y)
        assert np.all(low.ranks_ <= rank)
        errors.append(np.abs(low.perturbation(X) - exact.perturbation(X)).max())
        for c in range(3):
            pivots = low._models[c].points
            k = reference.kernel(X[y == c], pivots, 1.0).astype(float)
            K = reference.kernel(X[y == c], X[y == c], 1.0).astype(float)
            L = np.linalg.cholesky(reference.kernel(pivots, pivots, 1.0).astype(float))
            F = np.linalg.solve(L, k.T)
            assert low.trace_residuals_[c] == pytest.approx(np.trace(K - F.T @ F), abs=1e-6)
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 2e-2


def test_max_rank_leaves_small_classes_exact():
    X, y = data(n=60)
    y = (np.arange(60) < 50).astype(int)
    clf = fixed(max_rank=20).fit(X, y)
    assert clf.trace_residuals_[0] == 0 and clf.trace_residuals_[1] > 0


def test_the_literal_reading_of_the_papers_cut_keeps_the_other_end():
    X, y = data(n=90)
    kept = {
        name: fixed("truncate", truncation=name, retained=0.5).fit(X, y)
        for name in ("trace", "trace_inverse")
    }
    values = np.linalg.eigvalsh(reference.kernel(X[y == 0], X[y == 0], 1.0).astype(float))
    assert kept["trace"].ranks_[0] == 1 + np.sum(np.cumsum(values[::-1]) < 0.5 * values.sum())
    assert kept["trace_inverse"].ranks_[0] == 1 + np.sum(np.cumsum(1 / values) < 0.5 * (1 / values).sum())
    assert kept["trace"].score(X, y) > kept["trace_inverse"].score(X, y)


# --- limits of the bandwidth --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("h", [1e-3, 1e-8])
def test_tiny_bandwidth_is_nearest_neighbour(kind, h):
    X, y = data()
    Q = np.random.default_rng(1).normal(size=(200, 3)) * 3
    clf = fixed(kind, h=h).fit(X, y)
    assert np.all(clf.perturbation(Q) == 1)
    np.testing.assert_array_equal(clf.predict(Q), KNeighborsClassifier(1).fit(X, y).predict(Q))
    assert np.all(np.isfinite(clf.decision_function(Q)))


def test_far_queries_follow_the_logarithm_of_the_long_double_share():
    X, y = data()
    Q = np.array([[30.0, 10.0, -20.0], [60.0, 0.0, 0.0], [-70.0, 20.0, 0.0]])
    clf = fixed().fit(X, y)
    expected = np.stack([np.log(reference.explained(Q, X[y == c], 1.0, 1e-2)) for c in range(3)], axis=1)
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


def test_the_flat_limit_joins_the_direct_evaluation():
    X, y = data()
    Q = np.random.default_rng(1).normal(size=(50, 3))
    for h in (1e4, 1e5):
        clf = fixed(h=h, alpha=1.0).fit(X, y)
        for c, model in enumerate(clf._models):
            constant, excess, _ = model.flat_limit(Q)
            exact = reference.tau(Q, X[y == c], h, 1.0)
            np.testing.assert_allclose(constant + excess, exact, rtol=0, atol=3000 / h**4 + 1e-16)


def test_huge_bandwidth_prefers_the_larger_class():
    X, _ = data()
    y = (np.arange(60) < 40).astype(int)
    assert np.all(fixed(h=1e12).fit(X, y).predict(X) == 1)


# --- growing ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", [1, 7])
def test_partial_fit_equals_fit(kind, step):
    X, y = data(n=120, n_classes=4)
    Q = np.random.default_rng(1).normal(size=(40, 3)) * 2
    start = y[:30] < 3  # class 3 comes later
    clf = fixed(kind, h=0.5).fit(X[:30][start], y[:30][start])
    for i in range(30, 120, step):
        clf.partial_fit(X[i : i + step], y[i : i + step])
    clf.partial_fit(X[:30][~start], y[:30][~start])
    whole = fixed(kind, h=0.5).fit(X, y)
    np.testing.assert_array_equal(clf.classes_, whole.classes_)
    np.testing.assert_array_equal(clf.class_counts_, whole.class_counts_)
    np.testing.assert_allclose(clf.perturbation(Q), whole.perturbation(Q), rtol=0, atol=1e-10)
    np.testing.assert_allclose(clf.decision_function(Q), whole.decision_function(Q), rtol=1e-8)


def test_partial_fit_first_is_fit_and_keeps_the_tuned_values():
    X, y = data()
    first = PerTurboClassifier().partial_fit(X, y, classes=[0, 1, 2])
    h, alpha = first.bandwidth_, first.alpha_
    whole = PerTurboClassifier().fit(X, y)
    assert (h, alpha) == (whole.bandwidth_, whole.alpha_)
    first.partial_fit(X + 0.1, y)
    assert (first.bandwidth_, first.alpha_) == (h, alpha)


def test_low_rank_classes_are_made_anew_and_classes_become_large():
    X, y = data(n=120)
    grown = fixed(max_rank=25).fit(X[:60], y[:60]).partial_fit(X[60:], y[60:])
    whole = fixed(max_rank=25).fit(X, y)
    np.testing.assert_array_equal(grown.decision_function(X), whole.decision_function(X))
    assert np.all(grown.trace_residuals_ > 0)


@pytest.mark.parametrize("broken", ["features", "missing", "lengths", "duplicates"])
def test_bad_partial_fit_changes_nothing(broken):
    X, y = data()
    clf = fixed(alpha=1e-17).fit(X, y)
    before, states = clf.decision_function(X), clf._models
    bad, labels = X[:2].copy() + 0.5, y[:2]
    if broken == "features":
        bad = bad[:, :2]
    elif broken == "missing":
        bad[0, 0] = np.nan
    elif broken == "lengths":
        labels = y[:1]
    else:
        bad, labels = np.concatenate([X[:2], X[:1]]), y[[0, 1, 0]]
    with pytest.raises(ValueError):
        clf.partial_fit(bad, labels)
    assert clf._models is states
    np.testing.assert_array_equal(clf.decision_function(X), before)
    clf.partial_fit(X[:1] + 0.5, y[:1])  # and it can go on
    expected = fixed(alpha=1e-17).fit(np.concatenate([X, X[:1] + 0.5]), np.append(y, y[0]))
    np.testing.assert_allclose(clf.decision_function(X), expected.decision_function(X), rtol=1e-6, atol=1e-9)


def test_a_copy_grows_on_its_own():
    import copy

    X, y = data()
    one = fixed().fit(X[:30], y[:30]).partial_fit(X[30:40], y[30:40])
    two, three = copy.copy(one), pickle.loads(pickle.dumps(one))
    one.partial_fit(X[40:], y[40:])
    two.partial_fit(-X[40:], y[40:])
    three.partial_fit(X[40:], y[40:])
    whole = fixed().fit(X, y)
    for clf, other in ((one, whole), (three, whole), (two, fixed().fit(np.r_[X[:40], -X[40:]], y))):
        np.testing.assert_allclose(clf.decision_function(X), other.decision_function(X), rtol=1e-9)


# --- bad and unusual input ----------------------------------------------------------------------------------


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
        {"max_rank": 0},
        {"bandwidth_grid": [1.0, -1.0], "bandwidth": "cv"},
        {"alpha_grid": [], "alpha": "cv"},
        {"regularization": "truncate", "bandwidth": "cv", "cv": "loo"},
    ],
)
def test_bad_parameters(parameters):
    X, y = data()
    with pytest.raises(ValueError):
        PerTurboClassifier(**{"bandwidth": 1.0, "alpha": 1e-2} | parameters).fit(X, y)


def test_missing_values_and_a_single_class_to_tune():
    X, y = data()
    with pytest.raises(ValueError, match="NaN"):
        fixed().fit(np.where(X > 2, np.nan, X), y)
    with pytest.raises(ValueError, match="class"):
        PerTurboClassifier().fit(X, np.zeros(60))
    alone = fixed().fit(X, np.zeros(60))
    assert np.all(alone.predict(X) == 0) and alone.decision_function(X).shape == (60,)


def test_new_class_needs_a_common_bandwidth():
    X, y = data()
    clf = fixed(h=[1.0, 1.0, 2.0]).fit(X, y)
    with pytest.raises(ValueError, match="class-wise"):
        clf.partial_fit(X[:1], [7])


# --- tuning -------------------------------------------------------------------------------------------------


def test_leave_one_out_equals_refitting():
    X, y = data(n=45, d=2)
    bandwidths, alphas = [0.3, 1.0, 3.0], [1e-3, 1e-1]
    clf = PerTurboClassifier(bandwidth_grid=bandwidths, alpha_grid=alphas).fit(X, y)
    for i, h in enumerate(bandwidths):
        for j, alpha in enumerate(alphas):
            hits = 0
            for left_out in range(len(X)):
                rest = np.arange(len(X)) != left_out
                hits += fixed(h=h, alpha=alpha).fit(X[rest], y[rest]).predict(X[[left_out]])[0] == y[left_out]
            assert clf.tuning_.scores[i, j] == hits / len(X)
    i, j = clf.tuning_.best
    assert (clf.bandwidth_, clf.alpha_) == (bandwidths[i], alphas[j])
    assert clf.tuning_.scores[i, j] == clf.tuning_.scores.max()


@pytest.mark.parametrize("kind", ["tikhonov", "truncate"])
def test_folds_equal_refitting(kind):
    X, y = data(n=60, d=2)
    splitter = StratifiedKFold(4, shuffle=True, random_state=0)
    bandwidths, alphas = [0.3, 1.0, 3.0], [1e-3, 1e-1] if kind == "tikhonov" else [1.0]
    clf = PerTurboClassifier(
        regularization=kind, bandwidth_grid=bandwidths, alpha_grid=alphas, cv=splitter
    ).fit(X, y)
    for i, h in enumerate(bandwidths):
        for j, alpha in enumerate(alphas):
            hits = 0
            for train, test in splitter.split(X, y):
                hits += np.sum(
                    fixed(kind, h=h, alpha=alpha).fit(X[train], y[train]).predict(X[test]) == y[test]
                )
            assert clf.tuning_.scores[i, j] == hits / len(X)


def test_stratified_folds_and_subsamples():
    codes = np.repeat([0, 1, 2], [50, 13, 4])
    rng = np.random.RandomState(0)
    folds = stratified_folds(codes, 5, rng)
    np.testing.assert_array_equal(np.sort(np.concatenate([test for _, test in folds])), np.arange(67))
    for train, test in folds:
        assert not set(train) & set(test) and len(train) + len(test) == 67
        assert np.bincount(codes[test], minlength=3)[0] == 10
    codes = np.repeat([0, 1], [4000, 100])
    chosen = subsample(codes, 500, rng)
    np.testing.assert_array_equal(np.bincount(codes[chosen]), [500, 20])
    assert len(np.unique(chosen)) == 520


def test_tuning_on_a_subsample_shrinks_the_bandwidth():
    X, y = data(n=400, d=2)
    clf = PerTurboClassifier(max_tuning_samples=50, bandwidth_grid=[0.5, 1.0, 2.0]).fit(X, y)
    i, _ = clf.tuning_.best
    assert clf.tuning_.n_samples < 200
    assert clf.bandwidth_ == pytest.approx(
        clf.tuning_.bandwidths[i] * (400 / clf.tuning_.n_samples) ** (-1 / 6)
    )


def test_leave_one_out_resolves_shares_far_below_rounding():
    X = np.array([[0.0], [0.1], [5.0], [5.1], [10.0], [1e6]])
    codes = np.array([0, 0, 1, 1, 1, 1])
    tuning = tune(X, codes, [0.5], [1e-3], fixed().fit(X, codes)._regularization, np.arange(6))
    assert tuning.scores[0, 0] == 5 / 6  # 1e6 has nothing that speaks for it


# --- as a user would ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")
def test_accuracy_without_tuning_by_hand(kind):
    X, y = load_iris(return_X_y=True)
    assert PerTurboClassifier(regularization=kind).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.93


def test_calibration_and_clone():
    X, y = make_blobs(150, random_state=0)
    clf = PerTurboClassifier(1.0, alpha=1e-2)
    probabilities = CalibratedClassifierCV(clone(clf), cv=3).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)


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
    assert clf.score(X[4000:8000], y[4000:8000]) >= 0.925


def test_no_warning_in_the_normal_case():
    X, y = data()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in KINDS:
            fixed(kind, h=0.5).fit(X, y).predict(X)


def test_leave_one_out_of_some_samples_is_the_average_over_these():
    X, y = data(n=45, d=2)
    regularization = fixed().fit(X, y)._regularization
    parts = [np.arange(0, 45, 2), np.arange(1, 45, 2)]
    scores = [tune(X, y, [0.5, 1.0], [1e-2], regularization, part).scores * len(part) for part in parts]
    whole = tune(X, y, [0.5, 1.0], [1e-2], regularization, np.arange(45)).scores
    np.testing.assert_allclose(sum(scores) / 45, whole)
