"""Gaussian kernel sums over complete points at queries with missing values, which are NaN.

The kernel is a product of one factor for each feature. What a query lacks is integrated out: a feature takes the factor
sqrt(2 pi) h for each of its columns, the same for all points. If points are weighted by their density f, that is one of
all features: a query that has p of F features meets the weights to the power p / F.

The masks take part in the distance. With o = 1 for what a query has and 0 otherwise,

    o (q - x)^2 = o x^2 - 2 x (o q) + o q^2

is an inner product of columns of the point with columns of the query, and ``2 a.b = |a|^2 + |b|^2 - |a - b|^2`` makes
a squared distance of it. One pass of the core then serves all patterns of missing features, and all bandwidths.
"""

import numpy as np

from ..kernels import KernelPoints, kernel_sums

LOG_ROOT = np.log(2 * np.pi) / 2


def is_incomplete(X):
    """Whether a value is missing."""
    return bool(np.isnan(X).any())


def columns_of(d, features=None):
    """Columns of each feature, a list of arrays; None: one each."""
    if features is None:
        return [np.array([column]) for column in range(d)]
    return [np.flatnonzero(features == f) for f in np.unique(features)]


def feature_of(columns):
    """Feature of each column, feature by feature."""
    return np.repeat(np.arange(len(columns)), [len(own) for own in columns])


def in_order(values, columns):
    """Values (n, d) feature by feature."""
    order = np.concatenate(columns)
    return values if np.array_equal(order, np.arange(len(order))) else values[:, order]


def sums_by_feature(values, columns):
    """Sums (n, F) of values (n, d) that are in the order of features."""
    if len(columns) == values.shape[1]:
        return values
    return np.add.reduceat(values, np.flatnonzero(np.diff(feature_of(columns), prepend=-1)), axis=1)


def known_features(known, columns):
    """Whether each feature is there, (n, F), of its columns (n, d), which are missing together."""
    return known[:, [own[0] for own in columns]]


def factors_of(columns, weights):
    """What columns of weights hold beyond the sample weights, (n, k); None if that is nothing."""
    if columns is weights or (weights is not None and columns.ndim == 1 and np.array_equal(columns, weights)):
        return None
    columns = columns.reshape(len(columns), -1)
    return columns if weights is None else columns / weights[:, None]


def incomplete_class_sums(Q, X, codes, n_classes, widths, weights=None, factors=None, features=None, n_jobs=None):
    """sum_{j in c} w_j g_j k(q, x_j) at queries that lack values, what they lack integrated out.

    Parameters
    ----------
    Q : ndarray (m, d)
        NaN where a value is missing.
    X : ndarray (n, d)
        Complete.
    codes : ndarray (n,)
    n_classes : int
    widths : ndarray (b,), or (b, C) of each class
    weights : ndarray (n,), optional
        w, of the samples.
    factors : ndarray (n, k) or (n, b, k), optional
        g, which belongs to all features alike: for a query that has p of F features it is g^(p / F).
    features : ndarray (d,), optional
        Feature of each column, whose values are missing together; None: one column each.

    Returns
    -------
    log_scale : ndarray (m, b, C), float64
    sums : ndarray (m, b, C, k), float64
        To be multiplied by exp(log_scale); k is 1 without factors.
    """
    columns = columns_of(X.shape[1], features)
    center = X.mean(axis=0, dtype=np.float64)
    lacking = ~known_features(~np.isnan(Q), columns)
    complete = np.zeros((len(X), len(columns)), dtype=bool)
    A, B, constant = masked_distance(Q - center, lacking, X - center, complete, columns)
    weights = np.ones(len(X)) if weights is None else weights
    points = KernelPoints(B, weights=weights[:, None], labels=codes, n_labels=n_classes)
    options = dict(bandwidth=widths, log="pair", n_jobs=n_jobs)
    if factors is None:
        log_scale, sums = kernel_sums(A, points, **options)
    else:
        log_scale = np.empty((len(A), len(widths), n_classes))
        sums = np.empty((*log_scale.shape, factors.shape[-1]))
        n_known = len(columns) - lacking.sum(axis=1)
        for known in np.unique(n_known):
            shared = weights.reshape(-1, *[1] * (factors.ndim - 1)) * factors ** (known / len(columns))
            rows = n_known == known
            log_scale[rows], sums[rows] = kernel_sums(A[rows], points, weights=shared, **options)
    by_class = widths if widths.ndim == 2 else widths[:, None]
    n_integrated = lacking @ np.array([len(own) for own in columns])
    shift = constant[:, None, None] / (2 * by_class**2) + n_integrated[:, None, None] * (np.log(by_class) + LOG_ROOT)
    return log_scale + shift, sums


