"""Samples as Parzen densities: validation, log densities, and log inner products."""

from numbers import Integral, Real
from sys import float_info
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from .._utils.advice import advise
from .._utils.conversion import converted
from .._utils.from_sklearn import Hidden, Interval, StrOptions, validated
from .._utils.validation import check_positive, nonnegative_weights, sum_of_others, unit_scale
from ..kernels import KERNELS, kernel_sums
from ._bandwidth_words import RULES, chosen_bandwidth

# a sample is reported if its share of a mean is larger than this
DECIDES = 0.9
NAMED = 3  # number of features shown in the warning
_POSITIVE = Interval(Real, 0, None, closed="neither")
_NUMBER = Interval(Real, 0, float_info.max, closed="right")
CONSTRAINTS: dict = {
    **dict.fromkeys(("X", "Y"), ["array-like"]),
    **dict.fromkeys(("sample_weight", "sample_weight_X", "sample_weight_Y"), ["array-like", None]),
    **dict.fromkeys(("log", "leave_one_out"), ["boolean"]),
    "bandwidth": [_NUMBER, StrOptions(set(RULES))],
    "overall_bandwidth": [_POSITIVE, None],
    "alpha": [_POSITIVE],
    "kernel": [StrOptions(set(KERNELS))],
    "potential": [StrOptions({"convolved", "same"})],
    "statistic": [StrOptions({"ise", "cauchy_schwarz"})],
    "n_permutations": [Interval(Integral, 1, 1_000_000, closed="both"), None],
    "random_state": ["random_state"],
}
_OF_TWO = [tuple, Hidden("array-like")]  # `pair_of` refuses other sequences, and explains how to give a pair
_PAIR = {"bandwidth": [*CONSTRAINTS["bandwidth"], *_OF_TWO]}
_TEST = {
    "bandwidth": [_NUMBER, StrOptions({"grid", "median", *RULES})],
    "kernel": [StrOptions({"gaussian", "laplace"})],
}
_PAIR_OF_TEST = {"bandwidth": [*_TEST["bandwidth"], *_OF_TWO]}
checked, checked_pair = validated(CONSTRAINTS), validated(CONSTRAINTS | _PAIR)
checked_test, checked_pair_test = validated(CONSTRAINTS | _TEST), validated(CONSTRAINTS | _TEST | _PAIR_OF_TEST)


class Sample(NamedTuple):
    """Points of positive weight, float64, with the weights as given."""

    points: np.ndarray
    weights: np.ndarray

    def normalized(self):
        weights, _ = unit_scale(self.weights)  # their sum might overflow
        return self._replace(weights=weights / weights.sum())


def read_sample(X, sample_weight, name="X"):
    X = converted(X, name, dtype=np.float64, order="C")
    weights = nonnegative_weights(sample_weight, len(X))
    positive = weights > 0
    if not positive.any():
        raise ValueError(f"All weights of {name} are zero: there is no sample left.")
    return Sample(X, weights) if positive.all() else Sample(X[positive], weights[positive])


def read_samples(X, Y, sample_weight_X, sample_weight_Y):
    p, q = read_sample(X, sample_weight_X), read_sample(Y, sample_weight_Y, "Y")
    if p.points.shape[1] != q.points.shape[1]:
        raise ValueError(f"X has {p.points.shape[1]} features, but Y has {q.points.shape[1]} features.")
    return p, q


def read_one(X, sample_weight, bandwidth, kernel, n_jobs):
    """A sample and its bandwidth; its weights add up to one."""
    p = read_sample(X, sample_weight)
    if isinstance(bandwidth, str):
        bandwidth = chosen_bandwidth(bandwidth, [p], kernel, n_jobs)
    return p.normalized(), float(bandwidth)


