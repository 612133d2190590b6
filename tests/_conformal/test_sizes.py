"""The usual size of residuals: what is left out, what it follows, and where it stays constant."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from spectralcls._conformal import sizes as module
from spectralcls._conformal.sizes import PointKernel, Sizes, _by_ridge, _constant, _mixed

UNITS = [None, np.arange(60) // 4, np.random.default_rng(9).integers(0, 12, 60)]


def problem(n=60, d=2, k=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.exp(0.7 * X[:, :1]) * np.abs(rng.normal(size=(n, k))), rng.uniform(0.5, 2, n)


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("ridge", [1.0, 10.0])
def test_a_unit_is_left_out_of_a_step_as_a_regression_without_it_predicts(units, ridge, monkeypatch):
    monkeypatch.setattr(module, "STEPS", 1)
    X, errors, weights = problem(k=2)
    K = PointKernel.of(X).among()
    stretched = dict(zip(module.STRETCHES, _by_ridge(K, ridge, errors, weights, units), strict=True))
    logs, center, columns = stretched[1.0]
    mean = np.average(errors, axis=0, weights=weights)
    targets = np.log(mean) + np.minimum(errors / mean, module.LARGEST) - 1
    assert_allclose(center, np.average(targets, axis=0, weights=weights))
    codes = np.arange(60) if units is None else units
    for own in np.unique(codes):
        o, out = codes != own, codes == own
        A = np.linalg.solve(K[np.ix_(o, o)] + np.diag(ridge / weights[o]), (targets - center)[o])
        assert_allclose(logs[out], center + K[np.ix_(out, o)] @ A, atol=1e-10)
    assert_allclose(K @ columns + ridge / weights[:, None] * columns, targets - center, atol=1e-10)
    mean = np.average(logs, axis=0, weights=weights)
    for factor, found in stretched.items():  # at samples and queries alike
        for values, own in zip((logs, K @ columns + center), (found[0], K @ found[2] + found[1]), strict=True):
            assert_allclose(own - mean, factor * (values - mean), atol=1e-10)


@pytest.mark.parametrize("units", UNITS)
def test_a_constant_leaves_out_its_unit(units):
    _, errors, weights = problem()
    codes = np.arange(60) if units is None else units
    expected = [np.average(errors[codes != own], axis=0, weights=weights[codes != own]) for own in codes]
    assert_allclose(np.exp(_constant(errors, weights, units)[0]), expected)


def test_copies_in_one_unit_are_one_sample_of_greater_weight(monkeypatch):
    X, errors, _ = problem(80)
    counts = np.random.default_rng(1).integers(1, 4, 80)
    rows = np.repeat(np.arange(80), counts)
    weighted = Sizes.of(errors, counts.astype(float), X)
    monkeypatch.setattr(
        module, "RIDGES", np.multiply(module.RIDGES, counts.mean())
    )  # they are for a mean weight of one
    copies = Sizes.of(errors[rows], np.ones(len(rows)), X[rows], units=rows)
    assert_allclose(copies.of_samples, weighted.of_samples[rows], rtol=0.05)  # the bandwidth is a median of distances
    assert weighted.columns is not None


def test_sizes_have_the_unit_of_the_residuals_and_no_order():
    X, errors, weights = problem(100)
    Q, order = problem(20, seed=1)[0], np.random.default_rng(2).permutation(100)
    expected = Sizes.of(errors, weights, X)
    for found in (Sizes.of(8 * errors, 3 * weights, X), Sizes.of(8 * errors[order], weights[order], X[order])):
        assert_allclose(found(Q), 8 * expected(Q), rtol=1e-5)
    assert_allclose(found.of_samples, 8 * expected.of_samples[order], rtol=1e-5)


def test_sizes_of_several_outputs_are_those_of_each():
    X, errors, weights = problem(100, k=3)
    errors[:, 1] = np.abs(np.random.default_rng(3).normal(size=100))
    errors[:, 2] = 0.0
    both, Q = Sizes.of(errors, weights, X), problem(20, seed=1)[0]
    for j in range(3):
        alone = Sizes.of(errors[:, [j]], weights, X)
        assert_allclose(both(Q)[:, j], alone(Q)[:, 0], rtol=1e-6)
        assert_allclose(both.of_samples[:, j], alone.of_samples[:, 0], rtol=1e-6)
    assert_allclose(both(Q)[:, 2], 1.0)


def test_a_gain_by_chance_changes_nothing_and_a_large_one_is_taken():
    values, losses = (
        np.array([[0.0] * 4, [8.0] * 4, [2.0] * 4]),
        np.array([[9.0] * 4, [9.5] * 4, [9.9, 8.5, 8.0, -991.0]]),
    )
    assert_allclose(_mixed(values, losses), [0, 0, 1, 1.999])


@pytest.mark.parametrize("n", [100, 1000])
def test_sizes_follow_a_column_and_not_noise(n):
    found = []
    for slope in (0.0, 1.0):
        spreads, agreement = [], []
        for seed in range(8):
            rng = np.random.default_rng(seed)
            X, Q = rng.uniform(-1, 1, size=(2, n, 4))
            sizes = np.log(Sizes.of(np.exp(slope * X[:, :1]) * np.abs(rng.normal(size=(n, 1))), np.ones(n), X)(Q))[:, 0]
            spreads.append(sizes.std())
            agreement.append(np.corrcoef(sizes, Q[:, 0])[0, 1] if sizes.std() > 0 else 0.0)
        found.append((np.mean(spreads), np.mean(agreement)))
    assert found[0][0] < 0.1 and found[1][0] > 2.5 * found[0][0]
    assert found[1][1] > {100: 0.6, 1000: 0.9}[n]


def test_equal_residuals_have_equal_ratios_however_few_others_there_are():
    """Otherwise an interval would end just short of the zeros that are nearly all targets."""
    rng = np.random.default_rng(0)
    errors = np.where(np.arange(100) < 94, 0.2, rng.exponential(size=100))[:, None]
    X, Q = rng.normal(size=(2, 100, 2))
    found = Sizes.of(errors, np.ones(100), X)
    ratios = np.sort(errors / found.of_samples, axis=0)
    assert np.mean(0.2 / found(Q) <= ratios[90] * (1 + 1e-9)) > 0.85
    same = Sizes.of(np.full((100, 1), 0.2), np.ones(100), X)
    assert_allclose(0.2 / same.of_samples, 0.2 / same(Q), rtol=1e-9)


def test_few_units_have_one_size():
    X, errors, weights = problem(200)
    for n, units in ((39, None), (200, np.arange(200) % 39)):
        found = Sizes.of(errors[:n], weights[:n], X[:n], units=units)
        assert (found(X) == 1).all() and (found.of_samples == 1).all()


def test_samples_beyond_the_largest_number_have_sizes_as_queries(monkeypatch):
    monkeypatch.setattr(module, "MOST", 80)
    X, errors, weights = problem(200)
    found = Sizes.of(errors, weights, X)
    as_queries = np.isclose(found.of_samples, found(X), rtol=1e-9)[:, 0]
    assert 120 <= np.count_nonzero(as_queries) < 190 and len(found.kernel.X) == 80


def test_one_outlier_does_not_enlarge_its_neighborhood_without_bound():
    X, errors, weights = problem(200)
    X[0] = 0.0
    sizes = []
    for outlier in (1e2, 1e8):
        errors[0] = outlier
        found = Sizes.of(errors, weights, X)
        sizes.append(found(np.zeros((1, 2)))[0, 0] / np.median(found(X)))
    assert max(sizes) < 20
