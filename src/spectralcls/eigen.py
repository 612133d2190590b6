"""The leading eigenpairs of a symmetric operator.

The compiled solver is thick-restart block Lanczos with full re-orthogonalisation. Multiplying a block of vectors costs
little more than multiplying one where reading the operator (a matrix) or evaluating it (a kernel) takes the time.
"""

import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, aslinearoperator, eigsh
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array

from ._core import compiled
from ._interrupt import eigh
from ._operators import GramOperator, KernelOperator
from ._parallel import effective_n_threads, serial_blas
from ._typing import ArrayLike, RandomState

__all__ = ["EigenResult", "GramOperator", "KernelOperator", "top_eigenpairs"]

_SMALL = 400  # dimension up to which a dense decomposition is the quickest way
_LARGE = 5000  # and above which it is never chosen
_LISTENING = 1000  # dimension up to which a dense decomposition of a few pairs ends before Ctrl-C matters
_NYSTROM = 1500  # dimension from which a Nystrom solve is worth its while as a start
_LANDMARKS = 20  # one point in so many is a landmark: more of them saved no application
_ROUGH = 3  # applications to the landmarks; neither did more of these
_SOLVERS = ("auto", "lanczos", "arpack", "dense")


@dataclass(frozen=True)
class EigenResult:
    """What :func:`top_eigenpairs` found.

    Parameters
    ----------
    values : ndarray of shape (k,)
        Eigenvalues, descending.
    vectors : ndarray of shape (n, k)
        Unit eigenvectors, in the operator's dtype; the first of the entries that are largest in modulus (but
        for 0.1 %) is positive.
    residuals : ndarray of shape (k,)
        ``|A v - value v|``.
    n_applications : int
        Calls of the operator, each with a block of vectors.
    n_products : int
        Vectors multiplied in all.
    block_size : int
        Vectors in a block.
    solver : {"lanczos", "arpack", "dense"}
        The one that was used.
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
    n_applications: int
    n_products: int
    block_size: int
    solver: str
    status: str

    @property
    def converged(self):
        """Whether all residuals are within the tolerance."""
        return self.status == "converged"


def top_eigenpairs(
    A: Any, k: int, *, solver: str = "auto", tol: float | None = None, max_applications: int | None = None,
    block_size: int | None = None, max_basis: int | None = None, start: ArrayLike | None = None,
    deflate: ArrayLike | None = None, random_state: RandomState = None, n_jobs: int | None = None,
) -> EigenResult:
    """The k largest eigenvalues of a symmetric operator and their eigenvectors.

    Parameters
    ----------
    A : ndarray, sparse array or matrix, or LinearOperator, of shape (n, n)
        Symmetric. float32 and float64 are kept, everything else becomes float64. :class:`KernelOperator` and
        :class:`GramOperator` are operators that are never formed.
    k : int
        Number of pairs, 1 <= k < n.
    solver : {"auto", "lanczos", "arpack", "dense"}, default="auto"
        "lanczos": the compiled block method. "arpack": SciPy's ``eigsh``, one vector at a time. "dense":
        forms the matrix and calls LAPACK, O(n^3). "auto": "dense" for n <= 400, and up to n = 5000 where more
        than a fifth of all pairs are asked for; otherwise "lanczos".
    tol : float, default=None
        A pair has converged when its residual is at most ``tol * |value|`` (or has reached rounding). None:
        ``eps ** (2/3)`` of the dtype, 4e-11 in float64 and 2e-5 in float32.
    max_applications : int, default=None
        Calls of the operator before giving up. None: 1000 + 10 k.
    block_size : int, default=None
        Vectors multiplied at a time. None: 32 for a kernel, 4 for a sparse matrix, 8 otherwise.
    max_basis : int, default=None
        Vectors kept before the search space is compressed: memory is ``n * (max_basis + 4 * block_size)``
        numbers. None: the larger of 2 k + 4 blocks and k + 7 blocks (14 where A is sparse, 6 for a
        LinearOperator).
    start : ndarray of shape (n, s), default=None
        Approximate eigenvectors. None: for a kernel the eigenvectors of a random twentieth of the points, extended
        to all (Nystrom), otherwise random.
    deflate : ndarray of shape (n, p), default=None
        Independent vectors, known eigenvectors as a rule: pairs are sought in their orthogonal complement.
    random_state : int, RandomState instance or None, default=None
        Of the start; None is a fixed seed, so that equal calls give equal bits.
    n_jobs : int, default=None
        Threads. The result has the same bits for any number.

    Returns
    -------
    result : EigenResult
        Values, vectors and residuals of the k pairs, or of fewer where it did not converge.

    Raises
    ------
    ValueError
        For k outside 1 ... n - 1 (less the number of deflated vectors), a matrix that is not square, not
        symmetric or not finite, an operator whose answer is not finite, ``start`` or ``deflate`` of the wrong
        shape.

    Warns
    -----
    ConvergenceWarning
        When some residual is still above the tolerance; the pairs found so far are returned ("arpack": those
        that converged). Also where a normalized kernel has more isolated points than pairs were asked for,
        because then its leading eigenvectors are those points.

    Notes
    -----
    Equal and nearly equal eigenvalues come out complete. A random block of b vectors meets an eigenspace of
    dimension r in min(b, r) directions, so a cluster of fewer than b found values is complete; where one is
    fuller, a further search in the complement of what was found looks for more copies.
    Cost: ``n_applications`` block products and O(n max_basis block_size) operations for each.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralcls import top_eigenpairs
    >>> top_eigenpairs(np.diag([1.0, 5.0, 3.0]), 2).values
    array([5., 3.])
    """
    operator = _Problem(A, effective_n_threads(n_jobs))
    n = operator.n
    if solver not in _SOLVERS:
        raise ValueError(f"solver must be one of {_SOLVERS}, got {solver!r}.")
    known = _check_block(deflate, n, operator.dtype, "deflate")
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 1 <= k < n - known.shape[1]:
        raise ValueError(
            f"k must be an integer with 1 <= k < {n - known.shape[1]} (the dimension less the deflated "
            f"vectors), got {k!r}."
        )
    start = None if start is None else _check_block(start, n, operator.dtype, "start")
    if known.shape[1] and np.linalg.matrix_rank(known) < known.shape[1]:
        raise ValueError("deflate: the columns must be linearly independent.")
    tol = float(np.finfo(operator.dtype).eps ** (2 / 3)) if tol is None else float(tol)
    if not 0 <= tol < 1:
        raise ValueError(f"tol must be in [0, 1), got {tol}.")
    limit = 1000 + 10 * k if max_applications is None else max_applications
    for name, value in (("max_applications", limit), ("block_size", block_size), ("max_basis", max_basis)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, Integral) or value < 1):
            raise ValueError(f"{name} must be None or an integer of at least 1, got {value!r}.")
    if solver == "auto":
        solver = "dense" if n <= _SMALL or (5 * k > n and n <= _LARGE) else "lanczos"
    seed = 0 if random_state is None else int(check_random_state(random_state).randint(2**31 - 1))
    if solver == "dense":
        result = _dense(operator, k, known)
    elif solver == "arpack":
        result = _arpack(operator, k, known, start, tol, limit, seed)
    else:
        result = _lanczos(operator, k, known, start, tol, limit, seed, block_size, max_basis)
    _warn(result, operator, k, tol)
    return result


class _Problem:
    """One operator in the form that the solvers take."""

    def __init__(self, A, n_threads):
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
                A = np.asarray(A)
            self.matrix = check_array(
                A, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", ensure_all_finite=sp.issparse(A),
                ensure_min_samples=2, input_name="A",
            )
            self.kind = "csr" if sp.issparse(A) else "dense"
            if self.kind == "dense":
                self.matrix = np.require(self.matrix, requirements="A")
            self.dtype = self.matrix.dtype
        if len(self.matrix.shape) != 2 or self.matrix.shape[0] != self.matrix.shape[1]:
            raise ValueError(f"A must be square, got shape {self.matrix.shape}.")
        self.n = self.matrix.shape[0]
        self._check_symmetric()

    def _check_symmetric(self):
        if self.kind == "csr":
            difference = abs(self.matrix - self.matrix.T)
            skew, largest = difference.max(), abs(self.matrix).max()
        elif self.kind == "dense":
            skew, largest = compiled.asymmetry(self.matrix, self.n_threads)
            if np.isnan(skew):
                raise ValueError("A contains NaN or infinity.")
        else:
            return  # the solver looks at the operator's projection
        if skew > 100 * np.finfo(self.dtype).eps * largest:
            raise ValueError(f"A is not symmetric: a_ij and a_ji differ by up to {skew:.3g}.")

    def default_block(self):
        if self.kind == "kernel":
            return 32
        return 4 if self.kind in ("csr", "gram") else 8

    def apply(self, V):
        answer = np.asarray(self.matrix @ V)
        if answer.dtype.kind == "c":
            raise ValueError("The operator's answer is complex; only real symmetric operators are supported.")
        answer = answer.astype(self.dtype, copy=False)
        if not np.all(np.isfinite(answer)):
            raise ValueError("The operator's answer contains NaN or infinity.")
        return answer

    def solve(self, options):
        if self.kind == "callback":  # which may need BLAS itself
            return compiled.eigen_callback(self.n, self.apply, options, self.n_threads)
        with serial_blas():  # of the solver's small problems: threads that wait for more would be in the core's way
            return self._solve(options)

    def _solve(self, options):
        if self.kind == "dense":
            return compiled.eigen_dense(self.matrix, options, self.n_threads)
        if self.kind == "csr":
            return compiled.eigen_csr(*_csr_parts(self.matrix), options, self.n_threads)
        if self.kind == "gram":
            parts = (*_csr_parts(self.matrix.rows), *_csr_parts(self.matrix.columns))
            return compiled.eigen_gram(*parts, options, self.n_threads)
        return compiled.eigen_kernel(*self.source._core_arguments(), options, self.n_threads)

    def toarray(self):
        if self.kind == "dense":
            return self.matrix
        if self.kind == "callback" and not hasattr(self.matrix, "toarray"):
            return self.apply(np.eye(self.n, dtype=self.dtype))
        return self.matrix.toarray()


def _csr_parts(matrix):
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data


def _check_block(block, n, dtype, name):
    if block is None:
        return np.zeros((n, 0), dtype)
    block = check_array(block, dtype=dtype, ensure_2d=False, ensure_min_features=0, order="C", input_name=name)
    block = block.reshape(len(block), -1)
    if block.shape[0] != n:
        raise ValueError(f"{name} must have {n} rows, got {block.shape[0]}.")
    return block


def _lanczos(operator, k, known, start, tol, limit, seed, block_size, max_basis):
    width = min(operator.default_block() if block_size is None else block_size, operator.n)
    pair = None
    if operator.kind == "kernel":
        pair = operator.source.known_pair() if known.shape[1] == 0 else None
        if start is None and operator.n > _NYSTROM and width > 2:
            start = _nystrom_start(operator, width - 2, seed)[:, 0 if pair is None else 1 :]
    norm = 0.0
    if pair is not None:
        norm, known = pair[0], pair[1][:, None]
    elif known.shape[1]:
        basis = np.linalg.qr(known)[0]
        norm = np.linalg.norm(operator.apply(basis), axis=0).max()
    wanted = k - (pair is not None)
    if wanted == 0:
        return _joined(pair, None, operator)
    blocks = {"csr": 14, "callback": 6, "kernel": 6}.get(operator.kind, 7)
    options = dict(
        pairs=wanted,
        block_size=width,
        max_basis=max(2 * k + 4 * width, k + blocks * width) if max_basis is None else min(max_basis, operator.n),
        max_applications=max(limit, -(-wanted // width)),
        tolerance=tol,
        norm=norm,
        seed=seed,
        start=np.zeros((operator.n, 0), operator.dtype) if start is None else np.asfortranarray(start),
        deflate=np.asfortranarray(known, dtype=operator.dtype),
    )
    found = operator.solve(options)
    if found["status"] == "not_finite":
        raise ValueError("The operator's answer contains NaN or infinity.")
    if found["status"] == "not_symmetric":
        raise ValueError("The operator is not symmetric: v^T A w and w^T A v differ for some v and w.")
    return _joined(pair, found, operator)


def _nystrom_start(operator, size, seed):
    """Approximate leading eigenvectors (n, <= size) of a kernel: rough ones of a random subset of the points, extended.

    The subset's problem costs a hundredth of an application to all points, and starts in the same way."""
    A = operator.source
    chosen = np.sort(np.random.RandomState(seed).choice(operator.n, operator.n // _LANDMARKS, replace=False))
    part = _Problem(A.restricted(chosen), operator.n_threads)
    found = _lanczos(part, size, np.zeros((part.n, 0)), None, 0.01, _ROUGH, seed, size + 2, None)
    kept = found.values > 1e-6 * found.values[0]
    extended = A.extended(chosen, found.vectors[:, kept] / found.values[kept].astype(operator.dtype))
    return np.asfortranarray(extended)


def _joined(pair, found, operator):
    """The known pair, if any, and the pairs found beside it, in descending order."""
    if found is None:
        found = dict(
            values=np.zeros(0), vectors=np.zeros((operator.n, 0), operator.dtype), residuals=np.zeros(0),
            n_applications=0, n_products=0, block_size=0, status="converged",
        )
    values, vectors, residuals = found["values"], found["vectors"], found["residuals"]
    if pair is not None:
        values, vectors = np.r_[pair[0], values], np.column_stack([pair[1].astype(operator.dtype), vectors])
        residuals = np.r_[np.finfo(operator.dtype).eps * pair[0], residuals]
        order = np.argsort(-values, kind="stable")
        values, vectors, residuals = values[order], vectors[:, order], residuals[order]
    return EigenResult(
        values, fix_signs(vectors), residuals, found["n_applications"], found["n_products"],
        found["block_size"], "lanczos", found["status"].replace("_", " "),
    )


def _arpack(operator, k, known, start, tol, limit, seed):
    count = 0
    basis = np.linalg.qr(known)[0]

    def multiply(v):
        nonlocal count
        count += 1
        v = v.reshape(-1, 1)
        v = v - basis @ (basis.T @ v)
        answer = operator.apply(v)
        return (answer - basis @ (basis.T @ answer))[:, 0]

    if operator.kind == "callback":
        _check_by_probes(operator, seed)
    linear = aslinearoperator(LinearOperator((operator.n, operator.n), matvec=multiply, dtype=operator.dtype))
    random = np.random.RandomState(seed).uniform(-1, 1, operator.n)
    for first in [random] if start is None else [start.sum(axis=1), random]:
        first = (first - basis @ (basis.T @ first)).astype(operator.dtype)
        if np.any(multiply(first)):
            break
    else:  # no random vector lies in the null space of any other operator; ARPACK refuses to start from one
        return _zero(operator, k, basis, count, seed)
    width = min(operator.n, max(2 * k + 1, 20))
    rounds = max(1, limit // max(1, width - k))
    try:
        values, vectors = eigsh(linear, k, which="LA", tol=tol, v0=first, maxiter=rounds, ncv=width)
        status = "converged"
    except ArpackNoConvergence as error:
        values, vectors, status = error.eigenvalues, error.eigenvectors, "not converged"
    used = count
    values, vectors = values[::-1].astype(np.float64), vectors[:, ::-1]
    residuals = np.zeros(0)
    if len(values):
        answers = operator.apply(np.ascontiguousarray(vectors))
        answers -= basis @ (basis.T @ answers)
        residuals = np.linalg.norm(answers - vectors * values, axis=0)
    return EigenResult(values, fix_signs(vectors), residuals, used, used, 1, "arpack", status)


def _check_by_probes(operator, seed):
    """Two random vectors show an operator that is not symmetric: ARPACK would return values that are none of it."""
    V = np.random.RandomState(seed).standard_normal((operator.n, 2)).astype(operator.dtype)
    V, answers = V.astype(np.float64), operator.apply(V).astype(np.float64)
    skew = abs(V[:, 0] @ answers[:, 1] - V[:, 1] @ answers[:, 0])
    if skew > np.sqrt(np.finfo(operator.dtype).eps) * np.linalg.norm(V) * np.linalg.norm(answers):
        raise ValueError("The operator is not symmetric: v^T A w and w^T A v differ for some v and w.")


def _zero(operator, k, basis, count, seed):
    """Eigenpairs of the zero operator on the complement of the deflated vectors: any orthonormal ones."""
    vectors = np.random.RandomState(seed).standard_normal((operator.n, k))
    vectors = np.linalg.qr(np.hstack([basis, vectors]))[0][:, basis.shape[1] :].astype(operator.dtype)
    return EigenResult(np.zeros(k), fix_signs(vectors), np.zeros(k), count, count, 1, "arpack", "converged")


def _dense(operator, k, known):
    A = np.array(operator.toarray(), dtype=np.float64)
    skew = np.abs(A - A.T).max()
    if not np.isfinite(skew):
        raise ValueError("The operator's answer contains NaN or infinity.")
    if skew > np.sqrt(np.finfo(operator.dtype).eps) * np.abs(A).max():
        raise ValueError(f"The operator is not symmetric: entries differ by up to {skew:.3g}.")
    n = len(A)
    projected = A
    if known.shape[1]:
        basis = np.linalg.qr(known.astype(np.float64))[0]
        projected = A - basis @ (basis.T @ A)
        projected -= (projected @ basis) @ basis.T
        # What is deflated must not reappear as zeros among the leading values of a negative operator.
        projected -= 2 * (np.linalg.norm(A) + 1) * basis @ basis.T
    values = vectors = np.zeros(0)
    if n <= _LISTENING:
        values, vectors = scipy.linalg.eigh(projected, subset_by_index=[n - k, n - 1])
    if len(values) < k or not np.all(np.isfinite(vectors)):
        # LAPACK's ?syevr returns fewer pairs than asked for on some matrices near the identity.
        values, vectors = eigh(projected)
        values, vectors = values[-k:], vectors[:, -k:]
    values, vectors = values[::-1].copy(), vectors[:, ::-1]
    residuals = np.linalg.norm(projected @ vectors - vectors * values, axis=0)
    vectors = fix_signs(vectors).astype(operator.dtype)
    return EigenResult(values, vectors, residuals, n, n, n, "dense", "converged")


def sign_factors(vectors):
    """+-1 for each column: of its entries that are largest in modulus, but for 0.1 %, the first becomes positive."""
    moduli = np.abs(vectors)
    largest = np.argmax(moduli >= 0.999 * moduli.max(axis=0, initial=0), axis=0)
    return np.where(vectors[largest, np.arange(vectors.shape[1])] < 0, -1, 1).astype(vectors.dtype)


def fix_signs(vectors):
    """The columns with the sign of `sign_factors`."""
    return np.ascontiguousarray(vectors * sign_factors(vectors))


def _warn(result, operator, k, tol):
    isolated = getattr(operator.source, "n_isolated", 0)
    hint = ""
    if isolated >= k:
        hint = (
            f" {isolated} of {operator.n} points have no neighbor within the bandwidth, and each of them "
            "owns an eigenvalue as large as any: raise the bandwidth."
        )
    if not result.converged:
        relative = result.residuals / np.maximum(np.abs(result.values), np.finfo(float).tiny)
        achieved = f"largest relative residual {relative.max():.2g}" if len(relative) else "no pair"
        warnings.warn(
            f"{result.solver} has not converged to tol={tol:.2g} after {result.n_applications} applications "
            f"({len(result.values)} of {k} pairs, {achieved}). Raise max_applications, tol, block_size or "
            "max_basis." + hint,
            ConvergenceWarning,
            stacklevel=3,
        )
    elif hint:
        warnings.warn("The leading eigenvectors are not determined:" + hint, ConvergenceWarning, stacklevel=3)
