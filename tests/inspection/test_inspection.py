"""Doubtful labels, points that decide, effects of features, shares of classes in another population; pipelines."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine, make_blobs
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import spectralcls as sc
from spectralcls import spectral
from spectralcls.inspection import (
    _priors,
    estimate_priors,
    feature_effect,
    influence,
    label_quality,
    predict_set,
    with_priors,
)

X, Y = load_iris(return_X_y=True)

SUMS = (
    sc.ParzenClassifier(bandwidth=0.5),
    sc.ParzenClassifier(bandwidth={0: 0.4, 1: 0.5, 2: 0.7}, priors=[0.2, 0.3, 0.5]),
    sc.ISEClassifier(bandwidth=0.5),
    sc.LaplacianISEClassifier(bandwidth=0.5),
    sc.LaplacianISEClassifier(bandwidth=0.5, weighting="inverse"),
    sc.CauchySchwarzClassifier(bandwidth=0.5),
    spectral.SpectralISEClassifier(bandwidth=0.5, n_components="all"),
    spectral.LaplacianSpectralClassifier(bandwidth=0.5, n_components="all"),
    sc.KernelRidgeClassifier(bandwidth=2.0, alpha=0.1),
)


@pytest.mark.parametrize("model", SUMS, ids=repr)
def test_shares_add_up_to_the_margin_of_the_scores(model):
    model.fit(X[::2], Y[::2])
    Q = X[1::2]
    found = influence(model, Q, n_points=5)
    total = found.shares.sum(axis=1) + found.rest + found.baseline
    np.testing.assert_allclose(total, found.margin, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(found.classes[:, 0], model.predict(Q))
    scores = model.predict_proba(Q) if isinstance(model, sc.ParzenClassifier) else model.decision_function(Q)
    if isinstance(model, sc.CauchySchwarzClassifier | spectral.LaplacianSpectralClassifier):
        scores = softmax(scores, axis=1)
    first, second = np.sort(scores, axis=1)[:, :-3:-1].T
    np.testing.assert_allclose(found.margin, first - second, rtol=1e-6, atol=1e-9)
    sizes = np.abs(found.shares)
    assert (np.diff(sizes, axis=1) <= 1e-15).all()


def test_a_share_is_what_a_point_of_a_kernel_mean_adds():
    model = sc.ParzenClassifier(bandwidth=0.5, scale=None).fit(X[1:], Y[1:])
    found = influence(model, X[:1], n_points=149)
    k = np.exp(-((X[1:] - X[0]) ** 2).sum(axis=1) / 0.5)
    shares = k / k.sum() * np.where(Y[1:] == found.classes[0, 0], 1.0, -(Y[1:] == found.classes[0, 1]).astype(float))
    np.testing.assert_allclose(found.shares[0], shares[found.points[0]], rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("model", [sc.PerTurboClassifier(), spectral.SpectralISEClassifier(n_components=2)])
def test_influence_needs_sums(model):
    model.fit(X, Y)
    with pytest.raises(AttributeError, match="not sums"):
        influence(model, X[:2])


@pytest.mark.parametrize("loader", [load_iris, load_wine])
def test_the_shares_in_a_vote_are_those_of_its_members(loader):
    points, labels = loader(return_X_y=True)
    model = sc.AutoClassifier(n_jobs=1).fit(points[::2], labels[::2])
    Q = points[1:60:2]
    found, p = influence(model, Q, n_points=1000), model.predict_proba(Q)
    best, second = np.sort(p, axis=1)[:, :-3:-1].T
    np.testing.assert_allclose(found.margin, best - second, rtol=1e-12)
    np.testing.assert_allclose(found.shares.sum(axis=1) + found.rest + found.baseline, found.margin, atol=1e-12)
    np.testing.assert_array_equal(found.classes[:, 0], model.predict(Q))
    assert found.shares.shape == (len(Q), len(labels[::2]))
    of_the_best = labels[::2][found.points[:, 0]] == found.classes[:, 0]
    assert np.mean(of_the_best == (found.shares[:, 0] > 0)) > 0.9  # its own class speaks for it


def test_a_share_in_a_ridge_regression_is_what_the_label_of_a_sample_adds():
    """The terms of its coefficients were as large as 50 for a probability, and of either sign for one class."""
    model = sc.KernelRidgeClassifier(bandwidth=3.0, alpha=1e-3, kernel="gaussian", scale=None).fit(X[1:], Y[1:])
    found = influence(model, X[:3], n_points=149)

    def k(A, B):
        return np.exp(-((A[:, None] - B) ** 2).sum(axis=2) / 18)

    points, place = np.unique(X[1:], axis=0, return_index=True)
    copies = np.unique(X[1:], axis=0, return_counts=True)[1]
    weights = k(X[:3], points) @ np.linalg.inv(k(points, points) + 1e-3 * np.diag(copies.mean() / copies))
    codes = Y[1:][place]
    best, second = found.classes[:, :1], found.classes[:, 1:]
    shares = weights * ((codes == best).astype(float) - (codes == second))
    np.testing.assert_allclose(np.sort(found.shares, axis=1), np.sort(shares, axis=1), atol=1e-6)
    assert np.abs(found.shares).max() < 2


def wide(A, B):
    return np.exp(-((A[:, None] - B) ** 2).sum(axis=2) / 8)


REGRESSORS = (
    sc.KernelRegressor(),
    sc.KernelRegressor(degree=1, kernel="epanechnikov"),
    sc.KernelRidgeRegressor(),
    sc.KernelRidgeRegressor(max_exact_samples=50),
    sc.KernelRidgeRegressor(kernel=wide, bandwidth=1.0),
    sc.AutoRegressor(n_jobs=1),
)


@pytest.mark.parametrize("model", REGRESSORS, ids=range(6))
def test_shares_add_up_to_a_predicted_number(model):
    numbers, model = X @ [0.5, -1, 2, 1] + np.sin(9 * X[:, 0]), clone(model)
    numbers[3] += 9
    model.fit(X[::2], numbers[::2], np.arange(75) % 3 + 0.5)
    found = influence(model, X[1::2], n_points=75)
    np.testing.assert_array_equal(found.margin, model.predict(X[1::2]))
    np.testing.assert_allclose(found.shares.sum(axis=1) + found.rest + found.baseline, found.margin, rtol=1e-6)
    np.testing.assert_allclose(found.baseline, found.baseline[0])
    assert found.classes is None and found.points.max() < 75
    few = influence(model, X[1::2], n_points=2)
    np.testing.assert_array_equal(few.points, found.points[:, :2])
    np.testing.assert_allclose(few.shares.sum(axis=1) + few.rest + few.baseline, found.margin, rtol=1e-6)


@pytest.mark.parametrize("model", REGRESSORS[:3], ids=range(3))
def test_a_share_of_a_regression_is_the_weight_of_a_target_times_its_difference_from_the_mean(model):
    """Its derivative: predictions are linear in the targets if nothing is tuned again."""
    points, numbers = X[:50] + 1e-3 * np.arange(50)[:, None], X[:50] @ [0.5, -1, 2, 1]
    fixed = {"bandwidth": 2.0, "scale": None}
    fixed |= {"alpha": 0.1, "kernel": "laplace"} if hasattr(model, "alpha") else {"degree": model.degree == 1}
    model = clone(model).set_params(**fixed)
    found = influence(model.fit(points, numbers), X[60:63], n_points=50)
    for j in (0, 17, 49):
        changed = numbers + (np.arange(50) == j) * 0.5
        slope = (model.fit(points, changed).predict(X[60:63]) - found.margin) / 0.5
        weights = found.shares / (numbers - numbers.mean())[found.points]
        rest = 1 - weights.sum(axis=1)  # of the mean, which the change moves, too
        np.testing.assert_allclose(slope, weights[found.points == j] + rest / 50, rtol=1e-5, atol=1e-8)


def test_influence_names_bad_input():
    both = sc.KernelRegressor().fit(X[:, :2], X[:, 2:])
    with pytest.raises(ValueError, match="explains one output, but y had 2"):
        influence(both, X[:2, :2])
    model = sc.ParzenClassifier(bandwidth=1.0).fit(X, Y)
    with pytest.raises(ValueError, match="n_points"):
        influence(model, X, n_points=0)
    with pytest.raises(ValueError, match="lacks values"):
        influence(model, [[np.nan, 1, 1, 1]])


@pytest.mark.parametrize(
    "model",
    [
        sc.ParzenClassifier(),
        sc.ISEClassifier(),
        sc.PerTurboClassifier(),
        sc.KernelRidgeClassifier(),
        sc.AutoClassifier(),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_changed_labels_are_found(model, load):
    points, labels = load(return_X_y=True)
    rng = np.random.default_rng(0)
    changed = rng.random(len(labels)) < 0.1
    given = np.where(changed, (labels + rng.integers(1, labels.max() + 1, len(labels))) % (labels.max() + 1), labels)
    quality = label_quality(model.fit(points, given))
    assert quality.shape == given.shape and ((quality >= 0) & (quality <= 1)).all()
    assert roc_auc_score(changed, -quality) > 0.9


@pytest.mark.parametrize("model", [*REGRESSORS[:4], sc.AutoRegressor(n_jobs=1)], ids=range(5))
def test_changed_targets_are_found(model):
    points, numbers = load_diabetes(return_X_y=True)
    rng = np.random.default_rng(0)
    changed, order = rng.random(len(numbers)) < 0.1, rng.permutation(len(numbers))
    given = numbers + changed * rng.choice([-250.0, 250.0], len(numbers))
    weights = rng.integers(1, 3, len(numbers))
    quality = label_quality(clone(model).fit(points, given, weights))
    assert quality.shape == given.shape and ((quality > 0) & (quality <= 1)).all()
    assert roc_auc_score(changed, -quality) > 0.9
    mixed = label_quality(clone(model).fit(points[order], given[order], weights[order]))
    assert np.corrcoef(mixed, quality[order])[0, 1] > (0.97 if isinstance(model, sc.AutoRegressor) else 1 - 1e-9)


def test_the_quality_of_a_target_is_its_rank_among_relative_residuals():
    points, numbers = np.arange(20.0)[:, None], np.sin(np.arange(20.0))
    model = sc.KernelRegressor(bandwidth=1.0, degree=0, scale=None).fit(points, numbers)
    k = np.exp(-((points - points.T) ** 2) / 2) * (1 - np.eye(20))
    residuals = np.abs(numbers - k @ numbers / k.sum(axis=1))  # too few samples for sizes
    ranks = (residuals >= residuals[:, None]).mean(axis=1)
    np.testing.assert_allclose(label_quality(model), ranks)
    others = 5 * np.cos(2 * points[:, 0])
    both = sc.KernelRegressor(bandwidth=1.0, degree=0, scale=None).fit(points, np.c_[numbers, others])
    further = np.abs(others - k @ others / k.sum(axis=1))
    worst = np.maximum(residuals / np.median(residuals), further / np.median(further))
    np.testing.assert_allclose(label_quality(both), (worst >= worst[:, None]).mean(axis=1))


def test_the_quality_of_a_label_is_its_probability_by_the_others():
    model = sc.ParzenClassifier(bandwidth=0.5, scale=None)
    quality = label_quality(model.fit(X, Y))
    for i in (0, 70, 149):
        others = np.arange(len(X)) != i
        k = np.exp(-((X[others] - X[i]) ** 2).sum(axis=1) / 0.5)
        np.testing.assert_allclose(quality[i], k[Y[others] == Y[i]].sum() / k.sum(), rtol=1e-12)


def test_the_order_of_labels_is_that_of_the_samples():
    order = np.random.default_rng(0).permutation(len(X))
    for model in (
        sc.PerTurboClassifier(bandwidth=1.0, alpha=0.1),
        sc.KernelRidgeClassifier(bandwidth=2.0, alpha=0.1),
        sc.ISEClassifier(bandwidth=1.0),
    ):
        model.set_params(scale=None)
        straight, mixed = (label_quality(model.fit(X[rows], Y[rows])) for rows in (np.arange(len(X)), order))
        np.testing.assert_allclose(mixed, straight[order], rtol=1e-6)


def test_what_a_regression_was_tuned_by_is_not_computed_again(monkeypatch):
    given = np.where(np.arange(len(X)) % 10 == 0, 2, Y)
    for options in ({}, {"class_weight": "balanced"}, {"alpha": 0.1, "bandwidth": 2.0}):
        model = sc.KernelRidgeClassifier(**options).fit(X, given, np.arange(len(X)) % 3 + 0.5)
        loaded = pickle.loads(pickle.dumps(model))  # which knows its coefficients alone
        expected, sets = label_quality(loaded), loaded.conformal_p_values(X[::7] + 0.1)
        with monkeypatch.context() as patch:
            patch.setattr("spectralcls.regression._kernel_ridge.kernel_matrix", None)
            np.testing.assert_allclose(label_quality(model), expected, rtol=1e-9)
        np.testing.assert_allclose(model.conformal_p_values(X[::7] + 0.1), sets)
    thinned = sc.KernelRidgeClassifier(max_tuning_samples=100).fit(X, given)
    np.testing.assert_allclose(label_quality(thinned), label_quality(pickle.loads(pickle.dumps(thinned))))


def test_a_sample_that_no_other_reaches_has_no_quality():
    model = sc.ParzenClassifier(bandwidth=0.5, kernel="epanechnikov", scale=None)
    quality = label_quality(model.fit([[0.0], [0.1], [5.0], [9.0], [9.1]], [0, 0, 1, 1, 1]))
    np.testing.assert_array_equal(np.isnan(quality), [False, False, True, False, False])


def test_the_effect_of_a_feature_integrates_it_out():
    model = sc.ParzenClassifier(bandwidth=0.3, scale=None).fit(X, Y)
    effect = feature_effect(model, X[70:73]).values
    np.testing.assert_allclose(effect.sum(axis=2), 0, atol=1e-12)
    reduced = sc.ParzenClassifier(bandwidth=0.3, scale=None).fit(X[:, 1:], Y)
    expected = model.predict_proba(X[70:73]) - reduced.predict_proba(X[70:73, 1:])
    np.testing.assert_allclose(effect[:, 0], expected, atol=1e-9)


def test_the_effect_of_a_column_of_a_frame_is_that_of_all_its_coordinates():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "number": X[:, 0],
            "word": np.array(["a", "b", "c", "d"])[(Y + (rng.random(len(Y)) < 0.2)) % 4],
            "flag": pd.array(np.where(rng.random(len(Y)) < 0.2, None, Y > rng.random(len(Y))), dtype="boolean"),
            "day": np.datetime64("2020-01-01") + rng.integers(0, 900, len(Y)),
        }
    )
    model = sc.ParzenClassifier(bandwidth=0.5).fit(frame, Y)
    few = frame[::10]
    effect = feature_effect(model, few).values
    for j, name in enumerate(frame):
        without = few.assign(**{name: None})
        np.testing.assert_allclose(effect[:, j], model.predict_proba(few) - model.predict_proba(without), atol=1e-12)
    assert np.abs(effect).max(axis=(0, 2)).min() > 1e-6


EVERY = (
    sc.AutoClassifier(),
    sc.KernelRidgeClassifier(),
    sc.PerTurboClassifier(),
    sc.ParzenClassifier(),
    sc.ParzenClassifier(metric="whiten"),
    sc.ParzenClassifier(kernel="laplace"),
    sc.ISEClassifier(),
    sc.ISEClassifier(bandwidth=0.5),
    sc.CauchySchwarzClassifier(),
    spectral.LaplacianSpectralClassifier(),
    spectral.SpectralISEClassifier(n_components=2),
    spectral.SpectralKernelClassifier(),
    sc.CCDRClassifier(),
)


def planted(n=120):
    """A frame whose first column alone tells the classes; another one is text."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"tells": rng.normal(size=n), "text": rng.choice(["u", "v"], n), "noise": rng.normal(size=n)})
    return frame, np.where(frame["tells"] + 0.2 * rng.normal(size=n) > 0, "yes", "no")


