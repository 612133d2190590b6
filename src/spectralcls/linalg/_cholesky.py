"""Cholesky factors and their inverses, in place; Ctrl-C interrupts them."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg.blas import get_blas_funcs

from .._core.interrupt import run_interruptibly
from .._utils.typing import Array
from ._lapack import potrf, potrs, trtri

_SHORT = 1000  # up to this order, a LAPACK call takes less than a twentieth of a second
_ROUNDING = 10  # smallest accepted pivot, in multiples of eps


class NotPositiveDefiniteError(np.linalg.LinAlgError):
    """A pivot of a Cholesky factorization is not positive, or no larger than rounding errors.

    Attributes
    ----------
    index : int
        Row at which the factorization stopped.
    pivot : float
        The pivot of this row.
    """

    def __init__(self, index: int, pivot: float, message: str | None = None) -> None:
        message = message or f"pivot {index} of the Cholesky factorization is {pivot:.3g}"
        super().__init__(message)
        self.index, self.pivot, self.message = index, pivot, message

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.index, self.pivot, self.message)


def cholesky_in_place(M: Array) -> Array:
    """The upper factor U, U^T U = M, in the memory of the symmetric C-contiguous ``M``, float32 or float64.

    U is Fortran-ordered, and its strict lower triangle still holds entries of M. The diagonal of M must be of order 1,
    so that pivots as small as rounding errors can be refused like negative ones.
    """
    U, diagonal = M.T, M.diagonal().copy()
    info = _interruptibly(potrf, U)
    if info > 0:
        k = info - 1
        left = get_blas_funcs("trsv", dtype=M.dtype)(U[:k, :k], U[k, :k], trans=1) if k else np.zeros(0)
        raise NotPositiveDefiniteError(k, float(diagonal[k] - np.sum(left**2)))
    pivots = np.square(U.diagonal())
    k = int(pivots.argmin())
    if pivots[k] < _ROUNDING * np.finfo(M.dtype).eps:
        raise NotPositiveDefiniteError(k, float(pivots[k]))
    return U


def inverse_in_place(U: Array) -> Array:
    """U^-1 in the memory of the Fortran-ordered upper factor ``U``; entries below the diagonal become zero.

    This takes n^3 / 6 multiply-adds.
    """
    _interruptibly(trtri, U)
    for j, column in enumerate(U.T):
        column[j + 1 :] = 0
    return U


def _interruptibly(routine: Callable[[Array], int], A: Array) -> int:
    """Call a LAPACK routine so that Ctrl-C can interrupt it if it takes long.

    One call for all rows takes two thirds of the time of a factor and inverse computed in blocks (3000 and 6000 rows).
    """
    return routine(A) if len(A) <= _SHORT else run_interruptibly(routine, A)


def solve_by_factor(U: Array, B: Array) -> Array:
    """``(U^T U)^-1 B`` for the upper factor ``U``, as a new array of the dtype of U."""
    out = np.array(B, dtype=U.dtype, order="F")
    potrs(U, out)
    return out
