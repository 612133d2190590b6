"""The kernel-mean classifiers against their formulas, at the limits of the number range, and on bad input."""

from itertools import product

import numpy as np
import pytest
from data import load_npz
from numpy.testing import assert_allclose, assert_array_equal
from reference import COMPACT, distances
from reference import kernel_mean as reference
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs
from sklearn.preprocessing import StandardScaler

from spectralcls.kernel_mean import (
    CauchySchwarzClassifier,
    ISEClassifier,
    LaplacianISEClassifier,
    ParzenClassifier,
)
from spectralcls.kernels import KERNELS, kernel_variance, silverman_bandwidth

RULES = [
    ("parzen", ParzenClassifier, {}),
    ("ise", ISEClassifier, {"potential": "convolved"}),
    ("ise", ISEClassifier, {"potential": "same"}),
    ("ise", LaplacianISEClassifier, {"weighting": "symmetric", "potential": "convolved"}),
    ("ise", LaplacianISEClassifier, {"weighting": "symmetric", "potential": "same"}),
    ("ise", LaplacianISEClassifier, {"weighting": "inverse", "potential": "convolved"}),
    ("ise", LaplacianISEClassifier, {"weighting": "inverse", "potential": "same"}),
    ("cs", CauchySchwarzClassifier, {"weighting": "inverse", "potential": "convolved"}),
    ("cs", CauchySchwarzClassifier, {"weighting": "symmetric", "potential": "convolved"}),
    ("cs", CauchySchwarzClassifier, {"weighting": None, "potential": "convolved"}),
    ("cs", CauchySchwarzClassifier, {"weighting": "inverse", "potential": "same"}),
    ("cs", CauchySchwarzClassifier, {"weighting": "inverse", "priors": "shares"}),
]
NAMES = [f"{make.__name__}-{'-'.join(map(str, options.values()))}" for _, make, options in RULES]
CLASSIFIERS = [ParzenClassifier, ISEClassifier, LaplacianISEClassifier, CauchySchwarzClassifier]
every_rule = pytest.mark.parametrize("rule, make, options", RULES, ids=NAMES)
every_classifier = pytest.mark.parametrize("make", CLASSIFIERS)


def split(name):
    """Standardised training and test part of a data set."""
    if name == "banana":
        file = load_npz("ratsch_banana")
        train, test = file["train_idx"][0], file["test_idx"][0][:300]
        X, y = file["X"], file["y"]
    else:
        load = {"iris": load_iris, "wine": load_wine, "breast_cancer": load_breast_cancer}[name]
        X, y = load(return_X_y=True)
        order = np.random.default_rng(0).permutation(len(X))
        train, test = order[: 2 * len(X) // 3], order[2 * len(X) // 3 :]
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]


def assert_same_labels(predicted, X, y, T, rule, **parameters):
    """Equal labels, but for queries whose two best classes tie to rounding in the reference."""
    scores = reference.scores(rule, T, X, y, **parameters)
    clear = (reference.margins(scores) > 1e-10) | (scores.max(axis=1) <= 0)
    assert clear.mean() > 0.9
    assert_array_equal(predicted[clear], reference.predict(rule, T, X, y, **parameters)[clear])


@every_rule
@pytest.mark.parametrize(
    ("name", "kernel"), [*product(["iris", "banana"], KERNELS), ("wine", "gaussian"), ("breast_cancer", "epanechnikov")]
)
def test_predictions_equal_the_formulas(rule, make, options, name, kernel):
    X, y, T, _ = split(name)
    for factor in (0.6, 1.7):
        h = factor * silverman_bandwidth(X, kernel=kernel)
        model = make(bandwidth=h, kernel=kernel, scale=None, **options).fit(X, y)
        assert_same_labels(model.predict(T), X, y, T, rule, kernel=kernel, bandwidth=h, **options)


@pytest.mark.parametrize("kernel", ["gaussian", "quartic"])
@every_rule
def test_predictions_with_class_wise_bandwidths_and_weights(rule, make, options, kernel):
    X, y, T, _ = split("wine")
    h = np.array([1.0, 1.5, 2.5]) / np.sqrt(kernel_variance(kernel, X.shape[1]))
    w = np.random.default_rng(1).uniform(0.1, 3, len(X))
    model = make(bandwidth=dict(enumerate(h)), kernel=kernel, **options, scale=None).fit(X, y, sample_weight=w)
    assert_array_equal(model.bandwidth_, h)
    assert_same_labels(model.predict(T), X, y, T, rule, kernel=kernel, bandwidth=h, w=w, **options)


