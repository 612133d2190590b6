"""Slow truth of Li, Ong, Ng and Sun: dense float64 matrices, straight from Table 1, Figure 1 and Lemma 3."""

import numpy as np


def input_similarity(Q, X, kernel="linear", bandwidth=1.0, degree=2):
    Q, X = np.asarray(Q, dtype=np.float64), np.asarray(X, dtype=np.float64)
    if kernel == "gaussian":
        return np.exp(-((Q[:, None] - X[None]) ** 2).sum(axis=2) / (2 * bandwidth**2))
    inner = Q @ X.T
    return {"linear": inner, "polynomial": (inner + 1) ** degree, "exponential": np.exp(inner)}[kernel]


def transformed(S, weighting):
    """Gamma(S), Table 1 (i)."""
    if weighting is None:
        return S
    degrees = S.sum(axis=1)
    return S / np.sqrt(np.outer(degrees, degrees))


def transformed_new(S_new, S, weighting):
    """The rows tau(S_x), Table 1 (ii)."""
    if weighting is None:
        return S_new
    return S_new / np.sqrt(np.outer(S_new.sum(axis=1), S.sum(axis=1)))


def eigenpairs(G, k):
    values, vectors = np.linalg.eigh(G)
    values, vectors = values[::-1][:k], vectors[:, ::-1][:, :k]
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(k)]
    return values, vectors * np.sign(largest)


def embeddings(S, S_new, k, weighting="symmetric", embedding="b", normalize=False):
    """Coordinates of the training samples (Figure 1) and of new ones (Lemma 3)."""
    values, V = eigenpairs(transformed(S, weighting), k)
    tau = transformed_new(S_new, S, weighting)
    if embedding == "a":
        Y, Z = V, tau @ V / values
    else:
        Y, Z = V * np.sqrt(values), tau @ V / np.sqrt(values)
    if normalize:
        Y, Z = (A / np.linalg.norm(A, axis=1, keepdims=True) for A in (Y, Z))
    return Y, Z
