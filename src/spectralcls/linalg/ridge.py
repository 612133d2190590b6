"""Kernel ridge regression from a Cholesky factor, and its leave-one-out predictions in closed form."""

from typing import Any, NamedTuple

import numpy as np

from .._core.interrupt import matmul, slices
from .._utils.cached import cached_property
from .._utils.typing import Array
from ..kernels import kernel_matrix
from ._cholesky import NotPositiveDefiniteError, cholesky_in_place, inverse_in_place, solve_by_factor


def factor_in_place(K: Array, diagonal: Any, ridge: float) -> Array:
    """`cholesky_in_place` of K with `diagonal` added; `ridge` is the penalty named in the error.

    Raises
    ------
    LinAlgError
        If the matrix is not numerically positive definite.
    """
    K.flat[:: len(K) + 1] += diagonal
    try:
        return cholesky_in_place(K)
    except NotPositiveDefiniteError:
        raise np.linalg.LinAlgError(
            f"the kernel matrix plus {ridge:g} on its diagonal is not positive definite in {K.dtype}: raise alpha"
        ) from None


class Solution(NamedTuple):
    coefficients: np.ndarray  # (n, C)
    held_out: np.ndarray | None  # (n, C) prediction of each point from all other units


def residuals_left_out(V: Array, A: Array, units: Array | None = None) -> Array:
    """Targets minus their predictions by regressions without their units, (n, C).

    With ``B = V V^T`` the inverse of the matrix of the system and ``A = B Y``, the residuals of unit g are
    ``(B_gg)^-1 A_g``. A unit is left out with all its weight.

    Parameters
    ----------
    V : ndarray of shape (n, n)
        The inverse of the upper factor of ``K + ridge W^-1``.
    A : ndarray of shape (n, C)
    units : ndarray of shape (n,), default=None
        Unit of each point; None: each point is one.
    """
    if units is None:
        return A / np.einsum("ij,ij->i", V, V)[:, None]
    out = np.empty_like(A)
    for unit in np.unique(units):
        own = units == unit
        out[own] = np.linalg.solve(V[own] @ V[own].T, A[own])
    return out


def solve(
    K: Array,
    Y: Array,
    ridge: float,
    weights: Array,
    held_out: bool = True,
    memory: Array | None = None,
    units: Array | None = None,
) -> Solution:
    """Minimize ``sum_i w_i |y_i - f(x_i)|^2 + ridge |f|^2`` by solving ``(K + ridge W^-1) A = Y``.

    Parameters
    ----------
    K : ndarray of shape (n, n), float32 or float64
        Overwritten if `memory` is None. The solution has its dtype.
    Y : ndarray of shape (n, C)
    ridge : float
    weights : ndarray of shape (n,)
    held_out : bool
        Whether to also predict each point from all other units, which doubles the operations.
    memory : ndarray of shape (n, n), default=None
        Overwritten instead of K. Reuse it for several ridges, because allocating it is slow and delays Ctrl-C.
    units : ndarray of shape (n,), default=None
        What is left out at a time; None: each point.

    Returns
    -------
    Solution

    Raises
    ------
    LinAlgError
        If the matrix is not numerically positive definite.

    Notes
    -----
    This takes n^3 / 3 multiply-adds, or n^3 / 6 without leave-one-out predictions, in place.
    """
    if memory is not None:
        for rows in slices(len(K)):
            memory[rows] = K[rows]
        K = memory
    factor = factor_in_place(K, ridge / weights, ridge)
    coefficients = solve_by_factor(factor, Y)
    if not held_out:
        return Solution(coefficients, None)
    return Solution(coefficients, Y - residuals_left_out(inverse_in_place(factor), coefficients, units))


class Smoother:
    """The weights of the targets in the predictions of a kernel ridge regression.

    With B the inverse of ``K + ridge W^-1``, a prediction is ``k(q) B Y``. Leaving out unit g reduces it by
    ``(k(q) B)_g r_g``, where r_g are the targets of the unit minus their predictions from the other units.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Distinct points.
    kernel : str
    bandwidth, ridge : float
    weights : ndarray of shape (n,)

    Notes
    -----
    The first call takes n^3 / 3 multiply-adds; each query takes 2 n^2. Memory is n^2 numbers.
    """

    def __init__(self, X: Array, kernel: str, bandwidth: float, ridge: float, weights: Array) -> None:
        self._X = X.astype(np.float64)
        self._shape: dict[str, Any] = {"kernel": kernel, "bandwidth": bandwidth}
        self._ridge, self._weights = ridge, weights

    @cached_property
    def _root(self) -> Array:
        """V with ``V V^T = B``, (n, n)."""
        return inverse_in_place(factor_in_place(self.among(), self._ridge / self._weights, self._ridge))

    def __call__(self, Q: Array) -> Array:
        """``k(q) B``, (m, n)."""
        return matmul(matmul(self.values(Q), self._root), self._root.T)

    def residuals(self, coefficients: Array, units: Array | None = None) -> Array:
        """`residuals_left_out` for coefficients (n, C)."""
        return residuals_left_out(self._root, coefficients, units)

    def changes(self, Q: Array, residuals: Array, units: Array | None = None) -> Array:
        """Changes (m, n, C) of predictions when the unit of each point is left out, from its `residuals` (n, C)."""
        parts = -self(Q)[..., None] * residuals
        if units is None:
            return parts
        order = np.argsort(units, kind="stable")
        starts = np.flatnonzero(np.diff(units[order], prepend=-1))
        return np.add.reduceat(parts[:, order], starts, axis=1)[:, np.unique(units, return_inverse=True)[1]]

    def among(self) -> Array:
        """Kernel values among the points, (n, n)."""
        return kernel_matrix(self._X, **self._shape)

    def values(self, Q: Array) -> Array:
        """Kernel values of queries with the points, (m, n)."""
        return kernel_matrix(Q.astype(np.float64), self._X, **self._shape)
