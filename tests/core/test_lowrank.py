import pickle
from functools import partial

import numpy as np
import pytest
import reference
from numpy.testing import assert_allclose, assert_array_equal

from spectralcls.kernels import kernel_matrix
from spectralcls.linalg import rpcholesky


def blobs(n=300, d=3, seed=0):
    rng = np.random.default_rng(seed)
    centers = rng.normal(scale=4, size=(5, d))
    return centers[rng.integers(5, size=n)] + rng.normal(size=(n, d))


def pivoted_cholesky(K, rank):
    """Greedy diagonal pivoting, one column at a time."""
    residual, pivots, F = K.copy(), [], []
    for _ in range(rank):
        i = int(residual.diagonal().argmax())
        column = residual[:, i] / np.sqrt(residual[i, i])
        residual = residual - np.outer(column, column)
        pivots.append(i)
        F.append(column)
    return np.array(pivots), np.array(F).T


@pytest.mark.parametrize("method", ["random", "greedy"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("block_size", [None, 1, 7, 500])
def test_residual_is_psd_vanishes_on_the_pivots_and_its_trace_is_reported(method, dtype, block_size):
    X = blobs().astype(dtype)
    K = reference.kernel_matrix(X, X, bandwidth=1.5)
    factor = rpcholesky(X, 40, bandwidth=1.5, method=method, block_size=block_size, random_state=0)
    assert factor.factor.dtype == dtype and factor.factor.shape == (300, 40) and factor.rank == 40
    assert len(np.unique(factor.pivots)) == 40
    residual = K - factor.factor.astype(np.float64) @ factor.factor.T.astype(np.float64)
    tolerance = 1e-12 if dtype == np.float64 else 1e-4
    assert_allclose(residual[:, factor.pivots], 0, atol=tolerance)
    assert np.linalg.eigvalsh(residual).min() > -tolerance
    assert_allclose(factor.trace_residual, residual.trace(), rtol=tolerance * 10)
    assert_allclose(factor.relative_trace_residual, residual.trace() / K.trace(), rtol=tolerance * 10)


@pytest.mark.parametrize("method", ["random", "greedy"])
def test_full_rank_is_exact(method):
    X = blobs(120)
    K = reference.kernel_matrix(X, X, bandwidth=0.5)
    factor = rpcholesky(X, 120, bandwidth=0.5, method=method, random_state=1)
    assert_allclose(factor.factor @ factor.factor.T, K, atol=1e-12)
    assert factor.trace_residual <= 1e-12


@pytest.mark.parametrize("q", [5, 15, 30])
def test_random_pivots_reach_the_bound_of_their_theorem(q):
    # arXiv:2207.06503, theorem 2.3, eps = 1: rank q + q log(1 / eta) has at most twice the best residual.
    X = blobs(600)
    values = np.linalg.eigvalsh(reference.kernel_matrix(X, X, bandwidth=1.5))[::-1]
    best = values[q:].sum()
    rank = int(np.ceil(q + q * np.log(values.sum() / best)))
    residuals = [rpcholesky(X, rank, bandwidth=1.5, random_state=s).trace_residual for s in range(8)]
    assert values[rank:].sum() <= min(residuals)
    assert np.mean(residuals) <= 2 * best


def test_random_pivots_leave_less_than_uniform_ones_on_unbalanced_data():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(900, 2)) * 0.1, rng.uniform(-30, 30, size=(60, 2))])
    K = reference.kernel_matrix(X, X, bandwidth=1.0)

    def uniform_residual(seed):
        S = np.random.default_rng(seed).choice(len(X), 60, replace=False)
        return K.trace() - np.trace(K[:, S] @ np.linalg.pinv(K[np.ix_(S, S)], hermitian=True) @ K[S])

    ours = max(rpcholesky(X, 60, bandwidth=1.0, random_state=s).trace_residual for s in range(5))
    assert ours < 0.2 * min(uniform_residual(s) for s in range(5))


@pytest.mark.parametrize("block_size", [1, 8, 64, 200])
def test_greedy_pivots_are_those_of_sequential_pivoting_for_any_block(block_size):
    A = np.random.default_rng(3).normal(size=(200, 200)) * np.linspace(0.1, 2, 200)[:, None]
    K = A @ A.T
    pivots, F = pivoted_cholesky(K, 60)
    factor = rpcholesky(K, 60, kernel="precomputed", method="greedy", block_size=block_size)
    assert_array_equal(factor.pivots, pivots)
    assert_allclose(factor.factor, F, atol=1e-10)


