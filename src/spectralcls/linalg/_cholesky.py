"""Cholesky factors and their inverses, in place and in blocks, with checks for Ctrl-C between blocks."""

from typing import Any

import numpy as np
from scipy.linalg.blas import get_blas_funcs

from .._core.interrupt import matmul
from .._utils.typing import Array
from ._lapack import potrf, potrs, trtri

_BLOCK = 2048  # order of a block, for which one LAPACK call takes a twentieth of a second
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
    for start in range(0, len(M), _BLOCK):
        _factor_block(M, slice(start, min(start + _BLOCK, len(M))))
    U = M.T
    pivots = np.square(U.diagonal())
    k = int(pivots.argmin())
    if pivots[k] < _ROUNDING * np.finfo(M.dtype).eps:
        raise NotPositiveDefiniteError(k, float(pivots[k]))
    return U


def _factor_block(M: Array, block: slice) -> None:
    """Compute a block of rows and columns of the factor from the preceding blocks. A single LAPACK call for all blocks
    would delay Ctrl-C."""
    before = M[block, : block.start]
    corner = np.asfortranarray(M[block, block].T)  # a view of M if there is only one block
    if block.start:
        corner -= matmul(before, before.T)
    diagonal = corner.diagonal().copy()
    info, trsm = potrf(corner), get_blas_funcs("trsm", dtype=M.dtype)
    if info > 0:
        k = info - 1
        left = trsm(1.0, np.asfortranarray(corner[:k, :k]), corner[k, :k, None], trans_a=1) if k else np.zeros(0)
        raise NotPositiveDefiniteError(block.start + k, float(diagonal[k] - np.sum(left**2)))
    if not np.may_share_memory(corner, M):
        for i, row in enumerate(M[block, block]):  # the other triangle still holds M
            row[: i + 1] = corner[: i + 1, i]
    for start in range(block.stop, len(M), _BLOCK):
        rows = slice(start, start + _BLOCK)
        panel = M[rows, block] - matmul(M[rows, : block.start], before.T)
        M[rows, block] = trsm(1.0, corner, panel.T, lower=0, trans_a=1, overwrite_b=1).T


def inverse_in_place(U: Array) -> Array:
    """U^-1 in the memory of the Fortran-ordered upper factor ``U``; entries below the diagonal become zero.

    This takes n^3 / 3 multiply-adds.
    """
    for start in range(0, len(U), _BLOCK):
        block = slice(start, min(start + _BLOCK, len(U)))
        U[block, :start] = 0
        corner = np.asfortranarray(U[block, block])
        trtri(corner)
        for j, column in enumerate(corner.T):
            column[j + 1 :] = 0
        if not np.may_share_memory(corner, U):
            U[block, block] = corner
        if start:
            U[:start, block] = matmul(U[:start, :start], matmul(U[:start, block], -corner))
    return U


def solve_by_factor(U: Array, B: Array) -> Array:
    """``(U^T U)^-1 B`` for the upper factor ``U``, as a new array of the dtype of U."""
    out = np.array(B, dtype=U.dtype, order="F")
    potrs(U, out)
    return out
