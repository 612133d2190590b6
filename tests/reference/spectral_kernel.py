"""Slow truth of Li, Ong, Ng and Sun: dense float64 matrices, straight from Table 1, Figure 1, Lemma 3 and Table 2."""

import numpy as np


def input_similarity(Q, X, kernel="linear", bandwidth=1.0, degree=2, coef0=1.0):
    Q, X = np.asarray(Q, dtype=np.float64), np.asarray(X, dtype=np.float64)
    if kernel == "gaussian":
        return np.exp(-((Q[:, None] - X[None]) ** 2).sum(axis=2) / (2 * bandwidth**2))
    inner = Q @ X.T
    return {"linear": inner, "polynomial": (inner + coef0) ** degree, "exponential": np.exp(inner)}[kernel]


def transformed(S, transformation):
    """Gamma(S), Table 1 (i)."""
    if transformation == "identity":
        return S
    degrees = S.sum(axis=1)
    return S / np.sqrt(np.outer(degrees, degrees))


def transformed_new(S_new, S, transformation):
    """The rows tau(S_x), Table 1 (ii)."""
    if transformation == "identity":
        return S_new
    return S_new / np.sqrt(np.outer(S_new.sum(axis=1), S.sum(axis=1)))


def eigenpairs(G, k):
    values, vectors = np.linalg.eigh(G)
    values, vectors = values[::-1][:k], vectors[:, ::-1][:, :k]
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(k)]
    return values, vectors * np.sign(largest)


def embeddings(S, S_new, k, transformation="normalized", embedding="b", normalize=False):
    """Coordinates of the training samples (Figure 1) and of new ones (Lemma 3)."""
    values, V = eigenpairs(transformed(S, transformation), k)
    tau = transformed_new(S_new, S, transformation)
    if embedding == "a":
        Y, Z = V, tau @ V / values
    else:
        Y, Z = V * np.sqrt(values), tau @ V / np.sqrt(values)
    if normalize:
        Y, Z = (A / np.linalg.norm(A, axis=1, keepdims=True) for A in (Y, Z))
    return Y, Z


def similarity(y, z, name="inner", sigma=1.0):
    """Table 2, of two vectors."""
    if name == "inner":
        return y @ z
    if name == "rbf":
        return np.exp(-np.sum((y - z) ** 2) / sigma)
    y, z = y - y.mean(), z - z.mean()
    return y @ z / (np.linalg.norm(y) * np.linalg.norm(z))
