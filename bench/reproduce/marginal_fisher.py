"""Marginal Fisher analysis, which paper 004 reviews."""

import numpy as np
from scipy.linalg import eigh
from scipy.spatial.distance import cdist


def marginal_fisher(X, y, n_within, n_between):
    """Directions (d, d), ordered by the ratio of squared edge lengths within classes to those between classes, least
    first.

    Within a class, edges join each point to its `n_within` nearest points. Between a class and all others, edges join
    the `n_between` nearest pairs (S. Yan et al., IEEE Transactions on Pattern Analysis and Machine Intelligence 29,
    2007).
    """
    D, within, between = cdist(X, X, "sqeuclidean"), [], []
    for c in np.unique(y):
        own, others = np.flatnonzero(y == c), np.flatnonzero(y != c)
        near = D[np.ix_(own, own)].argsort(axis=1)[:, 1 : n_within + 1]
        within.append(np.column_stack([np.repeat(own, near.shape[1]), own[near.ravel()]]))
        far = D[np.ix_(own, others)]
        i, j = np.unravel_index(np.argpartition(far, n_between, axis=None)[:n_between], far.shape)
        between.append(np.column_stack([own[i], others[j]]))
    inside, across = (_scatter(X, np.concatenate(pairs)) for pairs in (within, between))
    return eigh(inside, across + 1e-9 * np.trace(across) * np.eye(len(across)))[1]


def _scatter(X, pairs):
    """Sum of the outer products of differences over distinct pairs."""
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    differences = X[pairs[:, 0]] - X[pairs[:, 1]]
    return differences.T @ differences
