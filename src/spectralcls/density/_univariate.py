"""Distribution function and quantiles of a density of one feature with Gaussian kernels.

Kernels far below a place contribute their whole weight, and kernels far above contribute nothing, so only a few must be
evaluated. For many places, not even these are summed one by one: the density is smooth, so `kernel_sums` evaluates it
at the nodes of one polynomial per kernel width, and the polynomials are integrated.
"""

import numpy as np
from numpy.polynomial import chebyshev
from scipy.fft import dct
from scipy.special import ndtr

from .._expansion.points import blocks
from ..kernels import kernel_sums

REACH = 9.0  # distance, in bandwidths, beyond which a kernel's distribution function is 0 or 1 up to rounding
BISECTIONS = 80
NODES = 24  # number of nodes of a polynomial that is exact up to rounding over one kernel width
# cost of a segment, which takes NODES densities, relative to that of one distribution function, which takes 20 times as
# long as a density
SUMS = 1.2
BLOCK = 128  # neighboring places whose sums run over the same kernels


def cumulative(form, q):
    """Probability of values up to q (m,)."""
    return np.clip(sum(part(q) for part in _parts(form, len(q), q)), 0.0, 1.0)


def quantiles(form, p):
    """The smallest values with cumulative probability p, in the shape of p, by bisection down to rounding."""
    p = np.asarray(p, dtype=np.float64)
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"p must lie between 0 and 1, got {p!r}.")
    parts = _parts(form, BISECTIONS * p.size)
    below, above = (_brackets(parts, p.ravel(), side) for side in (-1, 1))
    for _ in range(BISECTIONS):
        middle = below + (above - below) / 2
        reached = sum(part(middle) for part in parts) >= p.ravel()
        below, above = np.where(reached, below, middle), np.where(reached, middle, above)
    return np.where(p == 0, -np.inf, np.where(p == 1, np.inf, above.reshape(p.shape)))


def _brackets(parts, p, side):
    """Places below (side -1) or above the quantiles: the ends of the kernels at which the weights add up to p.

    A kernel far from all others does not widen the brackets of other quantiles.
    """
    ends = np.concatenate([part.x + side * REACH * part.width for part in parts])
    order = np.argsort(ends, kind="stable")
    reached = np.searchsorted(np.cumsum(np.concatenate([part.weights for part in parts])[order]), p)
    return ends[order][np.minimum(reached, len(ends) - 1)]


def _parts(form, n_asked, q=None):
    """The kernels of each bandwidth, `Kernels`, for `n_asked` places: q, or any."""
    x, scale = form.space.leave(form.X)[:, 0], np.exp(form.space.log_volume)
    order = np.argsort(x, kind="stable")
    kernels = zip(form.weights[order].T, form.widths * scale, strict=True)
    return [Kernels(x[order], weights, width, form.n_jobs, n_asked, q) for weights, width in kernels]


class Kernels:
    """sum_i w_i C((q - x_i) / h), where C is the distribution function of the standard normal; x is ascending.

    Attributes
    ----------
    numbers : (s,) segments, as long as a kernel width, in which polynomials replace sums, ascending; then infinity
    values : (s,) the sum at the lower end of each
    coefficients : (s, NODES + 1) Chebyshev coefficients of the integral of the density from the lower end
    """

    def __init__(self, x, weights, width, n_jobs, n_asked, q=None):
        kept = weights > 0
        self.least = x[0]  # below all samples, even a tiny sum is accurate to all digits
        self.x, self.weights, self.width = x[kept], weights[kept], width
        self.low, self.high = self.x[0] - REACH * width, self.x[-1] + REACH * width
        self.below = np.append(0.0, np.cumsum(self.weights))  # total weight of the kernels before each one
        numbers = np.arange(min((self.high - self.low) // width, n_asked) + 1)
        if q is not None and SUMS * len(numbers) >= n_asked:
            numbers = np.unique(np.floor((q[(q >= self.least) & (q <= self.high)] - self.low) / width))
        if not 0 < SUMS * len(numbers) < n_asked:  # direct sums are faster
            self.numbers = np.array([np.inf])
            return
        starts, nodes = self.low + numbers * width, np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)
        places = (starts[:, None] + width * (1 + nodes) / 2).reshape(-1, 1)
        options = {"bandwidth": width, "normalize": True, "n_jobs": n_jobs}
        density = kernel_sums(places, self.x[:, None], weights=self.weights, **options)
        series = dct(density.reshape(-1, NODES), axis=1) / NODES
        series[:, 0] /= 2
        self.coefficients = width / 2 * chebyshev.chebint(series, lbnd=-1, axis=1)
        # Adjacent segments join at their ends, because every Chebyshev polynomial is 1 at 1.
        first = np.flatnonzero(np.diff(numbers, prepend=-np.inf) > 1)
        ends = np.append(0.0, np.cumsum(self.coefficients.sum(axis=1))[:-1])
        run = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(numbers))))
        self.values = (self._direct(starts[first]) - ends[first])[run] + ends
        self.numbers = np.append(numbers, np.inf)

    def __call__(self, q):
        q = np.minimum(q, self.high)
        place = (np.maximum(q, self.low) - self.low) / self.width
        at, out = np.searchsorted(self.numbers, np.floor(place)), np.empty(len(q))
        known = (self.numbers[at] == np.floor(place)) & (q >= self.least)
        out[~known] = self._direct(q[~known])
        known = np.flatnonzero(known)
        for block in blocks(len(known), 16 * NODES):
            rows = known[block]
            relative, own = 2 * (place[rows] - self.numbers[at[rows]]) - 1, self.coefficients[at[rows]].T
            out[rows] = self.values[at[rows]] + chebyshev.chebval(relative, own, tensor=False)
        return out

    def _direct(self, q):
        """The sums, one by one."""
        reach, out = REACH * self.width, np.empty(len(q))
        order = np.argsort(q)
        first = np.searchsorted(self.x, q - reach)
        last = np.searchsorted(self.x, np.maximum(q, self.least) + reach, side="right")
        for block in blocks(len(q), 1, BLOCK):
            rows = order[block]
            start, end = first[rows[0]], last[rows[-1]]
            with np.errstate(over="ignore"):
                sums = ndtr((q[rows, None] - self.x[start:end]) / self.width) @ self.weights[start:end]
            out[rows] = self.below[start] + sums
        return out