@pytest.mark.parametrize("model", EVERY, ids=repr)
def test_every_classifier_tells_the_effect_of_each_column(model):
    frame, labels = planted()
    if isinstance(model, spectral.SpectralKernelClassifier | sc.CCDRClassifier):
        frame = frame[["tells", "noise"]]
    effect = feature_effect(model.fit(frame, labels), frame[:12])
    assert effect.values.shape == np.asarray(effect).shape == (12, frame.shape[1], 2)
    assert list(effect.features) == list(frame) and list(effect.classes) == ["no", "yes"]
    np.testing.assert_allclose(effect.values.sum(axis=2), 0, atol=1e-9)
    assert np.abs(effect.values).mean(axis=(0, 2)).argmax() == 0
    assert np.mean((effect.values[:, 0, 1] > 0) == (frame["tells"][:12] > 0)) > 0.9


def test_the_effect_is_the_mean_over_values_of_training_samples():
    weights = np.arange(90) % 3
    model = sc.KernelRidgeClassifier(bandwidth=2.0, alpha=0.1).fit(X[:90], Y[:90], weights)
    effect, kept = feature_effect(model, X[100:103]), weights > 0
    for j in range(4):
        table = np.repeat(X[100:103], kept.sum(), axis=0)
        table[:, j] = np.tile(X[:90][kept, j], 3)
        without = np.average(model.predict_proba(table).reshape(3, -1, 2), axis=1, weights=weights[kept])
        np.testing.assert_allclose(effect.values[:, j], model.predict_proba(X[100:103]) - without, atol=1e-12)
    assert not effect.exact and list(effect.features) == ["x0", "x1", "x2", "x3"]


