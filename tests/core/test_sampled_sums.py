"""Sums within a tolerance with a stated probability, against float64 sums over all pairs."""

import numpy as np
import pytest

from spectralcls.kernels import KernelPoints, kernel_sums
from spectralcls.kernels import _sampled as _sampled_sums
from spectralcls.kernels._sampled import Stratum, sampled_sums

N, M = 40_000, 300


def problem(seed, dtype=np.float64, d=8):
    rng = np.random.default_rng(seed)
    X, Q = rng.normal(size=(N, d)), rng.normal(size=(M, d))
    return X.astype(dtype), Q.astype(dtype), np.minimum(rng.integers(12, size=N), 3), rng


def errors(found, truth, absolute):
    """Of all labels of a query together, relative to the sum of absolute terms; (m, b, c)."""
    return np.abs(found - truth).sum(axis=2) / absolute.sum(axis=2)


@pytest.fixture
def rows(monkeypatch):
    """How many queries were settled by sampling in each call."""
    counts = []

    def counted(*args, **options):
        found = sampled_sums(*args, **options)
        counts.append(0 if found is None else int(found[1].sum()))
        return found

    monkeypatch.setattr("spectralcls.kernels._kernel_sums.sampled_sums", counted)
    return counts


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", ["gaussian", "laplace"])
@pytest.mark.parametrize("weighting", ["none", "positive", "signed columns"])
def test_errors_are_within_the_tolerance(rows, dtype, kernel, weighting):
    X, Q, labels, rng = problem(0, dtype)
    weights = {
        "none": None,
        "positive": rng.exponential(size=(N, 1)) ** 2,
        "signed columns": rng.normal(size=(N, 2)) + 0.5,
    }[weighting]
    weights = None if weights is None else weights.astype(dtype)
    options = dict(labels=labels, kernel=kernel, bandwidth=np.array([4.0, 6.0]))
    rtol = 0.5 if weighting == "signed columns" else 0.15
    found = kernel_sums(Q, X, weights=weights, rtol=rtol, confidence=0.999, **options)
    truth = kernel_sums(Q, X, weights=weights, **options)
    absolute = kernel_sums(Q, X, weights=None if weights is None else np.abs(weights), **options)
    found, truth, absolute = (part.reshape(M, 2, 4, -1).astype(np.float64) for part in (found, truth, absolute))
    assert rows[0] > 0.8 * M
    assert np.all(errors(found, truth, absolute) <= rtol)
    assert np.any(errors(found, truth, absolute) > 1e-4)  # sampled, indeed


def test_bandwidths_of_labels_outputs_and_queries_left_out(rows):
    X, Q, labels, _ = problem(1)
    options = dict(labels=labels, bandwidth=np.array([[3.0, 4.0, 5.0, 6.0]]), rtol=0.1, confidence=1 - 1e-6)
    plain = kernel_sums(X[:M], X, exclude_self=np.arange(M), **options)
    truth = kernel_sums(X[:M], X, exclude_self=np.arange(M), **{**options, "rtol": 0.0, "confidence": 1.0})
    assert rows[0] > 0.8 * M
    assert np.all(np.abs(plain - truth).sum(axis=2) <= 0.1 * truth.sum(axis=2))
    logs = kernel_sums(
        X[:M],
        KernelPoints(X, labels=labels),
        log=True,
        exclude_self=np.arange(M),
        **{key: value for key, value in options.items() if key != "labels"},
    )
    np.testing.assert_allclose(np.exp(logs), plain, rtol=1e-12)
    scale, sums = kernel_sums(X[:M], X, log="pair", exclude_self=np.arange(M), **options)
    np.testing.assert_allclose(np.exp(scale) * sums, plain, rtol=1e-12)


