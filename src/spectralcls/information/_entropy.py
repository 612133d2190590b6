"""Information potentials and entropies."""

from scipy.special import logsumexp

from .._utils.typing import ArrayLike, Kernel, PairBandwidth, Potential, SampleBandwidth
from ._samples import (
    checked,
    checked_pair,
    log_density_of_itself,
    log_inner,
    mean_of,
    read_normalized,
    read_one,
    value,
)


@checked
def information_potential(
    X: ArrayLike,
    *,
    bandwidth: SampleBandwidth = "cv",
    sample_weight: ArrayLike | None = None,
    kernel: Kernel = "gaussian",
    potential: Potential = "convolved",
    log: bool = False,
    n_jobs: int | None = None,
) -> float:
    """Information potential V(p) = <p, p>, the integral of p^2.

    Equation 4.28 of [1]_.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The sample; everything is computed in float64.
    bandwidth : {"cv", "silverman", "scott"} or float, default="cv"
        Bandwidth h > 0 in the units of the features, or a rule of `ParzenDensity`, applied to the unscaled points.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative; only their ratios count.
    kernel : str, default="gaussian"
        One of `spectralcls.kernels.KERNELS`.
    potential : {"convolved", "same"}, default="convolved"
        "convolved" uses the bandwidth sqrt(2) h, which gives the exact integral for the Gaussian. "same" uses h, as the
        other kernels always do (eq. 4.38).
    log : bool, default=False
        Return log V. In high dimensions, V itself may be too small or too large for a float.
    n_jobs : int or None, default=None
        As in `spectralcls.kernel_sums`.

    Returns
    -------
    V : float
        The potential, or its logarithm.

    Raises
    ------
    ValueError
        For NaN or infinity, an empty sample, weights that are negative or all zero, and a bandwidth that is not
        positive and finite.

    Notes
    -----
    Takes at most O(n^2 d) time for n points in all and O(n) memory. Sums are kept as logarithms, so nothing underflows.

    References
    ----------
    .. [1] O. K. Storås, "Information Theoretic Learning for Pattern Classification", Master's thesis, University of
       Tromsø, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> from spectralcls.information import information_potential
    >>> round(float(information_potential(X, bandwidth=0.5)), 3)
    0.067
    """
    p, h = read_one(X, sample_weight, bandwidth, kernel, n_jobs)
    return value(log_inner(p, p, kernel, (h, h), potential, n_jobs), log)


@checked_pair
def cross_information_potential(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    bandwidth: PairBandwidth = "cv",
    sample_weight_X: ArrayLike | None = None,
    sample_weight_Y: ArrayLike | None = None,
    kernel: Kernel = "gaussian",
    potential: Potential = "convolved",
    log: bool = False,
    n_jobs: int | None = None,
) -> float:
    """Cross information potential <p, q>, the integral of p q.

    Equations 4.34 and 4.38 of [1]_.

    Parameters
    ----------
    X, Y : array-like of shape (n_samples_X, n_features) and (n_samples_Y, n_features)
        Samples; everything is computed in float64.
    bandwidth : {"cv", "silverman", "scott"}, float or tuple of two floats, default="cv"
        Bandwidth h > 0 in the units of the features, a tuple (for X, for Y), or a rule of `ParzenDensity`, applied to
        all points together. Both must be equal unless the potential is convolved.
    sample_weight_X, sample_weight_Y : array-like of shape (n_samples_X,) and (n_samples_Y,), default=None
        Non-negative; only their ratios count.
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
    V : float
        0, or -inf with `log`, if no point of X is within reach of a compact kernel at a point of Y.

    Raises
    ------
    ValueError
        For NaN or infinity, an empty sample, negative weights or weights that are all zero, samples with different
        numbers of features, and a bandwidth that is not positive and finite.

    Notes
    -----
    Takes at most O(n^2 d) time for n points in all and O(n) memory. Sums are kept as logarithms, so nothing underflows.

    References
    ----------
    .. [1] O. K. Storås, "Information Theoretic Learning for Pattern Classification", Master's thesis, University of
       Tromsø, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> X, Y = np.random.default_rng(0).normal(size=(2, 500, 2))
    >>> from spectralcls.information import cross_information_potential
    >>> round(float(cross_information_potential(X, Y + 1, bandwidth=0.5)), 3)
    0.041
    """
    p, q, bandwidths = read_normalized(X, Y, sample_weight_X, sample_weight_Y, bandwidth, kernel, n_jobs)
    return value(log_inner(p, q, kernel, bandwidths, potential, n_jobs), log)


