"""Distances between points with missing values (NaN).

The masks are part of the distance. With o = 1 for a known feature of the query and 0 otherwise,

    o (q - x)^2 = o x^2 - 2 x (o q) + o q^2

is an inner product of columns of the point and columns of the query, and ``2 a.b = |a|^2 + |b|^2 - |a - b|^2`` turns it
into a squared distance. One pass of the core then covers all patterns of missing features and all bandwidths.
"""

import numpy as np


def is_incomplete(X):
    """Whether a value is missing."""
    return bool(np.isnan(X).any())


def columns_of(d, features=None):
    """Columns of each feature, a list of arrays; without `features`, each feature is one column."""
    if features is None:
        return [np.array([column]) for column in range(d)]
    return [np.flatnonzero(features == f) for f in np.unique(features)]


def feature_of(columns):
    """Index of the feature that each column belongs to, after the columns are sorted by feature."""
    return np.repeat(np.arange(len(columns)), [len(own) for own in columns])


def in_order(values, columns):
    """Values (n, d) with columns in the order of features."""
    order = np.concatenate(columns)
    return values if np.array_equal(order, np.arange(len(order))) else values[:, order]


def sums_by_feature(values, columns):
    """Sums (n, F) of values (n, d) over the columns of each feature; the columns are in the order of features."""
    if len(columns) == values.shape[1]:
        return values
    return np.add.reduceat(values, np.flatnonzero(np.diff(feature_of(columns), prepend=-1)), axis=1)


def known_features(known, columns):
    """Whether each feature is known, (n, F), from the mask of known columns (n, d), which are missing together."""
    return known[:, [own[0] for own in columns]]


def masked_distance(Q, queries_lack, X, points_lack, columns, lengths=None):
    """Points A and B whose squared distances are, up to a constant for each query, those of Q and X in the features
    known in both, plus `lengths`.

    Parameters
    ----------
    Q, X : ndarray (m, d) and (n, d)
    queries_lack, points_lack : ndarray (m, F) and (n, F) of bool
    columns : list of F arrays
        Columns of each feature.
    lengths : ndarray (m, F), optional
        Contribution of a feature that is known for the query but not for the point; None means 0.

    Returns
    -------
    A, B : ndarray (m, D) and (n, D)
    constant : ndarray (m,)
        Squared distances of A and B minus the requested ones; the difference is the same for all points.
    """
    gaps_q, gaps_x = queries_lack.any(axis=0), points_lack.any(axis=0)
    whole = ~(gaps_q | gaps_x)
    feature, order = feature_of(columns), np.concatenate(columns)
    plain = order[whole[feature]]
    has_q, has_x = ~queries_lack * 1.0, ~points_lack * 1.0
    q, x = (in_order(np.where(np.isnan(part), 0.0, part), columns) for part in (Q, X))
    length = np.zeros_like(has_q) if lengths is None else has_q * lengths
    square_q, square_x = (sums_by_feature(part**2, columns) for part in (q, x))
    # coordinates to multiply, and sums by feature that depend only on the query or only on the point
    products = ~whole[feature]
    U = np.column_stack([-2 * q[:, products], (square_q - length)[:, gaps_x], has_q[:, gaps_q]])
    V = np.column_stack([x[:, products], has_x[:, gaps_x], square_x[:, gaps_q]])
    common = np.where(gaps_x, length, square_q)[:, ~whole].sum(axis=1)
    summand = square_x[:, ~whole & ~gaps_q].sum(axis=1)
    if summand.any():
        U, V = np.column_stack([U, np.ones(len(Q))]), np.column_stack([V, summand])
    size_u, size_v = (np.abs(part).max(axis=0, initial=0.0) for part in (U, V))
    balance = np.sqrt(np.where((size_u > 0) & (size_v > 0), size_u / 2 / np.where(size_v > 0, size_v, 1.0), 1.0))
    A, B = -U / (2 * balance), V * balance  # u v = -2 a b, with a and b of similar size
    squares = np.einsum("ij,ij->i", B, B)
    radius = squares.max(initial=0.0)
    constant = np.einsum("ij,ij->i", A, A) + radius - common
    A = np.column_stack([Q[:, plain], A, np.zeros(len(Q))])
    B = np.column_stack([X[:, plain], B, np.sqrt(radius - squares)])
    return A, B, constant
