"""Leading eigenpairs: the choice of the solver, its arguments, and a warning if it has not converged."""

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .._core.threads import effective_n_threads
from .._utils.advice import advise
from .._utils.conversion import converted
from .._utils.typing import Array, ArrayLike, RandomState, Solver
from ._eigenproblem import Eigenproblem, EigenResult
from ._eigensolvers import arpack, dense, lanczos

_SMALL = 400  # up to this dimension a dense decomposition is fastest
_LARGE = 5000  # above this dimension "auto" never chooses a dense decomposition
_SOLVERS = ("auto", "lanczos", "arpack", "dense")


def top_eigenpairs(
    A: Any,
    k: int,
    *,
    solver: Solver = "auto",
    tol: float | None = None,
    max_block_products: int | None = None,
    block_size: int | None = None,
    max_basis: int | None = None,
    start: ArrayLike | None = None,
    deflate: ArrayLike | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> EigenResult:
    """The k largest eigenvalues of a symmetric operator and their eigenvectors.

    Parameters
    ----------
    A : ndarray, sparse array or matrix, or LinearOperator, of shape (n, n)
        Symmetric. float32 and float64 are kept, all other dtypes become float64. :class:`KernelOperator` and
        :class:`GramOperator` represent matrices that are never formed.
    k : int
        Number of pairs, 1 <= k < n.
    solver : {"auto", "lanczos", "arpack", "dense"}, default="auto"
        "lanczos": the compiled block method. "arpack": SciPy's ``eigsh``, one vector at a time; it may miss copies of
        equal eigenvalues. "dense": forms the matrix and calls LAPACK, O(n^3). "auto": "dense" for n <= 400, and up to
        n = 5000 if more than a fifth of all pairs are requested; otherwise "lanczos".
    tol : float, default=None
        A pair has converged if its residual is at most ``tol * |value|``, or at rounding level. None means
        ``eps ** (2/3)`` of the dtype, 4e-11 in float64 and 2e-5 in float32.
    max_block_products : int, default=None
        Maximum number of calls of the operator. None means 1000 + 10 k calls with 8 vectors, more with narrower blocks.
    block_size : int, default=None
        Number of vectors multiplied at a time. None means 32 for a kernel, 2 for a sparse matrix, 4 for a
        `GramOperator` and 8 otherwise. A search for copies of equal eigenvalues uses wider blocks.
    max_basis : int, default=None
        Number of vectors kept before the search space is compressed: memory is ``n * (max_basis + 4 * block_size)``
        numbers. None means the larger of 2 k + 4 blocks and k + 7 blocks (15 blocks if A is sparse, 6 for a
        LinearOperator other than `GramOperator`).
    start : ndarray of shape (n, s), default=None
        Approximate eigenvectors. By default, random vectors; for a kernel of more than 1500 points, the eigenvectors
        for a random twentieth of the points, extended to all points (Nystrom).
    deflate : ndarray of shape (n, p), default=None
        Linearly independent vectors, usually known eigenvectors: pairs are computed in their orthogonal complement.
    random_state : int, RandomState instance or None, default=None
        Seed of the start. None means a fixed seed, so that identical calls return identical results.
    n_jobs : int, default=None
        Number of threads. The result is bitwise identical for any number of threads.

    Returns
    -------
    result : EigenResult
        Values, vectors and residuals of the k pairs, or of fewer if the solver did not converge.

    Raises
    ------
    ValueError
        If k is not less than n minus the number of deflated vectors, or is not positive; if the matrix is not square,
        symmetric and finite; if a product with the operator is not finite; or if ``start`` or ``deflate`` has the wrong
        shape.

    Warns
    -----
    ConvergenceWarning
        If a residual is above the tolerance; the pairs found so far are returned (with "arpack", those that
        converged). Also if a normalized kernel has at least as many isolated points as requested pairs, because its
        leading eigenvectors are then indicators of those points.

    Notes
    -----
    "lanczos" and "dense" find all copies of equal and nearly equal eigenvalues. A random block of b vectors spans
    min(b, r) directions of an eigenspace of dimension r, so a cluster of fewer than b found values is complete. For a
    larger cluster, another search with blocks of twice the width looks for more copies in the complement of the found
    vectors.

    Cost: ``n_block_products`` block products and O(n max_basis block_size) operations for each.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralcls import top_eigenpairs
    >>> top_eigenpairs(np.diag([1.0, 5.0, 3.0]), 2).values
    array([5., 3.])
    """
    operator = Eigenproblem(A, effective_n_threads(n_jobs))
    n = operator.n
    if solver not in _SOLVERS:
        raise ValueError(f"solver must be one of {_SOLVERS}, got {solver!r}.")
    known = _check_block(deflate, n, operator.dtype, "deflate")
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 1 <= k < n - known.shape[1]:
        raise ValueError(
            f"k must be an integer with 1 <= k < {n - known.shape[1]} (the dimension minus the number of deflated "
            f"vectors), got {k!r}."
        )
    k = int(k)  # a multiple of a narrow integer would overflow
    start = None if start is None else _check_block(start, n, operator.dtype, "start")
    if known.shape[1] and np.linalg.matrix_rank(known) < known.shape[1]:
        raise ValueError("deflate: the columns must be linearly independent.")
    tol = float(np.finfo(operator.dtype).eps ** (2 / 3)) if tol is None else float(tol)
    if not 0 <= tol < 1:
        raise ValueError(f"tol must be in [0, 1), got {tol}.")
    for name, value in (
        ("max_block_products", max_block_products),
        ("block_size", block_size),
        ("max_basis", max_basis),
    ):
        if value is not None and (isinstance(value, bool) or not isinstance(value, Integral) or value < 1):
            raise ValueError(f"{name} must be None or an integer of at least 1, got {value!r}.")
    if solver == "auto":
        solver = "dense" if n <= _SMALL or (5 * k > n and n <= _LARGE) else "lanczos"
    seed = 0 if random_state is None else int(check_random_state(random_state).randint(2**31 - 1))
    if solver == "dense":
        result = dense(operator, k, known)
    elif solver == "arpack":
        result = arpack(operator, k, known, start, tol, max_block_products, seed)
    else:
        result = lanczos(operator, k, known, start, tol, max_block_products, seed, block_size, max_basis)
    _warn(result, operator, k, tol)
    return result


def _check_block(block: ArrayLike, n: int, dtype: DTypeLike, name: str) -> Array:
    if block is None:
        return np.zeros((n, 0), dtype)
    block = converted(block, name, dtype=dtype, ensure_2d=False, ensure_min_features=0, order="C")
    block = block.reshape(len(block), -1)
    if block.shape[0] != n:
        raise ValueError(f"{name} must have {n} rows, got {block.shape[0]}.")
    return block


def _warn(result: EigenResult, operator: Any, k: int, tol: Any) -> None:
    """Warn about pairs that have not converged, and suggest what to change."""
    isolated = getattr(operator.source, "n_isolated", 0)
    hint = ""
    if isolated >= k:
        hint = (
            f" {isolated} of {operator.n} points have no neighbor within the bandwidth, and each of them "
            "has an eigenvalue as large as any: raise the bandwidth."
        )
    if not result.converged:
        done = f"after {result.n_block_products} block products"
        rounding = 10 * np.finfo(operator.dtype).eps * np.abs(result.values).max(initial=0)
        allowed = np.maximum(tol * np.abs(result.values), rounding)
        if len(result.values) == k and (result.residuals <= allowed).all():
            advise(
                f"{result.solver} was still looking for copies of equal eigenvalues {done}: the {k} pairs found have "
                "converged, but larger ones may be missing. Raise max_block_products or block_size." + hint,
                ConvergenceWarning,
            )
            return
        relative = result.residuals / np.maximum(np.abs(result.values), np.finfo(float).tiny)
        achieved = f"largest relative residual {relative.max():.2g}" if len(relative) else "no pair"
        advise(
            f"{result.solver} has not converged to tol={tol:.2g} {done} "
            f"({len(result.values)} of {k} pairs, {achieved}). Raise max_block_products, tol, block_size or "
            "max_basis." + hint,
            ConvergenceWarning,
        )
    elif hint:
        advise("The leading eigenvectors are not determined:" + hint, ConvergenceWarning)
