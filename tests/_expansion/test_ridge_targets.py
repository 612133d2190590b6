"""What kernel ridge regression is fitted to: standardized numbers, indicators less shares, and their losses."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from spectralcls import KernelRegressor
from spectralcls._expansion.ridge_targets import ClassTargets, NumberTargets, targets_of
from spectralcls._inputs.training_data import TrainingData
from spectralcls._tuning.temperature import log_loss, softmax

RNG = np.random.default_rng(0)
WEIGHTS = RNG.integers(1, 4, 50).astype(float)
NUMBERS = RNG.normal(size=(50, 3)) * [1, 1e-3, 1e5] + [0, 1e3, 0]


def test_numbers_have_mean_zero_and_variance_one_and_come_back():
    targets = NumberTargets.of(NUMBERS, WEIGHTS)
    assert_allclose(np.average(targets.Y, axis=0, weights=WEIGHTS), 0, atol=1e-12)
    assert_allclose(np.average(targets.Y**2, axis=0, weights=WEIGHTS), 1, rtol=1e-12)
    assert_allclose(targets.standardization.back(targets.Y), NUMBERS, rtol=1e-14)
    assert_allclose(np.average(targets.judged(np.zeros((50, 3))).losses, weights=WEIGHTS), 1)


@pytest.mark.parametrize("exponent", [-900, -3, 7, 900])
def test_a_power_of_two_and_an_exact_shift_change_no_bit(exponent):
    numbers = np.round(NUMBERS * 1024)
    expected = NumberTargets.of(numbers, WEIGHTS).Y
    assert_array_equal(NumberTargets.of(np.ldexp(numbers, exponent), WEIGHTS).Y, expected)
    assert_array_equal(NumberTargets.of(numbers + 2.0**40, WEIGHTS).Y, expected)


def test_a_constant_output_is_zero_and_comes_back():
    targets = NumberTargets.of(np.column_stack([np.full(50, 0.1), NUMBERS[:, 0]]), None)
    assert_array_equal(targets.Y[:, 0], 0)
    assert_array_equal(targets.standardization.back(targets.Y)[:, 0], 0.1)


def test_classes_are_indicators_less_shares_judged_at_their_temperature():
    codes = RNG.integers(0, 3, 50)
    targets = targets_of(TrainingData(NUMBERS, codes, np.arange(3), WEIGHTS))
    assert isinstance(targets, ClassTargets)
    assert_allclose(WEIGHTS @ targets.Y, 0, atol=1e-12)
    assert_allclose(targets.Y + targets.center, np.eye(3)[codes], atol=1e-15)
    judged = targets.judged(NUMBERS / NUMBERS.std(axis=0))
    expected = log_loss(softmax(judged.scores / judged.temperature), codes, WEIGHTS)
    assert_allclose(np.average(judged.losses, weights=WEIGHTS), expected)


def test_outputs_of_local_means_have_units_of_their_own():
    """Under one unit the squares of the small output were zero."""
    X, y = RNG.normal(size=(60, 1)), RNG.normal(size=60)
    alone = KernelRegressor(degree=0).fit(X, y).predict(X)
    both = KernelRegressor(degree=0).fit(X, np.column_stack([y * 2.0**-900, y * 2.0**900])).predict(X)
    assert_array_equal(both, np.column_stack([alone * 2.0**-900, alone * 2.0**900]))
