"""Quantiles of values at the training points, weighted by the kernel at a query."""

import numpy as np

from ..kernels import kernel_sums


def kernel_quantiles(Q, X, values, weights, kernel, bandwidth, shares, n_jobs):
    """The least value up to which values weigh the share of all, with weights ``w_j k(q, x_j)``: (m, s).

    Parameters
    ----------
    Q, X : ndarray (m, d), (n, d)
        Every query has to be in reach of a point.
    values : ndarray (n,)
    weights : ndarray (n,) or None
    kernel : str
    bandwidth : float
    shares : sequence of s numbers in [0, 1]
    n_jobs : int or None

    Notes
    -----
    Two passes: values in order are cut into sqrt(n) bins, whose sums tell the bin of each quantile; then the points of
    that bin alone are summed one by one. O(m n d) time, O(m sqrt(n)) memory.
    """
    order = np.argsort(values, kind="stable")
    X, values = X[order], values[order]
    n, n_bins = len(X), int(np.ceil(np.sqrt(len(X))))
    bins = np.arange(n) * n_bins // n
    options = dict(kernel=kernel, bandwidth=bandwidth, log=True, n_jobs=n_jobs)
    weights = None if weights is None else weights[order]
    logs = kernel_sums(Q, X, weights=weights, labels=bins, n_labels=n_bins, **options).astype(np.float64)
    shift = logs.max(axis=1, keepdims=True)
    cumulative = np.cumsum(np.exp(logs - shift), axis=1)
    out = np.empty((len(Q), len(shares)))
    for column, share in enumerate(shares):
        wanted = np.clip(share, 1e-12, 1 - 1e-12) * cumulative[:, -1]
        found = (cumulative < wanted[:, None]).sum(axis=1)
        for own in np.unique(found):
            rows, points = np.flatnonzero(found == own), np.flatnonzero(bins == own)
            single = kernel_sums(
                Q[rows],
                X[points],
                weights=None if weights is None else weights[points],
                labels=np.arange(len(points)),
                n_labels=len(points),
                **options,
            ).astype(np.float64)
            before = cumulative[rows, own - 1] if own else np.zeros(len(rows))
            steps = before[:, None] + np.cumsum(np.exp(single - shift[rows]), axis=1)
            place = np.minimum((steps < wanted[rows, None]).sum(axis=1), len(points) - 1)
            out[rows, column] = values[points[place]]
    return out
