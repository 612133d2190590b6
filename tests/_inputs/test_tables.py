"""Tables: categories and missing values, against direct sums and numerical integration in float64."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from every_estimator import KINDS, names
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.preprocessing import StandardScaler

from spectralcls import (
    AutoClassifier,
    AutoRegressor,
    CauchySchwarzClassifier,
    ISEClassifier,
    KernelRidgeClassifier,
    LaplacianISEClassifier,
    ParzenClassifier,
    ParzenDensity,
    PerTurboClassifier,
)
from spectralcls._expansion.incomplete import incomplete_class_sums
from spectralcls._inputs import Table
from spectralcls._inputs.completion import Completion, completed_by_folds
from spectralcls._inputs.coordinates import centers_and_scales
from spectralcls._inputs.frames import read_columns
from spectralcls._inputs.training_data import TrainingData
from spectralcls._tuning.factors import FACTORS, ROUNDS
from spectralcls._tuning.held_out_loss import HeldOutLoss, filled
from spectralcls._utils.quantile import weighted_quantile
from spectralcls.neighbors import knn
from spectralcls.spectral import LaplacianSpectralClassifier, SpectralISEClassifier, SpectralLaplacianISEClassifier

FEATURES = np.array([0, 1, 2, 2, 2, 3])  # the third feature has three columns
SPECTRAL = [SpectralISEClassifier, SpectralLaplacianISEClassifier, LaplacianSpectralClassifier]
SUMS = [ParzenClassifier, ISEClassifier, LaplacianISEClassifier, CauchySchwarzClassifier]
TAKE_MISSING = [*SUMS, *SPECTRAL, KINDS["PerTurboClassifier"]]


def completed(X, codes, weights=None, features=None):
    return Completion.learned(X, codes, weights, features).of_rows(X, codes)


def incomplete(rng, n, share, offset=0.0):
    X = rng.normal(size=(n, len(FEATURES))) + offset
    X[(rng.random((n, 4)) < share)[:, FEATURES]] = np.nan
    return X


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("widths", [[0.4, 1.0], [[0.5, 0.8, 1.3]]])
def test_class_sums_are_those_of_the_product(widths, offset):
    """Term by term: a feature that a query lacks takes its integral, and its share from what weighs the points."""
    rng = np.random.default_rng(0)
    X, Q = incomplete(rng, 60, 0.0, offset), incomplete(rng, 25, 0.3, offset)
    codes, weights, factors = rng.integers(0, 3, 60), rng.uniform(0.5, 2, 60), rng.uniform(0.1, 9, (60, 2))
    widths = np.array(widths)
    plain, found = (
        np.log(sums) + log_scale[..., None]
        for log_scale, sums in (
            incomplete_class_sums(Q, X, codes, 3, widths, weights, g, FEATURES) for g in (None, factors)
        )
    )
    for i, q in enumerate(Q):
        has = ~np.isnan(q)
        shared = factors ** (len(np.unique(FEATURES[has])) / 4)
        squared = ((q[has] - X[:, has]) ** 2).sum(axis=1)
        for b, by_class in enumerate(np.broadcast_to(widths.reshape(len(widths), -1), (len(widths), 3))):
            h = by_class[codes]
            terms = weights * np.exp(-squared / (2 * h**2)) * (np.sqrt(2 * np.pi) * h) ** np.count_nonzero(~has)
            for c in range(3):
                own = codes == c
                assert_allclose(plain[i, b, c], np.log([terms[own].sum()]), rtol=0, atol=1e-9)
                assert_allclose(found[i, b, c], np.log(terms[own] @ shared[own]), rtol=0, atol=1e-9)


def regression(X, codes, weights, kept):
    """`completed` value by value, by the points of a mask."""
    known = ~np.isnan(X)
    center = np.average(np.nan_to_num(X), axis=0, weights=weights[:, None] * known + 1e-300)
    spread = np.average(np.nan_to_num(X - center) ** 2, axis=0, weights=weights[:, None] * known + 1e-300)

    def squared(i, j):
        both, one = known[i] & known[j], known[i] & ~known[j]
        return ((X[i] - X[j])[both] ** 2).sum() + ((X[i] - center)[one] ** 2 + spread[one]).sum()

    pairs = [(i, j) for i in range(len(X)) for j in range(len(X)) if codes[i] == codes[j]]
    distances, pair_weights = (
        np.array([function(*pair) for pair in pairs]) for function in (squared, lambda i, j: weights[i] * weights[j])
    )
    apart = distances > 1e-9 * distances.max()
    h = np.sqrt(weighted_quantile(distances[apart], 0.05, pair_weights[apart])) / 2
    out = X.copy()
    for i, f in np.argwhere(~known):
        mates = np.flatnonzero(kept & known[:, f] & (codes == codes[i]))
        K = weights[mates] * np.exp([-squared(i, j) / (2 * h**2) for j in mates])
        everyone = np.flatnonzero(kept & known[:, f])
        of_mean = mates if len(mates) else everyone
        mean = np.average(X[of_mean, f], weights=weights[of_mean])
        prior = 1e-5 * weights[codes == codes[i]].sum()
        out[i, f] = (K @ X[mates, f] + prior * mean) / (K.sum() + prior)
    return out


def test_training_points_are_completed_by_the_regression_on_their_class():
    rng = np.random.default_rng(1)
    X, codes, weights = incomplete(rng, 70, 0.3, 5.0), rng.integers(0, 3, 70), rng.uniform(0.5, 2, 70)
    X[codes == 2, 0] = np.nan  # no point of the class has it
    X[0] = np.nan
    folds = rng.integers(0, 4, 70)
    everything = np.ones(70, dtype=bool)
    assert_allclose(completed(X, codes, weights, FEATURES), regression(X, codes, weights, everything), rtol=1e-9)
    by_folds = completed_by_folds(X, codes, folds, weights, FEATURES)
    for fold in range(4):
        assert_allclose(by_folds[fold], regression(X, codes, weights, folds != fold), rtol=1e-9)
    complete = rng.normal(size=(9, 2)).astype(np.float32)
    assert completed(complete, np.zeros(9, dtype=int)) is complete


def test_points_are_completed_as_if_given_as_often_as_they_weigh():
    rng = np.random.default_rng(2)
    X, codes, times = incomplete(rng, 40, 0.3), rng.integers(0, 2, 40), rng.integers(1, 4, 40)
    found = completed(X, codes, times, FEATURES)
    repeated = completed(np.repeat(X, times, axis=0), np.repeat(codes, times), None, FEATURES)
    assert_allclose(np.repeat(found, times, axis=0), repeated, rtol=1e-9)
    many = np.where(rng.random((2000, 3)) < 0.2, np.nan, rng.normal(size=(2000, 3)))
    whole = completed(many, np.zeros(2000, dtype=int))
    assert_array_equal(whole[~np.isnan(many)], many[~np.isnan(many)])
    assert np.isfinite(whole).all() and np.abs(whole).max() == np.nanmax(np.abs(many))


@pytest.mark.parametrize("widths", [0.5, {0: 0.4, 1: 0.7}])
def test_the_density_with_missing_values_integrates_to_one_and_to_its_marginals(widths):
    """`score_samples` of a model of incomplete points; a query without a feature has its integral over that feature."""
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 2
    X[:10, 0] = np.nan
    X[10:18, 1] = np.nan
    X[18] = np.nan
    model = ParzenClassifier(widths, scale=None).fit(X, y)
    grid = np.linspace(-7, 7, 281)
    step = grid[1] - grid[0]
    values = np.exp(model.score_samples(np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=2).reshape(-1, 2)))
    density = values.reshape(281, 281)
    assert_allclose(density.sum() * step**2, 1, rtol=1e-7)
    some = grid[100:180:10]
    marginal = np.exp(model.score_samples(np.column_stack([some, np.full(8, np.nan)])))
    assert_allclose(marginal, density.sum(axis=1)[100:180:10] * step, rtol=1e-7)
    assert_allclose(model.score_samples([[np.nan, np.nan]]), 0, atol=1e-9)
    assert_allclose(model.predict_proba([[np.nan, np.nan]]), [[0.5, 0.5]], atol=1e-9)


def test_squared_norms_are_the_integrals_of_the_squared_densities():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    X[:6, 0] = np.nan
    X[9:13, 1] = np.nan
    X[13] = np.nan
    model = ISEClassifier(0.6, scale=None).fit(X, y)
    grid = np.linspace(-7, 7, 281)
    step = grid[1] - grid[0]
    Q = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=2).reshape(-1, 2)
    sums = np.exp(model._model.points.class_log_sums(Q, None, "gaussian", 0.6))[..., 0] / 10  # k(0) = 1
    integrals = (sums**2).sum(axis=0) * step**2 / (2 * np.pi * 0.6**2)
    assert_allclose(model._model.offsets, integrals, rtol=1e-7)


@pytest.mark.parametrize("make", [ISEClassifier, SpectralISEClassifier])
def test_the_inner_product_with_a_query_without_a_feature_is_the_integral_over_it(make):
    rng = np.random.default_rng(4)
    X, Q, y = rng.normal(size=(60, 3)), rng.normal(size=(20, 3)), np.arange(60) % 3
    model, grid = make(0.7, scale=None).fit(X, y), np.linspace(-9, 9, 361)
    Q[::2, 1] = np.nan
    found = model.decision_function(Q) + model._model.offsets
    assert_allclose(found[1::2], model.decision_function(Q[1::2]) + model._model.offsets, rtol=1e-12)
    for q, inner in zip(Q[::2], found[::2], strict=True):
        line = np.column_stack([np.full(361, q[0]), grid, np.full(361, q[2])])
        values = model.decision_function(line) + model._model.offsets
        assert_allclose(inner, values.sum(axis=0) * (grid[1] - grid[0]), rtol=1e-7)


@pytest.mark.parametrize(
    "make",
    [*SUMS[:3], partial(CauchySchwarzClassifier, priors="shares"), SpectralLaplacianISEClassifier],
)
@pytest.mark.parametrize("weighted, alone", [(False, False), (True, False), (False, True)])
def test_points_with_gaps_are_tuned_on_as_if_completed_and_refitted_fold_by_fold(make, weighted, alone):
    """Also if all points of a class are in one fold."""
    rng = np.random.default_rng(5)
    X, y, grid = rng.normal(size=(90, 3)), np.arange(90) % 3, [0.3, 0.6, 1.2]
    if alone:
        y = np.where(np.arange(90) == 17, 2, y % 2)
    X[:, 0] += y
    X[:, :2][rng.random((90, 2)) < 0.3] = np.nan
    weights = rng.integers(1, 4, 90) * 1.0 if weighted else None
    folds = [(np.flatnonzero(np.arange(90) % 4 != f), np.flatnonzero(np.arange(90) % 4 == f)) for f in range(4)]
    filled = completed_by_folds(X, y, np.arange(90) % 4, weights)
    model = make(cv=folds, bandwidth_grid=grid, scale=None).fit(X, y, weights)
    for f, (train, test) in enumerate(folds):
        for b, h in enumerate(grid):
            own, others = (None, None) if weights is None else (weights[train], weights[test])
            expected = make(h, scale=None).fit(filled[f, train], y[train], own).score(X[test], y[test], others)
            assert_allclose(model.cv_results_[f"split{f}_test_score"][b], expected, rtol=1e-12)
    left_out = make(cv="loo", scale=None, bandwidth_grid=grid).fit(X, y, weights)
    assert "split19_test_score" in left_out.cv_results_


@pytest.mark.parametrize("make", [ParzenClassifier, CauchySchwarzClassifier])
def test_small_bandwidths_tend_to_the_nearest_completed_point(make):
    """So that the score of a search levels off toward them, and any of them may be chosen."""
    rng = np.random.default_rng(6)
    X, Q, y = rng.normal(size=(90, 5)), rng.normal(size=(200, 5)), np.arange(90) % 3
    X[rng.random(X.shape) < 0.3], Q[rng.random(Q.shape) < 0.3] = np.nan, np.nan
    filled, has = completed(X, y), ~np.isnan(Q)
    squared = (((Q[:, None] - filled) ** 2) * has[:, None]).sum(axis=2, where=has[:, None])
    nearest = y[squared.argmin(axis=1)]
    first, second = np.partition(squared, 1, axis=1)[:, :2].T
    for h in (0.02, 0.01):
        clear = (second - first) / (2 * h**2) > 30  # nothing else counts, weighted or not
        assert clear.mean() > 0.6
        assert_array_equal(make(h, scale=None).fit(X, y).predict(Q)[clear], nearest[clear])


@pytest.mark.parametrize("make", TAKE_MISSING)
def test_few_missing_values_change_little_and_many_leave_a_classifier(make):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, 300)
    X = rng.normal(size=(300, 4)) + 1.5 * np.eye(3, 4)[y]
    complete = make().fit(X[:200], y[:200]).score(X[200:], y[200:])
    X[rng.random(X.shape) < 0.2] = np.nan
    assert make().fit(X[:200], y[:200]).score(X[200:], y[200:]) > complete - 0.15 > 0.4


# Categories.


def mixed(n, seed=0, missing=0.0):
    """A frame of numbers and categories, some of which say nothing."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    noise = rng.random(n) < 0.3
    frame = pd.DataFrame(
        {
            "length": rng.normal(size=n) + y,
            "income": 1000 * rng.normal(size=n),
            "color": pd.Categorical.from_codes(np.where(noise, rng.integers(0, 3, n), y), ["red", "green", "blue"]),
            "town": np.array(["a", "b", "c", "d", "e"])[rng.integers(0, 5, n)],
            "member": pd.array(rng.random(n) < 0.5, dtype="boolean"),
            "size": pd.Categorical.from_codes(
                np.clip(y + rng.integers(0, 2, n), 0, 3), ["s", "m", "l", "xl"], ordered=True
            ),
        }
    )
    if missing:
        frame = frame.mask(rng.random(frame.shape) < missing)
    return frame, y


