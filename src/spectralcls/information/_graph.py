"""Cut and volume of the graph whose edges are Parzen windows."""

from .._utils.typing import ArrayLike, Bandwidth
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
    X: ArrayLike,
    Y: ArrayLike,
    *,
    bandwidth: Bandwidth,
    sample_weight_X: ArrayLike | None = None,
    sample_weight_Y: ArrayLike | None = None,
    kernel: str = "gaussian",
    potential: str = "convolved",
    log: bool = False,
    n_jobs: int | None = None,
) -> float:
    """Cut between two sets of nodes: the sum of ``w_i v_j k(x_i, y_j)`` (equation 5.20 of [1]_).

    The edge weights are the Parzen windows of eq. 5.21, so that the cut is N_1 N_2 <p, q>.

    Parameters
    ----------
    X, Y : array-like of shape (n_samples_X, n_features) and (n_samples_Y, n_features)
        Samples; everything is computed in float64.
    bandwidth : float or pair of floats
        Bandwidth h > 0 in the units of the features.
    sample_weight_X, sample_weight_Y : array-like of shape (n_samples_X,) and (n_samples_Y,), default=None
        Weights of the nodes, as they are.
    kernel : str, default="gaussian"
        One of `spectralcls.kernels.KERNELS`.
    potential : {"convolved", "same"}, default="convolved"
        As in :func:`information_potential`.
    log : bool, default=False
        Return its logarithm.
    n_jobs : int or None, default=None
        As in `spectralcls.kernel_sums`.

    Returns
    -------
    cut : float
        The cut, or its logarithm.

    Raises
    ------
    ValueError
        For NaN or infinity, an empty sample, negative weights or weights that are all zero, samples of different
        numbers of features, and a bandwidth that is not positive and finite.

    Notes
    -----
    At most O(n^2 d) time for n points in all, O(n) memory; in logarithms, so that nothing underflows.

    References
    ----------
    .. [1] O. K. Storås, "Information Theoretic Learning for Pattern Classification", Master's thesis, University of
       Tromsø, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> X, Y = np.random.default_rng(0).normal(size=(2, 500, 2))
    >>> from spectralcls.information import graph_cut
    >>> round(float(graph_cut(X, Y + 3, bandwidth=0.5)), 1)
    345.2
    """
    p, q = read_samples(X, Y, sample_weight_X, sample_weight_Y)
    return value(log_inner(p, q, kernel, read_bandwidths(bandwidth), potential, n_jobs), log)


@checked(ONE_SAMPLE, WEIGHT, POTENTIAL, LOG)
def graph_volume(
    X: ArrayLike,
    *,
    bandwidth: Bandwidth,
    sample_weight: ArrayLike | None = None,
    kernel: str = "gaussian",
    potential: str = "convolved",
    log: bool = False,
    n_jobs: int | None = None,
) -> float:
    """Volume of a graph: the sum of ``w_i w_j k(x_i, x_j)`` over all pairs, i = j included (equation 5.22 of [1]_).

    The edge weights are the Parzen windows of eq. 5.21, so that the volume is N^2 V (eq. 5.24).

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The sample; everything is computed in float64.
    bandwidth : float or pair of floats
        Bandwidth h > 0 in the units of the features.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the nodes, as they are.
    kernel : str, default="gaussian"
        One of `spectralcls.kernels.KERNELS`.
    potential : {"convolved", "same"}, default="convolved"
        As in :func:`information_potential`.
    log : bool, default=False
        Return its logarithm.
    n_jobs : int or None, default=None
        As in `spectralcls.kernel_sums`.

    Returns
    -------
    volume : float
        The volume, or its logarithm.

    Raises
    ------
    ValueError
        For NaN or infinity, an empty sample, negative weights or weights that are all zero, samples of different
        numbers of features, and a bandwidth that is not positive and finite.

    Notes
    -----
    At most O(n^2 d) time for n points in all, O(n) memory; in logarithms, so that nothing underflows.

    References
    ----------
    .. [1] O. K. Storås, "Information Theoretic Learning for Pattern Classification", Master's thesis, University of
       Tromsø, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> from spectralcls.information import graph_volume
    >>> round(float(graph_volume(X, bandwidth=0.5)), 1)
    16810.1
    """
    p = read_sample(X, sample_weight)
    return value(log_inner(p, p, kernel, (bandwidth, bandwidth), potential, n_jobs), log)