def test_a_draw_of_many_samples_is_near_the_mean_over_all():
    points = np.random.default_rng(0).normal(size=(310, 3))
    model = sc.KernelRidgeClassifier(bandwidth=1.0, alpha=0.1).fit(points[:300], points[:300, 0] > 0)
    found = feature_effect(model, points[300:]).values[:, 0]
    table = np.repeat(points[300:], 300, axis=0)
    table[:, 0] = np.tile(points[:300, 0], 10)
    expected = model.predict_proba(points[300:]) - model.predict_proba(table).reshape(10, 300, 2).mean(axis=1)
    assert np.abs(found - expected).max() < 0.15


def test_the_effect_of_a_value_that_is_missing_is_zero():
    queries = X[70:72].copy()
    queries[0, 2] = np.nan
    effect = feature_effect(sc.KernelRidgeClassifier().fit(X, Y), queries).values
    assert not effect[0, 2].any() and effect[1].any(axis=1).all()


@pytest.mark.parametrize("model", [*REGRESSORS[:4], REGRESSORS[-1]], ids=range(5))
def test_the_effect_on_a_number_is_in_the_unit_of_the_target(model):
    numbers = 100 * X[:, 2] + X[:, 0]
    effect = feature_effect(clone(model).fit(X[:, :3], numbers), X[:4, :3])
    assert effect.values.shape == (4, 3) and effect.classes is None and not effect.exact
    assert (np.abs(effect.values).argmax(axis=1) == 2).all() and effect.values[:, 2].max() < -50  # short petals
    outputs = sc.KernelRegressor().fit(X[:, :3], np.c_[numbers, 2 * numbers])
    both = feature_effect(outputs, X[:4, :3]).values
    assert both.shape == (4, 3, 2)
    np.testing.assert_allclose(both[..., 1], 2 * both[..., 0], rtol=1e-9)


