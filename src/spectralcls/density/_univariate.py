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
    return np.clip(sum(part(q, part.table(q, len(q))) for part in _parts(form)), 0.0, 1.0)


def quantiles(form, p):
    """The smallest values with cumulative probability p, in the shape of p, by bisection down to rounding."""
    p = np.asarray(p, dtype=np.float64)
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"p must lie between 0 and 1, got {p!r}.")
    shape, p, parts = p.shape, p.ravel(), _parts(form)
    tables = [part.table(None, BISECTIONS * len(p)) for part in parts]
    below, above = (_brackets(parts, p, side) for side in (-1, 1))
    for _ in range(BISECTIONS):
        middle = below + (above - below) / 2
        reached = sum(part(middle, table) for part, table in zip(parts, tables, strict=True)) >= p
        below, above = np.where(reached, below, middle), np.where(reached, middle, above)
    return np.where(p == 0, -np.inf, np.where(p == 1, np.inf, above)).reshape(shape)


def _parts(form):
    """The kernels of each bandwidth, `Kernels`."""
    x, scale = form.space.leave(form.X)[:, 0], np.exp(form.space.log_volume)
    order = np.argsort(x, kind="stable")
    x, weights = x[order], form.weights[order]
    shared = {"least": x[0], "n_jobs": form.n_jobs}
    return [Kernels(x, w, h * scale, **shared) for w, h in zip(weights.T, form.widths, strict=True)]


def _brackets(parts, p, side):
    """Places below (side -1) or above the quantiles: the ends of the kernels at which the weights add up to p.

    A kernel far from all others does not widen the brackets of other quantiles.
    """
    ends = np.concatenate([part.x + side * REACH * part.width for part in parts])
    order = np.argsort(ends, kind="stable")
    reached = np.searchsorted(np.cumsum(np.concatenate([part.weights for part in parts])[order]), p)
    return ends[order][np.minimum(reached, len(ends) - 1)]


class Kernels:
    """Kernels of one width, in the order of their centers.

    Below `least`, even a tiny sum is accurate to all digits.
    """

    def __init__(self, x, weights, width, least, n_jobs):
        kept = weights > 0
        self.x, self.weights, self.width, self.least, self.n_jobs = x[kept], weights[kept], width, least, n_jobs
        self.below = np.append(0.0, np.cumsum(self.weights))  # total weight of the kernels before each one
        self.low, self.high = self.x[0] - REACH * width, self.x[-1] + REACH * width

    def __call__(self, q, table=None):
        """sum_i w_i C((q - x_i) / h), (m,), where C is the distribution function of the standard normal."""
        q = np.minimum(q, self.high)
        if table is None:
            return self._one_by_one(q)
        at = table.segments_of(q)
        known = (at >= 0) & (q >= self.least)
        out = np.empty(len(q))
        out[known] = table(q[known], at[known])
        out[~known] = self._one_by_one(q[~known])
        return out

    def _one_by_one(self, q):
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

    def table(self, q, n_asked):
        """A `DistributionTable` for places q (None: all places in reach of kernels); None if direct sums at `n_asked`
        places are faster.
        """
        numbers = np.arange(min((self.high - self.low) // self.width, n_asked) + 1)
        if q is not None and SUMS * len(numbers) >= n_asked:
            numbers = np.unique((q[(q >= self.least) & (q <= self.high)] - self.low) // self.width)
        return DistributionTable(self, numbers) if 0 < SUMS * len(numbers) < n_asked else None


class DistributionTable:
    """Polynomials that replace the distribution function on segments as long as a kernel width.

    Attributes
    ----------
    numbers : (s,) numbers of the segments, ascending
    starts : (s,) lower ends of the segments
    values : (s,) distribution function at the lower ends
    coefficients : (s, NODES + 1) Chebyshev coefficients of the integral of the density from the lower end
    """

    def __init__(self, kernels, numbers):
        self.origin, self.width, self.numbers = kernels.low, kernels.width, numbers
        self.starts = self.origin + numbers * self.width
        nodes = np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)
        density = kernel_sums(
            (self.starts[:, None] + self.width * (1 + nodes) / 2).reshape(-1, 1),
            kernels.x[:, None],
            weights=kernels.weights,
            bandwidth=self.width,
            normalize=True,
            n_jobs=kernels.n_jobs,
        )
        series = dct(density.reshape(len(numbers), NODES), axis=1) / NODES
        series[:, 0] /= 2
        self.coefficients = self.width / 2 * chebyshev.chebint(series, lbnd=-1, axis=1)
        # Adjacent segments join at their ends, because every Chebyshev polynomial is 1 at 1.
        first = np.flatnonzero(np.diff(numbers, prepend=-np.inf) > 1)
        ends = np.append(0.0, np.cumsum(self.coefficients.sum(axis=1))[:-1])
        run = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(numbers))))
        self.values = (kernels(self.starts[first]) - ends[first])[run] + ends

    def segments_of(self, q):
        """Index of the segment that contains each q, (m,); -1 if there is none."""
        number = (np.maximum(q, self.origin) - self.origin) // self.width
        place = np.minimum(np.searchsorted(self.numbers, number), len(self.numbers) - 1)
        return np.where(self.numbers[place] == number, place, -1)

    def __call__(self, q, at):
        relative = 2 * (q - self.starts[at]) / self.width - 1
        out = np.empty(len(q))
        for rows in blocks(len(q), 16 * NODES):
            series = chebyshev.chebvander(relative[rows], NODES)
            out[rows] = self.values[at[rows]] + np.einsum("mk,mk->m", series, self.coefficients[at[rows]])
        return out
