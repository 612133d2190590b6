"""A choice made without the unit of a sample, by its definition."""

import numpy as np
import pytest

from spectralcls._conformal import chosen_by_others


@pytest.mark.parametrize("n_units", [None, 7])
def test_the_choice_has_the_least_loss_of_the_other_units(n_units):
    rng = np.random.default_rng(0)
    losses, weights = rng.exponential(size=(4, 40)), rng.uniform(0.5, 2, 40)
    losses -= np.average(losses, axis=1, weights=weights)[:, None]  # nearly tied
    units = np.arange(40) if n_units is None else rng.integers(0, n_units, 40)
    found = chosen_by_others(losses, weights, None if n_units is None else units)
    expected = [(losses[:, units != own] @ weights[units != own]).argmin() for own in units]
    np.testing.assert_array_equal(found, expected)
    assert len(set(expected)) > 1
