"""What all estimators promise about `groups`: whatever leaves out samples leaves out whole groups, and groups change
nothing else."""

import inspect

import numpy as np
import pandas as pd
import pytest
from every_estimator import KINDS, answered, assert_same, make, names, problem, responses
from sklearn import config_context
from sklearn.base import is_classifier, is_regressor
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import has_fit_parameter

from spectralcls import (
    AutoClassifier,
    AutoRegressor,
    CauchySchwarzClassifier,
    ISEClassifier,
    KernelRegressor,
    KernelRidgeClassifier,
    KernelRidgeRegressor,
    LaplacianISEClassifier,
    ParzenClassifier,
    ParzenDensity,
    ParzenOutlierDetector,
    PerTurboClassifier,
)
from spectralcls.inspection import label_quality

pytestmark = pytest.mark.filterwarnings("ignore")  # of convergence and the like: not the subject

TAKING = [name for name in names() if has_fit_parameter(make(name), "groups")]
ALWAYS_CHOOSING = {"AutoClassifier", "AutoRegressor", "GradientMetric", "KernelMetric", "ParzenOutlierDetector"}
# of random folds, without weights, and of densities whose weights are not counts
WITHOUT_COPIES = {"AutoClassifier", "AutoRegressor", "CCDRClassifier", "ParzenDensity", "ParzenOutlierDetector"}
SAMPLE = np.array([0, 1, 2, 0, 1, 3, 4, 4, 5, 6, 3, 7, 8, 8, 8])  # groups of one to three rows
GROUPS = np.concatenate([SAMPLE, SAMPLE + 9, SAMPLE + 18])


def people(seed=0, n_groups=40, size=6, noise=0.1):
    """Samples of people, whose rows are alike: features, a class and a number of each that the features predict in
    part, and the people."""
    rng = np.random.default_rng(seed)
    centers, own = rng.normal(size=(n_groups, 3)), rng.normal(size=n_groups)
    groups = np.repeat(np.arange(n_groups), size)
    X = centers[groups] + noise * rng.normal(size=(len(groups), 3))
    number = X[:, 0] + own[groups] + 0.1 * rng.normal(size=len(groups))
    return X, (centers[:, 0] + own > 0)[groups].astype(int), number, groups


def answers_for(estimator, seed=0, **options):
    X, classes, numbers, groups = people(seed, **options)
    return X, (numbers if is_regressor(estimator) else classes), groups


def test_what_tunes_or_leaves_out_takes_groups():
    for name, kind in KINDS.items():
        leaves_out = any(hasattr(kind, method) for method in ("predict_set", "predict_interval"))
        if name != "PriorShiftClassifier" and (leaves_out or "cv" in inspect.signature(kind).parameters):
            assert name in TAKING


@pytest.mark.parametrize("name", TAKING)
def test_groups_of_one_sample_are_no_groups(name):
    X, y, Q = problem()
    groups = np.random.default_rng(0).permutation(len(X))
    assert_same(responses(make(name).fit(X, y, groups=groups), Q), answered(name, False))


@pytest.mark.parametrize("name", TAKING)
def test_names_of_groups_and_order_of_samples(name):
    X, y, Q = problem()
    rng = np.random.default_rng(1)
    renamed = rng.permutation(GROUPS.max() + 1)[GROUPS]
    expected = responses(make(name).fit(X, y, groups=GROUPS), Q)
    names_of = np.array([f"person {number}" for number in renamed], dtype=object)
    for groups in (renamed, names_of, pd.Series(names_of, dtype="category"), names_of.tolist()):
        assert_same(responses(make(name).fit(X, y, groups=groups), Q), expected, rtol=1e-6)
    order = rng.permutation(len(X))
    assert_same(responses(make(name).fit(X[order], y[order], groups=GROUPS[order]), Q), expected, rtol=1e-6)


@pytest.mark.parametrize("name", sorted({*TAKING} - ALWAYS_CHOOSING))
def test_groups_change_only_what_is_chosen(name):
    X, y, Q = problem()
    found, expected = responses(make(name, fixed=True).fit(X, y, groups=GROUPS), Q), dict(answered(name))
    if name == "KernelRidgeClassifier":  # the temperature is chosen
        del found["predict_proba"], expected["predict_proba"]
    assert_same(found, expected, rtol=1e-8)


@pytest.mark.parametrize("name", sorted({*TAKING} - WITHOUT_COPIES))
def test_copies_in_a_group_are_weights(name):
    X, y, Q = problem()
    times = 1 + (np.arange(len(X)) % 4 == 0)
    whole = make(name).fit(np.repeat(X, times, 0), np.repeat(y, times), groups=np.repeat(GROUPS, times))
    weighted = make(name).fit(X, y, sample_weight=times, groups=GROUPS)
    assert_same(responses(weighted, Q), responses(whole, Q), rtol=1e-5)


