"""Factors of categories and gaps: what a lower loss has to be worth, how often it is asked, which share one."""

from types import SimpleNamespace

import numpy as np
import pytest

from spectralcls._tuning import factors as module


@pytest.mark.parametrize("gain, factor", [(0.8e-3, 1.0), (1.2e-3, 4.0)])
def test_a_category_counts_more_for_a_thousandth_of_the_loss(gain, factor):
    losses = {0.0: 1.0, 0.5: 1.0, 1.0: 0.5, 2.0: 0.5, 4.0: 0.5 - gain}
    found = np.ones(1)
    module._improve([0], found, lambda factors: losses[float(factors[0])], 0.5)
    assert found[0] == factor


@pytest.mark.parametrize("errors, clear", [(2.9, False), (3.1, True)])
def test_a_gap_counts_if_the_loss_is_three_standard_errors_less(errors, clear):
    gains = np.tile([-1.0, 1.0], 50) + errors / 10
    loss = SimpleNamespace(losses=SimpleNamespace(mean=np.mean))
    assert module._FactorLoss.clearly_less(loss, np.zeros(100), gains) == clear
    assert not module._FactorLoss.clearly_less(loss, np.zeros(100), np.full(100, 0.9e-3))
    assert module._FactorLoss.clearly_less(loss, np.zeros(100), np.full(100, 1.1e-3))


def test_each_category_is_asked_twice():
    """While something changes: here each time, by a loss that falls whatever is asked."""
    asked = []

    def loss(factors):
        asked.append(factors.copy())
        return -float(len(asked))

    loss.groups = lambda: [np.array([0]), np.array([1])]
    module._weigh_categories(np.ones(2), loss)
    first = 1 + 2  # all, and all without each
    assert len(asked) == first + 2 * 2 * (len(module.FACTORS) - 1)


@pytest.mark.parametrize("n, sizes", [(50, [1] * 50), (51, [23, 16, 8, 4]), (84, [24, 32, 16, 8, 4])])
def test_more_than_fifty_categories_share_factors_in_groups_that_double(n, sizes):
    """Four that say most about the classes, eight that say less, and so on."""
    rng = np.random.default_rng(0)
    codes = np.arange(300) % 2
    X = rng.normal(size=(300, n)) + np.linspace(0, 3, n) * codes[:, None]
    losses = SimpleNamespace(X=X, codes=codes, weights=None)
    loss = SimpleNamespace(categories=list(range(n)), widths=np.ones(n, dtype=int), losses=losses)
    groups = module._FactorLoss.groups(loss)
    assert sorted(np.concatenate(groups).tolist()) == list(range(n))
    assert [len(group) for group in groups] == sizes