@every_rule
def test_decision_function_is_the_score(rule, make, options):
    """Distances equal the formula up to the kernel's constant, logarithmic scores up to a constant."""
    X, y, T, _ = split("wine")
    decision = make(bandwidth=1.0, **options).fit(X, y).decision_function(T)
    expected = reference.scores(rule, T, X, y, bandwidth=1.0, **options)
    if rule == "ise":
        constant = (2 * np.pi) ** (X.shape[1] / 2) if options.get("weighting") is None else 1.0
        assert_allclose(decision, constant * expected, rtol=1e-10, atol=1e-12)
    else:
        difference = decision - np.log(expected)
        if options.get("weighting") == "symmetric":  # f(y) is common to the classes
            difference -= difference.mean(axis=1, keepdims=True)
        assert_allclose(difference - difference.mean(), 0, atol=1e-9)


def test_density_integrates_to_one_and_equals_the_formula():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    axis = np.linspace(-9, 9, 181)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    for kernel in KERNELS:
        unit = 0.5 if kernel == "laplace" else 1.0  # keeps its tail on the grid
        for h in (1.2 * unit, [0.9 * unit, 1.6 * unit]):
            given = dict(enumerate(h)) if isinstance(h, list) else h
            model = ParzenClassifier(bandwidth=given, kernel=kernel, priors=[0.3, 0.7], scale=None).fit(X, y)
            density = np.exp(model.score_samples(grid))
            assert_allclose(density.sum() * (axis[1] - axis[0]) ** 2, 1, rtol=1e-2)
            joint = reference.scores("parzen", grid, X, y, kernel=kernel, bandwidth=h, priors=[0.3, 0.7])
            assert_allclose(density, joint.sum(axis=1), rtol=1e-10, atol=1e-300)
            reached = joint.max(axis=1) > 0
            posterior = joint[reached] / joint[reached].sum(axis=1, keepdims=True)
            assert_allclose(model.predict_proba(grid)[reached], posterior, rtol=1e-9, atol=1e-12)


@every_rule
def test_two_units_of_length_give_the_same_rule(rule, make, options):
    """Normalising constants h^-d that over- or underflow cancel."""
    X, y = make_blobs(n_samples=60, n_features=60, centers=3, cluster_std=4.0, random_state=0)
    h = silverman_bandwidth(X)
    plain = make(bandwidth={0: h, 1: 1.1 * h, 2: 1.2 * h}, **options, scale=None).fit(X, y)
    tiny = make(bandwidth={0: 1e-8 * h, 1: 1.1e-8 * h, 2: 1.2e-8 * h}, **options, scale=None).fit(1e-8 * X, y)
    assert_allclose(tiny.decision_function(1e-8 * X), plain.decision_function(X), rtol=1e-6, atol=1e-12)


def two_clusters(n=20):
    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal(-3, 1, size=(n, 2)), rng.normal(3, 1, size=(2 * n, 2))])
    return X, np.repeat(["left", "right"], [n, 2 * n])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("distance", [1e3, 1e5])
def test_far_queries_get_the_class_of_the_nearest_points(dtype, distance):
    """Log densities fall like -distance^2 / 2, and the nearest class wins by far."""
    X, y = two_clusters()
    T = distance * np.array([[-1.0, 0.1], [1.0, -0.2], [-1.0, -1.0], [2.0, 1.0]])
    expected = np.array(["left", "right", "left", "right"])
    for make, options in [(ParzenClassifier, {}), (CauchySchwarzClassifier, {"weighting": None})]:
        model = make(bandwidth=1.0, **options, scale=None).fit(X.astype(dtype), y)
        assert_array_equal(model.predict(T.astype(dtype)), expected)
        assert np.all(np.isfinite(model.decision_function(T.astype(dtype))))
    for weighting in ("inverse", "symmetric"):
        model = CauchySchwarzClassifier(bandwidth=1.0, weighting=weighting, scale=None).fit(X.astype(dtype), y)
        assert_array_equal(model.predict(T.astype(dtype)), expected)
    model = ParzenClassifier(bandwidth=1.0, scale=None).fit(X.astype(dtype), y)
    log_density = model.score_samples(T.astype(dtype))
    assert np.all(np.isfinite(log_density))
    assert_allclose(log_density, -np.sum(T**2, axis=1) / 2, rtol=20 / distance)
    proba = model.predict_proba(T.astype(dtype))
    assert_allclose(proba.sum(axis=1), 1)
    assert_array_equal(proba[:, 1] > 0.999, expected == "right")