def incomplete_class_log_sums(*arguments):
    """Logarithms of `incomplete_class_sums`, (m, b, C, k)."""
    log_scale, sums = incomplete_class_sums(*arguments)
    with np.errstate(divide="ignore"):
        return np.log(sums) + log_scale[..., None]


def with_gaps_apart(Q, complete, incomplete):
    """Answers to queries: ``complete(Q)`` for those that lack no value, ``incomplete(Q)`` for the others.

    Both give arrays of a row for each query; so does this, in float64.
    """
    lacking = np.isnan(Q).any(axis=1)
    if lacking.all() or not lacking.any():
        found = incomplete(Q) if lacking.any() else complete(Q)
        return [part.astype(np.float64, copy=False) for part in found]
    answers = []
    for known, unknown in zip(complete(Q[~lacking]), incomplete(Q[lacking]), strict=True):
        both = np.empty((len(Q), *known.shape[1:]))
        both[~lacking], both[lacking] = known, unknown
        answers.append(both)
    return answers


def masked_distance(Q, queries_lack, X, points_lack, columns, lengths=None):
    """Squared distances of the features that both have, and lengths for the others, as distances of new columns.

    Parameters
    ----------
    Q, X : ndarray (m, d) and (n, d)
    queries_lack, points_lack : ndarray (m, F) and (n, F) of bool
    columns : list of F arrays
        Columns of each feature.
    lengths : ndarray (m, F), optional
        For a feature that a query has and a point lacks; None: 0.

    Returns
    -------
    A, B : ndarray (m, D) and (n, D)
    constant : ndarray (m,)
        What the squared distances of A and B exceed those asked for by.
    """
    gaps_q, gaps_x = queries_lack.any(axis=0), points_lack.any(axis=0)
    whole = ~(gaps_q | gaps_x)
    feature, order = feature_of(columns), np.concatenate(columns)
    plain = order[whole[feature]]
    has_q, has_x = ~queries_lack * 1.0, ~points_lack * 1.0
    q, x = (in_order(np.where(np.isnan(part), 0.0, part), columns) for part in (Q, X))
    length = np.zeros_like(has_q) if lengths is None else has_q * lengths
    square_q, square_x = (sums_by_feature(part**2, columns) for part in (q, x))
    # columns whose products count, and sums of what depends on the query alone, or on the point alone
    products = ~whole[feature]
    U = np.column_stack([-2 * q[:, products], (square_q - length)[:, gaps_x], has_q[:, gaps_q]])
    V = np.column_stack([x[:, products], has_x[:, gaps_x], square_x[:, gaps_q]])
    common = np.where(gaps_x, length, square_q)[:, ~whole].sum(axis=1)
    summand = square_x[:, ~whole & ~gaps_q].sum(axis=1)
    if summand.any():
        U, V = np.column_stack([U, np.ones(len(Q))]), np.column_stack([V, summand])
    size_u, size_v = (np.abs(part).max(axis=0, initial=0.0) for part in (U, V))
    balance = np.sqrt(np.where((size_u > 0) & (size_v > 0), size_u / 2 / np.where(size_v > 0, size_v, 1.0), 1.0))
    A, B = -U / (2 * balance), V * balance  # u v is -2 a b; both of one size
    squares = np.einsum("ij,ij->i", B, B)
    radius = squares.max(initial=0.0)
    constant = np.einsum("ij,ij->i", A, A) + radius - common
    A = np.column_stack([Q[:, plain], A, np.zeros(len(Q))])
    B = np.column_stack([X[:, plain], B, np.sqrt(radius - squares)])
    return A, B, constant
