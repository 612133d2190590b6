"""Cut and volume of the graph whose edges are Parzen windows (thesis section 5.3.4)."""

from ._parzen import (
    LOG,
    ONE_SAMPLE,
    POTENTIAL,
    TWO_SAMPLES,
    WEIGHT,
    WEIGHTS,
    checked,
    log_inner,
    read_bandwidths,
    read_sample,
    read_samples,
    value,
)


@checked(TWO_SAMPLES, WEIGHTS, POTENTIAL, LOG)
def graph_cut(
    X,
    Y,
    *,
    bandwidth,
    sample_weight_X=None,
    sample_weight_Y=None,
    kernel="gaussian",
    potential="convolved",
    log=False,
    n_jobs=None,
):
    """Cut between two sets of nodes: the sum of ``w_i v_j k(x_i, y_j)`` (thesis eq. 5.20).

    The edge weights are the Parzen windows of eq. 5.21, so that the cut is N_1 N_2 <p, q>.

    Parameters
    ----------
    X, Y, bandwidth, kernel, n_jobs
        See the module.
    sample_weight_X, sample_weight_Y : array-like, default=None
        Weights of the nodes, as they are.
    potential : {"convolved", "same"}, default="convolved"
        As in :func:`information_potential`.
    log : bool, default=False
        Return its logarithm.

    Returns
    -------
    cut : float
    """
    p, q = read_samples(X, Y, sample_weight_X, sample_weight_Y)
    return value(log_inner(p, q, kernel, read_bandwidths(bandwidth), potential, n_jobs), log)


@checked(ONE_SAMPLE, WEIGHT, POTENTIAL, LOG)
def graph_volume(
    X, *, bandwidth, sample_weight=None, kernel="gaussian", potential="convolved", log=False, n_jobs=None
):
    """Volume of a graph: the sum of ``w_i w_j k(x_i, x_j)`` over all pairs, i = j included (thesis eq. 5.22).

    The edge weights are the Parzen windows of eq. 5.21, so that the volume is N^2 V (eq. 5.24).

    Parameters
    ----------
    X, bandwidth, kernel, n_jobs
        See the module.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the nodes, as they are.
    potential : {"convolved", "same"}, default="convolved"
        As in :func:`information_potential`.
    log : bool, default=False
        Return its logarithm.

    Returns
    -------
    volume : float
    """
    p = read_sample(X, sample_weight)
    return value(log_inner(p, p, kernel, (bandwidth, bandwidth), potential, n_jobs), log)