@pytest.mark.parametrize("make", [ISEClassifier, LaplacianISEClassifier])
def test_far_queries_of_a_distance_rule_go_to_the_smallest_potential(make):
    X, y = two_clusters()
    T = np.array([[-1e3, 0.0], [1e3, 0.0], [0.0, 1e5]])
    model = make(bandwidth=1.0).fit(X, y)
    options = {} if make is ISEClassifier else {"weighting": "symmetric"}
    expected = reference.predict("ise", T, X, y, bandwidth=1.0, **options)
    assert len(set(expected)) == 1
    assert_array_equal(model.predict(T), expected)


def test_equal_potentials_leave_the_decision_to_the_vanished_densities():
    """Four isolated points, two a class: the potentials are equal, kernel values at the queries 1e-200."""
    X = np.array([[0.0], [100.0], [50.0], [150.0]])
    y = np.array([0, 0, 1, 1])
    T = np.array([[-40.0], [190.0], [74.0], [80.0]])
    model = ISEClassifier(bandwidth=0.9, scale=None).fit(X, y)
    assert_array_equal(model.predict(T), [0, 1, 1, 0])
    decision = model.decision_function(T)
    assert_array_equal(decision > 0, [False, True, True, False])


@pytest.mark.parametrize("kernel", COMPACT)
def test_a_compact_kernel_out_of_reach_chooses_the_nearest_class(kernel):
    X, y = two_clusters()
    T = np.array([[-1e3, 0.0], [1e3, 0.0], [-40.0, 30.0], [50.0, -1e6]])
    expected = y[distances(T, X).argmin(axis=1)]
    for make in (ParzenClassifier, CauchySchwarzClassifier):
        model = make(bandwidth=1.5, kernel=kernel).fit(X, y)
        assert_array_equal(model.predict(T), expected)
        decision = model.decision_function(T)
        assert np.all(np.isfinite(decision)) and np.all((decision > 0) == (expected == "right"))
    model = ParzenClassifier(bandwidth=1.5, kernel=kernel).fit(X, y)
    assert_array_equal(model.score_samples(T), -np.inf)
    assert_array_equal(model.predict_proba(T), expected[:, None] == model.classes_)


@every_classifier
def test_blocks_change_nothing(make, monkeypatch):
    X, y, T, _ = split("iris")
    one = make().fit(X, y)
    monkeypatch.setattr("spectralcls._expansion.points.blocks.__defaults__", (1000,))
    small = make().fit(X, y)
    assert_allclose(small.cv_results_["mean_test_score"], one.cv_results_["mean_test_score"])
    assert_allclose(small.decision_function(T), one.decision_function(T), rtol=1e-12, atol=1e-14)
    if make is ParzenClassifier:
        assert_allclose(small.score_samples(T), one.score_samples(T))


def test_priors():
    X, y, T, _ = split("iris")
    model = ParzenClassifier(bandwidth=0.6).fit(X, y)
    assert_allclose(model.class_prior_, np.bincount(y) / len(y))
    given = ParzenClassifier(bandwidth=0.6, priors=[0.0, 0.2, 0.8]).fit(X, y)
    assert_array_equal(given.class_prior_, [0.0, 0.2, 0.8])
    assert not np.any(given.predict(T) == 0)
    assert_array_equal(given.predict_proba(T)[:, 0], 0)
    by_label = ParzenClassifier(bandwidth=0.6, priors={2: 0.8, 0: 0.0, 1: 0.2}).fit(X, y)
    assert_array_equal(by_label.predict_proba(T), given.predict_proba(T))


@pytest.mark.parametrize("make", [LaplacianISEClassifier, CauchySchwarzClassifier])
def test_inverse_density_is_that_of_the_training_points(make):
    X, y, _, _ = split("iris")
    model = make(bandwidth=0.6).fit(X, y)
    f = reference.density(X, X, y, "gaussian", [0.6] * 3, np.ones(len(X)))
    assert_allclose(model.inverse_density_, 1 / (f * (2 * np.pi * 0.6**2) ** 2), rtol=1e-10)
    assert not hasattr(CauchySchwarzClassifier(bandwidth=0.6, weighting=None).fit(X, y), "inverse_density_")


