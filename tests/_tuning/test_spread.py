"""The spread of a column, from which every scale, grid and reference rule starts."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from spectralcls import ParzenClassifier, ParzenDensity
from spectralcls._inputs.training_data import TrainingData
from spectralcls._tuning import candidate_bandwidths, draw_sample, reference_bandwidth
from spectralcls._tuning.spread import centers_and_spreads, effective_number, spreads, within_reach


def center_and_spread(values, weights=None, farthest=np.inf):
    """Of one column."""
    return tuple(float(found[0]) for found in centers_and_spreads([values], weights, farthest))


def normal(n=400, seed=0):
    return np.random.default_rng(seed).normal(size=n)


def test_without_outliers_it_is_the_standard_deviation():
    for x in (normal(), np.random.default_rng(1).uniform(size=300), np.arange(9.0)):
        assert_allclose(center_and_spread(x), (x.mean(), x.std()), rtol=1e-13)


@pytest.mark.parametrize("scale", [1e-300, 1e-8, 1.0, 1e300])
def test_it_has_the_units_of_the_values(scale):
    x = normal() / 8
    for values in (x, np.where(np.arange(400) % 3, 0.0, x), np.append(x, 1e4)):
        assert_allclose(center_and_spread(values * scale), np.multiply(center_and_spread(values), scale), rtol=1e-12)


@pytest.mark.parametrize("far", [30.0, 1e4, 1e150, 1e300])
@pytest.mark.parametrize("n", [60, 400])
def test_one_far_value_changes_it_little(n, far):
    x = normal(n)
    center, spread = center_and_spread(x)
    for spoiled in (np.append(x, far), np.append(x, -far)):
        assert abs(center_and_spread(spoiled)[0] - center) < 0.1 * spread
        assert spread < center_and_spread(spoiled)[1] < 1.1 * spread
    rare = np.append(np.zeros(2 * n), x)  # most values are equal
    assert center_and_spread(np.append(rare, far))[1] < 1.1 * center_and_spread(rare)[1]


@pytest.mark.parametrize("share", [0.5, 0.2, 0.05])
@pytest.mark.parametrize("far", [-9999.0, 1e30])
def test_one_far_value_among_two_values_changes_it_little(share, far):
    x = (np.arange(200) < 200 * share).astype(float)
    for values in (x, 1 - x, np.where(np.arange(200) % 50, x, 2.0)):
        assert_allclose(center_and_spread(np.append(values, far)), center_and_spread(values), rtol=0.25)


@pytest.mark.parametrize("scale", [1.0, 1e-200])
def test_values_beyond_the_reach_count_as_the_farthest_within(scale):
    """They count as they are up to `REACH` interquartile ranges from the median."""
    x = scale * np.linspace(-1, 1, 99)
    quartiles = np.subtract(*np.quantile(x, [0.75, 0.25], method="averaged_inverted_cdf"))
    for far in (9.9 * quartiles, 10.2 * quartiles, 1e3 * scale, 1e300 * scale):
        values = np.append(x, far)
        values[-1] = far if far < 10 * quartiles else x[-1]
        expected = scale * np.mean(values / scale), scale * np.std(values / scale)
        assert_allclose(center_and_spread(np.append(x, far)), expected, rtol=1e-12)
        assert_array_equal(within_reach(np.append(x, far)[:, None])[:, 0], values)


def test_values_within_reach_are_the_same_with_weights_as_copies():
    rng = np.random.default_rng(0)
    X = np.column_stack([normal(90), np.where(np.arange(90) < 70, 3.0, normal(90)), np.ones(90)])
    assert within_reach(X) is X
    X[4, 0], X[80, 1], X[85, 1] = 1e30, -1e5, 1e20
    weights = rng.integers(1, 4, 90)
    found = within_reach(X, weights.astype(float))
    repeated = within_reach(np.repeat(X, weights, axis=0))
    assert_array_equal(repeated, np.repeat(found, weights, axis=0))
    assert np.abs(found).max() < 10 and np.sum(found != X) == 3
    assert_array_equal(within_reach(X.astype(np.float32)), within_reach(X).astype(np.float32))
    gaps = rng.random(X.shape) < 0.1
    lacking, alone = np.where(gaps, np.nan, X), np.full(X.shape, np.nan)
    for column, known in enumerate(~gaps.T):
        alone[known, column] = within_reach(X[known, column][:, None], weights[known])[:, 0]
    assert_array_equal(within_reach(lacking, weights), alone)


@pytest.mark.parametrize("draw", ["standard_cauchy", "lognormal"])
def test_heavy_tails_fill_the_reach(draw):
    """The spread of many samples is that of the values brought to the reach itself, not less."""
    x = getattr(np.random.default_rng(0), draw)(size=100_000)
    low, median, high = np.quantile(x, [0.25, 0.5, 0.75])
    reach = 10 * (high - low)
    assert_allclose(center_and_spread(x)[1], np.clip(x, median - reach, median + reach).std(), rtol=1e-3)


def test_rare_values_lie_at_most_so_many_spreads_from_the_common_one():
    for share in (0.4, 0.1, 0.01):
        x = (np.arange(1000) < 1000 * share) * 5.0
        assert_allclose(center_and_spread(x), (x.mean(), x.std()))
        assert_allclose(5.0 / center_and_spread(x, farthest=3.0)[1], min(1 / np.sqrt(share * (1 - share)), 3.0))


def test_a_constant_has_none_whatever_its_mean_rounds_to():
    rng = np.random.default_rng(0)
    for constant in [*rng.normal(size=200), 0.1, 0.100865, 1e300, 0.0]:
        for weights in (None, rng.random(150)):
            assert center_and_spread(np.full(150, constant), weights)[1] == 0.0


def test_columns_are_those_one_by_one_with_gaps_and_weights():
    rng = np.random.default_rng(0)
    X = np.column_stack([normal(90), np.where(np.arange(90) < 70, 3.0, normal(90)), normal(90) * 1e200, np.ones(90)])
    X[4, 0], X[rng.random(X.shape) < 0.1] = -9999, np.nan
    weights = rng.integers(1, 4, 90).astype(float)
    for w in (None, weights):
        known = [~np.isnan(x) for x in X.T]
        alone = [center_and_spread(x[k], None if w is None else w[k])[1] for x, k in zip(X.T, known, strict=True)]
        assert_array_equal(spreads(X, w), alone)
    repeated = np.repeat(X, weights.astype(int), axis=0)
    assert_allclose(spreads(X, weights), spreads(repeated), rtol=1e-12)
    assert_allclose(spreads(X, 1e-3 * weights), spreads(X, weights), rtol=1e-12)
    assert_array_equal(spreads(np.full((5, 2), np.nan)), [0, 0])


def test_grids_and_rules_start_at_it():
    X = np.random.default_rng(0).normal(size=(120, 3))
    spoiled = X.copy()
    spoiled[5, 1] = -9999
    for kernel in ("gaussian", "laplace"):
        grids = [candidate_bandwidths(None, TrainingData.points(points), kernel) for points in (X, spoiled)]
        assert np.all(np.abs(np.log(grids[1] / grids[0])) < 0.3)
        for name in ("scale", "scott", "silverman"):
            clean, found = (reference_bandwidth(name, points, None, 1, kernel=kernel) for points in (X, spoiled))
            assert abs(np.log(found / clean)) < 0.3
    weights = np.random.default_rng(1).random(120)
    assert_allclose(effective_number(120, 7 * weights), weights.sum() ** 2 / (weights**2).sum())


def test_the_rule_of_a_class_takes_its_reach_from_all_samples():
    """Of a class's five samples two are far in a column in which most values are 0."""
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1], [100, 5])
    X = np.column_stack([rng.normal(size=105), np.where(rng.random(105) < 0.3, rng.uniform(1, 2, 105), 0.0)])
    spoiled = X.copy()
    spoiled[[1, 2, 101, 102], 1] = -9999
    clean, found = (reference_bandwidth("silverman_per_class", points, codes, 2) for points in (X, spoiled))
    assert_allclose(found, clean, rtol=0.5)


