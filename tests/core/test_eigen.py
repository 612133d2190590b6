"""Eigenpairs are tested by what they are: residual, orthogonality, order, completeness."""

import pickle
import warnings
from functools import cache

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from data import load_npz
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from reference import kernel_matrix as slow_kernel_matrix
from scipy.sparse.linalg import LinearOperator, aslinearoperator
from sklearn.exceptions import ConvergenceWarning

from spectralcls._core import compiled
from spectralcls.kernels import kernel_matrix
from spectralcls.linalg import GramOperator, KernelOperator, top_eigenpairs

DTYPES = [np.float32, np.float64]


def with_spectrum(values, seed=0, dtype=np.float64):
    """A dense symmetric matrix with the given eigenvalues."""
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(values), len(values))))[0]
    A = (Q * values) @ Q.T
    return ((A + A.T) / 2).astype(dtype)


def ring_graph(n, dtype=np.float64):
    """Two rings of different sizes: eigenvalues 2 cos(2 pi j / m), nearly all of them double."""

    def ring(m):
        i = np.arange(m)
        return sp.coo_array((np.ones(2 * m), (np.r_[i, (i + 1) % m], np.r_[(i + 1) % m, i])), shape=(m, m))

    return sp.csr_array(sp.block_diag([ring(n // 3), ring(n - n // 3)])).astype(dtype)


def sparse_graph(n, dtype=np.float64):
    """A random graph with weights."""
    A = sp.random_array((n, n), density=6 / n, random_state=np.random.default_rng(5), dtype=np.float64)
    return sp.csr_array(A + A.T).astype(dtype)


def points(n, d=3, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    return (rng.standard_normal((n, d)) + 4 * rng.integers(0, 3, n)[:, None]).astype(dtype)


def check_pairs(A, result, k, tol):
    """Residual, orthogonality, order, signs; A acts on float64 blocks."""
    V, values = result.vectors.astype(np.float64), result.values
    assert result.converged
    assert V.shape == (len(V), k) and values.shape == result.residuals.shape == (k,)
    assert np.all(np.diff(values) <= 0)
    residuals = np.linalg.norm(A @ V - V * values, axis=0)
    eps = np.finfo(result.vectors.dtype).eps
    norm = np.abs(values).max()
    assert np.all(residuals <= 2 * tol * np.abs(values) + 40 * eps * norm)
    assert_allclose(V.T @ V, np.eye(k), atol=200 * eps)
    moduli = np.abs(result.vectors)
    first = np.argmax(moduli >= 0.999 * moduli.max(axis=0), axis=0)
    assert np.all(V[first, np.arange(k)] > 0)


KINDS = ["dense", "csr", "csr_matrix", "coo", "gram", "kernel", "kernel_sum", "kernel_mean", "linear"]


@cache
def operators(dtype):
    X = points(700, dtype=dtype)
    K = slow_kernel_matrix(X, X, "gaussian", 1.5)
    S = K / np.sqrt(np.outer(K.sum(axis=0), K.sum(axis=0)))
    text = sp.random_array((600, 900), density=0.02, random_state=np.random.default_rng(1), dtype=np.float64).tocsr()
    text = text.astype(dtype)
    exact_text = text.astype(np.float64)
    dense = with_spectrum(np.r_[10, 9.5, 9, 8, 7, 6, np.linspace(-3, 3, 594)], dtype=dtype)
    return {
        "dense": (dense, dense.astype(np.float64)),
        "csr": (sparse_graph(600, dtype), sparse_graph(600)),
        "csr_matrix": (sp.csr_matrix(sparse_graph(600, dtype)), sparse_graph(600)),
        "coo": (sp.coo_array(sparse_graph(600, dtype)), sparse_graph(600)),
        "gram": (GramOperator(text), exact_text @ exact_text.T),
        "kernel": (KernelOperator(X, bandwidth=1.5), K),
        "kernel_sum": (KernelOperator(X, bandwidth=1.5, weighting="sum"), S),
        "kernel_mean": (KernelOperator(X, bandwidth=1.5, weighting="mean"), len(X) * S),
        "linear": (aslinearoperator(dense), dense.astype(np.float64)),
    }


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("solver", ["lanczos", "arpack", "dense"])
def test_pairs_of_every_kind_of_operator(kind, solver, dtype):
    A, truth = operators(dtype)[kind]
    tol = np.finfo(dtype).eps ** (2 / 3)
    k = 6
    result = top_eigenpairs(A, k, solver=solver)
    assert result.vectors.dtype == dtype and result.solver == solver
    check_pairs(truth, result, k, tol)
    expected = np.linalg.eigvalsh(truth.toarray() if sp.issparse(truth) else truth)[::-1][:k]
    assert_allclose(result.values, expected, atol=20 * tol * expected[0])


@settings(max_examples=30, deadline=None)
@given(
    n=st.integers(8, 160),
    k=st.integers(1, 12),
    block=st.integers(1, 12),
    seed=st.integers(0, 1000),
    double=st.booleans(),
    matrix_free=st.booleans(),
)
def test_pairs_of_random_matrices(n, k, block, seed, double, matrix_free):
    k = min(k, n - 1)
    dtype = np.float64 if double else np.float32
    A = np.random.default_rng(seed).standard_normal((n, n))
    A = (A + A.T).astype(dtype)
    tol = 1e-9 if double else 1e-4
    result = top_eigenpairs(aslinearoperator(A) if matrix_free else A, k, solver="lanczos", block_size=block, tol=tol)
    check_pairs(A.astype(np.float64), result, k, tol)
    expected = np.linalg.eigvalsh(A.astype(np.float64))[::-1][:k]
    assert_allclose(result.values, expected, atol=100 * tol * np.abs(expected).max())


@pytest.mark.parametrize(
    "n, k, block, seed", [(8, 4, 1, 6), (8, 7, 1, 287), (9, 7, 1, 137), (9, 7, 1, 77), (12, 7, 3, 261)]
)
def test_vectors_stay_orthogonal_where_the_space_fills_up(n, k, block, seed):
    A = np.random.default_rng(seed).standard_normal((n, n))
    A = A + A.T
    check_pairs(A, top_eigenpairs(A, k, solver="lanczos", block_size=block, tol=1e-9), k, 1e-9)


@pytest.mark.parametrize("copies, k, block", [(3, 6, 8), (8, 10, 8), (20, 24, 4), (5, 5, 2), (12, 6, 4)])
def test_repeated_leading_eigenvalues_are_complete(copies, k, block):
    values = np.r_[np.ones(copies), 0.9, 0.8, 0.7, 0.65, np.linspace(0, 0.5, 300)]
    A = with_spectrum(values)
    result = top_eigenpairs(A, k, solver="lanczos", block_size=block)
    check_pairs(A, result, k, 1e-10)
    assert_allclose(result.values, np.sort(values)[::-1][:k], atol=1e-9)


@pytest.mark.parametrize("block", [1, 2, 4])
def test_double_eigenvalues_of_a_sparse_graph(block):
    """Those that a method with one vector at a time meets only through rounding errors."""
    A = ring_graph(90)
    result = top_eigenpairs(A, 7, solver="lanczos", block_size=block)
    check_pairs(A, result, 7, 1e-10)
    assert_allclose(result.values, np.linalg.eigvalsh(A.toarray())[::-1][:7], atol=1e-9)


@pytest.mark.parametrize("n, rank, k", [(504, 78, 100), (1000, 3, 10), (600, 1, 40)])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, aslinearoperator])
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_symmetric_matrix_of_low_rank_is_symmetric(n, rank, k, form, dtype):
    """Beyond its rank a product is rounding, which has no symmetry, and overlaps the whole basis."""
    for seed in range(4):
        B = np.random.default_rng(1001 + seed).normal(size=(n, rank)).astype(dtype)
        A = B @ B.T
        A = np.maximum(A, A.T)
        found = top_eigenpairs(form(A), k, solver="lanczos")
        truth = np.linalg.eigvalsh(A.astype(np.float64))[::-1][:k]
        assert_allclose(found.values, truth, atol=100 * np.finfo(dtype).eps * truth[0])
        assert_allclose(found.vectors.T @ found.vectors, np.eye(k), atol=200 * np.finfo(dtype).eps)


def test_a_skew_part_of_a_low_rank_matrix_is_found():
    B = np.random.default_rng(0).normal(size=(504, 8))
    A = B @ B.T
    A[:100, 200:300] *= 1 + 1e-4
    with pytest.raises(ValueError, match="not symmetric"):
        top_eigenpairs(aslinearoperator(A), 20, solver="lanczos")


@pytest.mark.parametrize("copies", [30, 130])
def test_copies_by_the_hundred_are_complete(copies):
    """A block of two vectors meets two copies at a time: wider blocks look for the others."""
    blocks = [sp.csr_array(np.full((m, m), 1 / m)) for m in 2 + np.arange(copies) % 5]
    A = sp.csr_array(sp.block_diag(blocks))
    found = top_eigenpairs(A, copies + 3, solver="lanczos")
    assert found.converged and found.block_size == 2
    assert_allclose(found.values, np.r_[np.ones(copies), np.zeros(3)], atol=1e-10)
    kept = found.vectors[:, :copies]
    assert_allclose(kept @ kept.T, A.toarray(), atol=1e-8)
    assert found.n_block_products < 40 * np.log2(copies)


def test_separate_components_each_own_a_leading_eigenvalue():
    blocks = [np.full((m, m), 1 / m) for m in (3, 5, 8, 13, 21, 34, 55, 89)]
    A = sp.block_diag([sp.csr_array(block) for block in blocks], format="csr")
    result = top_eigenpairs(A, 9, solver="lanczos", block_size=2)
    assert_allclose(result.values, np.r_[np.ones(8), 0], atol=1e-10)
    projector = result.vectors[:, :8] @ result.vectors[:, :8].T
    assert_allclose(projector, A.toarray(), atol=1e-8)


@pytest.mark.parametrize("kind", ["dense", "csr", "gram", "kernel_sum", "linear"])
def test_same_bits_for_any_number_of_threads(kind):
    A, _ = operators(np.float32)[kind]
    one, *others = (top_eigenpairs(A, 5, solver="lanczos", n_jobs=threads) for threads in (1, 2, 3))
    for other in others:
        assert_array_equal(one.vectors, other.vectors)
        assert_array_equal(one.values, other.values)


def test_random_state_decides_the_start_and_none_is_fixed():
    A, _ = operators(np.float64)["dense"]
    fixed = [top_eigenpairs(A, 4, solver="lanczos").vectors for _ in range(2)]
    assert_array_equal(*fixed)
    seeded = [top_eigenpairs(A, 4, solver="lanczos", random_state=3).vectors for _ in range(2)]
    assert_array_equal(*seeded)
    assert not np.array_equal(fixed[0], seeded[0])
    assert_allclose(fixed[0], seeded[0], atol=1e-8)


@pytest.mark.parametrize("solver", ["lanczos", "arpack", "dense"])
@pytest.mark.parametrize("shift", [0.0, -50.0])
def test_deflated_vectors_are_left_out(solver, shift):
    A = with_spectrum(np.r_[10, 9, 8, 7, 6, np.linspace(-3, 3, 295)] + shift)
    values, vectors = np.linalg.eigh(A)
    known = vectors[:, [-1, -3]] @ np.array([[1.0, 2.0], [-1.0, 1.0]])
    if solver == "arpack" and shift:
        pytest.skip("eigsh sees the deflated directions as zeros above a negative spectrum")
    result = top_eigenpairs(A, 3, deflate=known, solver=solver)
    assert_allclose(result.values, values[::-1][[1, 3, 4]], atol=1e-8)
    assert_allclose(known.T @ result.vectors, 0, atol=1e-8)


def test_start_vectors_shorten_the_search():
    A, truth = operators(np.float64)["dense"]
    start = np.linalg.eigh(truth)[1][:, ::-1][:, :6]
    cold = top_eigenpairs(A, 6, solver="lanczos")
    warm = top_eigenpairs(A, 6, solver="lanczos", start=start + 1e-6)
    assert warm.n_block_products < cold.n_block_products
    assert_allclose(warm.values, cold.values, rtol=1e-9)


@pytest.mark.parametrize("dtype, scale", [(np.float64, 1e300), (np.float64, 1e-300), (np.float32, 1e-34)])
def test_any_magnitude(dtype, scale):
    A = with_spectrum(np.r_[4, 3, 2, np.linspace(-1, 1, 297)])
    result = top_eigenpairs((A * scale).astype(dtype), 3, solver="lanczos")
    assert_allclose(result.values / scale, [4, 3, 2], rtol=1e-4)


def test_fewer_products_than_arpack_for_kernels():
    A, _ = operators(np.float64)["kernel_sum"]
    ours = top_eigenpairs(A, 8, solver="lanczos", tol=1e-6)
    arpack = top_eigenpairs(A, 8, solver="arpack", tol=1e-6)
    assert 3 * ours.n_block_products < arpack.n_block_products
    assert ours.n_matvecs == ours.n_block_products * ours.block_size


def test_known_first_pair_of_a_normalized_kernel():
    X = points(300)
    for weights in (None, np.random.default_rng(0).uniform(0.5, 3, 300)):
        for weighting in ("sum", "mean"):
            A = KernelOperator(X, bandwidth=2.0, weighting=weighting, sample_weight=weights)
            value, vector = A.known_pair()
            assert_allclose(A @ vector, value * vector, atol=1e-12 * value)
            assert_allclose(top_eigenpairs(A, 1, solver="arpack").values[0], value, rtol=1e-9)


@pytest.mark.parametrize("weighting", [None, "sum", "mean"])
def test_weighted_kernel_has_the_spectrum_of_repeated_points(weighting):
    X = points(60)
    counts = np.random.default_rng(1).integers(1, 4, 60)
    weighted = KernelOperator(X, bandwidth=1.0, weighting=weighting, sample_weight=counts)
    repeated = KernelOperator(np.repeat(X, counts, axis=0), bandwidth=1.0, weighting=weighting)
    assert_allclose(
        np.linalg.eigvalsh(weighted.toarray())[::-1],
        np.linalg.eigvalsh(repeated.toarray())[::-1][:60],
        atol=1e-11 * repeated.shape[0],
    )


def test_kernel_operator_with_bandwidths_by_label():
    X = points(90, d=2)
    labels = np.arange(90) % 3
    widths = np.array([0.7, 1.0, 1.6])
    A = KernelOperator(X, bandwidth=dict(enumerate(widths)), labels=labels, degrees=np.linspace(1, 2, 90))
    K = np.empty((90, 90))
    for t in range(3):
        for s in range(3):
            h = np.hypot(widths[t], widths[s])
            part = slow_kernel_matrix(X[labels == t], X[labels == s], "gaussian", h, True)
            K[np.ix_(labels == t, labels == s)] = part
    K /= np.sqrt(np.outer(np.linspace(1, 2, 90), np.linspace(1, 2, 90)))
    K *= 2 * np.pi * 2 * widths[0] ** 2  # relative to the narrowest kernel
    assert_allclose(A.toarray(), K, rtol=1e-12, atol=1e-15)
    V = np.random.default_rng(0).standard_normal((90, 5))
    assert_allclose(A @ V, K @ V, rtol=1e-10, atol=1e-12)
    assert_allclose(A @ V[:, 0], K @ V[:, 0], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", ["plain", "normalized", "weighted", "labels", "an empty label", "laplace"])
def test_products_of_a_kernel_stay_in_the_core(monkeypatch, form, dtype):
    n, rng = 450, np.random.default_rng(3)
    options = {
        "plain": dict(bandwidth=1.5),
        "normalized": dict(bandwidth=1.5, weighting="sum"),
        "weighted": dict(bandwidth=1.5, weighting="mean", sample_weight=rng.uniform(0.5, 2, n)),
        "labels": dict(bandwidth={0: 0.7, 1: 1.5, 2: 2.0}, labels=np.arange(n) % 3, degrees=rng.uniform(1, 2, n)),
        "an empty label": dict(bandwidth={0: 0.7, 1: 1.5, 2: 2.0}, labels=np.arange(n) % 2 * 2),
        "laplace": dict(bandwidth=1.5, kernel="laplace"),
    }[form]
    A = KernelOperator(points(n, dtype=dtype), **options)
    exact = np.linalg.eigvalsh(A.toarray().astype(np.float64))[::-1][:6]

    def refused(*arguments):
        raise AssertionError("a product came back to Python")

    monkeypatch.setattr(KernelOperator, "_matmat", refused)
    results = [top_eigenpairs(A, 6, solver="lanczos", n_jobs=n_jobs) for n_jobs in (1, 3)]
    assert_allclose(results[0].values, exact, rtol=1e-5 if dtype == np.float32 else 1e-9)
    assert_array_equal(results[0].vectors, results[1].vectors)


def test_leading_vectors_of_a_subset_extend_to_all_points():
    A = KernelOperator(points(2000, dtype=np.float32), bandwidth=2.0, weighting="sum")
    some = np.arange(0, 2000, 4)
    part = A.restricted(some)
    assert_allclose(part.toarray(), A.toarray()[np.ix_(some, some)], rtol=1e-5)  # the contract of float32
    found = top_eigenpairs(part, 6)
    block = np.linalg.qr(A.extended(some, found.vectors / found.values.astype(np.float32)))[0]
    exact = top_eigenpairs(A, 6, tol=1e-5).vectors
    cosines = np.linalg.svd(block.T @ exact)[1]
    assert cosines[:3].min() > 0.99


def test_gram_operator_is_the_svd():
    X = sp.random_array((500, 80), density=0.1, random_state=np.random.default_rng(2)).tocsr()
    result = top_eigenpairs(GramOperator(X), 5)
    expected = np.linalg.svd(X.toarray(), compute_uv=False)[:5] ** 2
    assert_allclose(result.values, expected, rtol=1e-10)


def test_dense_solver_returns_all_pairs_near_the_identity():
    X = load_npz("wine")["X"]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    K = kernel_matrix(X, bandwidth=0.15)
    result = top_eigenpairs(K, 3, solver="dense")
    check_pairs(K, result, 3, 1e-10)


# Bad input

A300 = with_spectrum(np.linspace(1, 2, 300))


@pytest.mark.parametrize("k", [0, -1, 300, 301, 2.0, True, None])
def test_number_of_pairs(k):
    with pytest.raises(ValueError, match="k must be an integer with 1 <= k < 300"):
        top_eigenpairs(A300, k)


def test_a_number_of_pairs_of_a_narrow_type():
    assert_allclose(top_eigenpairs(np.diag(np.arange(300.0)), np.int8(3)).values, [299, 298, 297])


def asymmetric(n):
    return np.random.default_rng(0).standard_normal((n, n))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 63, 64, 65, 200])
def test_every_entry_counts_in_the_check_of_symmetry(n, dtype):
    rng = np.random.default_rng(n)
    A = rng.standard_normal((n, n)).astype(dtype)
    A = A + A.T
    assert compiled.asymmetry(A, 2) == (0, np.abs(A).max())
    for i, j in rng.integers(n, size=(5, 2)):
        wrong = A.copy()
        wrong[i, j] += 10
        assert compiled.asymmetry(wrong, 2) == (np.abs(wrong - wrong.T).max(), np.abs(wrong).max())
        for value in (np.nan, np.inf, -np.inf):
            wrong[i, j] = value
            assert np.isnan(compiled.asymmetry(wrong, 2)).all()


def nan_at(i, j):
    A = A300.copy()
    A[i, j] = np.nan
    return A


@pytest.mark.parametrize(
    "A, message",
    [
        (asymmetric(300), "not symmetric"),
        (sp.csr_array(asymmetric(50)), "not symmetric"),
        (aslinearoperator(asymmetric(500)), "not symmetric"),
        (aslinearoperator(asymmetric(200)), "not symmetric"),
        (np.ones((4, 3)), "square"),
        (sp.csr_array(np.ones((4, 3))), "square"),
        (nan_at(5, 5), "NaN or infinity"),
        (nan_at(5, 250), "NaN or infinity"),
        (sp.csr_array(nan_at(5, 5)), "NaN"),
        (LinearOperator((500, 500), matvec=lambda v: v * np.nan, dtype=np.float64), "NaN or infinity"),
        (A300 + 1j, "[Cc]omplex"),
        (aslinearoperator(A300 * 1j), "complex"),
    ],
)
def test_bad_operators(A, message):
    with pytest.raises(ValueError, match=message):
        top_eigenpairs(A, 2)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"solver": "qr"}, "solver must be one of"),
        ({"tol": -1}, "tol must be in"),
        ({"max_block_products": 0}, "max_block_products"),
        ({"block_size": 0, "solver": "lanczos"}, "block_size"),
        ({"block_size": 2.5, "solver": "lanczos"}, "block_size"),
        ({"max_basis": -7, "solver": "lanczos"}, "max_basis"),
        ({"deflate": np.ones((300, 2))}, "linearly independent"),
        ({"deflate": np.ones(299)}, "300 rows"),
        ({"start": np.ones((299, 2))}, "300 rows"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        top_eigenpairs(A300, 2, **options)


def test_an_error_inside_an_operator_comes_through():
    def fail(v):
        raise RuntimeError("no answer")

    with pytest.raises(RuntimeError, match="no answer"):
        top_eigenpairs(LinearOperator((500, 500), matvec=fail, dtype=np.float64), 2)


@pytest.mark.parametrize("solver", ["lanczos", "arpack", "dense"])
@pytest.mark.parametrize("zero", [np.zeros((500, 500)), sp.csr_array((500, 500))])
def test_every_solver_decomposes_the_zero_matrix(zero, solver):
    known = np.eye(500)[:, :3]
    result = top_eigenpairs(zero, 4, solver=solver, deflate=known)
    assert result.converged and np.all(result.values == 0)
    vectors = np.hstack([known, result.vectors])
    assert_allclose(vectors.T @ vectors, np.eye(7), atol=1e-12)


def test_arpack_does_not_start_from_a_null_vector():
    A = np.diag(np.r_[np.arange(1.0, 100.0), 0.0])
    result = top_eigenpairs(A, 2, solver="arpack", start=np.eye(100)[:, -1:])
    assert_allclose(result.values, [99, 98])


@pytest.mark.parametrize("solver", ["lanczos", "arpack", "dense"])
@pytest.mark.parametrize(
    ("operator", "message"),
    [
        (aslinearoperator(asymmetric(500)), "not symmetric"),
        (LinearOperator((500, 500), matvec=lambda v: v * (1 + 1j), dtype=np.float64), "complex"),  # it says it is real
    ],
)
def test_no_solver_takes_an_operator_that_is_not_real_and_symmetric(solver, operator, message):
    with pytest.raises(ValueError, match=message):
        top_eigenpairs(operator, 2, solver=solver)


@cache
def leading(n, weighting):
    """A kernel of n points, and its three leading eigenvalues."""
    A = KernelOperator(points(n, 2), bandwidth=1.0, weighting=weighting)
    return A, scipy.linalg.eigvalsh(A.toarray(), subset_by_index=[n - 3, n - 1])[::-1]


@pytest.mark.parametrize("weighting", [None, "sum"])
@pytest.mark.parametrize("n, block_size", [(1600, 1), (1600, 2), (1600, 3), (450, 10**9)])
def test_kernels_of_many_points_in_blocks_of_any_size(n, block_size, weighting):
    """From 1500 points on a kernel's solve starts from that of a few points, in what is left of the block."""
    A, values = leading(n, weighting)
    result = top_eigenpairs(A, 3, solver="lanczos", block_size=block_size)
    assert_allclose(result.values, values, rtol=1e-9)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("weighting", [None, "sum"])
def test_all_points_equal(dtype, weighting):
    A = KernelOperator(np.ones((500, 2), dtype), bandwidth=1.0, weighting=weighting)
    result = top_eigenpairs(A, 4)
    first = 500 if weighting is None else 1
    # Errors of eigenvalues are relative to the norm, and every instruction set rounds in its own order.
    assert_allclose(result.values, np.r_[first, 0, 0, 0], atol=50 * first * np.finfo(dtype).eps)


@pytest.mark.parametrize("solver", ["lanczos", "arpack"])
def test_non_convergence_is_said(solver):
    A = with_spectrum(np.linspace(1, 2, 500))
    with pytest.warns(ConvergenceWarning, match="not converged to tol=.*Raise max_block_products"):
        result = top_eigenpairs(A, 4, solver=solver, max_block_products=2)
    assert not result.converged and result.status == "not converged"


def test_non_convergence_returns_what_was_found():
    A = with_spectrum(np.linspace(1, 2, 500))
    with pytest.warns(ConvergenceWarning, match="relative residual"):
        result = top_eigenpairs(A, 4, solver="lanczos", max_block_products=4)
    true = np.linalg.norm(A @ result.vectors - result.vectors * result.values, axis=0)
    assert_allclose(result.residuals, true, rtol=1e-6)


def test_the_message_does_not_contradict_the_residuals():
    """Sixty components own a 1 each. If what was found has converged, only further copies can be missing."""
    A = sp.block_diag([sp.csr_array([[1, c], [c, 1]]) / (1 + c) for c in np.linspace(0.1, 0.9, 60)], format="csr")
    seen = set()
    for limit in range(40, 58, 2):
        with pytest.warns(ConvergenceWarning) as record:
            found = top_eigenpairs(A, 62, solver="lanczos", max_block_products=limit)
        fine = bool(np.all(found.residuals <= 1e-10 * found.values))
        assert ("still looking for copies" in str(record[0].message)) == fine
        seen.add(fine)
    assert seen == {True, False}


@pytest.mark.parametrize("solver", ["lanczos", "dense"])
def test_isolated_points_are_said(solver):
    A = KernelOperator(points(500), bandwidth=1e-3, weighting="sum")
    assert A.n_isolated == 500
    with pytest.warns(ConvergenceWarning, match="500 of 500 points have no neighbor.*raise the bandwidth"):
        top_eigenpairs(A, 5, solver=solver)


def test_separated_classes_are_no_isolated_points():
    X = np.concatenate([points(150, seed=s) + 1000 * s for s in range(4)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = top_eigenpairs(KernelOperator(X, bandwidth=5.0, weighting="sum"), 4)
    assert_allclose(result.values, 1, atol=1e-9)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"bandwidth": 0}, "bandwidth must be"),
        ({"bandwidth": np.nan}, "bandwidth must be"),
        ({"bandwidth": 1.0, "kernel": "box"}, "kernel must be"),
        ({"bandwidth": 1.0, "weighting": "max"}, "weighting must be"),
        ({"bandwidth": 1.0, "weighting": "sum", "degrees": np.ones(9)}, "either"),
        ({"bandwidth": 1.0, "degrees": np.zeros(9)}, "degrees must be"),
        ({"bandwidth": 1.0, "sample_weight": -np.ones(9)}, "sample_weight must be"),
        ({"bandwidth": "a"}, "bandwidth must be numeric"),
        ({"bandwidth": None}, "bandwidth must be"),
        ({"bandwidth": [1.0, 2.0]}, "bandwidth must be a number"),
        ({"bandwidth": {0: 1.0, 1: 2.0}, "labels": np.full(9, 2)}, "labels must be"),
        ({"bandwidth": {0: -1.0, 1: 2.0}, "labels": np.zeros(9, int)}, "bandwidth must be positive"),
        ({"bandwidth": {0: np.nan, 1: 2.0}, "labels": np.zeros(9, int)}, "bandwidth must be positive"),
        ({"bandwidth": 1.0, "labels": np.zeros(9, int)}, "with labels a dict"),
        ({"bandwidth": [1.0, 2.0], "labels": np.zeros(9, int)}, "with labels a dict"),
        ({"bandwidth": {0: 1.0}}, "without labels"),
        ({"bandwidth": {1: 1.0, 2: 2.0}, "labels": np.ones(9, int)}, "no other label, see 0, 2"),
        ({"bandwidth": {0: 1.0, 1: 2.0}, "labels": np.zeros(9)}, "labels must be 9 integers"),
        ({"bandwidth": {0: 1.0, 1: 2.0}, "labels": np.zeros(8, int)}, "labels must be 9 integers"),
        ({"bandwidth": {0: 1.0}, "labels": np.zeros(9, int), "kernel": "uniform"}, "gaussian"),
    ],
)
def test_bad_kernel_operators(options, message):
    with pytest.raises(ValueError, match=message):
        KernelOperator(points(9), **options)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_unpickled_matrices_whose_dtype_is_an_object_of_its_own(convert, dtype):
    Z = np.random.default_rng(0).normal(size=(300, 40)).astype(dtype)
    A = convert(Z @ Z.T)
    B = pickle.loads(pickle.dumps(A))
    assert B.dtype == A.dtype
    options = dict(k=3, solver="lanczos", random_state=0)
    np.testing.assert_array_equal(top_eigenpairs(B, **options).values, top_eigenpairs(A, **options).values)


@pytest.mark.parametrize("value, isolated", [(1.3e-3, 0), (0.7e-3, 2)])
def test_points_whose_kernel_mass_is_their_own_are_isolated(value, isolated):
    """But for a thousandth."""
    X = np.array([[0.0], [np.sqrt(-2 * np.log(value))]])
    assert KernelOperator(X, bandwidth=1.0, weighting="sum").n_isolated == isolated
