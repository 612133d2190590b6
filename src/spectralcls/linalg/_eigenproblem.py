"""A symmetric operator in the form that the eigensolvers use, and their result."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator
from sklearn.utils.validation import check_array

from .._core import compiled
from .._core.threads import serial_blas
from .._utils.conversion import without_mask
from .._utils.typing import Array
from ._operators import GramOperator, KernelOperator


@dataclass(frozen=True)
class EigenResult:
    """The result of :func:`top_eigenpairs`.

    Parameters
    ----------
    values : ndarray of shape (k,)
        Eigenvalues, descending.
    vectors : ndarray of shape (n, k)
        Unit eigenvectors, in the operator's dtype. In each, the first entry whose modulus is within 0.1 % of the
        largest is positive.
    residuals : ndarray of shape (k,)
        ``|A v - value v|``.
    n_block_products : int
        Number of calls of the operator, each with a block of vectors.
    n_matvecs : int
        Number of matrix-vector products, all blocks together.
    block_size : int
        Number of vectors in a block.
    solver : {"lanczos", "arpack", "dense"}
        Solver that was used.
    status : {"converged", "not converged"}
        Whether all residuals are within the tolerance.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralcls import top_eigenpairs
    >>> result = top_eigenpairs(np.diag([1.0, 5.0, 3.0]), 2)
    >>> bool(result.converged), result.vectors.shape
    (True, (3, 2))
    """

    values: np.ndarray
    vectors: np.ndarray
    residuals: np.ndarray
    n_block_products: int
    n_matvecs: int
    block_size: int
    solver: str
    status: str

    @property
    def converged(self) -> bool:
        """Whether all residuals are within the tolerance."""
        return self.status == "converged"


class Eigenproblem:
    """A checked operator in the form that the solvers use."""

    def __init__(self, A: Any, n_threads: int) -> None:
        self.n_threads, self.source = n_threads, A
        if isinstance(A, LinearOperator):
            kinds = {GramOperator: "gram", KernelOperator: "kernel"}
            self.kind = next((kind for known, kind in kinds.items() if isinstance(A, known)), "callback")
            self.matrix = A
            dtype = np.dtype(A.dtype if A.dtype is not None else np.float64)
            if dtype.kind == "c":
                raise ValueError("A is complex; only real symmetric operators are supported.")
            self.dtype = np.dtype(np.float32) if dtype == np.float32 else np.dtype(np.float64)
        else:
            if not sp.issparse(A):
                A = np.asarray(without_mask(A))
            self.matrix = check_array(
                A,
                accept_sparse="csr",
                dtype=[np.float64, np.float32],
                order="C",
                ensure_all_finite=sp.issparse(A),
                ensure_min_samples=2,
                input_name="A",
            )
            self.kind = "csr" if sp.issparse(A) else "dense"
            if self.kind == "dense":
                self.matrix = np.require(self.matrix, requirements="A")
            self.dtype = self.matrix.dtype
        if len(self.matrix.shape) != 2 or self.matrix.shape[0] != self.matrix.shape[1]:
            raise ValueError(f"A must be square, got shape {self.matrix.shape}.")
        self.n = self.matrix.shape[0]
        self._check_symmetric()

    def _check_symmetric(self) -> None:
        if self.kind == "csr":
            difference = abs(self.matrix - self.matrix.T)
            skew, largest = difference.max(), abs(self.matrix).max()
        elif self.kind == "dense":
            skew, largest = compiled.asymmetry(self.matrix, self.n_threads)
            if np.isnan(skew):
                raise ValueError("A contains NaN or infinity.")
        else:
            return  # the solver checks the operator's projection
        if skew > 100 * np.finfo(self.dtype).eps * largest:
            raise ValueError(f"A is not symmetric: a_ij and a_ji differ by up to {skew:.3g}.")

    def default_block(self) -> int:
        if self.kind == "kernel":
            return 32
        return {"csr": 2, "gram": 4}.get(self.kind, 8)

    def apply(self, V: Array) -> Array:
        answer = np.asarray(self.matrix @ V)
        if answer.dtype.kind == "c":
            raise ValueError("The operator's answer is complex; only real symmetric operators are supported.")
        answer = answer.astype(self.dtype, copy=False)
        if not np.all(np.isfinite(answer)):
            raise ValueError("The operator's answer contains NaN or infinity.")
        return answer

    def solve(self, options: dict[str, Any]) -> Any:
        if self.kind == "callback":  # the callback may use BLAS
            return compiled.eigen_callback(self.n, self.apply, options, self.n_threads)
        with serial_blas():  # BLAS solves only small problems here, and its idle threads would slow the core
            return self._solve(options)

    def _solve(self, options: dict[str, Any]) -> Any:
        if self.kind == "dense":
            return compiled.eigen_dense(self.matrix, options, self.n_threads)
        if self.kind == "csr":
            return compiled.eigen_csr(*_csr_parts(self.matrix), options, self.n_threads)
        if self.kind == "gram":
            parts = (*_csr_parts(self.matrix.rows), *_csr_parts(self.matrix.columns))
            return compiled.eigen_gram(*parts, options, self.n_threads)
        arguments: tuple[Any, ...] = (*self.source._core_arguments(), options, self.n_threads)
        return compiled.eigen_kernel(*arguments)

    def toarray(self) -> Array:
        if self.kind == "dense":
            return self.matrix
        if self.kind == "callback" and not hasattr(self.matrix, "toarray"):
            return self.apply(np.eye(self.n, dtype=self.dtype))
        return self.matrix.toarray()


def _csr_parts(matrix: Any) -> tuple[Array, Array, Array]:
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data


def sign_factors(vectors: Array) -> Array:
    """+-1 for each column, so that the first entry whose modulus is within 0.1 % of the largest becomes positive."""
    moduli = np.abs(vectors)
    largest = np.argmax(moduli >= 0.999 * moduli.max(axis=0, initial=0), axis=0)
    return np.where(vectors[largest, np.arange(vectors.shape[1])] < 0, -1, 1).astype(vectors.dtype)


def fix_signs(vectors: Array) -> Array:
    """The columns times their `sign_factors`."""
    return np.ascontiguousarray(vectors * sign_factors(vectors))
