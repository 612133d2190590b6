"""The preconditioner from cells and a low-rank factor, against the matrix that it inverts."""

from dataclasses import replace

import numpy as np
import pytest

from spectralcls.kernels import kernel_matrix
from spectralcls.regression import _cell_kernel, _kernel_ridge, _ridge_iterative
from spectralcls.regression._cell_kernel import CellKernel
from spectralcls.regression._penalized_operators import SummedKernel

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


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("most", [1, 50, 400])
def test_it_inverts_the_matrix_that_it_stands_for(weights, most):
    cells, weights = CellKernel.of(operator(30), most), WEIGHTS[weights]
    F, K = cells.low_rank.factor.astype(np.float64), kernel_matrix(X, **FORM)
    approximate = F @ F.T
    for rows in cells.cells.parts:
        approximate[np.ix_(rows, rows)] = K[np.ix_(rows, rows)]
    Z = np.sqrt(weights)[:, None] * rng.normal(size=(400, 2))
    V = 0.1 * Z + weights[:, None] * (approximate @ Z)
    np.testing.assert_allclose(cells.preconditioner(0.1, weights)(V), Z, atol=1e-2)


@pytest.mark.parametrize("heavy", [1.0, 1e4])
def test_matrices_that_float32_cannot_tell_from_singular_ones_have_factors(monkeypatch, heavy):
    """With a tenth of `_LEAST` one of them would not."""
    points = rng.normal(size=(1000, 3))
    cells = CellKernel.of(operator(300, points, bandwidth=1e3), 1000)
    weights = np.r_[np.full(20, heavy), np.ones(980)]
    assert np.isfinite(cells.preconditioner(1e-12, weights)(rng.normal(size=(1000, 1)))).all()
    monkeypatch.setattr(_cell_kernel, "_LEAST", _cell_kernel._LEAST / 10)
    if heavy == 1.0:
        with pytest.raises(np.linalg.LinAlgError):
            cells.preconditioner(1e-12, weights)


def iterations(kernel, tol=1e-4):
    Y = np.sign(X[:, :1] * X[:, 1:2])
    options = {"tol": tol, "max_iter": 200, "step_done": lambda what: None}
    return _ridge_iterative.solve(kernel, Y, 0.01, np.ones(len(X)), **options).n_iter


def test_cells_save_iterations():
    low_rank = operator(20)
    counts = [iterations(replace(low_rank, approximate=CellKernel.of(low_rank, most))) for most in (1, 100, 400)]
    assert counts[1] < 0.6 * counts[0] and counts[2] <= 2


def test_the_low_rank_factor_alone_serves_the_gaussian_best():
    with_diagonal = operator(100, kernel="gaussian", bandwidth=1.0)
    alone = replace(with_diagonal, approximate=_kernel_ridge._approximate(with_diagonal))
    assert iterations(alone) < 0.8 * iterations(with_diagonal)
    assert isinstance(_kernel_ridge._approximate(operator(5)), CellKernel)
