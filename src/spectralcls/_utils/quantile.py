"""Quantiles of weighted values."""

import numpy as np


def weighted_quantile(values, share, weights=None):
    """Quantile of each column; weight k counts as k rows.

    Between the value up to which values weigh exactly the `share` of all and the next one it is their mean, as the
    median has it: NumPy's "averaged_inverted_cdf".

    Parameters
    ----------
    values : ndarray (n,) or (n, k)
    share : float in [0, 1]
    weights : ndarray (n,), optional

    Returns
    -------
    quantile : float or ndarray (k,)
    """
    weights = np.ones(len(values)) if weights is None else weights
    order = np.argsort(values, axis=0, kind="stable")
    cumulated = np.cumsum(weights[order], axis=0)
    total = cumulated[-1]
    wanted, tolerance = share * total, 1e-12 * total  # sums that should be equal differ in their last bits
    lower = (cumulated >= wanted - tolerance).argmax(axis=0)
    upper = np.where(wanted < total - tolerance, (cumulated > wanted + tolerance).argmax(axis=0), lower)
    ordered = np.take_along_axis(values, order, axis=0)
    ends = [np.take_along_axis(ordered, np.expand_dims(place, 0), axis=0)[0] for place in (lower, upper)]
    return (ends[0] + ends[1]) / 2
