"""PerTurbo in plain double precision, as the paper's authors had to compute it.

A query far from all samples has tau = 1 exactly, and the first class wins ties, as in the R code of one of the authors
(pRoloc, R/perTurbo-algorithm.R). The package compares logarithms, so the nearest class wins.
"""

import numpy as np
from scipy.spatial.distance import cdist

from spectralcls.kernels import bandwidth_grid

ALPHAS = tuple(10.0**power for power in range(-6, 1))
RETAINED = 0.95  # of the trace, by "gle"


def perturbation(X, codes, Q, bandwidth, variant, alphas=(0.0,)):
    """tau (alphas, queries, classes) of a variant, "full", "gle" or "reg"; infinite for a class without samples."""
    found = np.full((len(alphas), len(Q), codes.max() + 1), np.inf)
    for c in np.unique(codes):
        own = X[codes == c]
        K, k = (np.exp(-(cdist(own, rows) ** 2) / (2 * bandwidth**2)) for rows in (own, Q))
        values, vectors = np.linalg.eigh(K)
        inverse = np.stack([_inverse(values, variant, alpha) for alpha in alphas])
        found[..., c] = 1 - inverse @ (vectors.T @ k) ** 2
    return found


def _inverse(values, variant, alpha):
    """The eigenvalues of the (regularized or truncated) inverse of K."""
    if variant == "reg":
        return 1 / (np.maximum(values, 0) + alpha)
    sound = values > len(values) * np.finfo(float).eps * values[-1]
    if variant == "gle":
        before = np.cumsum(values[::-1])[::-1] - values
        sound &= before < RETAINED * values.sum() * (1 - 1e-15)
    return np.where(sound, 1 / np.where(sound, values, 1), 0)


def predict_tuned(X, codes, Q, variant, folds):
    """Codes of Q, with the bandwidth and alpha of the best accuracy over the splits; the middle of those that tie."""
    grid, alphas = bandwidth_grid(X), ALPHAS if variant == "reg" else (0.0,)
    right = np.zeros((len(grid), len(alphas)))
    for train, test in folds:
        for b, h in enumerate(grid):
            labels = perturbation(X[train], codes[train], X[test], h, variant, alphas).argmin(axis=-1)
            right[b] += (labels == codes[test]).sum(axis=1)
    best = np.argwhere(right == right.max())
    b, a = best[(len(best) - 1) // 2]
    return perturbation(X, codes, Q, grid[b], variant, alphas[a : a + 1]).argmin(axis=-1)[0]