@pytest.mark.parametrize("name", TAKING)
@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (GROUPS[:-1], "one value for each of the 45 samples"),
        (np.zeros(45), "groups has a single value"),
        (np.append(np.nan, GROUPS[1:]), "lacks a value in row 0"),
        ([*GROUPS[:-1].astype(str), None], "lacks a value in row 44"),
    ],
)
def test_bad_groups(name, groups, message):
    X, y, Q = problem()
    estimator = make(name, fixed=True).fit(X, y)
    before = responses(estimator, Q)
    with pytest.raises(ValueError, match=message):
        estimator.fit(X, y, groups=groups)
    assert_same(responses(estimator, Q), before)


def test_a_splitter_gets_the_groups_and_must_keep_them():
    X, y, groups = answers_for(ParzenClassifier())
    splits = list(GroupKFold(3).split(X, y, groups))
    for kind in (ParzenClassifier, PerTurboClassifier, AutoClassifier):
        by_splitter, by_splits = (kind(cv=cv).fit(X, y, groups=groups) for cv in (GroupKFold(3), splits))
        assert_same(responses(by_splitter, X[:9]), responses(by_splits, X[:9]))
        with pytest.raises(ValueError, match="cv splits a group"):
            kind(cv=KFold(3, shuffle=True)).fit(X, y, groups=groups)


def test_a_splitter_by_groups_names_what_it_needs():
    X, y, _ = answers_for(ParzenClassifier())
    with pytest.raises(ValueError, match="GroupKFold splits by groups: give them to fit"):
        ParzenClassifier(cv=GroupKFold(3)).fit(X, y)


def test_fewer_groups_than_folds():
    X, y, _ = answers_for(ParzenClassifier())
    groups = np.arange(len(X)) % 3
    found = ParzenClassifier(cv=5).fit(X, y, groups=groups)
    assert sum(key.startswith("split") for key in found.cv_results_) == 3


def held_out(estimator, X, y, groups, answer):
    """Answers for each group by the estimator without it."""
    out = None
    for group in np.unique(groups):
        own = groups == group
        found = getattr(estimator.fit(X[~own], y[~own]), answer)(X[own])
        out = np.empty((len(X), *found.shape[1:])) if out is None else out
        out[own] = found
    return out


@pytest.mark.parametrize(
    "kind", [ParzenClassifier, ISEClassifier, CauchySchwarzClassifier, LaplacianISEClassifier, PerTurboClassifier]
)
def test_leaving_out_a_group_is_a_refit_without_it(kind):
    X, y, groups = answers_for(kind(), n_groups=15, size=4, noise=0.5)
    options = {"scale": None, **({"alpha": 0.1} if kind is PerTurboClassifier else {})}
    chosen = kind(bandwidth_grid=[0.8], cv="loo", **options).fit(X, y, groups=groups)
    others = held_out(kind(0.8, **options), X, y, groups, "predict")
    assert chosen.best_score_ == pytest.approx(np.mean(others == y), abs=1e-12)


def test_left_out_regressions_and_densities_are_refits():
    X, classes, numbers, groups = people(n_groups=15, size=4, noise=0.5)
    for degree in (0, 1):
        options = {"degree": degree, "scale": None}
        means = KernelRegressor(bandwidth_grid=[0.8], **options).fit(X, numbers, groups=groups)
        others = held_out(KernelRegressor(0.8, **options), X, numbers, groups, "predict")
        assert means.best_score_ == pytest.approx(1 - np.mean((others - numbers) ** 2) / np.var(numbers), rel=1e-8)
    scores = ParzenOutlierDetector(ParzenDensity(0.8)).fit(X, groups=groups).leave_one_out_score_
    np.testing.assert_allclose(scores, held_out(ParzenDensity(0.8), X, numbers, groups, "score_samples"), rtol=1e-8)
    quality = label_quality(ParzenClassifier(0.8, scale=None).fit(X, classes, groups=groups))
    others = held_out(ParzenClassifier(0.8, scale=None), X, classes, groups, "predict_proba")
    np.testing.assert_allclose(quality, others[np.arange(len(X)), classes], rtol=1e-8)


