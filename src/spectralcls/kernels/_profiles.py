"""Properties of the radial kernels k(u), u = |x - y| / h, that Python uses: one row per kernel.

The core has a separate table, of kernel values (``kernel.hpp``). A new kernel needs a row in both.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, ndtr


class Profile(NamedTuple):
    """A radial kernel of bandwidth 1.

    Attributes
    ----------
    compact : bool
        Whether k(u) is zero from u = 1 on.
    log_integral : callable
        d -> logarithm of the integral of k(|x|) over R^d.
    variance : callable or None
        d -> variance per coordinate of the density proportional to k in R^d; None if the kernel has no density.
    cumulative : callable or None
        u -> cumulative distribution function of that density in one dimension.
    pieces : tuple of two ndarrays or None
        Coefficients, in ascending order, of the two polynomials that equal `cumulative` on [-1, 0] and on [0, 1].
    radius : callable or None
        (rng, d, size) -> norms of points drawn from that density in R^d.
    """

    compact: bool
    log_integral: Callable
    variance: Callable | None = None
    cumulative: Callable | None = None
    radius: Callable | None = None
    pieces: tuple | None = None


def _log_ball(d: int) -> float:
    """Logarithm of the volume of the unit ball in R^d; the area of the unit sphere is d times the volume."""
    return d / 2 * np.log(np.pi) - gammaln(d / 2 + 1)


def _polynomial(power: int) -> Profile:
    """(1 - u^2)^power on the unit ball."""

    def log_integral(d: int) -> float:
        # d * integral of (1 - u^2)^p u^(d-1) = (d/2) B(d/2, p + 1)
        log_radial = np.log(d / 2) + gammaln(d / 2) + gammaln(power + 1) - gammaln(d / 2 + power + 1)
        return _log_ball(d) + log_radial

    odd = np.polynomial.Polynomial([1, 0, -1]) ** power
    odd = odd.integ() / odd.integ()(1.0)  # ten times as fast as the incomplete Beta function

    def cumulative(u: np.ndarray) -> np.ndarray:
        u = np.clip(u, -1, 1)
        out, square = np.full_like(u, odd.coef[-1]), u * u
        for coefficient in odd.coef[-3::-2]:
            out *= square
            out += coefficient
        return (1 + u * out) / 2

    return Profile(
        True,
        log_integral,
        lambda d: 1.0 / (d + 2 + 2 * power),
        cumulative,
        lambda rng, d, size: np.sqrt(rng.beta(d / 2, power + 1, size)),
        2 * ((odd.coef + np.eye(len(odd.coef))[0]) / 2,),
    )


def _cosine_moment(d: int) -> float:
    """Integral of cos(pi u / 2) u^(d-1) over [0, 1], by Gauss-Legendre quadrature of degree d + 60 or more."""
    nodes, weights = np.polynomial.legendre.leggauss(d // 2 + 32)
    u = (nodes + 1) / 2
    return np.sum(weights / 2 * np.cos(np.pi / 2 * u) * u ** (d - 1))


def _cosine_radius(rng: np.random.RandomState, d: int, size: int) -> np.ndarray:
    """Norms by rejection sampling. Proposals have a density proportional to 1 - u^2, which bounds cos(pi u / 2)."""
    out = np.empty(size)
    missing = np.arange(size)
    while len(missing):
        u = np.sqrt(rng.beta(d / 2, 2, len(missing)))
        accepted = rng.uniform(size=len(u)) * (1 - u**2) <= np.cos(np.pi / 2 * u)
        out[missing[accepted]] = u[accepted]
        missing = missing[~accepted]
    return out


def _sine_series() -> np.ndarray:
    """Power series of (1 + sin(pi u / 2)) / 2, exact up to rounding for |u| <= 1."""
    out = np.zeros(22)
    out[0], odd = 0.5, np.arange(1, 22, 2)
    out[odd] = np.cos(np.pi * (odd - 1) / 2) * np.exp(odd * np.log(np.pi / 2) - gammaln(odd + 1)) / 2
    return out


def _symmetric(tail: Callable) -> Callable:
    """Cumulative distribution function of a symmetric density, given its part below 0."""
    return lambda u: np.where(u < 0, tail(-np.abs(u)), 1 - tail(-np.abs(u)))


def _log_integral_of_derivative(d: int) -> float:
    if d == 1:
        raise ValueError('kernel="laplace_derivative" has no finite integral in one dimension: use normalize=False.')
    return np.log(d) + _log_ball(d) + gammaln(d - 1)


PROFILES = {
    "gaussian": Profile(
        False,
        lambda d: d / 2 * np.log(2 * np.pi),
        lambda d: 1.0,
        ndtr,
        lambda rng, d, size: np.sqrt(rng.chisquare(d, size)),
    ),
    "epanechnikov": _polynomial(1),
    "uniform": _polynomial(0),
    "quartic": _polynomial(2),
    "triweight": _polynomial(3),
    "cosine": Profile(
        True,
        lambda d: np.log(d) + _log_ball(d) + np.log(_cosine_moment(d)),
        lambda d: _cosine_moment(d + 2) / (d * _cosine_moment(d)),
        lambda u: (1 + np.sin(np.pi / 2 * np.clip(u, -1, 1))) / 2,
        _cosine_radius,
        2 * (_sine_series(),),
    ),
    "linear": Profile(
        True,
        lambda d: _log_ball(d) - np.log(d + 1),
        lambda d: (d + 1) / ((d + 2) * (d + 3)),
        _symmetric(lambda u: (1 + np.maximum(u, -1)) ** 2 / 2),
        lambda rng, d, size: rng.beta(d, 2, size),
        (np.array([0.5, 1.0, 0.5]), np.array([0.5, 1.0, -0.5])),
    ),
    "laplace": Profile(
        False,
        lambda d: np.log(d) + _log_ball(d) + gammaln(d),
        lambda d: d + 1.0,
        _symmetric(lambda u: np.exp(u) / 2),
        lambda rng, d, size: rng.gamma(d, size=size),
    ),
    "laplace_derivative": Profile(False, _log_integral_of_derivative),
}