@pytest.mark.parametrize("kind", [sc.KernelRidgeClassifier, sc.KernelRidgeRegressor])
def test_effects_with_a_given_kernel_are_those_of_the_built_in_one(kind):
    def gaussian(A, B):
        return np.exp(-np.square(A[:, None] - B).sum(axis=2) / 2)

    effect = feature_effect(kind(kernel=gaussian).fit(X, Y), X[:5]).values
    built_in = kind(1.0, kernel="gaussian", scale=None).fit(X, Y)
    np.testing.assert_allclose(effect, feature_effect(built_in, X[:5]).values, rtol=1e-9, atol=1e-12)
    with pytest.raises(AttributeError, match="kernel matrix"):
        feature_effect(kind(kernel="precomputed").fit(gaussian(X, X), Y), gaussian(X[:3], X))


def test_feature_effect_names_what_it_cannot_explain():
    with pytest.raises(AttributeError, match="takes a classifier or regressor .* of the type GaussianNB"):
        feature_effect(GaussianNB().fit(X, Y), X)
    rows = np.unique(X, axis=0, return_index=True)[1]
    text = spectral.SpectralKernelClassifier(kernel="linear").fit(csr_array(X[rows]), Y[rows])
    with pytest.raises(AttributeError, match="keeps no training samples"):
        feature_effect(text, X[:1])