def test_a_wide_kernel_in_single_precision_is_factored_to_rounding():
    """To the end, without a tolerance: what is left is neither far below zero nor above the floor of the pivots."""
    X, eps = np.random.default_rng(0).normal(size=(1500, 5)).astype(np.float32), np.finfo(np.float32).eps
    for seed in range(2):
        factor = rpcholesky(X, 800, bandwidth=3.0, random_state=seed)
        residual = 1 - np.sum(factor.factor.astype(np.float64) ** 2, axis=1)
        assert -300 * eps < residual.min() and residual.max() < 2000 * eps
        assert factor.rank < 700


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("method", ["random", "greedy"])
@pytest.mark.parametrize("n, d, h", [(400, 1, 3.0), (300, 2, 5.0), (200, 3, 0.5)])
def test_the_trace_that_is_left_bounds_what_is_left(dtype, method, n, d, h):
    """What is too small for a pivot is left all the same."""
    X = np.random.default_rng(0).normal(size=(n, d)).astype(dtype)
    factor = rpcholesky(X, n, bandwidth=h, method=method, random_state=0)
    F = factor.factor.astype(np.float64)
    residual = 1 - np.sum(F**2, axis=1)
    assert_allclose(factor.trace_residual, np.maximum(residual, 0).sum(), rtol=1e-6, atol=1e-13 * n)
    left = reference.kernel_matrix(X, X, bandwidth=h) - F @ F.T
    rounding = n * np.finfo(dtype).eps
    assert np.abs(left).max() <= factor.trace_residual + rounding
    assert np.linalg.norm(left, 2) <= factor.trace_residual + rounding


@pytest.mark.any_variant
def test_block_sampling_keeps_the_distribution_of_sequential_sampling():
    # Three points, the first two nearly equal: how often are they the two pivots?
    K = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])
    left = 1 - 0.81  # residual of a near point once its twin is taken
    expected = 2 / 3 * left / (1 + left)  # both near ones: first near, then its twin
    n_trials = 1000
    for block_size in (1, 4):
        rng = np.random.RandomState(0)
        options = {"kernel": "precomputed", "random_state": rng, "block_size": block_size}
        both = sum(2 not in rpcholesky(K, 2, **options).pivots for _ in range(n_trials))
        assert abs(both / n_trials - expected) < 4 * np.sqrt(expected * (1 - expected) / n_trials)


@pytest.mark.parametrize("method", ["random", "greedy"])
@pytest.mark.parametrize("block_size", [1, 32])
def test_tolerance_stops_at_the_first_pivot_that_reaches_it(method, block_size):
    X = blobs()
    options = {"bandwidth": 2.0, "method": method, "block_size": block_size, "random_state": 0}
    factor = rpcholesky(X, 300, tol=0.05, **options)
    assert factor.relative_trace_residual <= 0.05
    K = reference.kernel_matrix(X, X, bandwidth=2.0)
    shorter = factor.factor[:, :-1]
    assert (K - shorter @ shorter.T).trace() > 0.05 * K.trace()
    residual = K - factor.factor @ factor.factor.T
    assert_allclose(factor.trace_residual, residual.trace(), rtol=1e-10)


