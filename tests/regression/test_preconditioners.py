"""The preconditioners of conjugate gradients, against the matrices that they invert."""

import numpy as np
import pytest

from spectralcls._expansion.tree_cells import TreeCells
from spectralcls.kernels import kernel_matrix
from spectralcls.regression import _preconditioners
from spectralcls.regression._preconditioners import cell_preconditioner, low_rank_preconditioner
from spectralcls.regression._ridge_iterative import SummedKernel, solve

FORM = {"kernel": "laplace", "bandwidth": 3.0}
rng = np.random.default_rng(0)
X = rng.normal(size=(400, 3))
WEIGHTS = {
    "alike": np.ones(400),
    "different": rng.uniform(0.1, 4, 400),
    "hardly any": np.r_[np.full(40, 1e-200), np.ones(360)],
}


def operator(rank, X=X, **form):
    return SummedKernel.of(X, rank=rank, rng=np.random.RandomState(0), n_jobs=1, **(FORM | form))


def by_cells(operator, most):
    """The preconditioner with cells of at most so many points, as a function of ridge and weights."""
    points = operator.points[np.float32]
    return lambda ridge, weights: cell_preconditioner(points, operator.low_rank, ridge, weights, most, **operator.form)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("most", [1, 50, 400])
def test_cells_invert_the_matrix_that_they_stand_for(weights, most):
    own, weights = operator(30), WEIGHTS[weights]
    F, K = own.low_rank.factor.astype(np.float64), kernel_matrix(X, **FORM)
    approximate = F @ F.T
    for rows in TreeCells.of(own.points[np.float32], most, np.random.RandomState(0)).parts:
        approximate[np.ix_(rows, rows)] = K[np.ix_(rows, rows)]
    Z = np.sqrt(weights)[:, None] * rng.normal(size=(400, 2))
    V = 0.1 * Z + weights[:, None] * (approximate @ Z)
    np.testing.assert_allclose(by_cells(own, most)(0.1, weights)(V), Z, atol=1e-2)


@pytest.mark.parametrize("ridge", [0.1, 10.0])
def test_the_low_rank_factor_inverts_its_matrix(ridge):
    low_rank, weights = operator(30, kernel="gaussian").low_rank, WEIGHTS["different"]
    F, Z = low_rank.factor.astype(np.float64), rng.normal(size=(400, 2))
    V = ridge * Z + weights[:, None] * (F @ (F.T @ Z))
    np.testing.assert_allclose(low_rank_preconditioner(low_rank, ridge, weights)(V), Z, atol=1e-2)


@pytest.mark.parametrize("heavy", [1.0, 1e4])
def test_matrices_that_float32_cannot_tell_from_singular_ones_have_factors(monkeypatch, heavy):
    """With a tenth of `_LEAST` one of them would not."""
    points = rng.normal(size=(1000, 3))
    precondition = by_cells(operator(300, points, bandwidth=1e3), 1000)
    weights = np.r_[np.full(20, heavy), np.ones(980)]
    assert np.isfinite(precondition(1e-12, weights)(rng.normal(size=(1000, 1)))).all()
    monkeypatch.setattr(_preconditioners, "_LEAST", _preconditioners._LEAST / 10)
    if heavy == 1.0:
        with pytest.raises(np.linalg.LinAlgError):
            precondition(1e-12, weights)


def iterations(operator, preconditioner=None, tol=1e-4):
    class Operator:
        product = operator.product

    Operator.preconditioner = staticmethod(preconditioner or operator.preconditioner)
    Y = np.sign(X[:, :1] * X[:, 1:2])
    options = {"tol": tol, "max_iter": 200, "step_done": lambda what: None}
    return solve(Operator, Y, 0.01, np.ones(len(X)), **options).n_iter


def test_cells_save_iterations():
    own = operator(20)
    counts = [iterations(own, by_cells(own, most)) for most in (1, 100, 400)]
    assert counts[1] < 0.6 * counts[0] and counts[2] <= 2
    assert iterations(own) == counts[2]


def test_the_low_rank_factor_alone_serves_the_gaussian_best():
    own = operator(100, kernel="gaussian", bandwidth=1.0)
    assert iterations(own) < 0.8 * iterations(own, by_cells(own, 1))  # cells of one point: the rest of the diagonal
