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
    held_out: np.ndarray | None  # (n, C) prediction of each point from all others


def solve(
    K: Array, Y: Array, ridge: float, weights: Array, held_out: bool = True, memory: Array | None = None
) -> Solution:
    """Minimize ``sum_i w_i |y_i - f(x_i)|^2 + ridge |f|^2`` by solving ``(K + ridge W^-1) A = Y``.

    With B the inverse of the matrix ``K + ridge W^-1``, the prediction of y_i from all other points is
    ``y_i - a_i / B_ii``. Point i is left out with all its weight.

    Parameters
    ----------
    K : ndarray of shape (n, n), float32 or float64
        Overwritten if `memory` is None. The solution has its dtype.
    Y : ndarray of shape (n, C)
    ridge : float
    weights : ndarray of shape (n,)
    held_out : bool
        Whether to also predict each point from all others, which doubles the operations.
    memory : ndarray of shape (n, n), default=None
        Overwritten instead of K. Reuse it for several ridges, because allocating it is slow and delays Ctrl-C.

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
    inverse = inverse_in_place(factor)
    diagonal = np.einsum("ij,ij->i", inverse, inverse)
    return Solution(coefficients, Y - coefficients / diagonal[:, None])


class Smoother:
    """The weights of the targets in the predictions of a kernel ridge regression.

    With B the inverse of ``K + ridge W^-1``, a prediction is ``k(q) B Y``. Leaving out point i reduces it by
    ``(k(q) B)_i r_i``, where r_i is the target of point i minus its prediction from the others.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Distinct points.
    kernel : str
    bandwidth, ridge : float
    weights : ndarray of shape (n,)

    Notes
    -----
    The first call takes n^3 multiply-adds; each query takes n^2. Memory is n^2 numbers.
    """

    def __init__(self, X: Array, kernel: str, bandwidth: float, ridge: float, weights: Array) -> None:
        self._X = X.astype(np.float64)
        self._shape: dict[str, Any] = {"kernel": kernel, "bandwidth": bandwidth}
        self._ridge, self._weights = ridge, weights

    @cached_property
    def inverse(self) -> Array:
        """B, (n, n)."""
        K = self._matrix()
        V = inverse_in_place(factor_in_place(K, self._ridge / self._weights, self._ridge))
        return matmul(V, V.T)

    def __call__(self, Q: Array) -> Array:
        """``k(q) B``, (m, n)."""
        return matmul(self._values(Q), self.inverse)

    def _matrix(self) -> Array:
        return kernel_matrix(self._X, **self._shape)

    def _values(self, Q: Array) -> Array:
        return kernel_matrix(Q.astype(np.float64), self._X, **self._shape)
