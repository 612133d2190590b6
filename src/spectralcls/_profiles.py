"""The radial kernels k(u), u = |x - y| / h: what Python needs to know of each, one row a kernel.

Their values are a table in the core (``profile.hpp``). A new kernel is a row there and a row here.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln


class Profile(NamedTuple):
    """A radial kernel of bandwidth 1.

    Attributes
    ----------
    compact : bool
        Zero from u = 1 on.
    log_integral : callable
        d -> logarithm of the integral of k(|x|) over R^d.
    variance : callable or None
        d -> variance per coordinate of the density proportional to k in R^d.
    roughness : float or None
        Integral of the square of that density in one dimension. None, as for the variance: not a kernel for densities.
    """

    compact: bool
    log_integral: Callable
    variance: Callable | None = None
    roughness: float | None = None


def _log_ball(d):
    """Logarithm of the volume of the unit ball; its surface is d times that."""
    return d / 2 * np.log(np.pi) - gammaln(d / 2 + 1)


def _polynomial(power, roughness):
    """(1 - u^2)^power on the unit ball."""

    def log_integral(d):
        # d * integral of (1 - u^2)^p u^(d-1) = (d/2) B(d/2, p + 1)
        log_radial = np.log(d / 2) + gammaln(d / 2) + gammaln(power + 1) - gammaln(d / 2 + power + 1)
        return _log_ball(d) + log_radial

    return Profile(True, log_integral, lambda d: 1.0 / (d + 2 + 2 * power), roughness)


def _cosine_moment(d):
    """Integral of cos(pi u / 2) u^(d-1) over [0, 1], by Gauss-Legendre exact for polynomials of degree d + 60."""
    nodes, weights = np.polynomial.legendre.leggauss(d // 2 + 32)
    u = (nodes + 1) / 2
    return np.sum(weights / 2 * np.cos(np.pi / 2 * u) * u ** (d - 1))


def _log_integral_of_derivative(d):
    if d == 1:
        raise ValueError('kernel="laplace_derivative" has no finite integral in one dimension: use normalize=False.')
    return np.log(d) + _log_ball(d) + gammaln(d - 1)


PROFILES = {
    "gaussian": Profile(False, lambda d: d / 2 * np.log(2 * np.pi), lambda d: 1.0, 0.5 / np.sqrt(np.pi)),
    "epanechnikov": _polynomial(1, 3 / 5),
    "uniform": _polynomial(0, 1 / 2),
    "quartic": _polynomial(2, 5 / 7),
    "triweight": _polynomial(3, 350 / 429),
    "cosine": Profile(
        True,
        lambda d: np.log(d) + _log_ball(d) + np.log(_cosine_moment(d)),
        lambda d: _cosine_moment(d + 2) / (d * _cosine_moment(d)),
        np.pi**2 / 16,
    ),
    "laplace": Profile(False, lambda d: np.log(d) + _log_ball(d) + gammaln(d), lambda d: d + 1.0, 1 / 4),
    "laplace_derivative": Profile(False, _log_integral_of_derivative),
}