def test_an_unordered_category_is_the_factor_of_aitchison_and_aitken():
    column = read_columns(pd.DataFrame({"x": list("abcaab")}))
    table, _ = Table.learned(column, [True], scale=False)
    Z = table.encode(column)
    squares = ((Z[:, None] - Z) ** 2).sum(axis=2)
    same = np.equal.outer(*[np.array(list("abcaab"))] * 2)
    s = table.columns[0].scale
    assert_allclose(np.exp(-squares / (2 * 0.7**2)), np.where(same, 1, np.exp(-(s**2) / 0.7**2)), rtol=1e-12)
    two = read_columns(pd.DataFrame({"x": list("abba")}))
    table, _ = Table.learned(two, [True], scale=False)
    assert table.encode(two).shape == (4, 1)
    assert_allclose(np.ptp(table.encode(two)) ** 2, 2 * table.columns[0].scale ** 2)


def test_what_a_table_takes_columns_for():
    frame, y = mixed(300)
    model = ParzenClassifier().fit(frame, y)
    found = {own.name: (own.kind, len(own.levels), own.ordered) for own in model._inputs.table.types}
    assert found == {
        "length": ("number", 0, False),
        "income": ("number", 0, False),
        "color": ("category", 3, False),
        "town": ("category", 5, False),
        "member": ("boolean", 2, False),
        "size": ("category", 4, True),
    }
    assert list(model.feature_names_in_) == list(frame.columns) and model.n_features_in_ == 6