# Pipelines and searches


@pytest.mark.parametrize("wrapped", ["pipeline", "search", "search in a pipeline", "frozen"])
def test_pipelines_and_searches_are_looked_through(wrapped):
    model, Z = sc.ParzenClassifier(bandwidth=0.5, scale=None), StandardScaler().fit_transform(X)
    bare, pipeline = clone(model).fit(Z, Y), make_pipeline(StandardScaler(), model)
    whole = {
        "pipeline": pipeline,
        "search": GridSearchCV(pipeline, {"parzenclassifier__bandwidth": [0.5]}, cv=2),
        "search in a pipeline": make_pipeline(
            StandardScaler(), "passthrough", GridSearchCV(model, {"bandwidth": [0.5]}, cv=2)
        ),
        "frozen": FrozenEstimator(clone(pipeline).fit(X, Y)),
    }[wrapped].fit(X, Y)
    np.testing.assert_allclose(label_quality(whole), label_quality(bare))
    np.testing.assert_array_equal(predict_set(whole, X[::7], 0.8), bare.predict_set(Z[::7], 0.8))
    np.testing.assert_allclose(influence(whole, X[::7]).shares, influence(bare, Z[::7]).shares)
    np.testing.assert_allclose(feature_effect(whole, X[::7]).values, feature_effect(bare, Z[::7]).values)
    np.testing.assert_allclose(estimate_priors(whole, X[:70]).priors, estimate_priors(bare, Z[:70]).priors)
    given = [0.2, 0.3, 0.5]
    np.testing.assert_allclose(with_priors(whole, given).predict_proba(X), with_priors(bare, given).predict_proba(Z))


