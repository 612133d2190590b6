"""Properties of the radial kernels k(u), u = |x - y| / h, that Python uses: one row per kernel.

The core has a separate table, of kernel values (``kernel.hpp``). A new kernel needs a row in both.
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
        Whether k(u) is zero from u = 1 on.
    log_integral : callable
        d -> logarithm of the integral of k(|x|) over R^d.
    variance : callable or None
        d -> variance per coordinate of the density proportional to k in R^d; None if the kernel has no density.
    radius : callable or None
        (rng, d, size) -> norms of points drawn from that density in R^d.
    """

    compact: bool
    log_integral: Callable
    variance: Callable | None = None
    radius: Callable | None = None


def _log_ball(d: int) -> float:
    """Logarithm of the volume of the unit ball in R^d; the area of the unit sphere is d times the volume."""
    return d / 2 * np.log(np.pi) - gammaln(d / 2 + 1)


def _polynomial(power: int) -> Profile:
    """(1 - u^2)^power on the unit ball."""

    def log_integral(d: int) -> float:
        # d * integral of (1 - u^2)^p u^(d-1) = (d/2) B(d/2, p + 1)
        log_radial = np.log(d / 2) + gammaln(d / 2) + gammaln(power + 1) - gammaln(d / 2 + power + 1)
        return _log_ball(d) + log_radial

    return Profile(
        True,
        log_integral,
        lambda d: 1.0 / (d + 2 + 2 * power),
        lambda rng, d, size: np.sqrt(rng.beta(d / 2, power + 1, size)),
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


def _log_integral_of_derivative(d: int) -> float:
    if d == 1:
        raise ValueError('kernel="laplace_derivative" has no finite integral in one dimension: use normalize=False.')
    return np.log(d) + _log_ball(d) + gammaln(d - 1)


PROFILES = {
    "gaussian": Profile(
        False,
        lambda d: d / 2 * np.log(2 * np.pi),
        lambda d: 1.0,
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
        _cosine_radius,
    ),
    "linear": Profile(
        True,
        lambda d: _log_ball(d) - np.log(d + 1),
        lambda d: (d + 1) / ((d + 2) * (d + 3)),
        lambda rng, d, size: rng.beta(d, 2, size),
    ),
    "laplace": Profile(
        False,
        lambda d: np.log(d) + _log_ball(d) + gammaln(d),
        lambda d: d + 1.0,
        lambda rng, d, size: rng.gamma(d, size=size),
    ),
    "laplace_derivative": Profile(False, _log_integral_of_derivative),
}