def test_a_category_that_says_nothing_smooths_itself_away():
    frame, y = mixed(600)
    model = ParzenClassifier().fit(frame[:400], y[:400])
    factors = {column.name: column.factor for column in model._inputs.table.columns[2:]}
    assert factors["town"] == 0 and factors["member"] == 0
    assert factors["color"] > 0 and factors["size"] > 0
    changed = frame[400:].assign(town="never seen", member=True)
    assert_array_equal(model.predict(changed), model.predict(frame[400:]))
    numbers_alone = ParzenClassifier().fit(frame[["length", "income"]][:400], y[:400])
    assert model.score(frame[400:], y[400:]) > numbers_alone.score(frame[["length", "income"]][400:], y[400:]) + 0.1


def test_many_categories_share_their_factors_in_groups(monkeypatch):
    rng, asked = np.random.default_rng(0), []
    y = rng.integers(0, 3, 240)
    levels = rng.integers(0, 3, (240, 120))
    levels[:, 60:64] = np.where(rng.random((240, 4)) < 0.6, y[:, None], levels[:, 60:64])
    frame = pd.DataFrame(np.array(["low", "mid", "top"])[levels])
    ask = HeldOutLoss.__call__
    monkeypatch.setattr(HeldOutLoss, "__call__", lambda *args: asked.append(1) or ask(*args))
    model = ParzenClassifier().fit(frame[:160], y[:160])
    n_groups = 5  # of 4, 8, 16, 32 and the other 60 columns
    assert len(asked) <= 1 + n_groups * (1 + ROUNDS * (len(FACTORS) - 1))
    factors = np.array([column.factor for column in model._inputs.table.columns])
    assert len(set(factors[60:64])) == 1 and factors[60] > np.median(factors) == 0
    assert model.score(frame[160:], y[160:]) > 0.8


