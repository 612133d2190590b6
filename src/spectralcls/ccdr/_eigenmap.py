"""The eigenproblem of CCDR: a graph of points and class centers, embedded by its leading eigenvectors."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import block_array, csr_array, diags_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator
from sklearn.exceptions import ConvergenceWarning

from .._core.interrupt import eigh
from .._core.threads import serial_blas
from .._utils.advice import advise, quietly
from ..linalg import fix_signs, top_eigenpairs

DENSE_SIZE = 400  # up to this size LAPACK is as fast as an iterative solver, and always converges
MAX_DEFLATED = 32  # up to this many known vectors are passed to the solver; more are subtracted as a sparse matrix
SMALLEST = 1e-6  # least 1 - lambda: eq. 20 divides by it, which amplifies rounding errors of the eigenvectors
TOLERANCE = 1e-12  # relative residual of the eigenpairs; small, because eq. 20 amplifies errors
BLOCK = 2  # vectors per block: products with the sparse graph are cheap, and small blocks keep the basis small


@dataclass(frozen=True)
class Eigenmap:
    """Eigenvalues lambda (m,) in increasing order, and embedded centers (L, m) and points (n, m)."""

    eigenvalues: np.ndarray
    centers: np.ndarray
    points: np.ndarray
    n_connected_components: int


def constrained_graph(W, codes, n_classes, beta, places=None):
    """Graph G of eq. 14 as a CSR array: the L class centers first, then the n points.

    Parameters
    ----------
    W : sparse array of shape (n, n)
        Symmetric weights.
    codes : ndarray of shape (m,)
        Class index of every sample, negative if unlabeled.
    places : ndarray of shape (m,), default=None
        Point of every sample; None if all are distinct. A point with several samples is joined with its classes once
        per sample. The weight of an edge is multiplied by the mean number of samples at its ends, as if each sample had
        its own neighbors.
    """
    labeled = np.flatnonzero(codes >= 0)
    shape = (n_classes, W.shape[0])
    points = labeled if places is None else places[labeled]
    C = csr_array((np.ones(len(labeled)), (codes[labeled], points)), shape=shape)
    W = csr_array(W, dtype=np.float64) * beta
    if places is not None:
        counts = diags_array(np.bincount(places) / 2.0)
        W = csr_array(counts @ W + W @ counts)
    return block_array([[None, C], [C.T, W]], format="csr") if n_classes else W


def constrained_eigenmap(G, n_classes, n_components, ways_out="label or remove them", rows=None):
    """Up to `n_components` solutions of L u = lambda D u (eq. 15) with U^T D U = I, by increasing lambda.

    The problem is solved through the largest eigenvalues 1 - lambda of D^-1/2 G D^-1/2. The eigenvectors of lambda = 0
    are the indicators of the connected components, which are known and therefore deflated. Directions that separate
    components with labeled points (all components if nothing is labeled) are kept. The constant, and directions that
    separate an unlabeled component from the rest, are dropped. Directions with 1 - lambda below `SMALLEST` are dropped
    too, so there may be fewer than `n_components`.

    Raises
    ------
    ValueError
        If a point has no weight, which makes D singular. The message names the first such point by its number in
        `rows`, and gives the `ways_out`.
    """
    degrees = np.asarray(G.sum(axis=1)).ravel()
    if not (degrees > 0).all():
        isolated = np.flatnonzero(~(degrees > 0)) - n_classes
        isolated = isolated if rows is None else rows[isolated]
        raise ValueError(
            f"{len(isolated)} unlabeled points have no neighbor of positive weight (the first is row "
            f"{isolated[0]}), which makes the eigenproblem singular: {ways_out}."
        )
    root = np.sqrt(degrees)
    S = diags_array(1 / root) @ G @ diags_array(1 / root)
    indicators, kept = _null_space(G, root, degrees, n_classes, n_components)
    values, vectors = _leading(S.tocsr(), indicators, n_components - kept.shape[1])
    good = values > SMALLEST
    values = np.concatenate([np.ones(kept.shape[1]), values[good]])
    U = np.hstack([kept, vectors[:, good]]) / root[:, None]
    U = fix_signs(U)
    return Eigenmap(np.maximum(1 - values, 0.0), U[:n_classes], U[n_classes:], indicators.shape[1])


def _null_space(G, root, degrees, n_classes, n_kept):
    """Orthonormal indicators of all components (sparse), and the kept directions in their span, at most n_kept."""
    n_components, member = connected_components(G, directed=False)
    mass = np.bincount(member, degrees)
    indicators = csr_array(
        (root / np.sqrt(mass[member]), (np.arange(len(root)), member)), shape=(len(root), n_components)
    )
    anchored = np.unique(member[:n_classes]) if n_classes else np.arange(n_components)
    anchored = anchored[np.argsort(-mass[anchored], kind="stable")][: n_kept + 1]
    # Contrasts of each component with the union of the heavier ones are orthogonal to each other and to the constant.
    before = np.cumsum(mass[anchored])[:-1]
    contrasts = np.zeros((n_components, len(anchored) - 1))
    for j, part in enumerate(anchored[1:]):
        contrasts[anchored[: j + 1], j] = -np.sqrt(mass[anchored[: j + 1]] * mass[part] / before[j])
        contrasts[part, j] = np.sqrt(before[j])
        contrasts[:, j] /= np.linalg.norm(contrasts[:, j])
    return indicators, indicators @ contrasts


def _leading(S, null, k):
    """The k largest eigenpairs of S on the complement of the span of `null`, whose orthonormal columns S maps to
    themselves.
    """
    size = S.shape[0]
    k = min(k, size - null.shape[1])
    if k <= 0:
        return np.empty(0), np.empty((size, 0))
    if size <= max(DENSE_SIZE, 3 * k):
        with serial_blas():
            values, vectors = eigh((S - null @ null.T).toarray())
    else:
        result = _iterate(S, null, k)
        values, vectors = result.values, result.vectors
    order = np.argsort(-values, kind="stable")[:k]
    return values[order], vectors[:, order]


def _iterate(S, null, k):
    """Solve with the package's Lanczos method, or with ARPACK if Lanczos fails. If both fail, return the pairs of
    Lanczos, which finds more.
    """

    def deflated(V):
        return S @ V - null @ (null.T @ V)

    if null.shape[1] <= MAX_DEFLATED:
        problem, options = S, {"deflate": null.toarray()}
    else:
        problem, options = LinearOperator(S.shape, matvec=deflated, matmat=deflated, dtype=S.dtype), {}
    with quietly():
        result = top_eigenpairs(problem, k, solver="lanczos", tol=TOLERANCE, block_size=BLOCK, **options)
        if result.converged:
            return result
        other = top_eigenpairs(problem, k, solver="arpack", tol=TOLERANCE, **options)
    if other.converged:
        return other
    advise(
        f"The eigenvectors of the graph have residuals of up to {result.residuals.max():.1e}, more than "
        f"{TOLERANCE:g} of their eigenvalues: use fewer n_components, or more n_neighbors, which connect the graph.",
        ConvergenceWarning,
    )
    return result
