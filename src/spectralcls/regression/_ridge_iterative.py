"""Kernel ridge regression without a stored matrix: preconditioned conjugate gradients on kernel sums."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._expansion.tree_cells import near_row
from ..kernels import kernel_sums
from ..linalg import LowRankFactor, rpcholesky
from ._preconditioners import cell_preconditioner, low_rank_preconditioner

_RANGE = np.finfo(np.float32).min, np.finfo(np.float32).max
_SINGLE = 1e-4  # factor by which iterations in float32 reduce the residual before it is recomputed in float64
# If the residual trace, relative to the trace, is below this, further columns of a float32 factor are rounding errors.
_RESOLVED = 1e-4


class IterativeSolution(NamedTuple):
    coefficients: np.ndarray  # (n, C)
    residuals: np.ndarray  # (C,) norm of each column's residual, in float64, relative to the right-hand side
    n_iter: int


@dataclass(frozen=True)
class SummedKernel:
    """Products with the kernel matrix of the points X as kernel sums, and a low-rank factor of it.

    The factor is that of randomly pivoted Cholesky. It captures the leading eigenvalues, which make the system
    ill-conditioned.
    """

    points: dict  # X in both precisions
    kernel: str
    bandwidth: float
    low_rank: LowRankFactor
    n_jobs: int | None

    @classmethod
    def of(cls, X, kernel, bandwidth, rank, rng, n_jobs):
        """With a factor of `rank` columns."""
        with np.errstate(over="ignore"):
            near_zero = X - near_row(X)[0]  # where float32 is most accurate; far numbers remain far
        single = np.clip(near_zero, *_RANGE).astype(np.float32)
        form = {"kernel": kernel, "bandwidth": bandwidth, "n_jobs": n_jobs}
        low_rank = rpcholesky(single, min(rank, len(X)), tol=_RESOLVED, random_state=rng, **form)
        return cls(
            {np.float32: single, np.float64: np.asarray(X, dtype=np.float64)}, kernel, bandwidth, low_rank, n_jobs
        )

    @property
    def form(self):
        """Arguments of a function of kernels."""
        return {"kernel": self.kernel, "bandwidth": self.bandwidth, "n_jobs": self.n_jobs}

    def product(self, V, dtype=np.float32):
        points, V = self.points[dtype], np.ascontiguousarray(V, dtype=dtype)
        return kernel_sums(points, points, weights=V, **self.form).astype(np.float64)

    def preconditioner(self, ridge, weights):
        """The better one for the kernel: the eigenvalues of the Laplace kernel decrease slowly."""
        if self.kernel == "laplace":
            return cell_preconditioner(self.points[np.float32], self.low_rank, ridge, weights, **self.form)
        return low_rank_preconditioner(self.low_rank, ridge, weights)


def solve(kernel, Y, ridge, weights, *, tol, max_iter, step_done):
    """Solve ``(K + ridge W^-1) A = Y`` for all columns at once; converged columns are dropped.

    Iterations multiply in float32. Then the residual is computed in float64, and the system is solved again with the
    residual as the right-hand side.

    Parameters
    ----------
    kernel : SummedKernel
        K and its preconditioner, which contains a low-rank factor [1]_.
    Y : ndarray of shape (n, C), float64
    weights : ndarray of shape (n,)
    tol : float
        Largest residual of each column, relative to the norm of the right-hand side.
    step_done : callable
        Called before each step with a text that describes the state.

    Returns
    -------
    IterativeSolution

    Notes
    -----
    A step costs one pass over the n^2 pairs with C columns, and 2 n `rank` C multiply-adds. Memory is n `rank` float32
    numbers and about 8 n C float64 numbers.

    References
    ----------
    .. [1] M. Diaz, E. N. Epperly, Z. Frangella, J. A. Tropp, R. J. Webber, "Robust, randomized preconditioning for
       kernel ridge regression", 2023, arXiv:2304.12465.
    """
    root = np.sqrt(weights)[:, None]
    scaled = kernel.preconditioner(ridge, weights)

    def product(V):
        return root * kernel.product(root * V) + ridge * V

    def precondition(V):
        return scaled(root * V) / root

    B = root * Y
    norms = np.linalg.norm(B, axis=0)
    norms[norms == 0] = 1.0
    A, R, n_iter = np.zeros_like(B), B.copy(), 0
    residuals = np.linalg.norm(R, axis=0) / norms
    while n_iter < max_iter and (residuals > tol).any():
        active = np.flatnonzero(residuals > tol)
        target = np.maximum(tol * norms[active] / 2, _SINGLE * np.linalg.norm(R[:, active], axis=0))
        correction, steps = _conjugate_gradients(
            product, precondition, R[:, active], target, max_iter - n_iter, step_done
        )
        n_iter += steps
        A[:, active] += correction
        current = A[:, active]
        R[:, active] = B[:, active] - root * kernel.product(root * current, np.float64) - ridge * current
        before, residuals = residuals, np.linalg.norm(R, axis=0) / norms
        if residuals[active].max() > before[active].max() / 2:
            break
    return IterativeSolution(root * A, residuals, n_iter)


def _conjugate_gradients(product, precondition, R, target, max_iter, step_done):
    """Iterate from zero until the residual of each column is at most its target; also return the number of steps."""
    A, R, S = np.zeros_like(R), R.copy(), precondition(R)
    P, rho = S.copy(), np.einsum("ij,ij->j", R, S)
    active = np.arange(R.shape[1])
    for step in range(max_iter):
        step_done(f"residual {(np.linalg.norm(R, axis=0) / target).max():.1e} times the target")
        direction = P[:, active]
        image = product(direction)
        length = rho[active] / np.einsum("ij,ij->j", direction, image)
        A[:, active] += length * direction
        R[:, active] -= length * image
        active = active[np.linalg.norm(R[:, active], axis=0) > target[active]]
        if not len(active):
            return A, step + 1
        S = precondition(R[:, active])
        new = np.einsum("ij,ij->j", R[:, active], S)
        P[:, active] = S + new / rho[active] * P[:, active]
        rho[active] = new
    return A, max_iter
