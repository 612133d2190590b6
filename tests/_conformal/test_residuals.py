"""Intervals and quantiles from left-out residuals: agreement with refits without each unit, and coverage."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from spectralcls._conformal import Residuals
from spectralcls._conformal.sizes import Sizes
from spectralcls.linalg.ridge import Smoother

UNITS = [None, np.arange(40) // 3, np.random.default_rng(9).integers(0, 12, 40)]


def kernel(A, B):
    return np.exp(-np.linalg.norm(A[:, None] - B, axis=2) / 1.5)


def problem(n, m, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + m, 2))
    Y = np.column_stack([np.sin(2 * X[:, 0]), X[:, 1] ** 2]) + 0.3 * rng.normal(size=(n + m, 2))
    return X[:n], Y[:n], X[n:], Y[n:]


def fitted(X, Y, weights, Q, ridge=0.2):
    return kernel(Q, X) @ np.linalg.solve(kernel(X, X) + ridge * np.diag(1 / weights), Y)


def jackknife(X, Y, weights, units=None, ridge=0.2):
    smoother = Smoother(X, "laplace", 1.5, ridge, weights)
    coefficients = np.linalg.solve(kernel(X, X) + ridge * np.diag(1 / weights), Y)
    residuals = smoother.residuals(coefficients, units)
    sizes = Sizes(np.ones(Y.shape), np.zeros(Y.shape[1]))

    def changes(Q):
        return smoother.changes(Q, residuals, units)

    if units is not None:
        weights = weights / np.bincount(units, weights)[units]
    return Residuals(residuals, weights, sizes, changes, units)


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("weighted", [False, True])
def test_predictions_without_a_unit_are_those_of_refits(weighted, units):
    X, Y, Q, _ = problem(40, 7, 0)
    weights = np.random.default_rng(1).uniform(0.5, 2, 40) if weighted else np.ones(40)
    found, predicted = jackknife(X, Y, weights, units), fitted(X, Y, weights, Q)
    changes, codes = found.changes(Q), np.arange(40) if units is None else units
    for i in range(40):
        others = codes != codes[i]
        refit = fitted(X[others], Y[others], weights[others], np.vstack([Q, X[i]]))
        assert_allclose(predicted + changes[:, i], refit[:-1], rtol=1e-8)
        assert_allclose(found.ratios[i], Y[i] - refit[-1], rtol=1e-8)


def test_ends_are_quantiles_of_refits():
    X, Y, Q, _ = problem(30, 5, 2)
    found = jackknife(X, Y, np.ones(30)).ends(Q, fitted(X, Y, np.ones(30), Q), 0.8)
    refits = [np.delete(np.arange(30), i) for i in range(30)]
    centers = np.array([fitted(X[own], Y[own], np.ones(29), Q) for own in refits])
    errors = np.array(
        [np.abs(Y[i] - fitted(X[own], Y[own], np.ones(29), X[i : i + 1])[0]) for i, own in enumerate(refits)]
    )
    place = int(np.ceil(0.8 * 31)) - 1
    upper = np.sort(centers + errors[:, None], axis=0)[place]
    lower = -np.sort(errors[:, None] - centers, axis=0)[place]
    assert_allclose(found, np.stack([lower, upper], axis=2), rtol=1e-9)


def test_quantiles_are_those_of_refits_and_their_residuals():
    """By the definition: rank p (n + 1), rounded away from the middle; the median is between its two ranks."""
    X, Y, Q, _ = problem(30, 5, 2)
    others, one = [np.delete(np.arange(30), i) for i in range(30)], np.ones(29)
    values = [fitted(X[o], Y[o], one, Q) + Y[i] - fitted(X[o], Y[o], one, X[[i]]) for i, o in enumerate(others)]
    values = np.sort(values, axis=0)
    found = jackknife(X, Y, np.ones(30)).quantiles(Q, fitted(X, Y, np.ones(30), Q), [0.1, 0.5, 0.9, 0.01, 0.99])
    for share, lower, upper in ((0, 3, 3), (1, 15, 16), (2, 28, 28)):
        assert_allclose(found[..., share], (values[lower - 1] + values[upper - 1]) / 2, rtol=1e-9)
    assert (found[..., 3] == -np.inf).all() and (found[..., 4] == np.inf).all()


def mirrored(weights):
    """Each residual to both sides of its sample; queries."""
    rng = np.random.default_rng(0)
    half, known = rng.gamma(1.0, size=(50, 2)), np.tile(rng.normal(size=(50, 2)), (2, 1))
    found = Residuals.of(np.vstack([half, -half]), np.tile(weights, 2), known)
    return found, rng.normal(size=(7, 2)), rng.normal(size=(7, 2))


@pytest.mark.parametrize("rank", [51, 91])
def test_of_mirrored_residuals_the_ends_of_intervals_are_quantiles(rank):
    found, known, predicted = mirrored(np.ones(50))
    coverage = rank / 101
    ends = found.quantiles(known, predicted, [(1 - coverage) / 2, (1 + coverage) / 2])
    assert_allclose(ends, found.ends(known, predicted, coverage), rtol=1e-10)


def test_quantiles_of_mirrored_residuals_are_mirrored():
    found, known, predicted = mirrored(np.random.default_rng(1).uniform(0.5, 2, 50))
    quantiles = found.quantiles(known, predicted, np.linspace(0.02, 0.98, 33))
    assert_allclose((quantiles + quantiles[..., ::-1]) / 2, np.repeat(predicted[..., None], 33, axis=2), rtol=1e-9)
    assert (np.diff(quantiles, axis=2) >= 0).all()


def test_intervals_hold_the_targets_of_new_samples():
    hits = []
    for seed in range(40):
        X, Y, Q, truth = problem(60, 100, seed)
        ends = jackknife(X, Y, np.ones(60)).ends(Q, fitted(X, Y, np.ones(60), Q), 0.9)
        hits.append(np.mean((ends[..., 0] <= truth) & (truth <= ends[..., 1])))
    assert abs(np.mean(hits) - 0.9) < 0.015


def test_too_few_samples_bound_nothing():
    X, Y, Q, _ = problem(8, 3, 0)
    assert np.isinf(jackknife(X, Y, np.ones(8)).ends(Q, fitted(X, Y, np.ones(8), Q), 0.9)).all()


def test_a_query_is_one_more_unit():
    """Ten groups of four alike rows bound as ten rows; nine do not bound nine tenths."""
    rng = np.random.default_rng(0)
    rows, predicted = rng.normal(size=(10, 1)), np.zeros((3, 1))
    for n, finite in ((10, True), (8, False)):
        own = Residuals.of(rows[:n], np.ones(n), np.zeros((n, 1)))
        groups = np.repeat(np.arange(n), 4)
        grouped = Residuals.of(rows[groups], np.ones(4 * n), np.zeros((4 * n, 1)), units=groups)
        ends = grouped.ends(predicted, predicted, 0.9)
        assert_allclose(ends, own.ends(predicted, predicted, 0.9))
        assert np.isfinite(ends).all() == finite


def test_the_support_of_a_residual_is_the_share_of_those_as_large():
    ratios = np.array([[0.1], [-3.0], [2.0], [0.5]])
    found = Residuals.of(ratios, np.array([1.0, 1.0, 2.0, 1.0]), np.zeros((4, 1)))
    assert_allclose(found.support(), [1.0, 0.2, 0.6, 0.8])
    two = Residuals.of(np.hstack([ratios, 1e6 * ratios[::-1]]), np.ones(4), np.zeros((4, 1)))
    assert two.support()[[1, 2]].max() == 0.5 < two.support()[[0, 3]].min()