def test_queries_that_a_sample_cannot_settle_are_exact(rows):
    """Far from the data one point holds the sum."""
    X, Q, _, _ = problem(2)
    Q = np.vstack([Q, Q[:20] + 60])
    found = kernel_sums(Q, X, bandwidth=4.0, rtol=0.05, confidence=0.999, log=True)
    assert rows[0] > 0.8 * M
    np.testing.assert_allclose(found[M:], kernel_sums(Q[M:], X, bandwidth=4.0, log=True), atol=0.05)
    assert kernel_sums(Q, X, bandwidth=0.05, rtol=0.05, confidence=0.999, log=True).shape == (M + 20,)
    assert rows[1:] == [0]


def test_a_query_has_the_same_bits_in_any_company_and_for_any_number_of_threads():
    X, Q, labels, _ = problem(3)
    options = dict(labels=labels, bandwidth=4.0, rtol=0.1, confidence=0.999)
    found = kernel_sums(Q, X, n_jobs=1, **options)
    np.testing.assert_array_equal(found, kernel_sums(Q, X, n_jobs=4, **options))
    np.testing.assert_allclose(kernel_sums(Q[::7], X, **options), found[::7], rtol=1e-12)


def test_the_bound_of_small_samples_is_broken_no_more_often_than_stated(monkeypatch):
    """Many seeds at a low confidence: coverage itself, with labels so small that all their points are taken."""
    monkeypatch.setattr(_sampled_sums, "FEWEST_POINTS", 1)
    monkeypatch.setattr(_sampled_sums, "FIRST", 256)
    monkeypatch.setattr(_sampled_sums, "LEAST_DRAWS", 64)
    rng = np.random.default_rng(4)
    X, Q = rng.normal(size=(8_000, 5)), rng.normal(size=(50, 5))
    labels = np.repeat([0, 1, 2], [7_900, 40, 60])
    weights = rng.normal(size=(len(X), 1)) + 1
    options = dict(weights=weights, labels=labels, bandwidth=2.5)
    truth = kernel_sums(Q, X, **options)[..., 0]
    absolute = kernel_sums(Q, X, **{**options, "weights": np.abs(weights)})[..., 0]
    broken, n_certain = 0, 0
    for seed in range(40):
        monkeypatch.setattr(_sampled_sums, "SEED", seed)
        found = sampled_sums(
            Q,
            X,
            weights=weights,
            labels=labels,
            n_labels=3,
            kernel="gaussian",
            bandwidths=np.array([2.5]),
            rtol=0.3,
            confidence=0.5,
            excluded=None,
            n_jobs=1,
        )
        sums, certain = found
        error = np.abs(sums[:, 0, :, 0] - truth).sum(axis=1) / absolute.sum(axis=1)
        broken += int(np.sum(error[certain] > 0.3))
        n_certain += int(certain.sum())
    assert n_certain > 500
    assert broken <= 0.5 * n_certain


def test_draws_follow_the_weights():
    weights = np.vstack([np.ones((5, 2)), [[1.0, -2.0], [0.0, 0.0], [8.0, 4.0], [1.0, 1.0]]])
    stratum = Stratum.of(np.array([5, 6, 7, 8]), weights)
    np.testing.assert_array_equal(stratum.rows, [5, 7, 8])
    counts = np.bincount(stratum.draw(np.random.default_rng(0), 22_000), minlength=3)
    np.testing.assert_allclose(counts, [4000, 16000, 2000], rtol=0.05)
    np.testing.assert_allclose(stratum.everything() * stratum.total / 3, weights[[5, 7, 8]])


@pytest.mark.parametrize(
    "options, message",
    [
        ({"confidence": 0.0, "rtol": 0.1}, "above 0"),
        ({"confidence": 1.5, "rtol": 0.1}, "at most 1"),
        ({"confidence": 0.9}, "goes with rtol"),
        ({"confidence": 0.9, "rtol": 0.1, "atol": 0.1}, "without atol"),
        ({"confidence": np.nan, "rtol": 0.1}, "above 0"),
    ],
)
def test_what_confidence_takes(options, message):
    with pytest.raises(ValueError, match=message):
        kernel_sums(np.zeros((2, 5)), np.zeros((3, 5)), bandwidth=1.0, **options)
