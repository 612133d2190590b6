import numpy as np
import pytest
from perturbo_cases import data, fixed
from sklearn.model_selection import StratifiedKFold

from spectralcls.perturbo import PerTurboClassifier
from spectralcls.perturbo._tuning import stratified_folds, subsample, tune


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


def test_leave_one_out_of_some_samples_is_the_average_over_these():
    X, y = data(n=45, d=2)
    regularization = fixed().fit(X, y)._regularization
    parts = [np.arange(0, 45, 2), np.arange(1, 45, 2)]
    scores = [tune(X, y, [0.5, 1.0], [1e-2], regularization, part).scores * len(part) for part in parts]
    whole = tune(X, y, [0.5, 1.0], [1e-2], regularization, np.arange(45)).scores
    np.testing.assert_allclose(sum(scores) / 45, whole)
