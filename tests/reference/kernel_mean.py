"""Slow truth for the kernel-mean classifiers: section 3 of the mathematics, full kernel matrices."""

from functools import lru_cache

import numpy as np
import reference
from reference import distances


def kernel_matrix(Q, X, kernel, h, normalize):
    """As in the reference; the last matrices are kept, for many rules ask for the same ones."""
    return _kernel_matrix(Q.tobytes(), X.tobytes(), X.shape[1], kernel, float(h), normalize)


@lru_cache(maxsize=64)
def _kernel_matrix(Q, X, d, kernel, h, normalize):
    Q, X = (np.frombuffer(rows).reshape(-1, d) for rows in (Q, X))
    return reference.kernel_matrix(Q, X, kernel, h, normalize)


def density(Q, X, y, kernel, h, w):
    """f(q), the mean over all training points of kernels at the bandwidth of their class."""
    total = np.zeros(len(Q))
    for label, h_c in zip(np.unique(y), h, strict=True):
        own = y == label
        total += kernel_matrix(Q, X[own], kernel, h_c, normalize=True) @ w[own]
    return total / w.sum()


def scores(rule, Q, X, y, *, kernel="gaussian", bandwidth, weighting=None, potential="convolved", priors=None, w=None):
    """Scores (m, C), larger wins, of "parzen", "ise" or "cs"; `weighting` makes the latter two Laplacian."""
    classes = np.unique(y)
    w = np.ones(len(X)) if w is None else w
    h = np.broadcast_to(np.asarray(bandwidth, dtype=np.float64), len(classes))
    f, f_query = (density(P, X, y, kernel, h, w) for P in (X, Q)) if weighting else (None, None)
    out = np.empty((len(Q), len(classes)))
    for c, label in enumerate(classes):
        own = y == label
        v = w[own] / w[own].sum()
        K = kernel_matrix(Q, X[own], kernel, h[c], normalize=True)
        if rule == "parzen":
            out[:, c] = (w[own].sum() / w.sum() if priors is None else priors[c]) * (K @ v)
            continue
        convolved = kernel == "gaussian" and potential == "convolved"
        pairs = kernel_matrix(X[own], X[own], kernel, h[c] * (np.sqrt(2) if convolved else 1), normalize=True)
        norm = v if weighting is None else v * f[own] ** -0.5
        V = norm @ pairs @ norm
        if weighting == "inverse":
            inner = K @ (v / f[own])
        elif weighting == "symmetric":
            reached = np.maximum(f_query, np.finfo(float).tiny)
            inner = np.where(f_query > 0, (K @ (v * f[own] ** -0.5)) / np.sqrt(reached), 0.0)
        else:
            inner = K @ v
        share = w[own].sum() / w.sum() if priors == "shares" else 1.0
        out[:, c] = share * inner / np.sqrt(V) if rule == "cs" else 2 * inner - V
    return out


def predict(rule, Q, X, y, **parameters):
    """Labels; where a density or an angle is 0 for every class, that of the nearest training point."""
    s = scores(rule, Q, X, y, **parameters)
    labels = np.unique(y)[s.argmax(axis=1)]
    if rule != "ise":
        empty = s.max(axis=1) <= 0
        labels[empty] = y[distances(Q[empty], X).argmin(axis=1)]
    return labels


def margins(s):
    """Relative gap between the best and the second score of each row."""
    ordered = np.sort(s, axis=1)
    return (ordered[:, -1] - ordered[:, -2]) / np.maximum(np.abs(ordered).max(axis=1), np.finfo(float).tiny)