@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov", "laplace"])
def test_constant_columns_are_no_dimensions(kernel):
    """Whatever their value is, and if it differs by a last rounding."""
    rng = np.random.default_rng(0)
    X, codes, weights = rng.normal(size=(120, 2)), rng.integers(0, 2, 120), rng.integers(1, 3, 120).astype(float)
    X[:, 1] *= codes  # a column of one class
    noisy = np.where(rng.random(120) < 0.5, 0.100865, np.nextafter(0.100865, 1))
    wider = np.column_stack([X[:, 0], np.zeros(120), X[:, 1], np.full(120, -1e6 / 3), noisy])
    for rule in ("scale", "scott", "silverman", "silverman_per_class"):
        for w in (None, weights):
            plain, found = (reference_bandwidth(rule, A, codes, 2, w, kernel=kernel) for A in (X, wider))
            assert_allclose(found, plain, rtol=1e-12)
    plain, found = (TrainingData.points(A) for A in (X, wider))
    assert_allclose(candidate_bandwidths(None, found, kernel), candidate_bandwidths(None, plain, kernel), rtol=1e-12)
    ratios = [draw_sample(A, cv=3, max_samples=50, random_state=0).bandwidth_ratio for A in (plain, found)]
    assert_allclose(ratios, (120 / 50) ** (1 / 6), rtol=1e-12)
    for covariance_type in ("spherical", "diag", "full"):
        density = ParzenDensity(kernel=kernel, covariance_type=covariance_type)
        plain, found = (density.fit(A).bandwidth_ for A in (X, wider))
        assert_allclose(found, plain, rtol=1e-6)


@pytest.mark.filterwarnings("ignore:.*as far from the column")
@pytest.mark.parametrize("far", [-9999.0, 1e6, 1e30])
def test_one_far_cell_costs_no_accuracy(far):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 3)) * [1.0, 300.0, 0.01] + 2.5 * y[:, None] * [1.0, 300.0, 0.0]
    spoiled = X[::2].copy()
    spoiled[7, 1] = far
    scores = [ParzenClassifier().fit(points, y[::2]).score(X[1::2], y[1::2]) for points in (X[::2], spoiled)]
    assert scores[0] > 0.93 and scores[1] > scores[0] - 0.03


@pytest.mark.parametrize("deviation, varies", [(0.8e-12, False), (1.3e-12, True)])
def test_deviations_of_a_trillionth_of_the_mean_are_rounding(deviation, varies):
    X = 1 + deviation * np.tile([[-1.0], [1.0]], (50, 1))
    assert (spreads(X)[0] > 0) == varies
