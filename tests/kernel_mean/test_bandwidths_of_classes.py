"""Kernel means with a bandwidth for each class, in the proportions of Silverman's rule, times one tuned factor."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold

from spectralcls.kernel_mean import CauchySchwarzClassifier, ISEClassifier, LaplacianISEClassifier, ParzenClassifier

CLASSES = [ParzenClassifier, ISEClassifier, LaplacianISEClassifier, CauchySchwarzClassifier]
GRID = [0.2, 0.4, 0.8]


def problem():
    X, y = load_iris(return_X_y=True)
    return X[::3], y[::3] + 5


def proportions(cls, X, y, **options):
    by_class, overall = (cls(rule, **options).fit(X, y).bandwidth_ for rule in ("silverman_per_class", "silverman"))
    return by_class / overall


@pytest.mark.parametrize("kernel", ["gaussian", "quartic"])
@pytest.mark.parametrize("cls", CLASSES)
def test_scores_of_tuning_are_those_of_refits(cls, kernel):
    X, y = problem()
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    grid = GRID if kernel == "gaussian" else [1.0, 2.0]
    options = {"kernel": kernel, "scale": None} | ({"priors": "equal"} if cls is CauchySchwarzClassifier else {})
    model = cls("cv_per_class", bandwidth_grid=grid, cv=folds, **options).fit(X, y)
    ratios = proportions(cls, X, y, **options)
    assert np.ptp(model.bandwidth_ / ratios) < 1e-12 and np.isclose(model.bandwidth_[0] / ratios[0], grid).any()
    for h, score in zip(grid, model.cv_results_["mean_test_score"], strict=True):
        clf = cls(dict(zip(model.classes_, h * ratios, strict=True)), **options)
        hits = [np.sum(clf.fit(X[rows], y[rows]).predict(X[test]) == y[test]) for rows, test in folds]
        assert score == pytest.approx(sum(hits) / len(X))


def test_priors_are_chosen_with_the_factor():
    X, y = problem()
    model = CauchySchwarzClassifier("cv_per_class", bandwidth_grid=GRID, scale=None).fit(X, y)
    assert len(model.cv_results_["params"]) == 2 * len(GRID) and model.priors_ in ("equal", "empirical")


def test_leaving_one_out_is_refitting():
    X, y = (part[::2] for part in problem())
    model = ParzenClassifier("cv_per_class", bandwidth_grid=GRID, cv="loo", scale=None).fit(X, y)
    ratios = proportions(ParzenClassifier, X, y, scale=None)
    for h, score in zip(GRID, model.cv_results_["mean_test_score"], strict=True):
        clf, right = ParzenClassifier(dict(zip(model.classes_, h * ratios, strict=True)), scale=None), []
        for i in range(len(X)):
            others = np.arange(len(X)) != i
            right.append(clf.fit(X[others], y[others]).predict(X[[i]])[0] == y[i])
        assert score == pytest.approx(np.mean(right))


@pytest.mark.parametrize("cls", CLASSES)
def test_the_unit_of_weights_does_not_matter_and_gaps_are_completed(cls):
    X, y = problem()
    weights = np.random.default_rng(0).integers(1, 4, len(X))
    once, scaled = (cls("cv_per_class").fit(X, y, sample_weight=c * weights) for c in (1, 1000.0))
    np.testing.assert_allclose(once.bandwidth_, scaled.bandwidth_)
    X = X.copy()
    X[::7, 1] = np.nan
    assert cls("cv_per_class").fit(X, y).score(X, y) > 0.8


def test_a_class_of_a_different_spread_is_found():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(200, 5)), 3 * rng.normal(size=(200, 5))])
    y = np.repeat([0, 1], 200)
    own, common = (ParzenClassifier(h, scale=None).fit(X[::2], y[::2]) for h in ("cv_per_class", "cv"))
    assert own.score(X[1::2], y[1::2]) > common.score(X[1::2], y[1::2]) + 0.02
    assert own.bandwidth_[1] / own.bandwidth_[0] == pytest.approx(3, rel=0.1)
