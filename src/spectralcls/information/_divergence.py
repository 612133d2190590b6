"""Divergences between two samples (thesis sections 4.3.2 and 4.4, paper 000)."""

from numbers import Real

import numpy as np
from sklearn.utils._param_validation import Interval

from ._parzen import (
    LEAVE_ONE_OUT,
    LOG,
    POTENTIAL,
    TWO_SAMPLES,
    WEIGHTS,
    Sample,
    checked,
    log_density,
    log_density_of_itself,
    log_gram,
    read_bandwidths,
    read_samples,
)


@checked(TWO_SAMPLES, WEIGHTS, POTENTIAL, LOG)
def integrated_squared_error(
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
    """Integrated squared error <p, p> - 2 <p, q> + <q, q> (thesis eq. 4.32).

    Parameters
    ----------
    X, Y, bandwidth, sample_weight_X, sample_weight_Y, kernel, n_jobs
        See the module.
    potential : {"convolved", "same"}, default="convolved"
        As in :func:`information_potential`.
    log : bool, default=False
        Return its logarithm; Gaussian kernel only.

    Returns
    -------
    ise : float
        At least 0 with the Gaussian, where it is a squared distance, to an absolute error of some 1e-15 of
        the potentials; 0 for equal samples. Compact kernels are not positive definite, and the value may be
        negative.
    """
    if log and kernel != "gaussian":
        raise ValueError(
            f"log=True needs the Gaussian kernel: with kernel={kernel!r} the value may be negative."
        )
    p, q = (sample.normalized() for sample in read_samples(X, Y, sample_weight_X, sample_weight_Y))
    logs = np.array(log_gram(p, q, kernel, read_bandwidths(bandwidth), potential, n_jobs))
    largest = logs.max()
    scaled = float(np.exp(logs - largest) @ (1, -2, 1))
    if kernel == "gaussian":
        scaled = max(scaled, 0.0)  # a squared distance, but for rounding
    if log:
        return float(largest + np.log(scaled)) if scaled else -np.inf
    return float(np.exp(largest) * scaled) if scaled else 0.0


@checked(TWO_SAMPLES, WEIGHTS, POTENTIAL)
def cauchy_schwarz_divergence(
    X,
    Y,
    *,
    bandwidth,
    sample_weight_X=None,
    sample_weight_Y=None,
    kernel="gaussian",
    potential="convolved",
    n_jobs=None,
):
    """Cauchy-Schwarz divergence ``-log(<p, q> / sqrt(<p, p> <q, q>))`` (thesis eq. 4.34).

    Parameters
    ----------
    X, Y, bandwidth, sample_weight_X, sample_weight_Y, kernel, n_jobs
        See the module.
    potential : {"convolved", "same"}, default="convolved"
        As in :func:`information_potential`.

    Returns
    -------
    divergence : float
        At least 0 with the Gaussian, and 0 for equal samples. Infinite for a compact kernel where no point
        of X is within reach of one of Y.
    """
    p, q = (sample.normalized() for sample in read_samples(X, Y, sample_weight_X, sample_weight_Y))
    return _minus_log_cosine(p, q, kernel, read_bandwidths(bandwidth), potential, n_jobs)


@checked(TWO_SAMPLES, WEIGHTS, LEAVE_ONE_OUT)
def kullback_leibler_divergence(
    X,
    Y,
    *,
    bandwidth,
    sample_weight_X=None,
    sample_weight_Y=None,
    kernel="gaussian",
    leave_one_out=False,
    n_jobs=None,
):
    """Kullback-Leibler divergence of q from p: the plug-in estimate ``sum_i w_i log(p(x_i) / q(x_i))``.

    Thesis eq. 4.17, both terms estimated as Shannon's entropy is in eq. 4.39.

    Parameters
    ----------
    X, Y, bandwidth, sample_weight_X, sample_weight_Y, kernel, n_jobs
        See the module. A pair of bandwidths may differ, whatever the kernel.
    leave_one_out : bool, default=False
        True leaves each point's own term out of its p(x_i); q(x_i) never has one.

    Returns
    -------
    divergence : float
        In nats; infinite where q is 0 at a point of X, which happens with compact kernels only. As an
        estimate it may be negative, but never with leave_one_out=False for equal samples, where it is 0.
    """
    p, q = (sample.normalized() for sample in read_samples(X, Y, sample_weight_X, sample_weight_Y))
    h_p, h_q = read_bandwidths(bandwidth)
    log_q = log_density(p.points, q, kernel, h_q, n_jobs)
    if np.isneginf(log_q).any():
        return np.inf
    return float(p.weights @ (log_density_of_itself(p, kernel, h_p, leave_one_out, n_jobs) - log_q))


@checked(
    TWO_SAMPLES, WEIGHTS, POTENTIAL, {"overall_bandwidth": [Interval(Real, 0, None, closed="neither"), None]}
)
def laplacian_pdf_divergence(
    X,
    Y,
    *,
    bandwidth,
    overall_bandwidth=None,
    sample_weight_X=None,
    sample_weight_Y=None,
    kernel="gaussian",
    potential="convolved",
    n_jobs=None,
):
    """Laplacian pdf distance: the Cauchy-Schwarz divergence with inner products weighted by 1/f.

    Paper 000, eq. 4: f is the density of both samples together. Each point enters with the weight
    ``f(x_i)^(-1/2)`` (eq. 6), so that sparse regions, and with them class boundaries, count more.

    Parameters
    ----------
    X, Y, bandwidth, sample_weight_X, sample_weight_Y, kernel, n_jobs
        See the module. The ratio of the weights of X to those of Y counts too: it sets the priors in f.
    overall_bandwidth : float, default=None
        Bandwidth of f; None is ``bandwidth``, which then has to be one number.
    potential : {"convolved", "same"}, default="convolved"
        As in :func:`information_potential`.

    Returns
    -------
    divergence : float
        At least 0 with the Gaussian, and 0 for equal samples.
    """
    p, q = read_samples(X, Y, sample_weight_X, sample_weight_Y)
    h_p, h_q = read_bandwidths(bandwidth)
    if overall_bandwidth is None and h_p != h_q:
        raise ValueError("overall_bandwidth has to be given where bandwidth is a pair of different numbers.")
    both = Sample(np.concatenate([p.points, q.points]), np.concatenate([p.weights, q.weights])).normalized()
    log_f = log_density(both.points, both, kernel, overall_bandwidth or h_p, n_jobs)
    # f(x_i) is at least w_i K(0), so the weights' range is bounded by the number of points: nothing
    # underflows.
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
