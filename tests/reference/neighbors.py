"""Slow truth for nearest neighbors and CCDR: dense float64 NumPy and SciPy, straight from the formulas."""

import numpy as np
from reference import distances
from scipy.linalg import eigh


def knn(Q, X, k):
    """Distances and indices, ties by index; exact for data whose squared distances are exact in float64."""
    D = distances(Q, X)
    order = np.argsort(D, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(D, order, 1), order


def weights(X, n_neighbors, epsilon=None, binary=False):
    """w_ij of Raich, Costa, Damelin and Hero, and epsilon."""
    n = len(X)
    D = distances(X, X)
    directed = np.zeros((n, n), dtype=bool)
    for i in range(n):
        others = np.array([j for j in np.argsort(D[i], kind="stable") if j != i])
        directed[i, others[:n_neighbors]] = True
    edge = directed | directed.T
    epsilon = np.mean(D[edge] ** 2) if epsilon is None else epsilon
    return np.where(edge, 1.0 if binary else np.exp(-(D**2) / epsilon), 0.0), epsilon


def ccdr(W, codes, n_classes, beta):
    """Eigenvalues and eigenvectors (U^T D U = I) of L u = lambda D u, eq. 14 to 15, and D's diagonal."""
    n = len(W)
    C = np.zeros((n_classes, n))
    for i, code in enumerate(codes):
        if code >= 0:
            C[code, i] = 1
    G = np.block([[np.zeros((n_classes, n_classes)), C], [C.T, beta * W]])
    D = np.diag(G.sum(axis=1))
    values, U = eigh(D - G, D)
    return values, U, np.diag(D)