def test_a_query_without_a_feature_keeps_the_widths_and_norms_of_the_whole():
    rng = np.random.default_rng(4)
    X, Q, y = rng.normal(size=(60, 3)), rng.normal(size=(20, 3)), np.arange(60) % 2
    model = LaplacianSpectralClassifier("silverman_per_class", scale=None).fit(X, y)
    Q[:, 1] = np.nan
    f = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / (2 * model.overall_bandwidth_**2)).mean(axis=1)
    scores = []
    for c, width in enumerate(model.bandwidth_):
        own = y == c
        pairs = ((X[own][:, None] - X[own]) ** 2).sum(axis=2)
        kernel = np.exp(-pairs / (4 * width**2)) / (2 * width**2) ** 1.5
        norm = f[own] ** -0.5 @ kernel @ f[own] ** -0.5
        at = ((Q[:, None, [0, 2]] - X[own][:, [0, 2]]) ** 2).sum(axis=2)
        squared = model.overall_bandwidth_**2 + width**2
        scores.append(np.log(np.exp(-at / (2 * squared)) @ f[own] ** (-0.5 * 2 / 3) / squared / np.sqrt(norm)))
    assert_allclose(model.decision_function(Q), scores[1] - scores[0], rtol=1e-9)


def test_categories_without_missing_values():
    frame, y = mixed(400)
    model = KernelRidgeClassifier().fit(frame[:250], y[:250])
    numbers = frame[["length", "income"]]
    alone = KernelRidgeClassifier().fit(numbers[:250], y[:250]).score(numbers[250:], y[250:])
    assert model.score(frame[250:], y[250:]) > alone + 0.1


@pytest.mark.parametrize("make", TAKE_MISSING)
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_a_raw_frame_gives_a_tuned_classifier(make, missing):
    frame, y = mixed(400, missing=missing)
    model = make().fit(frame[:250], y[:250])
    assert model.score(frame[250:], y[250:]) > 0.65
    few = frame[250:255]
    assert_allclose(model.decision_function(few)[:1], model.decision_function(few[:1]), rtol=1e-9)


def test_unseen_levels_are_missing_and_rare_ones_are_joined():
    frame, y = mixed(300)
    frame = frame[["length", "color"]]
    model = ParzenClassifier(1.0).fit(frame, y)
    unseen = frame[:20].assign(color="violet")
    missing = frame[:20].assign(color=pd.Categorical([None] * 20, categories=["red", "green", "blue"]))
    with pytest.warns(UserWarning, match="Column 'color' of X has 20 values, but none of the levels"):
        found = model.predict_proba(unseen)
    assert_allclose(found, model.predict_proba(missing), rtol=1e-12)
    assert_allclose(model.predict_proba(unseen[:9]), found[:9], rtol=1e-12)  # so few may be new by chance
    numbers = np.random.default_rng(0).integers(0, 120, 300) ** 2 // 120
    many = frame.assign(town=pd.Categorical([f"town {i}" for i in numbers]))
    density = ParzenDensity(1.0).fit(many)  # without a target
    (column,) = [column for column in density._inputs.table.columns if column.name == "town"]
    assert column.n_positions == 48 and density._inputs.table.types[2].joined
    rare = numbers[np.bincount(numbers)[numbers] == 1][0]
    two = many[:2].assign(length=1.0, color="red", town=[f"town {rare}", "a new one"])
    assert len(set(density.score_samples(two))) == 1