@pytest.mark.parametrize("method", ["random", "greedy"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_duplicates_end_the_factor_at_the_numerical_rank(method, dtype):
    distinct = np.random.default_rng(0).uniform(-20, 20, size=(25, 2)).astype(dtype)
    X = distinct[np.random.default_rng(1).integers(25, size=400)]
    factor = rpcholesky(X, 300, bandwidth=1.0, method=method, random_state=0)
    assert factor.rank == len(np.unique(X, axis=0))
    assert factor.relative_trace_residual < 10 * np.finfo(dtype).eps
    assert_allclose(factor.factor @ factor.factor.T, reference.kernel_matrix(X, X), atol=1e-5)


def test_the_same_random_state_gives_the_same_factor_and_others_do_not():
    X = blobs()
    first, again, other = (rpcholesky(X, 30, bandwidth=1.0, random_state=s) for s in (5, 5, 6))
    assert_array_equal(first.pivots, again.pivots)
    assert_array_equal(first.factor, again.factor)
    assert set(first.pivots) != set(other.pivots)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_transform_returns_the_factor_on_the_training_points_and_the_nystrom_extension_elsewhere(dtype):
    X, Q = blobs().astype(dtype), blobs(50, seed=9).astype(dtype)
    factor = rpcholesky(X, 40, bandwidth=1.5, random_state=0)
    tolerance = 1e-11 if dtype == np.float64 else 2e-3
    assert_allclose(factor.transform(X), factor.factor, atol=tolerance)
    C = reference.kernel_matrix(X, X[factor.pivots], bandwidth=1.5)
    W = C[factor.pivots]
    nystrom = reference.kernel_matrix(Q, X[factor.pivots], bandwidth=1.5) @ np.linalg.solve(W, C.T)
    assert_allclose(factor.transform(Q) @ factor.factor.T, nystrom, atol=10 * tolerance)
    assert factor.transform(Q).dtype == dtype
    restored = pickle.loads(pickle.dumps(factor))
    assert_array_equal(restored.transform(Q), factor.transform(Q))


def test_a_callable_a_precomputed_and_the_named_kernel_agree():
    X, Q = blobs(), blobs(20, seed=4)
    K = reference.kernel_matrix(X, X, bandwidth=1.5)
    named = rpcholesky(X, 30, bandwidth=1.5, random_state=0)
    called = rpcholesky(X, 30, kernel=partial(reference.kernel_matrix, bandwidth=1.5), random_state=0)
    given = rpcholesky(K, 30, kernel="precomputed", random_state=0)
    for other, query in ((called, Q), (given, reference.kernel_matrix(Q, X, bandwidth=1.5))):
        assert_array_equal(other.pivots, named.pivots)
        assert_allclose(other.factor, named.factor, atol=1e-12)
        assert_allclose(other.transform(query), named.transform(Q), atol=1e-10)
        assert other.trace == pytest.approx(len(X))


def test_a_callable_whose_diagonal_varies():
    X = blobs()
    factor = rpcholesky(X, 3, kernel=lambda A, B: A @ B.T)
    assert_allclose(factor.factor @ factor.factor.T, X @ X.T, atol=1e-10)
    assert factor.trace == pytest.approx(np.sum(X**2))


def test_eigenpairs_are_those_of_the_approximation_and_approach_those_of_the_kernel():
    X = blobs()
    K = reference.kernel_matrix(X, X, bandwidth=2.0)
    factor = rpcholesky(X, 120, bandwidth=2.0, random_state=0)
    values, vectors = factor.eigenpairs(6)
    approximation = factor.factor @ factor.factor.T
    assert_allclose(approximation @ vectors, vectors * values, atol=1e-10 * values[0])
    assert_allclose(vectors.T @ vectors, np.eye(6), atol=1e-10)
    exact = np.linalg.eigvalsh(K)[::-1][:6]
    assert np.all(values <= exact + 1e-10)
    assert np.all(exact - values <= factor.trace_residual + 1e-10)
    duplicates = rpcholesky(np.repeat(X[:4] * 10, 5, axis=0), 20, bandwidth=1.0, random_state=0)
    assert duplicates.eigenpairs()[1].shape == (20, 4)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"kernel": "uniform", "bandwidth": 2.0}, "not positive semi-definite"),
        ({"kernel": "gaussian"}, "needs a bandwidth"),
        ({"kernel": "laplace_derivative", "bandwidth": 1.0}, "kernel must be gaussian, "),
        ({"kernel": "precomputed"}, "square"),
        ({"bandwidth": -1.0}, "bandwidth"),
        ({"bandwidth": 1.0, "tol": 1.0}, "tol"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        rpcholesky(blobs(), 100, random_state=0, **arguments)


def test_bad_data_is_refused():
    with pytest.raises(ValueError, match="NaN"):
        rpcholesky(np.array([[0.0], [np.nan]]), 1, bandwidth=1.0)
    with pytest.raises(ValueError, match="not positive semi-definite"):
        rpcholesky(-np.eye(3), 2, kernel="precomputed")
    factor = rpcholesky(blobs(), 5, bandwidth=1.0, random_state=0)
    with pytest.raises(ValueError, match="columns"):
        factor.transform(np.zeros((2, 5)))


def test_what_a_callable_returns_is_only_read():
    """It may be a matrix that the caller keeps: both factors below come from the same values."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    kept = {}

    def kernel(A, B):
        key = A.tobytes(), B.tobytes()
        if key not in kept:
            kept[key] = kernel_matrix(A, B, bandwidth=1.0)
            kept[key].flags.writeable = False
        return kept[key]

    first = rpcholesky(X, 20, kernel=kernel, random_state=0, block_size=5)
    again = rpcholesky(X, 20, kernel=kernel, random_state=0, block_size=5)
    np.testing.assert_array_equal(first.factor, again.factor)


def test_a_block_is_no_larger_than_the_rank():
    X = blobs(17)
    factor = rpcholesky(X, 9, bandwidth=1.5, block_size=10**9, random_state=0)  # 10**18 numbers, if it were
    assert_array_equal(factor.factor, rpcholesky(X, 9, bandwidth=1.5, block_size=9, random_state=0).factor)
