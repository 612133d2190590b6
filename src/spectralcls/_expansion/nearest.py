"""The class of the nearest training point, which is predicted if no kernel reaches the query."""

import numpy as np

from ..kernels.neighbor_search import knn


def nearest_codes(Q, X, codes, n_jobs=None, *, exclude_self=None, exclude_groups=None):
    """Class code of the training point nearest to each query; ties go to the first.

    Parameters
    ----------
    Q : ndarray (m, d)
    X : ndarray (n, d)
    codes : ndarray (n,)
    exclude_self : ndarray (m,), optional
        Index of the point that is ignored for each query.
    exclude_groups : tuple of ndarrays (m,) and (n,), optional
        Groups of queries and points; the points of a query's own group are ignored.
    """
    Q, X = np.asarray(Q, dtype=np.float64), np.asarray(X, dtype=np.float64)
    if exclude_self is not None:
        nearest = knn(Q, X, 2, n_jobs=n_jobs)[1]
        return codes[np.where(nearest[:, 0] == exclude_self, nearest[:, 1], nearest[:, 0])]
    if exclude_groups is None:
        return codes[knn(Q, X, 1, n_jobs=n_jobs)[1][:, 0]]
    own, groups = exclude_groups
    out = np.empty(len(Q), dtype=codes.dtype)
    for group in np.unique(own):
        rows, others = own == group, np.flatnonzero(groups != group)
        out[rows] = codes[others[knn(Q[rows], X[others], 1, n_jobs=n_jobs)[1][:, 0]]]
    return out