def test_names_go_through_the_steps_of_a_pipeline():
    frame, labels = planted()
    numbers = frame[["tells", "noise"]]
    named = make_pipeline(StandardScaler(), sc.KernelRidgeClassifier()).fit(numbers, labels)
    assert list(feature_effect(named, numbers[:2]).features) == ["tells", "noise"]
    turned = make_pipeline(PCA(2), sc.KernelRidgeClassifier()).fit(numbers, labels)
    assert list(feature_effect(turned, numbers[:2]).features) == ["pca0", "pca1"]


def test_what_is_within_is_named():
    with pytest.raises(AttributeError, match="GaussianNB has no prediction sets"):
        label_quality(make_pipeline(StandardScaler(), GaussianNB()).fit(X, Y))
    with pytest.raises(AttributeError, match="refit=False"):
        label_quality(GridSearchCV(sc.ParzenClassifier(), {"bandwidth": [0.5]}, cv=2, refit=False).fit(X, Y))
    with pytest.raises(NotFittedError):
        label_quality(make_pipeline(StandardScaler(), sc.ParzenClassifier()))
    with pytest.raises(AttributeError, match="LogisticRegression has no class_prior_"):
        estimate_priors(make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y), X)


def shifted(n, priors, seed):
    rng = np.random.default_rng(seed)
    y = rng.choice(3, n, p=priors)
    return rng.normal(size=(n, 2)) + 2 * np.array([[0, 0], [1, 0], [0, 1]])[y], y


def test_the_shares_of_a_shifted_population_are_found():
    model = sc.ParzenClassifier().fit(*shifted(1500, [1 / 3, 1 / 3, 1 / 3], seed=0))
    errors = []
    for seed in range(1, 9):
        priors = np.random.default_rng(seed).dirichlet(np.ones(3))
        found = estimate_priors(model, shifted(800, priors, seed)[0])
        assert abs(found.priors.sum() - 1) < 1e-12
        errors.append((found.priors - priors) / found.standard_errors)
    assert np.sqrt(np.mean(np.square(errors))) < 2.5  # the densities have their own error
    assert np.abs(np.mean(errors)) < 1


def test_the_standard_error_is_the_spread_over_draws():
    model = sc.ParzenClassifier().fit(*shifted(1500, [1 / 3, 1 / 3, 1 / 3], seed=0))
    found = [estimate_priors(model, shifted(300, [0.6, 0.3, 0.1], seed)[0]) for seed in range(60)]
    spread = np.std([each.priors for each in found], axis=0)
    np.testing.assert_allclose(np.mean([each.standard_errors for each in found], axis=0), spread, rtol=0.35)


