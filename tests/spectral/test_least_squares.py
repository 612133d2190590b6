"""Least squares on nested features: closed forms against one fit for each sample left out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge
from sklearn.metrics import f1_score, r2_score

from spectralcls.spectral import _least_squares as least_squares


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((30, 4))
    targets = Z[:, [0, 1]] + 0.5 * rng.standard_normal((30, 2)) > [0.0, 0.7]
    return Z, targets, rng.integers(1, 4, 30).astype(float)


def path(Z, targets, weights, n_blocks=1):
    found = least_squares.RidgePath()
    for rows in np.array_split(np.arange(len(Z)), n_blocks):
        found.add(Z[rows], targets[rows], weights[rows])
    return found.solved()


def ridge(Z, signs, weights, alpha):
    return Ridge(alpha=alpha, fit_intercept=False, solver="cholesky").fit(Z, signs, sample_weight=weights)


@pytest.mark.parametrize("alpha", least_squares.ALPHAS)
def test_decisions_about_a_sample_are_those_of_a_fit_without_it(problem, alpha):
    Z, targets, weights = problem
    family = path(Z, targets, weights)
    decisions = dict(zip(least_squares.ALPHAS, family.held_out(Z, targets, weights), strict=True))[alpha]
    signs = 2.0 * targets - 1
    shift = np.average(signs, axis=0, weights=weights)
    scale = weights @ (Z**2).sum(axis=1) / weights.sum()
    for i in range(len(Z)):
        rest = np.arange(len(Z)) != i
        without = ridge(Z[rest], (signs - shift)[rest], weights[rest], alpha * scale)
        assert_allclose(decisions[i], without.predict(Z[[i]])[0] + shift, rtol=1e-9)
    for j in range(2):
        machine = family.machine(j, alpha)
        expected = ridge(Z, signs[:, j] - shift[j], weights, alpha * scale).predict(Z) + shift[j]
        assert_allclose(machine.decision_function(Z), expected, rtol=1e-9)


def test_a_weight_is_a_number_of_copies(problem):
    Z, targets, weights = problem
    once = path(Z, targets, weights).machine(0, 0.1)
    copies = np.repeat(np.arange(len(Z)), weights.astype(int))
    repeated = path(Z[copies], targets[copies], np.ones(len(copies)), 3).machine(0, 0.1)
    assert_allclose(once.coef_, repeated.coef_, rtol=1e-9)
    assert once.intercept_ == pytest.approx(repeated.intercept_)


def test_scores_are_those_of_scikit_learn(problem):
    Z, targets, weights = problem
    decisions = next(path(Z, targets, weights).held_out(Z, targets, weights))
    pairs = list(zip(targets.T, decisions.T, strict=True))
    explained = [r2_score(2.0 * t - 1, d, sample_weight=weights) for t, d in pairs]
    assert_allclose(least_squares.explained(decisions, targets, weights), explained)
    f1 = [f1_score(t, d > 0, sample_weight=weights) for t, d in pairs]
    assert_allclose(least_squares.f1(decisions, targets, weights), f1)


def test_more_components_than_there_are_have_no_score(problem):
    Z, targets, weights = problem
    found = least_squares.scores(Z, targets, weights, [2, 9], lambda Y, k: Y[:, :k], least_squares.accuracy)
    assert found.shape == (2, 2, len(least_squares.ALPHAS))
    assert np.isfinite(found[:, 0]).all() and np.isnan(found[:, 1]).all()
