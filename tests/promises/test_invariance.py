"""What no answer of an estimator depends on: how the arrays lie in memory, the number of threads, names and order of
classes, the order of the samples, where the data lie and how they are turned, their unit, copies or weights."""

import numpy as np
import pytest
from every_estimator import VARIANTS, answered, assert_same, classifiers, make, names, problem, responses, variants
from fuzz.strategies import LAYOUTS
from invariances import EXCEPTIONS
from scipy.sparse import csr_array
from scipy.stats import ortho_group
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.utils.validation import has_fit_parameter

from spectralcls import (
    CCDRClassifier,
    ISEClassifier,
    KernelRidgeClassifier,
    ParzenClassifier,
    PerTurboClassifier,
    SpectralKernelClassifier,
)
from spectralcls._utils.copies import random_keys

pytestmark = pytest.mark.filterwarnings("ignore")  # of convergence and the like: not the subject

# A diagonal metric belongs to the coordinates; the others search, and end elsewhere if numbers are rounded elsewhere.
ENCODED = {"AutoClassifier", "AutoRegressor"}  # column by column
ROTATED = sorted(set(names()) - ENCODED - {"GradientMetric", "KernelMetric", "SpectralKernelClassifier"})
PLACED = sorted(set(names()) - {"GradientMetric", "SpectralKernelClassifier"})
SQUARES = {"AutoClassifier", "CCDRClassifier"}  # not for data whose squares are no numbers, or no float32
SQUARES |= {name for name in VARIANTS if "max_exact_samples" in name or "metric" in name}
WEIGHTED = [name for name in variants() if has_fit_parameter(make(name), "sample_weight")]
SEEDS = range(2)


@pytest.mark.parametrize("name", variants())
def test_layout_and_threads(name, tmp_path):
    X, y, Q = problem()
    expected = answered(name)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    for layout in [*LAYOUTS.values(), np.ndarray.tolist, lambda A: mapped if A is X else A]:
        for n_jobs in (1, 3) if layout is np.asfortranarray else (None,):
            estimator = make(name, fixed=True)
            if "n_jobs" in estimator.get_params():
                estimator.set_params(n_jobs=n_jobs)
            assert_same(responses(estimator.fit(layout(X), y), layout(Q)), expected)


@pytest.mark.parametrize("name", variants())
def test_queries_one_by_one(name):
    X, y, Q = problem()
    estimator = make(name, fixed=True).fit(X, y)
    together = responses(estimator, Q)
    for i in range(0, len(Q), 4):
        alone = responses(estimator, Q[i : i + 1])
        expected = {
            key: value[i : i + 1, i : i + 1] if key == "transform" else value[i : i + 1]
            for key, value in together.items()
        }
        for key, value in expected.items():
            labels = key == "predict" and value.dtype.kind != "f"
            scale = 0 if labels else np.abs(together[key]).max()
            if labels:
                np.testing.assert_array_equal(alone[key], value)
            else:
                np.testing.assert_allclose(alone[key], value, rtol=1e-11, atol=1e-12 * scale)


@pytest.mark.parametrize("fixed", [True, False])
@pytest.mark.parametrize("name", variants())
def test_order_of_the_samples(name, fixed):
    X, y, Q = problem()
    order = np.random.default_rng(0).permutation(len(X))
    found = responses(make(name, fixed).fit(X[order], y[order]), Q)
    assert_same(found, answered(name, fixed), rtol=1e-8)


@pytest.mark.parametrize("labels", [np.array(["b", "a", "c"]), np.array([7, -1, 3]), np.array([True, False])])
@pytest.mark.parametrize("name", classifiers())
def test_names_of_the_classes(name, labels):
    X, y, Q = problem()
    X, y = X[y < len(labels)], y[y < len(labels)]
    plain, renamed = make(name, fixed=True).fit(X, y), make(name, fixed=True).fit(X, labels[y])
    order = np.argsort(labels)
    np.testing.assert_array_equal(renamed.classes_, labels[order])
    np.testing.assert_array_equal(renamed.predict(Q), labels[plain.predict(Q)])
    for method in ("predict_proba", "decision_function"):
        if hasattr(plain, method):
            expected, found = getattr(plain, method)(Q), getattr(renamed, method)(Q)
            expected = expected[:, order] if expected.ndim == 2 else expected * (1 if order[0] == 0 else -1)
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("name", PLACED)
def test_place_of_the_data(name):
    X, y, Q = problem()
    grid = 2.0**-20  # translated exactly: what is tested is the estimator, not the rounding of its input
    X, Q = np.round(X / grid) * grid, np.round(Q / grid) * grid
    found = responses(make(name, fixed=True).fit(X + 1e6, y), Q + 1e6)
    assert_same(found, responses(make(name, fixed=True).fit(X, y), Q), rtol=1e-7)


