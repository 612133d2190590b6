"""Preconditioners of conjugate gradients: approximate solutions Z of ``(ridge + W K) Z = V``, W a diagonal of weights.

Each function returns a function of V. Both know the leading part ``F F^T`` of K, a low-rank factor in float32.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.blas import strsm

from .._core.interrupt import matmul
from .._expansion.tree_cells import TreeCells
from ..kernels import kernel_matrix
from ..linalg import cholesky_in_place

# Largest number of points of a cell. With the Laplace kernel at its widest default bandwidth, a ridge of .01 and rank
# 1000, 10 000 rows of covertype take 30 iterations without cells, 20 with cells of 500 points and 16 with cells of
# 1000; letter takes 37, 22 and 18. The preconditioner takes .4, .6 and .8 s on covertype. An iteration takes .08 s,
# and .3 s for twice as many rows.
CELL = 1000
# Smallest ridge, relative to the largest weight. Rounding to float32 changes entries of a cell's matrix by more than a
# tenth of this, so that with a smaller ridge, some matrices have no Cholesky factor.
_LEAST = 1e-4
# Rounding error of a Gram matrix relative to its trace, in multiples of eps. It is added to the diagonal, so that a
# Cholesky factor exists.
_ROUNDING = 4.2


def low_rank_preconditioner(low_rank, ridge, weights):
    """F F^T in place of K, by the Woodbury identity.

    It suits the Gaussian kernel, whose eigenvalues decrease fast. If the rest of the diagonal of K is added, conjugate
    gradients take 1.2 to 2.3 times as many iterations (8000 points in 2 and 8 dimensions).
    """
    F, share = low_rank.factor, weights / ridge
    inner = _factor_of_identity_plus(low_rank.weighted_gram(share), F.dtype)

    def precondition(V):
        Z = V / ridge
        within = cho_solve(inner, (F.T @ Z.astype(F.dtype)).astype(np.float64), check_finite=False)
        return Z - share[:, None] * (F @ within.astype(F.dtype))

    return precondition


def cell_preconditioner(X, low_rank, ridge, weights, most=CELL, **form):
    """F F^T, plus the rest of K within the cells of a tree, in place of K [1]_.

    F approximates the smooth part of K, and the cells its local part. With the Laplace kernel, whose eigenvalues
    decrease slowly, conjugate gradients take about half as many iterations as with F alone. With the Gaussian kernel,
    they would not take fewer. Any tree serves, so its seed is fixed.

    With ``D = L L^T`` the part within cells of ``ridge + W^1/2 (K - F F^T) W^1/2``, and ``E = L^-1 W^1/2 F``, the
    inverse of D plus the low-rank part is ``L^-T (I - E (I + E^T E)^-1 E^T) L^-1``.

    References
    ----------
    .. [1] E. Snelson, Z. Ghahramani, "Local and global sparse Gaussian process approximations", AISTATS 2007.
    """
    tree, ridge, root = (
        TreeCells.of(X, most, np.random.RandomState(0)),
        max(ridge, _LEAST * weights.max()),
        np.sqrt(weights)[:, None],
    )
    order, starts = tree.order, tree.starts
    E = low_rank.factor[order]
    E *= root[order].astype(np.float32)
    cells = [slice(*ends) for ends in zip(starts[:-1], starts[1:], strict=True)]
    factors = []
    for cell in cells:
        rows = order[cell]
        D = kernel_matrix(X[rows], **form)
        D *= (root[rows] * root[rows].T).astype(np.float32)
        D -= E[cell] @ E[cell].T
        D.flat[:: len(D) + 1] += ridge
        factors.append(cholesky_in_place(D))
        strsm(1.0, factors[-1], E[cell].T, side=1, overwrite_b=1)
    inner = _factor_of_identity_plus(matmul(E.T, E).astype(np.float64), E.dtype)

    def solved(V, transposed):
        out = np.empty_like(V)
        for cell, U in zip(cells, factors, strict=True):
            out[cell] = strsm(1.0, U, V[cell], trans_a=transposed)
        return out

    def precondition(V):
        Z = solved((V / root)[order].astype(np.float32), 1)
        Z -= E @ cho_solve(inner, (E.T @ Z).astype(np.float64), check_finite=False).astype(np.float32)
        out = np.empty_like(V)
        out[order] = solved(Z, 0)
        return root * out

    return precondition


def _factor_of_identity_plus(gram, dtype):
    """A Cholesky factor of I + `gram` (r, r), which is overwritten; `gram` is float64, computed from numbers of a
    dtype.
    """
    gram.flat[:: len(gram) + 1] += 1 + _ROUNDING * np.finfo(dtype).eps * gram.trace()
    return cho_factor(gram, overwrite_a=True, check_finite=False)
