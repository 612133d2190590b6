"""Divergences between two samples."""

import numpy as np

from .._utils.typing import ArrayLike, Kernel, PairBandwidth, Potential
from ._samples import (
    Sample,
    checked_pair,
    log_density,
    log_density_of_itself,
    log_gram,
    mean_of,
    read_bandwidths,
    read_normalized,
    read_samples,
    value,
)


@checked_pair
def integrated_squared_error(
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
    """Integrated squared error <p, p> - 2 <p, q> + <q, q>.

    Equation 4.32 of [1]_.

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
        Return its logarithm; Gaussian kernel only.
    n_jobs : int or None, default=None
        As in `spectralcls.kernel_sums`.

    Returns
    -------
    ise : float
        A squared distance for the Gaussian, hence at least 0, with an absolute error of about 1e-15 of the potentials;
        0 for equal samples. Compact kernels are not positive definite, so the value may be negative.

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
    >>> from spectralcls.information import integrated_squared_error
    >>> round(float(integrated_squared_error(X, Y + 1, bandwidth=0.5)), 3)
    0.046
    """
    if log and kernel != "gaussian":
        raise ValueError(f"log=True needs the Gaussian kernel: with kernel={kernel!r} the value may be negative.")
    p, q, bandwidths = read_normalized(X, Y, sample_weight_X, sample_weight_Y, bandwidth, kernel, n_jobs)
    logs = np.array(log_gram(p, q, kernel, bandwidths, potential, n_jobs))
    largest = logs.max()
    scaled = float(np.exp(logs - largest) @ (1, -2, 1))
    if kernel == "gaussian":
        scaled = max(scaled, 0.0)  # a squared distance, so negative only by rounding
    log_size = float(largest + np.log(abs(scaled))) if scaled else -np.inf
    return log_size if log else float(np.sign(scaled)) * value(log_size, False)


@checked_pair
def cauchy_schwarz_divergence(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    bandwidth: PairBandwidth = "cv",
    sample_weight_X: ArrayLike | None = None,
    sample_weight_Y: ArrayLike | None = None,
    kernel: Kernel = "gaussian",
    potential: Potential = "convolved",
    n_jobs: int | None = None,
) -> float:
    """Cauchy-Schwarz divergence ``-log(<p, q> / sqrt(<p, p> <q, q>))``.

    Equation 4.34 of [1]_.

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
    n_jobs : int or None, default=None
        As in `spectralcls.kernel_sums`.

    Returns
    -------
    divergence : float
        At least 0 with the Gaussian, and 0 for equal samples. Infinite if no point of X is within reach of a compact
        kernel at a point of Y.

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
    >>> from spectralcls.information import cauchy_schwarz_divergence
    >>> round(float(cauchy_schwarz_divergence(X, Y + 1, bandwidth=0.5)), 3)
    0.446
    """
    p, q, bandwidths = read_normalized(X, Y, sample_weight_X, sample_weight_Y, bandwidth, kernel, n_jobs)
    return _minus_log_cosine(p, q, kernel, bandwidths, potential, n_jobs)


@checked_pair
def kullback_leibler_divergence(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    bandwidth: PairBandwidth = "cv",
    sample_weight_X: ArrayLike | None = None,
    sample_weight_Y: ArrayLike | None = None,
    kernel: Kernel = "gaussian",
    leave_one_out: bool = False,
    n_jobs: int | None = None,
) -> float:
    """Kullback-Leibler divergence of p from q: the plug-in estimate ``sum_i w_i log(p(x_i) / q(x_i))``.

    Equation 4.17 of [1]_; both terms are estimated like Shannon's entropy in eq. 4.39.

    Parameters
    ----------
    X, Y : array-like of shape (n_samples_X, n_features) and (n_samples_Y, n_features)
        Samples; everything is computed in float64.
    bandwidth : {"cv", "silverman", "scott"}, float or tuple of two floats, default="cv"
        Bandwidth h > 0 in the units of the features, a tuple (for X, for Y), or a rule of `ParzenDensity`, applied to
        all points together. The two may differ for any kernel.
    sample_weight_X, sample_weight_Y : array-like of shape (n_samples_X,) and (n_samples_Y,), default=None
        Non-negative; only their ratios count.
    kernel : str, default="gaussian"
        One of `spectralcls.kernels.KERNELS`.
    leave_one_out : bool, default=False
        True leaves each point's own term out of p(x_i); q(x_i) has no such term.
    n_jobs : int or None, default=None
        As in `spectralcls.kernel_sums`.

    Returns
    -------
    divergence : float
        In nats; infinite if q is 0 at a point of X, which happens only with compact kernels. The estimate may be
        negative; for equal samples it is 0 with leave_one_out=False.

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
    >>> from spectralcls.information import kullback_leibler_divergence
    >>> round(float(kullback_leibler_divergence(X, Y + 1, bandwidth=0.5)), 3)
    0.962
    """
    p, q, bandwidths = read_normalized(X, Y, sample_weight_X, sample_weight_Y, bandwidth, kernel, n_jobs)
    return power_mean_of_log_ratios(_log_ratios(p, q, bandwidths, kernel, leave_one_out, n_jobs), p, 1)


@checked_pair
def renyi_divergence(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    alpha: float = 0.5,
    bandwidth: PairBandwidth = "cv",
    sample_weight_X: ArrayLike | None = None,
    sample_weight_Y: ArrayLike | None = None,
    kernel: Kernel = "gaussian",
    leave_one_out: bool = False,
    n_jobs: int | None = None,
) -> float:
    """Renyi divergence of order alpha of p from q.

    The plug-in estimate ``log(sum_i w_i (p(x_i) / q(x_i))^(alpha - 1)) / (alpha - 1)``.

    Equation 4.20 of [1]_, with the sign that makes it positive. For alpha = 1 it is
    :func:`kullback_leibler_divergence`. For alpha < 1, multiplied by 1 - alpha, it is the Chernoff distance.

    Parameters
    ----------
    X, Y : array-like of shape (n_samples_X, n_features) and (n_samples_Y, n_features)
        Samples; everything is computed in float64.
    alpha : float, default=0.5
        Order, positive and finite. Above 1 a few points of X far from Y dominate.
    bandwidth : {"cv", "silverman", "scott"}, float or tuple of two floats, default="cv"
        Bandwidth h > 0 in the units of the features, a tuple (for X, for Y), or a rule of `ParzenDensity`, applied to
        all points together. The two may differ for any kernel.
    sample_weight_X, sample_weight_Y : array-like of shape (n_samples_X,) and (n_samples_Y,), default=None
        Non-negative; only their ratios count.
    kernel : str, default="gaussian"
        One of `spectralcls.kernels.KERNELS`.
    leave_one_out : bool, default=False
        True leaves each point's own term out of p(x_i); q(x_i) has no such term.
    n_jobs : int or None, default=None
        As in `spectralcls.kernel_sums`.

    Returns
    -------
    divergence : float
        In nats; 0 for equal samples with leave_one_out=False. For alpha of at least 1 it is infinite if q is 0 at a
        point of X, which happens only with compact kernels.

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
    >>> from spectralcls.information import renyi_divergence
    >>> round(float(renyi_divergence(X, Y + 1, bandwidth=0.5)), 3)
    0.58
    """
    p, q, bandwidths = read_normalized(X, Y, sample_weight_X, sample_weight_Y, bandwidth, kernel, n_jobs)
    return power_mean_of_log_ratios(_log_ratios(p, q, bandwidths, kernel, leave_one_out, n_jobs), p, alpha)


def _log_ratios(p, q, bandwidths, kernel, leave_one_out, n_jobs):
    """log(p / q) at the points of p, infinite where q is 0."""
    h_p, h_q = bandwidths
    log_q = log_density(p.points, q, kernel, h_q, n_jobs)
    log_p = log_density_of_itself(p, kernel, h_p, leave_one_out, n_jobs)
    return np.subtract(log_p, log_q, out=np.full(len(log_q), np.inf), where=~np.isneginf(log_q))


def power_mean_of_log_ratios(log_ratios, p, alpha):
    """``log(sum_i w_i r_i^(alpha - 1)) / (alpha - 1)`` of ratios r at the samples p; its limit at alpha = 1 is the mean
    of log r.
    """
    if alpha == 1:
        return mean_of(log_ratios, p)
    powers = (alpha - 1) * log_ratios
    largest = powers.max()
    if np.isfinite(largest):
        largest += np.log1p(p.weights @ np.expm1(powers - largest))  # exactly 0 if all ratios are 1
    return float(largest / (alpha - 1))


@checked_pair
def laplacian_pdf_divergence(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    bandwidth: PairBandwidth = "cv",
    overall_bandwidth: float | None = None,
    sample_weight_X: ArrayLike | None = None,
    sample_weight_Y: ArrayLike | None = None,
    kernel: Kernel = "gaussian",
    potential: Potential = "convolved",
    n_jobs: int | None = None,
) -> float:
    """Laplacian pdf distance: the Cauchy-Schwarz divergence with inner products weighted by 1/f.

    Equation 4 of [1]_: f is the density of both samples together. Each point enters with the weight
    ``f(x_i)^(-1/2)`` (eq. 6), so that sparse regions, and with them class boundaries, count more.

    Parameters
    ----------
    X, Y : array-like of shape (n_samples_X, n_features) and (n_samples_Y, n_features)
        Samples; everything is computed in float64.
    bandwidth : {"cv", "silverman", "scott"}, float or tuple of two floats, default="cv"
        Bandwidth h > 0 in the units of the features, a tuple (for X, for Y), or a rule of `ParzenDensity`, applied to
        all points together. Both must be equal unless the potential is convolved.
    overall_bandwidth : float, default=None
        Bandwidth of f. None uses ``bandwidth``, which must then be a single number.
    sample_weight_X, sample_weight_Y : array-like of shape (n_samples_X,) and (n_samples_Y,), default=None
        Non-negative. The ratio of the total weights of X and Y matters too: it sets the priors in f.
    kernel : str, default="gaussian"
        One of `spectralcls.kernels.KERNELS`.
    potential : {"convolved", "same"}, default="convolved"
        As in :func:`information_potential`.
    n_jobs : int or None, default=None
        As in `spectralcls.kernel_sums`.

    Returns
    -------
    divergence : float
        At least 0 with the Gaussian, and 0 for equal samples.

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
    .. [1] R. Jenssen, D. Erdogmus, J. C. Principe, T. Eltoft, "The Laplacian spectral classifier", ICASSP 2005,
       vol. 5, pp. 325-328.

    Examples
    --------
    >>> import numpy as np
    >>> X, Y = np.random.default_rng(0).normal(size=(2, 500, 2))
    >>> from spectralcls.information import laplacian_pdf_divergence
    >>> round(float(laplacian_pdf_divergence(X, Y + 1, bandwidth=0.5)), 3)
    0.627
    """
    p, q = read_samples(X, Y, sample_weight_X, sample_weight_Y)
    h_p, h_q = read_bandwidths(bandwidth, p, q, kernel, n_jobs)
    if overall_bandwidth is None and h_p != h_q:
        raise ValueError("overall_bandwidth must be given if bandwidth is a pair of different numbers.")
    both = Sample(np.concatenate([p.points, q.points]), np.concatenate([p.weights, q.weights])).normalized()
    log_f = log_density(both.points, both, kernel, overall_bandwidth or h_p, n_jobs)
    # f(x_i) is at least w_i K(0), so the number of points bounds the range of the weights: nothing underflows.
    weights = np.exp((log_f.min() - log_f) / 2)
    p, q = (
        p._replace(weights=p.weights * weights[: len(p.weights)]),
        q._replace(weights=q.weights * weights[len(p.weights) :]),
    )
    return _minus_log_cosine(p.normalized(), q.normalized(), kernel, (h_p, h_q), potential, n_jobs)


def _minus_log_cosine(p, q, kernel, bandwidths, potential, n_jobs):
    log_pp, log_pq, log_qq = log_gram(p, q, kernel, bandwidths, potential, n_jobs)
    divergence = (log_pp + log_qq) / 2 - log_pq
    return max(divergence, 0.0) if kernel == "gaussian" else divergence  # below 0 by rounding only
