"""Gaussian kernel sums over complete points, for queries with missing values (NaN).

The kernel is a product with one factor for each column. Missing features are integrated out: each of their columns
contributes the factor sqrt(2 pi) h, which is the same for all points with the bandwidth h. Weights that are powers of
the density f refer to all F features; for a query with p known features, they are raised to the power p / F.
"""

import numpy as np

from .._inputs.missing import columns_of, known_features, masked_distance
from ..kernels import PackedPoints, kernel_sums

LOG_ROOT = np.log(2 * np.pi) / 2


def factors_of(columns, weights):
    """Weight columns divided by the sample weights, (n, k); None if all quotients are one."""
    if columns is weights or (weights is not None and columns.ndim == 1 and np.array_equal(columns, weights)):
        return None
    columns = columns.reshape(len(columns), -1)
    return columns if weights is None else columns / weights[:, None]


def incomplete_class_sums(Q, X, codes, n_classes, widths, weights=None, factors=None, features=None, n_jobs=None):
    """sum_{j in c} w_j g_j k(q, x_j) at queries with missing values, which are integrated out.

    Parameters
    ----------
    Q : ndarray (m, d)
        Queries, NaN if a value is missing.
    X : ndarray (n, d)
        Points without missing values.
    codes : ndarray (n,)
    n_classes : int
    widths : ndarray (b,), or (b, C) with one for each class
    weights : ndarray (n,), optional
        Sample weights w.
    factors : ndarray (n, k) or (n, b, k), optional
        Factors g, which refer to all features; a query with p of F features uses g^(p / F).
    features : ndarray (d,), optional
        Feature of each column; the columns of a feature are missing together. None: one column per feature.

    Returns
    -------
    log_scale : ndarray (m, b, C), float64
    sums : ndarray (m, b, C, k), float64
        Class sums divided by exp(log_scale); without factors, k is 1.
    """
    columns = columns_of(X.shape[1], features)
    center = X.mean(axis=0, dtype=np.float64)
    lacking = ~known_features(~np.isnan(Q), columns)
    complete = np.zeros((len(X), len(columns)), dtype=bool)
    A, B, constant = masked_distance(Q - center, lacking, X - center, complete, columns)
    weights = np.ones(len(X)) if weights is None else weights
    points = PackedPoints(B, weights=weights[:, None], labels=codes, n_labels=n_classes)
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


def split_by_missing(Q, complete, incomplete):
    """Evaluate ``complete(Q)`` for queries without missing values and ``incomplete(Q)`` for the others.

    Both functions return a list of arrays with a row for each query, and so does this one, in float64.
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