def test_other_priors_are_those_of_the_classifier_that_has_them():
    given = [0.7, 0.2, 0.1]
    plain, model = (sc.ParzenClassifier(bandwidth=0.5, priors=priors).fit(X, Y) for priors in (None, given))
    moved = with_priors(plain, given)
    by_label = with_priors(plain, dict(zip(plain.classes_.tolist(), given, strict=True)))
    np.testing.assert_array_equal(by_label.predict_proba(X), moved.predict_proba(X))
    np.testing.assert_allclose(moved.predict_proba(X), model.predict_proba(X), atol=1e-12)
    np.testing.assert_array_equal(moved.predict(X), model.predict(X))


def test_priors_are_checked():
    model = sc.ParzenClassifier(bandwidth=0.5).fit(X, Y)
    with pytest.raises(ValueError, match="priors"):
        with_priors(model, [0.5, 0.5])
    with pytest.raises(AttributeError, match="has no predict_proba"):
        estimate_priors(sc.ISEClassifier(bandwidth=0.5).fit(X, Y), X)


def test_a_model_of_blobs_agrees_with_itself():
    points, labels = make_blobs(200, 3, random_state=0)
    model = sc.AutoClassifier().fit(points, labels)
    np.testing.assert_allclose(estimate_priors(model, points).priors, model.class_prior_, atol=0.02)


def test_a_class_that_does_not_occur_has_a_share_near_zero_and_a_small_error():
    model = sc.ParzenClassifier().fit(X, Y)
    found = estimate_priors(model, X[:100])
    assert found.priors[2] < 0.03 and (found.standard_errors < 0.1).all()
    apart = estimate_priors(model, X[:50])
    np.testing.assert_allclose(apart.priors, [1, 0, 0], atol=1 / 51)
    assert (apart.priors > 0).all() and (apart.standard_errors > 0).all() and (apart.standard_errors < 0.1).all()


@pytest.mark.parametrize(
    "model", [sc.ParzenClassifier(bandwidth=0.5), sc.KernelRidgeClassifier(bandwidth=0.5, alpha=0.1)]
)
def test_queries_that_are_all_alike_leave_the_shares_open(model):
    model.fit(np.ones((30, 2)), np.arange(30) % 4 % 3)
    assert (estimate_priors(model, np.ones((20, 2))).standard_errors > 1).all()


class Known(ClassifierMixin, BaseEstimator):
    """The posterior of the classes that `shifted` draws, at equal shares."""

    classes_, class_prior_ = np.arange(3), np.full(3, 1 / 3)

    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict_proba(self, X):
        centers = 2 * np.array([[0, 0], [1, 0], [0, 1]])
        return softmax(-np.square(X[:, None] - centers).sum(axis=2) / 2, axis=1)


@pytest.mark.parametrize("priors", [[0.6, 0.3, 0.1], [0.78, 0.2, 0.02]])
def test_two_standard_errors_hold_the_shares_if_the_densities_are_right(priors):
    found = [estimate_priors(Known(), shifted(200, priors, seed)[0]) for seed in range(200)]
    within = [np.abs(each.priors - priors) < 2 * each.standard_errors for each in found]
    assert np.mean(within) > 0.92


def test_a_class_of_which_no_query_was_seen_stays_possible():
    """The estimate was zero, and the adjusted probability of a later query of that class with it."""
    model = sc.ParzenClassifier().fit(X, Y)
    moved = with_priors(model, estimate_priors(model, X[:100]).priors)
    assert (moved.predict_proba(X[140:]).max(axis=1) > 0.5).all() and moved.predict_proba(X[140:])[:, 2].min() > 1e-3


def test_shares_do_not_depend_on_the_tolerance_of_their_steps(monkeypatch):
    """Between 1e-7 and 1e-12 they agree to a thousandth of their standard error."""
    X, y = load_iris(return_X_y=True)
    model = sc.ParzenClassifier().fit(X[::2], y[::2])
    expected = estimate_priors(model, X[20:])
    for tol in (1e-7, 1e-12):
        monkeypatch.setattr(_priors, "TOL", tol)
        found = estimate_priors(model, X[20:])
        assert (np.abs(found.priors - expected.priors) <= 1e-3 * expected.standard_errors).all()
