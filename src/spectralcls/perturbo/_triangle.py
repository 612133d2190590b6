"""Cholesky factors that solve in place, and grow without being copied."""

import numpy as np
from scipy.linalg.blas import dtpsv, dtrsm, dtrsv, strsm
from scipy.linalg.lapack import dpstrf, dtpttr, dtrttp

from .._core.interrupt import matmul
from ..linalg import NotPositiveDefiniteError, cholesky_in_place

_BLOCK = 1024  # rows of the solution per call of BLAS
_FEW = 8  # a packed factor is unpacked for more right-hand sides than this
_FEWER = 2  # a dense factor solves up to this many right-hand sides one by one


def independent_rows(M, tol):
    """Rows of ``M`` (overwritten) that are linearly independent up to ``tol``, and the Cholesky factor of that part of
    M.

    All rows are kept in order if all pivots of the plain factorization exceed ``tol``. Otherwise a pivoted
    factorization stops at the first pivot of at most ``tol``. The other rows lie in the span of the kept ones to that
    accuracy, so that the projection is that of the pseudo-inverse.
    """
    diagonal = M.diagonal().copy()
    try:
        U = cholesky_in_place(M)
        if np.square(U.diagonal()).min() > tol:
            return np.arange(len(M)), U
    except NotPositiveDefiniteError:
        pass
    for i in range(len(M)):  # the other triangle still holds M
        M[i, :i] = M[:i, i]
        M[i, i] = diagonal[i]
    U, pivots, rank, _ = dpstrf(M.T, lower=0, tol=tol, overwrite_a=1)
    return pivots[:rank].astype(np.intp) - 1, np.asfortranarray(U[:rank, :rank])


class Triangle:
    """An upper Cholesky factor U of order n.

    It is stored densely, as LAPACK returned it, until it first grows, and then as packed columns: the j + 1 numbers of
    column j follow column j - 1. New columns are thus appended to a buffer whose capacity doubles. A grown triangle
    shares the buffer with its predecessor, which stays valid.
    """

    def __init__(self, dense):
        self.order, self._dense, self._packed = len(dense), dense, None

    @classmethod
    def _from_packed(cls, order, packed):
        triangle = cls.__new__(cls)
        triangle.order, triangle._dense, triangle._packed = order, None, packed
        return triangle

    def solve(self, K):
        """Overwrite each column k of the C-contiguous ``K`` (n, m) with U^-T k."""
        if not K.size:
            return
        trsm = strsm if K.dtype == np.float32 else dtrsm
        if self._dense is None and K.shape[1] <= _FEW:
            for i in range(K.shape[1]):
                K[:, i] = dtpsv(self.order, self._packed.values, K[:, i], lower=0, trans=1)
        elif K.shape[1] <= _FEWER:
            for i in range(K.shape[1]):
                K[:, i] = dtrsv(self.dense(), K[:, i], lower=0, trans=1)
        else:
            U = self.dense()
            for start in range(0, self.order, _BLOCK):
                block = slice(start, min(start + _BLOCK, self.order))
                if start:
                    K[block] -= matmul(U[:start, block].T, K[:start])
                # computed as K^T U^-1, because BLAS is faster at this than at U^-T K if the triangle is small
                trsm(1.0, np.asfortranarray(U[block, block]), K[block].T, side=1, lower=0, overwrite_b=1)

    def dense(self):
        """U as a Fortran-ordered array; the entries below its diagonal have no meaning."""
        if self._dense is None:
            self._dense, _ = dtpttr(self.order, self._packed.values[: _packed_size(self.order)], uplo="U")
        return self._dense

    @property
    def dtype(self):
        return np.dtype(np.float64) if self._dense is None else self._dense.dtype

    def single(self):
        """The factor rounded to float32, for many right-hand sides of that type."""
        return Triangle(self.dense().astype(np.float32))

    def grown(self, columns, corner):
        """The factor [[U, columns], [0, corner]]; O(n) numbers are written for each new column.

        Parameters
        ----------
        columns : array of shape (n, k)
            The new columns above ``corner``.
        corner : array of shape (k, k)
            Upper triangle.
        """
        size, k = _packed_size(self.order), columns.shape[1]
        needed = _packed_size(self.order + k)
        packed = self._packed
        if packed is None:
            packed = _Packed(dtrttp(self._dense, uplo="U")[0])
        packed = packed.extendable(size, needed)
        for i in range(k):
            end = size + self.order
            packed.values[size:end] = columns[:, i]
            packed.values[end : end + i + 1] = corner[: i + 1, i]
            size = end + i + 1
        packed.used = needed
        return self._from_packed(self.order + k, packed)

    def tail(self, k):
        """The last k columns in the form of `grown`: the parts above the (k, k) corner, and the corner."""
        n = self.order - k
        columns, corner = np.empty((n, k)), np.zeros((k, k))
        for i in range(k):
            if self._packed is None:
                column = self._dense[: n + i + 1, n + i]
            else:
                column = self._packed.values[_packed_size(n + i) : _packed_size(n + i + 1)]
            columns[:, i], corner[: i + 1, i] = column[:n], column[n:]
        return columns, corner

    def __getstate__(self):
        return {"order": self.order, "dense": np.triu(self.dense())}

    def __setstate__(self, state):
        self.__init__(np.asfortranarray(state["dense"]))


class _Packed:
    """A buffer of numbers with spare capacity; triangles use only the first ``used`` of them."""

    def __init__(self, values):
        self.values, self.used = values, len(values)

    def extendable(self, size, needed):
        """A buffer with the first ``size`` numbers and room for ``needed``. It is this one if it is long enough and no
        other triangle has grown from it, otherwise a copy of twice the length.
        """
        if self.used == size and len(self.values) >= needed:
            return self
        values = np.empty(2 * needed)
        values[:size] = self.values[:size]
        grown = _Packed(values)
        grown.used = size
        return grown


def _packed_size(n):
    return n * (n + 1) // 2