NEW = {"X": np.arange(12.0).reshape(6, 2), "y": np.array([0, 1, 0, 1, 0, 1])}
BAD_INPUT = [
    ({}, {"X": np.where(NEW["X"] == 3, np.inf, NEW["X"])}, ValueError, "Input X contains infinity"),
    ({}, {"X": np.char.add(NEW["X"].astype("U8")[:, :1], "a")}, ValueError, "pass a data frame"),
    ({}, {"sample_weight": [1, 1, 1, 1, 1, -1]}, ValueError, "Negative values"),
    ({}, {"sample_weight": [1, 0, 1, 0, 1, 0]}, ValueError, "got 1 class"),
    ({}, {"sample_weight": [1, 1, 1]}, ValueError, "sample_weight.shape"),
    ({"bandwidth": 0.0}, {}, ValueError, "The 'bandwidth' parameter"),
    ({"bandwidth": np.nan}, {}, ValueError, "The 'bandwidth' parameter"),
    ({"bandwidth": "scott"}, {}, ValueError, "The 'bandwidth' parameter"),
    ({"bandwidth": [1.0, 2.0]}, {}, ValueError, "an array does not say whether its numbers belong to classes or"),
    ({"bandwidth": {0: 1.0, 1: 1.0, 2: 3.0}}, {}, ValueError, "for each class and no other label, see 2"),
    ({"bandwidth": {0: 1.0}}, {}, ValueError, "for each class and no other label, see 1"),
    ({"bandwidth": {0: 1.0, 1: np.nan}}, {}, ValueError, "bandwidth must be positive and finite, got nan"),
    ({"bandwidth": {0: 1.0, 1: 0.0}}, {}, ValueError, "bandwidth must be positive and finite, got 0.0"),
    ({"bandwidth": {0: "a", 1: "b"}}, {}, ValueError, "bandwidth must be numeric"),
    ({"bandwidth": "cv", "bandwidth_grid": []}, {}, ValueError, "bandwidth_grid is empty"),
    ({"bandwidth": "cv", "bandwidth_grid": [1.0, -2.0]}, {}, ValueError, "positive and finite, got -2.0"),
    ({"kernel": "tophat"}, {}, ValueError, "The 'kernel' parameter"),
    ({"cv": 1}, {}, ValueError, "The 'cv' parameter"),
    ({"bandwidth": "cv", "cv": [([0, 1, 2], [3, 4, 5])]}, {}, ValueError, "cv must partition"),
    ({"n_jobs": 0}, {}, ValueError, "The 'n_jobs' parameter"),
]


@every_classifier
@pytest.mark.parametrize("parameters, data, error, message", BAD_INPUT, ids=[case[-1] for case in BAD_INPUT])
def test_bad_input_raises_and_changes_nothing(make, parameters, data, error, message):
    X, y = two_clusters()
    model = make(bandwidth=1.0).fit(X, y)
    before = model.decision_function(X)
    attributes = {name: vars(model)[name] for name in vars(model) if name.endswith("_")}
    model.set_params(**parameters)
    with pytest.raises(error, match=message):
        model.fit(**(NEW | data))
    after = {name: vars(model)[name] for name in vars(model) if name.endswith("_")}
    assert set(attributes) == set(after) and all(after[name] is attributes[name] for name in after)
    assert_array_equal(model.decision_function(X), before)


@pytest.mark.parametrize(
    "priors, message",
    [
        ({"left": 0.5, "up": 0.5}, "a number for each class and no other label, see 'right', 'up'"),
        ([0.5, 0.3, 0.2], "Number of priors"),
        ([0.5, 0.6], "should be 1"),
        ([1.5, -0.5], "non-negative"),
    ],
)
def test_bad_priors(priors, message):
    with pytest.raises(ValueError, match=message):
        ParzenClassifier(priors=priors).fit(*two_clusters())


@pytest.mark.filterwarnings("ignore:.*predicts the same class for every")
@pytest.mark.parametrize("kernel", ["uniform", "epanechnikov", "cosine"])
def test_a_class_of_prior_zero_never_wins(kernel):
    """Neither where its own points lie nor where no kernel reaches, in predictions and in tuning."""
    X, y = np.array([[0.0], [0.1], [5.0], [5.1]]), [0, 0, 1, 1]
    Q = np.array([[0.0], [-1e3], [2.0], [1e9]])
    model = ParzenClassifier(0.1, kernel=kernel, priors=[0, 1]).fit(X, y)
    assert_array_equal(model.predict(Q), 1)
    assert_array_equal(model.predict_proba(Q), [[0.0, 1.0]] * 4)
    for cv in (2, "loo"):
        tuned = ParzenClassifier(kernel=kernel, priors=[0, 1], bandwidth_grid=[0.01], cv=cv).fit(X, y)
        assert_allclose(tuned.cv_results_["mean_test_score"], [1.0])  # of class 1 alone: no other is expected