def test_codes_in_the_place_of_words_are_refused():
    """They would be levels that nobody has seen, each of them missing."""
    frame, y = mixed(100)
    frame = frame[["length", "color"]]
    for model in (ParzenClassifier(1.0), KernelRidgeClassifier(), AutoClassifier(cv=2)):
        model.fit(frame, y)
        for dtype in ("int8", "float64", "Int64"):
            codes = pd.Categorical(frame["color"]).codes
            with pytest.raises(ValueError, match="Column 'color' of X holds numbers, but held levels such as 'blue'"):
                model.predict(frame.assign(color=pd.Series(codes, dtype=dtype)))


@pytest.mark.parametrize("make", [AutoClassifier, KernelRidgeClassifier, ParzenClassifier, PerTurboClassifier])
@pytest.mark.parametrize("kind", ["polars", "pyarrow"])
def test_other_frames_give_the_same(kind, make):
    library = pytest.importorskip(kind)
    frame, y = mixed(300, missing=0.1)
    convert = library.from_pandas if kind == "polars" else library.Table.from_pandas
    frame = frame.drop(columns="size") if kind == "polars" else frame  # polars takes the order from pandas's not over
    expected = make().fit(frame[:200], y[:200]).predict_proba(frame[200:])
    other = convert(frame)
    train, test = (other[:200], other[200:]) if kind == "polars" else (other.slice(0, 200), other.slice(200))
    model = make().fit(train, y[:200])
    assert_allclose(model.predict_proba(test), expected, rtol=1e-9)
    assert list(model.feature_names_in_) == list(frame.columns)


@pytest.mark.parametrize("names", [range(6), pd.MultiIndex.from_product([["p", "q"], [1, 2, 3]])], ids=["int", "pair"])
def test_names_of_columns_need_not_be_strings(names):
    frame, y = mixed(100, missing=0.1)
    unnamed = frame.set_axis(names, axis=1)
    for make in (ParzenClassifier, AutoClassifier):
        expected = make().fit(frame, y).predict_proba(frame)
        assert_array_equal(make().fit(unnamed, y).predict_proba(unnamed), expected)


@pytest.mark.parametrize("spec", [[False, True], [1], np.array([1])])
def test_categories_of_an_array(spec):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = np.column_stack([rng.normal(size=200), np.where(rng.random(200) < 0.2, rng.integers(0, 4, 200), 3 * y)])
    model = ParzenClassifier(0.5, categorical_features=spec).fit(X, y)
    frame = pd.DataFrame(X, columns=["a", "b"])
    named = ParzenClassifier(0.5, categorical_features=["b"]).fit(frame, y)
    assert_allclose(model.predict_proba(X), named.predict_proba(frame), rtol=1e-12)
    assert [own.kind for own in model._inputs.table.types] == ["number", "category"]
    assert len(model._inputs.table.categories) == 1
    ignored = ParzenClassifier(0.5, categorical_features=None, scale=None).fit(X, y)
    assert ignored._inputs.table is None


@pytest.mark.parametrize("scale", [None, "auto"])
def test_truth_values_that_are_no_categories_are_zero_and_one(scale):
    frame, y = mixed(200, missing=0.1)
    frame = frame[["length", "member", "color"]]
    as_numbers = frame.assign(member=frame["member"].astype("Float64"))
    model = ParzenClassifier(0.8, categorical_features=["color"], scale=scale)
    expected = model.fit(as_numbers, y).predict_proba(as_numbers)
    assert_array_equal(model.fit(frame, y).predict_proba(frame), expected)


def test_growth_keeps_the_table():
    frame, y = mixed(300, missing=0.1)
    model = ParzenClassifier().fit(frame[:200], y[:200])
    grown = ParzenClassifier().fit(frame[:150], y[:150])
    table = grown._inputs.table
    grown.partial_fit(frame[150:200], y[150:200])
    assert grown._inputs.table is table
    assert np.mean(grown.predict(frame[200:]) == model.predict(frame[200:])) > 0.85


# Scale.


HAVE_SCALE = [*TAKE_MISSING, KernelRidgeClassifier]


@pytest.mark.parametrize("make", HAVE_SCALE)
def test_scale_is_that_of_the_training_part_and_recognizes_unit_variances(make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3)) * [1, 1e3, 1e-3] + [0, 5, 1]
    y = (X[:, 0] + X[:, 1] / 1e3 > 0).astype(int)
    Z = StandardScaler().fit_transform(X)
    expected = make(scale=None).fit(Z, y).decision_function(Z)
    assert_array_equal(make().fit(Z, y).decision_function(Z), expected)
    found = make().fit(X, y).decision_function(X)
    assert_allclose(found, expected, rtol=1e-7, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("factor", [1e-8, 1.0, 1e8])
def test_scale_and_offset_do_not_matter(factor, dtype):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 3)), rng.integers(0, 2, 150)
    X[:, 0] += 2 * y
    expected = ParzenClassifier(0.7).fit(X, y).predict_proba(X)
    moved = (X * factor + 10 * factor).astype(dtype)
    found = ParzenClassifier(0.7).fit(moved, y).predict_proba(moved)
    assert found.dtype == np.float64 and ParzenClassifier(0.7).fit(moved, y)._model.points.X.dtype == dtype
    assert_allclose(found, expected, rtol=1e-9 if dtype == np.float64 else 1e-3)


