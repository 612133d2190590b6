"""PerTurbo's slow truth: direct evaluation in long double, elimination written out."""

import numpy as np

LONG = np.longdouble


def kernel(Q, X, h, profile="gaussian"):
    Q, X = np.asarray(Q, dtype=LONG), np.asarray(X, dtype=LONG)
    squared = ((Q[:, None, :] - X[None, :, :]) ** 2).sum(axis=2) / LONG(h) ** 2
    return np.exp(-squared / 2 if profile == "gaussian" else -np.sqrt(squared))


def solve(M, B):
    """M^-1 B by Gauss-Jordan elimination with row pivoting."""
    M, B = M.copy(), B.copy()
    for i in range(len(M)):
        p = i + int(np.abs(M[i:, i]).argmax())
        M[[i, p]], B[[i, p]] = M[[p, i]], B[[p, i]]
        B[i] /= M[i, i]
        M[i] /= M[i, i]
        for j in range(len(M)):
            if j != i:
                B[j] -= M[j, i] * B[i]
                M[j] -= M[j, i] * M[i]
    return B


def explained(Q, X, h, alpha=0.0, profile="gaussian"):
    """k^T (K + alpha I)^-1 k = 1 - tau, in long double."""
    K = kernel(X, X, h, profile) + LONG(alpha) * np.eye(len(X), dtype=LONG)
    k = kernel(X, Q, h, profile)
    return (k * solve(K, k)).sum(axis=0)


def tau(Q, X, h, alpha=0.0):
    return (1 - explained(Q, X, h, alpha)).astype(np.float64)


def truncated_tau(Q, X, h, retained=0.95):
    """The largest eigenvalues of K up to a share of its trace (float64)."""
    values, vectors = np.linalg.eigh(kernel(X, X, h).astype(np.float64))
    keep, total = [], 0.0
    for i in np.argsort(values)[::-1]:
        keep.append(i)
        total += values[i]
        if total >= retained * values.sum():
            break
    k = kernel(X, Q, h).astype(np.float64)
    return 1 - sum((vectors[:, i] @ k) ** 2 / values[i] for i in keep)
