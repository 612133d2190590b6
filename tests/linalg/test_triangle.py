"""Cholesky factors and their inverses, and solves in blocks."""

import numpy as np
import pytest

from spectralcls._core import interrupt as _interrupt
from spectralcls.linalg import _cholesky as cholesky
from spectralcls.perturbo import _triangle


@pytest.fixture(params=[7, 16, 1000], autouse=True)
def block(request, monkeypatch):
    monkeypatch.setattr(_triangle, "_BLOCK", request.param)
    monkeypatch.setattr(cholesky, "_SHORT", request.param)  # some factors in another thread
    monkeypatch.setattr(_interrupt, "_OPERATIONS", 300)  # products, too, in several parts


def positive_definite(n, seed=0):
    F = np.random.default_rng(seed).standard_normal((n, n))
    M = F @ F.T / n + 0.1 * np.eye(n)
    return M / M.diagonal().max()


def test_the_factor_is_lapacks_and_the_other_triangle_stays():
    M = positive_definite(50)
    work = M.copy()
    U = _triangle.cholesky_in_place(work)
    assert np.shares_memory(U, work)
    np.testing.assert_allclose(np.triu(U), np.linalg.cholesky(M).T, atol=1e-14)
    np.testing.assert_array_equal(np.tril(U, -1), np.tril(M, -1))


def test_solves_with_many_right_hand_sides():
    M, K = positive_definite(50), np.random.default_rng(1).standard_normal((50, 33))
    solution = K.copy()
    _triangle.solve(_triangle.cholesky_in_place(M.copy()), solution)
    np.testing.assert_allclose(solution, np.linalg.solve(np.linalg.cholesky(M), K), atol=1e-12)


@pytest.mark.parametrize("row", [0, 5, 20, 49])
def test_the_row_and_the_pivot_of_a_breakdown(row):
    M = positive_definite(50)
    L = np.linalg.cholesky(M)
    M[row, row] = np.sum(L[row, :row] ** 2) - 0.25
    with pytest.raises(_triangle.NotPositiveDefiniteError) as error:
        _triangle.cholesky_in_place(M)
    assert error.value.index == row and error.value.pivot == pytest.approx(-0.25)


def test_dependent_rows_are_left_out():
    M = positive_definite(40)
    twice = np.r_[np.arange(40), 3, 17]
    singular = np.ascontiguousarray(M[np.ix_(twice, twice)])
    kept, U = _triangle.independent_rows(singular.copy(), 1e-12)
    assert len(kept) == 40
    U = np.triu(U)
    np.testing.assert_allclose(U.T @ U, singular[np.ix_(kept, kept)], atol=1e-13)


def test_the_inverse_of_the_factor():
    M = positive_definite(50)
    U = np.triu(cholesky.cholesky_in_place(M.copy()))
    inverse = cholesky.inverse_in_place(cholesky.cholesky_in_place(M.copy()))
    np.testing.assert_array_equal(np.tril(inverse, -1), 0)
    np.testing.assert_allclose(U @ inverse, np.eye(50), atol=1e-13)


def test_a_matrix_on_which_divide_and_conquer_does_not_converge_is_decomposed(monkeypatch):
    def fail(A):
        raise np.linalg.LinAlgError("Eigenvalues did not converge")

    M = positive_definite(40)
    expected = np.linalg.eigh(M)[0]
    monkeypatch.setattr(np.linalg, "eigh", fail)
    values, vectors = _interrupt.eigh(M)
    np.testing.assert_allclose(values, expected, rtol=1e-12)
    np.testing.assert_allclose((vectors * values) @ vectors.T, M, atol=1e-13)