@pytest.mark.filterwarnings("ignore:.*as far from the column")
def test_scale_is_robust_against_outliers_and_constants():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    X[:, 2] = 7.0
    spoiled = X.copy()
    spoiled[0, 0] = 1e6
    model = ParzenClassifier(0.3).fit(spoiled, y)
    assert 0.5 < model._inputs.table.columns[0].scale < 3 and model._inputs.table.columns[2].scale == 1
    assert model.score(X, y) > 0.9


def test_rare_values_of_indicators_and_counts_are_at_most_three_from_the_common_one():
    def scale_of(values):
        return centers_and_scales([values])[1][0]

    rng = np.random.default_rng(0)
    for share, expected in ((0.4, 1 / np.sqrt(0.24)), (0.01, 3.0), (0.001, 3.0)):
        indicator = np.arange(1000) < round(1000 * share)
        for values in (indicator, 5 + 40.0 * indicator):
            values = values * 1.0
            assert_allclose(np.ptp(values) / scale_of(values), expected)
    counts = np.where(rng.random(2000) < 0.02, rng.poisson(5.0, 2000), 0.0)
    assert_allclose(np.sqrt(np.mean((counts[counts > 0] / scale_of(counts)) ** 2)), 3.0)
    constants_and_far = np.array([[0.0] * 3, [1e300] * 3, [-1e300, 0.0, 1e300]])
    centers, scales = centers_and_scales(constants_and_far)
    assert_allclose(centers / 1e300, [0, 1, 0], atol=1e-15)
    assert_allclose(scales, [1, 1, np.sqrt(2 / 3) * 1e300])


@pytest.mark.filterwarnings("ignore:.*as far from the column")
def test_weights_count_in_the_scale_as_rows_given_several_times():
    rng = np.random.default_rng(0)
    frame, y = mixed(150, missing=0.1)
    frame["spoiled"] = np.where(np.arange(150) % 50 == 0, 1e6, rng.normal(size=150))
    frame["rare"] = (np.arange(150) % 40 == 0) * 1.0
    weights = rng.integers(0, 4, 150)
    weighted, repeated = ParzenClassifier(0.8), ParzenClassifier(0.8)
    weighted.fit(frame, y, weights)
    repeated.fit(frame.loc[np.repeat(np.arange(150), weights)], np.repeat(y, weights))
    for own, other in zip(weighted._inputs.table.columns, repeated._inputs.table.columns, strict=True):
        if not own.is_category:
            assert_allclose([own.center, own.scale], [other.center, other.scale], rtol=1e-12)
        else:
            assert_allclose(own.scale, other.scale, rtol=1e-12)
    assert [own.levels for own in weighted._inputs.table.types] == [own.levels for own in repeated._inputs.table.types]
    spoiled = frame.assign(length=np.where(weights == 0, 1e9, frame["length"]))
    assert_allclose(
        ParzenClassifier(0.8).fit(spoiled, y, weights).predict_proba(frame), weighted.predict_proba(frame), rtol=1e-9
    )


def test_densities_are_in_the_units_of_the_data():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)) * [5.0, 0.01], np.arange(40) % 2
    X[3, 1] = np.nan
    model = ParzenClassifier(0.5).fit(X, y)
    lines = [np.linspace(*(np.nanmean(x) + np.array([-8, 8]) * np.nanstd(x)), 241) for x in X.T]
    step = [line[1] - line[0] for line in lines]
    density = np.exp(model.score_samples(np.stack(np.meshgrid(*lines, indexing="ij"), axis=2).reshape(-1, 2)))
    density = density.reshape(241, 241)
    assert_allclose(density.sum() * step[0] * step[1], 1, rtol=1e-6)
    marginal = np.exp(model.score_samples(np.column_stack([lines[0], np.full(241, np.nan)])))
    assert_allclose(marginal[60:180], density.sum(axis=1)[60:180] * step[1], rtol=1e-6)


def test_a_first_partial_fit_learns_the_table_as_fit_does():
    frame, y = mixed(300, missing=0.1)
    expected = ParzenClassifier(0.8).fit(frame, y)
    found = ParzenClassifier(0.8).partial_fit(frame, y, classes=[0, 1, 2])
    assert_array_equal(found.predict_proba(frame), expected.predict_proba(frame))


# Bad input: right, or one sentence that names the column.