@checked
def renyi_entropy(
    X: ArrayLike,
    *,
    bandwidth: SampleBandwidth = "cv",
    alpha: float = 2,
    sample_weight: ArrayLike | None = None,
    kernel: Kernel = "gaussian",
    potential: Potential = "convolved",
    leave_one_out: bool = False,
    n_jobs: int | None = None,
) -> float:
    """Renyi entropy of order alpha.

    For alpha = 2 it is -log V with the information potential V (equation 4.29 of [1]_). For other orders it is
    the plug-in estimate ``log(sum_i w_i p(x_i)^(alpha - 1)) / (1 - alpha)``, whose limit at alpha = 1 is Shannon's
    entropy. With ``potential="same"``, order 2 uses the plug-in estimate as well.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The sample; everything is computed in float64.
    bandwidth : {"cv", "silverman", "scott"} or float, default="cv"
        Bandwidth h > 0 in the units of the features, or a rule of `ParzenDensity`, applied to the unscaled points.
    alpha : float, default=2
        Order, positive and finite.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative; only their ratios count.
    kernel : str, default="gaussian"
        One of `spectralcls.kernels.KERNELS`.
    potential : {"convolved", "same"}, default="convolved"
        The estimate for alpha = 2; see :func:`information_potential`.
    leave_one_out : bool, default=False
        Use the density of the other points at each point; not available for the convolved estimate of order 2.
    n_jobs : int or None, default=None
        As in `spectralcls.kernel_sums`.

    Returns
    -------
    entropy : float
        In nats.

    Raises
    ------
    ValueError
        For NaN or infinity, an empty sample, weights that are negative or all zero, and a bandwidth that is not
        positive and finite.

    Notes
    -----
    Takes at most O(n^2 d) time for n points in all and O(n) memory. Sums are kept as logarithms, so nothing underflows.

    References
    ----------
    .. [1] O. K. Storås, "Information Theoretic Learning for Pattern Classification", Master's thesis, University of
       Tromsø, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> from spectralcls.information import renyi_entropy
    >>> round(float(renyi_entropy(X, bandwidth=0.5)), 3)
    2.699
    """
    p, h = read_one(X, sample_weight, bandwidth, kernel, n_jobs)
    if alpha == 2 and kernel == "gaussian" and potential == "convolved":
        if leave_one_out:
            raise ValueError(
                "leave_one_out with alpha=2 needs potential='same': the convolved estimate is not a mean over points."
            )
        return -log_inner(p, p, kernel, (h, h), potential, n_jobs)
    log_p = log_density_of_itself(p, kernel, h, leave_one_out, n_jobs)
    if alpha == 1:
        return -mean_of(log_p, p)
    return float(logsumexp((alpha - 1) * log_p, b=p.weights) / (1 - alpha))


@checked
def shannon_entropy(
    X: ArrayLike,
    *,
    bandwidth: SampleBandwidth = "cv",
    sample_weight: ArrayLike | None = None,
    kernel: Kernel = "gaussian",
    leave_one_out: bool = False,
    n_jobs: int | None = None,
) -> float:
    """Differential Shannon entropy by the plug-in estimate ``-sum_i w_i log p(x_i)``.

    Equation 4.39 of [1]_.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The sample; everything is computed in float64.
    bandwidth : {"cv", "silverman", "scott"} or float, default="cv"
        Bandwidth h > 0 in the units of the features, or a rule of `ParzenDensity`, applied to the unscaled points.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative; only their ratios count.
    kernel : str, default="gaussian"
        One of `spectralcls.kernels.KERNELS`.
    leave_one_out : bool, default=False
        False keeps each point's own term in its density, as in [1]_. The estimate is then too small for small
        bandwidths, and tends to -infinity as h goes to 0. True leaves the term out.
    n_jobs : int or None, default=None
        As in `spectralcls.kernel_sums`.

    Returns
    -------
    entropy : float
        In nats; infinite if, with leave_one_out, a point has no neighbor within reach of a compact kernel.

    Raises
    ------
    ValueError
        For NaN or infinity, an empty sample, weights that are negative or all zero, and a bandwidth that is not
        positive and finite.

    Notes
    -----
    Takes at most O(n^2 d) time for n points in all and O(n) memory. Sums are kept as logarithms, so nothing underflows.

    References
    ----------
    .. [1] O. K. Storås, "Information Theoretic Learning for Pattern Classification", Master's thesis, University of
       Tromsø, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> from spectralcls.information import shannon_entropy
    >>> round(float(shannon_entropy(X, bandwidth=0.5)), 3)
    2.791
    """
    p, h = read_one(X, sample_weight, bandwidth, kernel, n_jobs)
    return -mean_of(log_density_of_itself(p, kernel, h, leave_one_out, n_jobs), p)
