"""Slow truth for the spectral methods: dense float64, straight from the formulas."""

import numpy as np
from reference import kernel_matrix


def density(Q, X, h, kernel="gaussian"):
    """f(q) with the kernel's constant."""
    return kernel_matrix(Q, X, kernel, h, normalize=True).mean(axis=1)


def spectral_scores(
    Q,
    X,
    y,
    *,
    bandwidth,
    n_components,
    laplacian=False,
    center="mean",
    printed=False,
    kernel="gaussian",
):
    """Negative squared distances to the class centers, thesis chapter 7, in full."""
    h, n = bandwidth, len(X)
    K = kernel_matrix(X, X, kernel, h, normalize=laplacian)
    # Section 9.1 of the thesis drops the kernel's constant from its test kernel.
    test = kernel_matrix(Q, X, kernel, h, normalize=laplacian and not printed)
    if laplacian:
        f, g = density(X, X, h, kernel), density(Q, X, h, kernel)
        K = K / np.sqrt(np.outer(f, f))
        if not printed:
            test = test / np.sqrt(np.outer(g, f))
    values, vectors = np.linalg.eigh(K)
    values, vectors = values[::-1][:n_components], vectors[:, ::-1][:, :n_components]
    vectors, values = vectors[:, values > 0], values[values > 0]
    training = vectors * np.sqrt(values)
    mapped = test @ (vectors / np.sqrt(values)) * (np.sqrt(n) if printed else 1)
    average = np.mean if center == "mean" else np.median
    centers = np.array([average(training[y == c], axis=0) for c in np.unique(y)])
    return -((mapped[:, None] - centers) ** 2).sum(axis=2)


def laplacian_spectral_scores(Q, X, y, *, widths, overall, n_components=None, printed=False):
    """Cosines of the angles to the class means, the Laplacian spectral classifier, in full."""
    classes = np.unique(y)
    sigma = np.array(widths)[np.searchsorted(classes, y)]
    K = np.empty((len(X), len(X)))
    for i in range(len(X)):
        for s in np.unique(sigma):
            own = sigma == s
            h = np.hypot(sigma[i], s)
            K[i, own] = kernel_matrix(X[i : i + 1], X[own], "gaussian", h, normalize=True)[0]
    f, g = density(X, X, overall), density(Q, X, overall)
    K = K / np.sqrt(np.outer(f, f))
    test = np.empty((len(Q), len(X)))
    for s in np.unique(sigma):
        own = sigma == s
        h = overall if printed else np.hypot(overall, s)
        test[:, own] = kernel_matrix(Q, X[own], "gaussian", h, normalize=True)
    if not printed:
        test = test / np.sqrt(np.outer(g, f))
    values, vectors = np.linalg.eigh(K)
    values, vectors = values[::-1][:n_components], vectors[:, ::-1][:, :n_components]
    training, mapped = vectors * np.sqrt(values), test @ (vectors / np.sqrt(values))
    centers = np.array([training[y == c].mean(axis=0) for c in classes])
    lengths = np.linalg.norm(mapped, axis=1)[:, None] * np.linalg.norm(centers, axis=1)
    return mapped @ centers.T / lengths