BAD = {
    "nested": ([[1, 2]] * 300, "Column 'bad' of X holds"),
    "mixed": ([1, "one"] * 150, "Column 'bad' of X(: 'one' in| holds numbers and texts)"),
    "infinite": ([np.inf] + [0.0] * 299, "contains infinity: column 'bad', row 0"),
    "complex objects": ([1j] * 300, "Column 'bad' of X holds"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("when", ["fit", "predict"])
def test_a_bad_column_is_named(case, when):
    values, message = BAD[case]
    frame, y = mixed(300)
    frame = frame[["length", "color"]]
    if when == "fit":
        with pytest.raises((ValueError, TypeError), match=message):
            ParzenClassifier(1.0).fit(frame.assign(bad=pd.Series(values)), y)
        return
    model = ParzenClassifier(1.0).fit(frame.assign(bad=np.arange(300.0)), y)
    with pytest.raises((ValueError, TypeError), match=message):
        model.predict(frame.assign(bad=pd.Series(values)))


@pytest.mark.parametrize("kind", ["polars", "pyarrow"])
@pytest.mark.parametrize("case", [case for case in BAD if case not in ("mixed", "complex objects")])
def test_a_bad_column_of_other_frames_is_named(case, kind):
    library = pytest.importorskip(kind)
    values, message = BAD[case]
    columns = {"length": np.arange(300.0).tolist(), "bad": list(values)}
    frame = library.DataFrame(columns) if kind == "polars" else library.table(columns)
    with pytest.raises((ValueError, TypeError), match=message):
        ParzenClassifier(1.0).fit(frame, np.arange(300) % 3)


COMPLETED = [
    *(KINDS[name] for name in names() if KINDS[name] not in [*TAKE_MISSING, AutoClassifier, AutoRegressor]),
    partial(ParzenClassifier, kernel="laplace"),
    partial(ParzenClassifier, metric="whiten"),
    partial(ParzenClassifier, tolerance=0.1),
    partial(SpectralISEClassifier, n_components=2),
]


@pytest.mark.filterwarnings("ignore:No round improved")  # the labels are of something else
@pytest.mark.filterwarnings("ignore:No step improved")
@pytest.mark.parametrize("make", COMPLETED)
def test_everybody_takes_frames_with_categories_and_missing_values(make):
    frame, y = mixed(80, missing=0.1)
    make = partial(make, novelty=True) if make is KINDS["ParzenOutlierDetector"] else make
    model = make().fit(frame[:60], y[:60])
    ask = next(getattr(model, name) for name in ("predict", "transform", "score_samples") if hasattr(model, name))
    answer = ask(frame[60:].assign(color=pd.Categorical(["violet"] * 19 + ["red"])))
    answer = answer.toarray() if hasattr(answer, "toarray") else answer
    assert len(answer) == 20 and (answer.dtype.kind in "OUS" or np.isfinite(answer).all())
    assert list(model.feature_names_in_) == list(frame.columns)
    assert model._inputs.table is not None
    with pytest.raises(ValueError, match="all values are missing|No column of X distinguishes"):
        make().fit(np.full((20, 2), np.nan), np.arange(20) % 2)


@pytest.mark.filterwarnings("ignore:KernelRidgeClassifier predicts the same class")  # labels are random
def test_missing_values_are_completed_by_the_regression_on_all_samples():
    rng = np.random.default_rng(0)
    X, y = incomplete(rng, 80, 0.2), rng.integers(0, 2, 80)
    Q = incomplete(rng, 30, 0.3)
    filled = completed(X, np.zeros(80, dtype=int))
    expected = KernelRidgeClassifier(scale=None).fit(filled, y)
    model = KernelRidgeClassifier(scale=None).fit(X, y)
    completion = Completion.learned(X, np.zeros(80, dtype=int))
    assert_allclose(model.decision_function(Q), expected.decision_function(completion.of_class(Q, 0)[0]), rtol=1e-9)


def test_the_order_of_columns_does_not_matter():
    frame, y = mixed(120, missing=0.05)
    expected = ParzenClassifier(0.8).fit(frame, y).predict_proba(frame)
    for order in (frame.columns[::-1], np.random.default_rng(0).permutation(frame.columns)):
        found = ParzenClassifier(0.8).fit(frame[order], y).predict_proba(frame[order])
        assert_allclose(found, expected, rtol=1e-7, atol=1e-12)


def test_infinite_values_of_plain_arrays_and_frames_are_named():
    X, y = np.ones((10, 2)), np.arange(10) % 2
    X[3, 1] = np.inf
    with pytest.raises(ValueError, match="contains infinity: column 1, row 3"):
        ParzenClassifier(1.0).fit(X, y)
    with pytest.raises(ValueError, match="contains infinity: column 'b', row 3"):
        ParzenClassifier(1.0).fit(pd.DataFrame(X, columns=["a", "b"]), y)


@pytest.mark.parametrize("make", TAKE_MISSING)
def test_missing_columns_and_rows_and_every_name_of_nothing(make):
    frame, y = mixed(200)
    frame["empty"] = np.nan
    frame["nothing"] = None
    frame["constant"] = "same"
    frame.loc[5] = [None] * 9
    frame["count"] = pd.array([None, *range(199)], dtype="Int64")
    frame["mixed nothing"] = [pd.NA, None, np.nan, "x"] * 50
    model = make().fit(frame, y)
    assert np.isfinite(model.decision_function(frame)).all()
    expected = make().fit(frame.drop(columns=["empty", "nothing", "constant"]), y)
    assert_allclose(
        model.decision_function(frame),
        expected.decision_function(frame.drop(columns=["empty", "nothing", "constant"])),
        rtol=1e-9,
    )


def test_repeated_names_wrong_specs_and_tables_of_nothing():
    frame, y = mixed(50)
    with pytest.raises(ValueError, match="categorical_features has 'colour', which is not a column"):
        ParzenClassifier(categorical_features=["colour"]).fit(frame, y)
    with pytest.raises(ValueError, match="mask of shape"):
        ParzenClassifier(categorical_features=[True]).fit(frame, y)
    with pytest.raises(ValueError, match="positions outside 0 to 5"):
        ParzenClassifier(categorical_features=[9]).fit(frame, y)
    with pytest.raises(ValueError, match="Column 'color' of X holds category values such as"):
        ParzenClassifier(categorical_features=None).fit(frame, y)
    with pytest.raises(ValueError, match="No column of X distinguishes samples"):
        ParzenClassifier().fit(pd.DataFrame({"a": ["x"] * 50, "b": [None] * 50}), y)


@pytest.mark.parametrize("make", TAKE_MISSING)
def test_what_is_tuned_with_gaps_depends_on_neither_order_nor_copies(make):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    X[:, 0] += 2 * y
    X[rng.random(X.shape) < 0.2] = np.nan
    counts = rng.integers(1, 4, 60)
    rows = rng.permutation(np.repeat(np.arange(60), counts))
    rule = "silverman_per_class" if make is LaplacianSpectralClassifier else "silverman"
    for options in ({}, {"bandwidth": rule}):
        weighted = make(**options).fit(X, y, sample_weight=counts)
        if options:  # rules count rows: copies change them
            same = make(**options).fit(X[::-1], y[::-1], sample_weight=counts[::-1])
        else:
            same = make(**options).fit(X[rows], y[rows])
        assert_allclose(same.bandwidth_, weighted.bandwidth_, rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_stands_for_gaps_depends_on_no_order(dtype):
    def of(A):
        return filled(TrainingData.points(A))

    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 3)).astype(dtype)
    X[rng.random(X.shape) < 0.3] = np.nan
    gaps, complete = np.isnan(X), of(X)
    some = ~gaps.all(axis=1)  # others are copies of each other, which may change places
    rows, columns, pair = rng.permutation(2000), rng.permutation(3), [0, 0, 1, 2]
    assert_array_equal(of(X[rows])[some[rows]], complete[rows][some[rows]])
    assert_array_equal(of(X[:, columns])[some], complete[some][:, columns])
    assert_array_equal(*of(X[:, pair])[:, :2].T)  # of one row, as the indicators of a category have to be
    assert complete.dtype == dtype
    assert_array_equal(complete[~gaps], X[~gaps])
    for column, gap in zip(complete.T, gaps.T, strict=True):
        assert np.isin(column[gap], column[~gap]).all()
        assert abs(column[gap].mean()) < 0.2 and abs(column[gap].std() - 1) < 0.2


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i4"])
def test_hidden_entries_of_a_masked_array_are_missing(dtype):
    rng = np.random.default_rng(0)
    X, y = np.round(rng.normal(size=(60, 3)) * 100).astype(dtype), np.arange(60) % 3
    hidden = rng.random(X.shape) < 0.2
    masked, with_gaps = np.ma.array(X, mask=hidden), np.where(hidden, np.nan, X.astype(np.float64))
    expected = ParzenClassifier().fit(with_gaps, y).predict_proba(with_gaps)
    tolerance = {"rtol": 1e-3, "atol": 1e-6} if dtype == "f4" else {"rtol": 1e-12}
    assert_allclose(ParzenClassifier().fit(masked, y).predict_proba(masked), expected, **tolerance)


def test_finite_numbers_whose_sum_is_infinite():
    X, y = np.full((50, 3), 6e4, "f2"), np.arange(50) % 2
    X[y == 1] = 5e4
    assert_array_equal(ParzenClassifier(1e3).fit(X, y).predict(X), y)
    X = np.array([[1e308], [1e308], [-1e308], [1.5e308]])
    assert_array_equal(ParzenClassifier(1e307, scale=None).fit(X, [0, 0, 1, 0]).predict(X), [0, 0, 1, 0])


def test_neighbors_of_mixed_rows_are_those_of_the_coded_columns():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60), "c": pd.Categorical(rng.choice(list("xyz"), 60))})
    indicators = pd.get_dummies(frame["c"]).to_numpy(float)
    coded = np.column_stack([frame["a"], indicators / np.sqrt(indicators.var(axis=0).sum())])
    (distances, rows), (expected, _) = knn(frame, frame, 5), knn(coded, coded, 5)
    assert_allclose(distances, expected, atol=1e-12)
    assert_allclose(np.linalg.norm(coded[:, None] - coded[rows], axis=2), distances, atol=1e-12)
    frame.loc[7, "a"] = np.nan
    assert np.isfinite(knn(frame, frame, 5)[0]).all()
    numbers = frame[["a"]].dropna()
    assert_array_equal(knn(numbers, numbers, 3)[0], knn(numbers.to_numpy(), numbers.to_numpy(), 3)[0])


def test_a_frame_without_rows_yet_says_what_to_do():
    polars = pytest.importorskip("polars")
    lazy = polars.DataFrame({"a": [1.0, 2.0, 3.0], "b": [0.0, 1.0, 0.0]}).lazy()
    with pytest.raises(TypeError, match=r"pass X.collect\(\)"):
        ParzenClassifier().fit(lazy, [0, 1, 0])


@pytest.mark.parametrize("cls", [ParzenClassifier, AutoRegressor])
def test_a_frame_without_columns_is_named(cls):
    with pytest.raises(ValueError, match=r"0 feature\(s\) \(shape=\(40, 0\)\) while a minimum of 1 is required by"):
        cls().fit(pd.DataFrame(index=range(40)), np.arange(40) % 2)
