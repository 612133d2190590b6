"""Quantiles of weighted values."""

import numpy as np

SAME = 1e-12  # relative tolerance, because equal sums of weights may differ in their last bits


def weighted_quantile(values, share, weights=None):
    """Quantile of each column; weight k counts as k rows.

    If the weights up to a value add up to exactly the fraction `share` of the total, the quantile is the mean of this
    value and the next, as for a median: NumPy's "averaged_inverted_cdf".

    Parameters
    ----------
    values : ndarray (n,) or (n, k)
    share : float in [0, 1], or several
    weights : ndarray (n,), optional

    Returns
    -------
    quantile : float or ndarray (k,)
        With several shares, the quantiles are along a new first axis.
    """
    shares, rows = np.atleast_1d(share), np.atleast_2d(values.T)
    if weights is None:
        n, near = len(values), SAME * len(values)
        lower = np.maximum(np.ceil(shares * n - near).astype(np.intp) - 1, 0)
        upper = np.minimum(np.floor(shares * n + near).astype(np.intp), n - 1)
        ordered = np.sort(rows, axis=1)  # faster than a partition at several ranks
        ends = [ordered[:, place].T for place in (lower, upper)]
    else:
        order = np.argsort(rows, axis=1)
        ordered, cumulated = np.take_along_axis(rows, order, axis=1), np.cumsum(weights[order], axis=1)
        total = cumulated[:, -1:]
        wanted, near = np.multiply.outer(shares, total), SAME * total
        lower = (cumulated >= wanted - near).argmax(axis=2)
        upper = np.where((wanted < total - near)[..., 0], (cumulated > wanted + near).argmax(axis=2), lower)
        ends = [np.take_along_axis(ordered, place.T, axis=1).T for place in (lower, upper)]
    found = (ends[0] + ends[1]) / 2  # (shares, k)
    found = found if np.ndim(share) else found[0]
    return found if np.ndim(values) > 1 else found[..., 0]