@pytest.mark.parametrize("weights", [None, np.arange(60) % 3 + 1.0])
def test_ridge_without_a_group(weights):
    X, _, numbers, groups = people(n_groups=15, size=4, noise=0.5)
    form = {"kernel": "laplace", "alpha": 0.05, "scale": None}
    found = KernelRidgeRegressor(1.5, **form).fit(X, numbers, weights, groups=groups)
    each = np.ones(len(X)) if weights is None else weights / weights.mean()
    K = np.exp(-np.linalg.norm(X[:, None] - X, axis=2) / 1.5)
    centered = numbers - np.average(numbers, weights=each)
    errors = np.empty(len(X))
    for group in range(15):
        own = groups == group
        others = np.linalg.solve(K[np.ix_(~own, ~own)] + np.diag(0.05 / each[~own]), centered[~own])
        errors[own] = centered[own] - K[np.ix_(own, ~own)] @ others
    loss = np.average(errors**2, weights=each) / np.average(centered**2, weights=each)
    assert found.loss_ == pytest.approx(loss, rel=1e-8)


@pytest.mark.parametrize(
    "name",
    [name for name in TAKING if is_classifier(make(name)) and name not in ("AutoClassifier", "KernelRidgeClassifier")],
)
def test_labels_of_people_are_not_predicted_from_their_twins(name):
    rng = np.random.default_rng(0)
    X, _, _, groups = people(n_groups=50, size=5, noise=0.01)
    y = rng.integers(2, size=50)[groups]
    options = {"scoring": "accuracy"} if name == "SpectralKernelClassifier" else {}
    assert make(name, **options).fit(X, y).best_score_ > 0.95
    assert make(name, **options).fit(X, y, groups=groups).best_score_ < 0.75


@pytest.mark.parametrize("kind", [KernelRidgeClassifier, KernelRidgeRegressor, AutoClassifier, AutoRegressor])
def test_losses_of_people_are_not_those_of_their_twins(kind):
    rng = np.random.default_rng(0)
    X, _, _, groups = people(n_groups=50, size=5, noise=0.01)
    y = rng.integers(2, size=50)[groups]
    assert kind().fit(X, y).loss_ < 0.3
    assert kind().fit(X, y, groups=groups).loss_ > 0.6


@pytest.mark.parametrize("kind", [KernelRidgeRegressor, KernelRegressor])
def test_intervals_cover_new_people(kind):
    covered, alone = [], []
    for seed in range(12):
        X, y, groups = answers_for(kind(), seed, size=10)
        Q, truth, _ = answers_for(kind(), seed + 100, n_groups=300, size=2)
        for found, options in ((covered, {"groups": groups}), (alone, {})):
            low, high = kind().fit(X, y, **options).predict_interval(Q, coverage=0.9).T
            found.append(np.mean((low <= truth) & (truth <= high)))
    assert 0.86 < np.mean(covered) < 0.94
    assert np.mean(alone) < 0.7


@pytest.mark.parametrize("kind", [ParzenClassifier, PerTurboClassifier, KernelRidgeClassifier])
def test_sets_cover_new_people(kind):
    covered = []
    for seed in range(12):
        X, y, groups = answers_for(kind(), seed, size=10)
        Q, truth, _ = answers_for(kind(), seed + 100, n_groups=300, size=2)
        model = kind().fit(X, y, groups=groups)
        covered.append(np.mean(model.predict_set(Q, coverage=0.9)[np.arange(len(Q)), truth]))
    assert 0.86 < np.mean(covered) < 0.96


def test_the_number_of_groups_limits_the_coverage():
    X, y, groups = answers_for(KernelRidgeRegressor(), n_groups=8, size=30)
    low, high = KernelRidgeRegressor().fit(X, y, groups=groups).predict_interval(X[:3], coverage=0.9).T
    assert np.isinf(low).all()  # 9 of 8 groups are needed
    assert np.isinf(high).all()


def test_groups_are_routed():
    X, y, groups = answers_for(ParzenClassifier())
    with config_context(enable_metadata_routing=True):
        classifier = ParzenClassifier().set_fit_request(groups=True)
        pipeline = make_pipeline(PCA(2), classifier)
        scores = cross_val_score(pipeline, X, y, cv=GroupKFold(4), params={"groups": groups})
        grid = GridSearchCV(pipeline, {"pca__n_components": [1, 2]}, cv=GroupKFold(4)).fit(X, y, groups=groups)
    expected = []
    for train, test in GroupKFold(4).split(X, y, groups):
        steps = PCA(2).fit(X[train])
        inner = ParzenClassifier().fit(steps.transform(X[train]), y[train], groups=groups[train])
        expected.append(inner.score(steps.transform(X[test]), y[test]))
    np.testing.assert_array_equal(scores, expected)
    alone = ParzenClassifier().fit(grid.best_estimator_[0].transform(X), y, groups=groups)
    assert grid.best_estimator_[1].bandwidth_ == alone.bandwidth_
