"""The jackknife+ of kernel ridge regression: agreement with refits without each sample, and coverage."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from spectralcls.linalg.ridge import Smoother
from spectralcls.regression import _local_sizes
from spectralcls.regression._jackknife import Jackknife
from spectralcls.regression._local_sizes import LocalSizes, SizesByPrediction


def kernel(A, B):
    return np.exp(-np.linalg.norm(A[:, None] - B, axis=2) / 1.5)


def problem(n, m, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + m, 2))
    Y = np.column_stack([np.sin(2 * X[:, 0]), X[:, 1] ** 2]) + 0.3 * rng.normal(size=(n + m, 2))
    return X[:n], Y[:n], X[n:], Y[n:]


def fitted(X, Y, weights, Q, ridge=0.2):
    return kernel(Q, X) @ np.linalg.solve(kernel(X, X) + ridge * np.diag(1 / weights), Y)


def jackknife(X, Y, weights, ridge=0.2):
    smoother = Smoother(X, "laplace", 1.5, ridge, weights)
    residuals = smoother.inverse @ Y / smoother.inverse.diagonal()[:, None]
    return Jackknife.of_ridge(smoother, residuals, weights)


@pytest.mark.parametrize("weighted", [False, True])
def test_predictions_without_a_sample_are_those_of_refits(weighted):
    X, Y, Q, _ = problem(40, 7, 0)
    weights = np.random.default_rng(1).uniform(0.5, 2, 40) if weighted else np.ones(40)
    found, predicted = jackknife(X, Y, weights), fitted(X, Y, weights, Q)
    changes = found.changes(Q, predicted)
    for i in range(40):
        others = np.delete(np.arange(40), i)
        refit = fitted(X[others], Y[others], weights[others], np.vstack([Q, X[i]]))
        assert_allclose(predicted + changes[:, i], refit[:-1], rtol=1e-9)
        assert_allclose(found.ratios[i], Y[i] - refit[-1], rtol=1e-9)


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
    found = Jackknife.of_held_out(np.vstack([half, -half]), np.tile(weights, 2), known)
    return found, rng.normal(size=(7, 2)), rng.normal(size=(7, 2))


@pytest.mark.parametrize("rank", [51, 91])
def test_of_mirrored_residuals_the_ends_of_intervals_are_quantiles(rank):
    found, known, predicted = mirrored(np.ones(50))
    coverage = rank / 101
    ends = found.quantiles(known, predicted, [(1 - coverage) / 2, (1 + coverage) / 2])
    assert_allclose(ends, found.ends(known, predicted, coverage), rtol=1e-12)


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


def test_what_is_usual_at_a_place_comes_from_its_samples_and_twenty_typical_ones():
    sizes = LocalSizes(np.zeros((20, 1)), np.full((20, 1), 3.0), np.ones(20), np.array([1.0]), "gaussian", 1.0)
    assert_allclose(sizes(np.array([[0.0], [100.0]])), [[2.0], [1.0]])


def test_the_width_of_local_sizes_follows_how_fast_they_change():
    """In normal quantiles of the coordinate, where the size of the residuals is that of a wave of this length."""
    chosen = {}
    for length in (1.0, 6.0, 20.0):
        chosen[length] = []
        for seed in range(4):
            rng = np.random.default_rng(seed)
            X = rng.normal(size=(100, 1))
            errors = np.abs(rng.normal(size=(100, 1))) * np.exp(np.sin(2 * np.pi * X / length))
            local = SizesByPrediction.of(X, errors, np.ones(100))[0].local
            chosen[length] += [] if local is None else [local.bandwidth]
    assert set(chosen[1.0]) == {0.2}
    assert {width for widths in chosen.values() for width in widths} == {0.2, 0.5, 1.0}


@pytest.mark.parametrize("relative, local", [(0.994, False), (0.98, True)])
def test_local_sizes_gain_a_hundredth_of_the_width(relative, local, monkeypatch):
    widths = iter([1.0, *[relative] * 9])
    monkeypatch.setattr(_local_sizes, "_width", lambda *_: next(widths))
    X = np.random.default_rng(0).normal(size=(100, 1))
    found, _ = SizesByPrediction.of(X, np.abs(X), np.ones(100))
    assert (found.local is not None) == local


def test_the_width_is_that_of_intervals_of_nine_tenths():
    ratios = np.arange(1.0, 101.0)[:, None]
    assert_allclose(_local_sizes._width(ratios, np.ones((100, 1)), np.ones(100)), 90.5 / 50.5, rtol=0.01)