def read_normalized(X, Y, sample_weight_X, sample_weight_Y, bandwidth, kernel, n_jobs):
    """Two samples, each with weights that add up to one, and the pair of their bandwidths."""
    p, q = read_samples(X, Y, sample_weight_X, sample_weight_Y)
    return p.normalized(), q.normalized(), read_bandwidths(bandwidth, p, q, kernel, n_jobs)


def read_bandwidths(bandwidth, p, q, kernel, n_jobs):
    """Bandwidths of two samples; a rule gives both the same bandwidth, so that they are comparable."""
    if isinstance(bandwidth, str):
        return (chosen_bandwidth(bandwidth, [p, q], kernel, n_jobs),) * 2
    return pair_of(bandwidth)


def pair_of(bandwidth):
    """One number for both samples, or a tuple of two."""
    pair = bandwidth if isinstance(bandwidth, tuple) else (bandwidth, bandwidth)
    if len(pair) != 2 or not all(isinstance(h, Real) for h in pair):
        raise ValueError(
            "bandwidth has to be a number or a tuple of two numbers, for X and for Y (not one for each feature), "
            f"got {bandwidth!r}."
        )
    check_positive(np.array(pair, dtype=np.float64), "bandwidth")
    return tuple(float(h) for h in pair)


def log_density(points, sample, kernel, bandwidth, n_jobs, leave_one_out=False):
    """log of sum_j w_j K_h(y, x_j) at each point y; with leave_one_out, without the point's own term."""
    log_sums = kernel_sums(
        points,
        sample.points,
        weights=sample.weights,
        kernel=kernel,
        bandwidth=bandwidth,
        log=True,
        normalize=True,
        exclude_self=leave_one_out,
        n_jobs=n_jobs,
    )
    return log_sums - np.log(sum_of_others(sample.weights)) if leave_one_out else log_sums


def log_density_of_itself(p, kernel, bandwidth, leave_one_out, n_jobs):
    if leave_one_out and len(p.points) < 2:
        raise ValueError("leave_one_out needs at least two samples of positive weight.")
    return log_density(p.points, p, kernel, bandwidth, n_jobs, leave_one_out)


def mean_of(terms, p):
    """Weighted mean of one term per sample; a warning names a sample that dominates it."""
    sizes = p.weights * np.abs(terms)
    row = int(sizes.argmax())
    unusual = 1 + 10 * np.median(np.abs(terms)) < np.abs(terms[row]) < np.inf
    if unusual and sizes[row] > DECIDES * sizes.sum():
        point = np.array2string(p.points[row, :NAMED], precision=4)
        part = " (its first features)" if p.points.shape[1] > NAMED else ""
        advise(
            f"The sample {point}{part} is far from all others and makes up {sizes[row] / sizes.sum():.1%} of the "
            "result, a mean over the samples. Check whether it is an error."
        )
    return float(p.weights @ terms)


def log_inner(p, q, kernel, bandwidths, potential, n_jobs):
    """log <p, q>, with unnormalized weights."""
    h_p, h_q = bandwidths
    if kernel == "gaussian" and potential == "convolved":
        h = float(np.hypot(h_p, h_q))
    elif h_p == h_q:
        h = h_p
    else:
        raise ValueError(f"Two bandwidths, {h_p:g} and {h_q:g}, need the Gaussian kernel and potential='convolved'.")
    return float(logsumexp(log_density(p.points, q, kernel, h, n_jobs), b=p.weights))


def log_gram(p, q, kernel, bandwidths, potential, n_jobs):
    """log of <p, p>, <p, q> and <q, q>."""
    h_p, h_q = bandwidths

    def inner(a, b, h_a, h_b):
        return log_inner(a, b, kernel, (h_a, h_b), potential, n_jobs)

    return inner(p, p, h_p, h_p), inner(p, q, h_p, h_q), inner(q, q, h_q, h_q)


def value(log_value, log):
    """The logarithm, or its exponential, which is 0 or infinite if out of range."""
    with np.errstate(over="ignore", under="ignore"):
        return log_value if log else float(np.exp(log_value))
