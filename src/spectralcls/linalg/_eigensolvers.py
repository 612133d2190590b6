"""Solvers for leading eigenpairs: block Lanczos in the core, ARPACK, and a dense decomposition."""

from typing import Any

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from .._core.interrupt import eigh
from .._utils.typing import Array
from ._eigenproblem import Eigenproblem, EigenResult, fix_signs

_LISTENING = 1000  # dense decompositions up to this dimension end so soon that they need not be interruptible
_BLOCK = 8  # default block size
_NYSTROM = 1500  # above this dimension, a start from a Nystrom solution saves more time than the solution takes
_LANDMARKS = 20  # points per landmark; more landmarks did not reduce the solver's block products
_ROUGH = 3  # block products with the landmarks; more of them did not reduce the solver's block products either


def _most_products(k: int, width: int = _BLOCK) -> int:
    """Limit on calls of the operator; narrower blocks get more calls, for the same number of vectors."""
    return (1000 + 10 * k) * max(1, _BLOCK // width)


def lanczos(
    operator: Eigenproblem,
    k: int,
    known: Array,
    start: Array | None,
    tol: float,
    limit: int | None,
    seed: int,
    block_size: int | None,
    max_basis: int | None,
) -> EigenResult:
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
    blocks = {"csr": 15, "callback": 6, "kernel": 6}.get(operator.kind, 7)
    options = dict(
        pairs=wanted,
        block_size=width,
        max_basis=max(2 * k + 4 * width, k + blocks * width) if max_basis is None else min(max_basis, operator.n),
        max_block_products=max(_most_products(k, width) if limit is None else limit, -(-wanted // width)),
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


def _nystrom_start(operator: Eigenproblem, size: int, seed: int) -> Array:
    """Approximate leading eigenvectors (n, <= size) of a kernel, extended from a random subset of the points.

    The subset's eigenproblem costs a hundredth of a product with all points, and is started in the same way."""
    A = operator.source
    chosen = np.sort(np.random.RandomState(seed).choice(operator.n, operator.n // _LANDMARKS, replace=False))
    part = Eigenproblem(A.restricted(chosen), operator.n_threads)
    found = lanczos(part, size, np.zeros((part.n, 0)), None, 0.01, _ROUGH, seed, size + 2, None)
    kept = found.values > 1e-6 * found.values[0]
    extended = A.extended(chosen, found.vectors[:, kept] / found.values[kept].astype(operator.dtype))
    return np.asfortranarray(extended)


def _joined(pair: Any, found: Any, operator: Eigenproblem) -> EigenResult:
    """The known pair, if any, merged with the found pairs in descending order."""
    if found is None:
        found = dict(
            values=np.zeros(0),
            vectors=np.zeros((operator.n, 0), operator.dtype),
            residuals=np.zeros(0),
            n_block_products=0,
            n_matvecs=0,
            block_size=0,
            status="converged",
        )
    values, vectors, residuals = found["values"], found["vectors"], found["residuals"]
    if pair is not None:
        values, vectors = np.r_[pair[0], values], np.column_stack([pair[1].astype(operator.dtype), vectors])
        residuals = np.r_[np.finfo(operator.dtype).eps * pair[0], residuals]
        order = np.argsort(-values, kind="stable")
        values, vectors, residuals = values[order], vectors[:, order], residuals[order]
    return EigenResult(
        values,
        fix_signs(vectors),
        residuals,
        found["n_block_products"],
        found["n_matvecs"],
        found["block_size"],
        "lanczos",
        found["status"].replace("_", " "),
    )


def arpack(
    operator: Eigenproblem,
    k: int,
    known: Array,
    start: Array | None,
    tol: float,
    limit: int | None,
    seed: int,
) -> EigenResult:
    count = 0
    basis = np.linalg.qr(known)[0]

    def multiply(v: Array) -> Array:
        nonlocal count
        count += 1
        v = v.reshape(-1, 1)
        v = v - basis @ (basis.T @ v)
        answer = operator.apply(v)
        return (answer - basis @ (basis.T @ answer))[:, 0]

    if operator.kind == "callback":
        _check_by_probes(operator, seed)
    linear = LinearOperator((operator.n, operator.n), matvec=multiply, dtype=operator.dtype)
    random = np.random.RandomState(seed).uniform(-1, 1, operator.n)
    for first in [random] if start is None else [start.sum(axis=1), random]:
        first = (first - basis @ (basis.T @ first)).astype(operator.dtype)
        if np.any(multiply(first)):
            break
    else:  # ARPACK refuses a start in the null space; a random vector lies in it only for the zero operator
        return _zero(operator, k, basis, count, seed)
    width = min(operator.n, max(2 * k + 1, 20))
    rounds = max(1, (_most_products(k) if limit is None else limit) // max(1, width - k))
    try:
        values, vectors = eigsh(linear, k, which="LA", tol=tol, v0=first, maxiter=rounds, ncv=width)
        status = "converged"
    except ArpackNoConvergence as error:
        values, vectors, status = error.eigenvalues, error.eigenvectors, "not converged"
    values, vectors = values[::-1].astype(np.float64), vectors[:, ::-1]
    residuals = np.zeros(0)
    if len(values):
        answers = operator.apply(np.ascontiguousarray(vectors))
        answers -= basis @ (basis.T @ answers)
        residuals = np.linalg.norm(answers - vectors * values, axis=0)
    return EigenResult(values, fix_signs(vectors), residuals, count, count, 1, "arpack", status)


def _check_by_probes(operator: Eigenproblem, seed: int) -> None:
    """Raise if products with two random vectors show that the operator is not symmetric; ARPACK would return wrong
    values."""
    V: Array = np.random.RandomState(seed).standard_normal((operator.n, 2)).astype(operator.dtype)
    answers = operator.apply(V).astype(np.float64)
    V = V.astype(np.float64)
    skew = abs(V[:, 0] @ answers[:, 1] - V[:, 1] @ answers[:, 0])
    if skew > np.sqrt(np.finfo(operator.dtype).eps) * np.linalg.norm(V) * np.linalg.norm(answers):
        raise ValueError("The operator is not symmetric: v^T A w and w^T A v differ for some v and w.")


def _zero(operator: Eigenproblem, k: int, basis: Array, count: int, seed: int) -> EigenResult:
    """Eigenpairs of the zero operator on the complement of the deflated vectors: arbitrary orthonormal vectors."""
    vectors = np.random.RandomState(seed).standard_normal((operator.n, k))
    vectors = np.linalg.qr(np.hstack([basis, vectors]))[0][:, basis.shape[1] :].astype(operator.dtype)
    return EigenResult(np.zeros(k), fix_signs(vectors), np.zeros(k), count, count, 1, "arpack", "converged")


def dense(operator: Eigenproblem, k: int, known: Array) -> EigenResult:
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
        # Otherwise deflated vectors would have eigenvalue zero, above the eigenvalues of a negative operator.
        projected -= 2 * (np.linalg.norm(A) + 1) * basis @ basis.T
    values = vectors = np.zeros(0)
    if n <= _LISTENING:
        values, vectors = scipy.linalg.eigh(projected, subset_by_index=[n - k, n - 1])
    if len(values) < k or not np.all(np.isfinite(vectors)):
        # LAPACK's ?syevr returns fewer pairs than requested for some matrices near the identity.
        values, vectors = eigh(projected)
        values, vectors = values[-k:], vectors[:, -k:]
    values, vectors = values[::-1].copy(), vectors[:, ::-1]
    residuals = np.linalg.norm(projected @ vectors - vectors * values, axis=0)
    vectors = fix_signs(vectors).astype(operator.dtype)
    return EigenResult(values, vectors, residuals, n, n, n, "dense", "converged")