@pytest.mark.parametrize("name", ROTATED)
def test_rotation_of_the_data(name):
    X, y, Q = problem()
    R = ortho_group.rvs(X.shape[1], random_state=0)
    found = responses(make(name, fixed=True).fit(X @ R, y), Q @ R)
    assert_same(found, answered(name), rtol=1e-8)


@pytest.mark.parametrize(
    "name, exponent",
    [
        (name, exponent)
        for name in classifiers(variants())
        for exponent in (-990, -60, 60, 990)
        if abs(exponent) < 100 or name not in SQUARES
    ],
)
def test_unit_of_the_data(name, exponent):
    """Joint powers of two change no rounding; squares of numbers like 1e300 do not exist, those of 1e-300 are zero."""
    X, y, Q = problem()
    unit, plain = 2.0**exponent, make(name, fixed=True)
    scaled = make(name, fixed=True)
    if isinstance(plain.get_params().get("bandwidth"), float) and plain.get_params().get("metric") is None:
        scaled.set_params(bandwidth=unit * plain.bandwidth)
    found, expected = scaled.fit(unit * X, y), plain.fit(X, y)
    np.testing.assert_array_equal(found.predict(unit * Q), expected.predict(Q))
    if hasattr(plain, "predict_proba"):
        np.testing.assert_allclose(found.predict_proba(unit * Q), expected.predict_proba(Q), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("exponent", [-990, 990])
@pytest.mark.parametrize("name", ["CCDR", "CCDRClassifier"])
def test_a_squared_length_out_of_range_is_refused(name, exponent):
    X, y, _ = problem()
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="rescale the data"):
        make(name, fixed=True).fit(2.0**exponent * X, y)


@pytest.mark.parametrize("fixed", [True, False])
@pytest.mark.parametrize(
    ("name", "scale", "class_weight"),
    [
        (name, scale, class_weight)
        for name in WEIGHTED
        for scale in ("auto", None)
        for class_weight in (None, "balanced")
        if name.partition("(")[0] not in EXCEPTIONS["weights as copies"]
        and (scale is None or "scale" in make(name).get_params())
        and (class_weight is None or "class_weight" in make(name).get_params())
    ],
)
def test_copies_are_weights(name, scale, class_weight, fixed):
    """Also of nothing, in any order, and in what is tuned; not of densities, which leave out one copy of a row."""
    X, y, Q = problem(90)
    counts = np.random.default_rng(0).integers(0, 4, len(X))
    rows = np.random.default_rng(1).permutation(np.repeat(np.arange(len(X)), counts))
    model, given = make(name, fixed), {"scale": scale, "class_weight": class_weight}
    model.set_params(**{key: value for key, value in given.items() if key in model.get_params()})
    weighted = responses(clone(model).fit(X, y, sample_weight=counts), Q)
    repeated = responses(clone(model).fit(X[rows], y[rows]), Q)
    sort_rows = {"GradientMetric", "KernelMetric", "KernelRidgeClassifier"}
    assert_same(weighted, repeated, rtol=None if name in sort_rows and not (scale or class_weight) else 1e-9)


@pytest.mark.parametrize("name", variants())
def test_single_precision(name):
    X, y, Q = problem(dtype=np.float32)
    double = responses(make(name, fixed=True).fit(X.astype(np.float64), y), Q.astype(np.float64))
    single = responses(make(name, fixed=True).fit(X, y), Q)
    assert_same(single, double, rtol=2e-3)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", classifiers())
def test_what_is_tuned_depends_on_no_order_and_no_names(name, seed):
    X, y, Q = noisy(seed)
    rng = np.random.default_rng(seed)
    columns, rows = rng.permutation(X.shape[1]), rng.permutation(len(X))
    expected = make(name).fit(X, y).predict(Q)
    np.testing.assert_array_equal(make(name).fit(X[:, columns], y).predict(Q[:, columns]), expected)
    np.testing.assert_array_equal(make(name).fit(X[rows], y[rows]).predict(Q), expected)
    np.testing.assert_array_equal(1 - make(name).fit(X, 1 - y).predict(Q), expected)


@pytest.mark.parametrize("name", names())
def test_what_lies_under_a_mask_is_missing(name):
    X, y, Q = problem(n=90)
    hidden = np.random.default_rng(0).random(X.shape) < 0.15
    masked, gaps = np.ma.array(np.where(hidden, 1e6, X), mask=hidden), np.where(hidden, np.nan, X)
    found, expected = (responses(make(name).fit(given, y), given[: len(Q)]) for given in (masked, gaps))
    assert_same(found, expected, rtol=1e-10)


