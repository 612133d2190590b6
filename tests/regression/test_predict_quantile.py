"""Quantiles of targets: shares on both sides, order, units, shapes, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes

from spectralcls import AutoRegressor, KernelRegressor, KernelRidgeRegressor, load, save

EVERY = [KernelRidgeRegressor, KernelRegressor, AutoRegressor]
SHARES = np.array([0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95])
RNG = np.random.default_rng(0)
X, Q = RNG.normal(size=(60, 2)), RNG.normal(size=(9, 2))
y = X[:, 0] + RNG.gamma(1.0, size=60)


@pytest.mark.parametrize("cls", EVERY)
def test_shares_of_real_targets_below_their_quantiles(cls):
    """Each share is within three deviations of a fraction of so many queries, for fits to so many samples."""
    P, t = load_diabetes(return_X_y=True)
    below = np.zeros(len(SHARES))
    for seed in range(3):
        rows = np.random.default_rng(seed).permutation(442)
        model = cls().fit(P[rows[:221]], t[rows[:221]])
        below += np.mean(t[rows[221:], None] <= model.predict_quantile(P[rows[221:]], SHARES), axis=0) / 3
    deviations = np.sqrt(SHARES * (1 - SHARES) * 2 / 221)
    assert (np.abs(below - SHARES) < 3 * deviations).all()


@pytest.mark.parametrize("cls", [KernelRidgeRegressor, KernelRegressor])
def test_skewed_targets_leave_equal_shares_out_on_both_sides(cls):
    """Unlike an interval, which has the prediction in its middle."""
    rng = np.random.default_rng(1)
    P = rng.uniform(-1, 1, size=(4300, 1))
    t = P[:, 0] + rng.gamma(0.5, size=4300)
    model = cls().fit(P[:300], t[:300])
    for share in (0.1, 0.9):
        assert abs(np.mean(t[300:] <= model.predict_quantile(P[300:], share)) - share) < 0.04
    assert np.mean(t[300:] < model.predict_interval(P[300:], coverage=0.8)[:, 0]) < 0.08


@pytest.mark.parametrize("cls", EVERY)
def test_an_array_of_probabilities_gives_ordered_columns(cls):
    model = cls().fit(X, y)
    found = model.predict_quantile(Q, SHARES)
    assert found.shape == (9, 7) and (np.diff(found, axis=1) >= 0).all()
    for column, share in zip(found.T, SHARES, strict=True):
        assert_array_equal(model.predict_quantile(Q, share), column)
    assert_array_equal(model.predict_quantile(Q, [0, 1]), [[-np.inf, np.inf]] * 9)
    both = cls().fit(X, np.column_stack([y, -y]))
    assert both.predict_quantile(Q, 0.3).shape == (9, 2) and both.predict_quantile(Q, [0.3]).shape == (9, 2, 1)


@pytest.mark.parametrize("cls", [KernelRidgeRegressor, KernelRegressor])
def test_quantiles_of_the_negative_are_the_negative_of_those_of_the_rest(cls):
    found, negative = (cls().fit(X, sign * y).predict_quantile(Q, SHARES) for sign in (1, -1))
    assert_allclose(negative, -found[:, ::-1], rtol=1e-9, atol=1e-9)
    scaled = cls().fit(X, 1024 * y).predict_quantile(Q, SHARES)
    assert_array_equal(scaled, 1024 * found)


def test_a_model_from_a_file_has_the_quantiles_that_it_had(tmp_path):
    model = AutoRegressor().fit(X, y)
    save(model, tmp_path / "m.skops")
    assert_array_equal(load(tmp_path / "m.skops").predict_quantile(Q, SHARES), model.predict_quantile(Q, SHARES))


@pytest.mark.parametrize("p", [1.5, -0.1, [0.1, np.nan], "0.5", [[0.5]], None])
def test_what_is_no_probability_is_refused(p):
    with pytest.raises(ValueError, match="p must be a number from 0 to 1, or a list of such numbers, got"):
        KernelRidgeRegressor(2.0, alpha=0.1).fit(X, y).predict_quantile(Q, p)


def test_a_metric_of_the_same_samples_is_named():
    model = KernelRidgeRegressor(2.0, alpha=0.1, metric="whiten").fit(X, y)
    with pytest.warns(UserWarning, match="metric was learned from the same samples"):
        model.predict_quantile(Q, 0.5)