def noisy(seed):
    """Two classes with a fifth of the labels drawn by chance, so that many bandwidths do nearly as well."""
    X, y = make_classification(220, 6, n_informative=3, flip_y=0.2, random_state=seed)
    return X[:100], y[:100], X[150:]


def with_gaps(n, seed=0):
    X, y = make_classification(n + 50, 6, n_informative=4, n_classes=3, flip_y=0.1, random_state=seed)
    X[np.random.default_rng(seed).random(X.shape) < 0.1] = np.nan
    return X[:n], y[:n], X[n:]


def orders(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.permutation(n), rng.permutation(d), np.array([1, 2, 0])


@pytest.mark.parametrize(
    "model",
    [ParzenClassifier(), ISEClassifier(), PerTurboClassifier(), KernelRidgeClassifier(), ParzenClassifier(scale=None)],
    ids=repr,
)
def test_tuning_with_missing_values_depends_on_no_order(model):
    """More points of a class than complete the others, more than stand for all, and more pairs than are looked at."""
    X, y, Q = with_gaps(900)
    rows, columns, names = orders(*X.shape)
    expected = clone(model).fit(X, y).predict_proba(Q)
    found = clone(model).fit(X[rows][:, columns], names[y[rows]]).predict_proba(Q[:, columns])
    np.testing.assert_allclose(found[:, names], expected, rtol=1e-6, atol=1e-8)


def test_tuning_of_many_rows_depends_on_no_order():
    X, y, Q = with_gaps(60_000)
    X, Q = np.nan_to_num(X[:, :2]), np.nan_to_num(Q[:, :2])
    rows, columns, names = orders(*X.shape)
    model = ISEClassifier(bandwidth_grid=[0.1, 0.4, 1.6], max_tuning_samples=500)
    expected = clone(model).fit(X, y).predict_proba(Q)
    found = clone(model).fit(X[rows][:, columns], names[y[rows]]).predict_proba(Q[:, columns])
    np.testing.assert_allclose(found[:, names], expected, rtol=1e-6)


@pytest.mark.parametrize("dense", [np.asarray, csr_array])
def test_random_keys_follow_from_the_rows(dense):
    rng = np.random.default_rng(0)
    X = rng.integers(-1, 3, size=(400, 6)).astype(float) * rng.normal(size=6)  # copies, zeros and -0.0
    rows, columns = rng.permutation(400), rng.permutation(6)
    keys = random_keys(dense(X), 3)
    np.testing.assert_array_equal(random_keys(dense(X[rows][:, columns]), 3), keys[rows])
    _, same = np.unique(X, axis=0, return_inverse=True)
    assert len(np.unique(keys)) == len(np.unique(same)) == len(np.unique(np.column_stack([keys, same]), axis=0))
    assert not np.array_equal(random_keys(dense(X), 4), keys)
    bits = (keys[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    assert abs(bits.mean() - 0.5) < 0.05


def test_a_sparse_table_is_tuned_alike_in_any_order():
    rng = np.random.default_rng(0)
    X = rng.poisson(0.15, size=(150, 80)) * 1.0
    X[:, 0] = 1
    y = (X[:, 1:40].sum(axis=1) > X[:, 40:].sum(axis=1)).astype(int)
    rows = rng.permutation(len(X))
    expected = SpectralKernelClassifier(n_components="cv").fit(csr_array(X), y)
    found = SpectralKernelClassifier(n_components="cv").fit(csr_array(X[rows]), y[rows])
    assert found.best_score_ == pytest.approx(expected.best_score_)
    np.testing.assert_array_equal(found.predict(csr_array(X)), expected.predict(csr_array(X)))


@pytest.mark.parametrize(
    ("model", "reordered"),
    [(ParzenClassifier(metric="full"), True), (ISEClassifier(metric="full"), True), (CCDRClassifier(), False)],
    ids=repr,
)
def test_draws_and_votes_do_not_depend_on_names_nor_maps_on_the_order_of_columns(model, reordered):
    X, y, Q = with_gaps(150)
    X, Q = np.nan_to_num(X), np.nan_to_num(Q)
    _, columns, names = orders(*X.shape)
    columns = columns if reordered else np.arange(X.shape[1])
    expected = clone(model).fit(X, y).predict(Q)
    np.testing.assert_array_equal(clone(model).fit(X[:, columns], names[y]).predict(Q[:, columns]), names[expected])
