"""Distribution function and quantiles of a density in one dimension.

Kernels far below a place contribute their whole weight, and kernels far above contribute nothing, so only a few must be
evaluated. For many places, not even these are summed one by one. Gaussian kernels are smooth: `kernel_sums` evaluates
their density at the nodes of one polynomial per kernel width, and the polynomials are integrated, which is faster than
evaluating distribution functions. Compact kernels are polynomials, so moments replace the points.
"""

import numpy as np
from numpy.polynomial import chebyshev
from scipy.fft import dct
from scipy.special import comb

from .._expansion.held_out import CACHE_BYTES
from .._expansion.points import blocks
from ..kernels import PROFILES, kernel_sums
from ._whitening import _REACH

BISECTIONS = 80
NODES = 24  # number of nodes of a polynomial that is exact up to rounding over one kernel width
FAR = 1000.0  # beyond this many widths, every distribution function is 0 or 1 to the last digit
# cost of a segment, which takes NODES densities, relative to that of one distribution function, which takes 20 times as
# long as a density
SUMS = 1.2
FEW = 32  # for at most this many places, direct sums are faster than moments of a few thousand points
BLOCK = 128  # neighboring places whose sums run over the same kernels


def cumulative(form, q):
    """Probability of values up to q (m,)."""
    kernels = form.in_order
    images, signs, starts = _images(form, q)
    table = kernels.table(np.concatenate(images), len(images) * len(q))
    return _reflected(form, [kernels(image, table) for image in images], signs, [kernels(at) for at in starts])


def quantiles(form, p):
    """The smallest values with cumulative probability p, in the shape of p, by bisection down to rounding."""
    p = np.asarray(p, dtype=np.float64)
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"p must lie between 0 and 1, got {p!r}.")
    shape, p = p.shape, p.ravel()
    kernels = form.in_order
    table = kernels.table(None, BISECTIONS * len(p))
    bounds = (-np.inf, np.inf) if form.bounds is None else form.bounds[0]
    starts = [kernels(at) for at in _images(form, np.zeros(1))[2]]
    below, above = np.clip(kernels.brackets(p), *bounds)
    for _ in range(BISECTIONS):
        middle = below + (above - below) / 2
        images, signs, _ = _images(form, middle)
        reached = _reflected(form, [kernels(image, table) for image in images], signs, starts) >= p
        below, above = np.where(reached, below, middle), np.where(reached, middle, above)
    compact = PROFILES[form.kernel].compact
    ends = np.clip((kernels.low, kernels.high) if compact else (-np.inf, np.inf), *bounds)
    return np.where(p == 0, ends[0], np.where(p == 1, ends[1], above)).reshape(shape)


def _images(form, q):
    """Mirror images of places q, their signs, and the images (1,) of the lower bound."""
    if form.bounds is None:
        return [q], [1.0], []
    low, high = form.bounds[0]
    q = np.clip(q, low, high)
    pairs = [(1.0, 0.0) if mirror is None else (mirror.signs[0], mirror.shifts[0]) for mirror in form.mirrors]
    images = [sign * q + shift for sign, shift in pairs]
    return images, [sign for sign, _ in pairs], [np.array([sign * low + shift]) for sign, shift in pairs]


def _reflected(form, sums, signs, starts):
    if form.bounds is None:
        return np.clip(sums[0], 0.0, 1.0)
    parts = zip(signs, sums, starts, strict=True)
    return np.clip(sum(sign * (found - start) for sign, found, start in parts), 0.0, 1.0)


class Kernels:
    """The kernels of a density in one dimension, in the order of their centers."""

    def __init__(self, form):
        x, scale = form.space.leave(form.points.X)[:, 0], np.exp(form.space.log_volume)
        order = np.argsort(x, kind="stable")
        self.x, self.weights, self.codes = x[order], form.weights[order], form.points.codes[order]
        self.of_class = np.broadcast_to(form.expansion.bandwidth, form.points.n_classes) * scale
        self.widths = self.of_class[self.codes]
        self.kernel, self.n_jobs = form.kernel, form.points.n_jobs
        self.below = np.append(0.0, np.cumsum(self.weights))  # total weight of the samples before each sample
        reach = _REACH.get(form.kernel, 1.0) * self.widths
        self.reach, self.ends = reach.max(), (self.x - reach, self.x + reach)
        self.low, self.high = self.ends[0].min(), self.ends[1].max()
        # Below the first center, even a tiny sum must be accurate to all digits, unless it is part of a difference.
        self.least = self.x[0] if form.bounds is None else self.low

    def __call__(self, q, table=None):
        """sum_i w_i C((q - x_i) / h_i), (m,), where C is the kernel's distribution function."""
        q = np.clip(q, self.low - FAR * self.widths.max(), self.high + FAR * self.widths.max())  # for infinite bounds
        if self.kernel == "laplace":
            return self._of_laplace(q)
        if table is None:
            return self._one_by_one(q)
        at = table.segments_of(q)
        known = (at >= 0) & (q >= self.least)
        out = np.empty(len(q))
        out[known] = table(q[known], at[known])
        out[~known] = self._one_by_one(q[~known])
        return out

    def brackets(self, p):
        """Places (2, m) that bracket the quantiles: the ends of the kernels at which the weights add up to p.

        A kernel far from all others does not widen the brackets of other quantiles.
        """
        out = np.empty((2, len(p)))
        for bracket, ends in zip(out, self.ends, strict=True):
            order = np.argsort(ends, kind="stable")
            reached = np.searchsorted(np.cumsum(self.weights[order]), p)
            bracket[:] = ends[order][np.minimum(reached, len(ends) - 1)]
        return out

    def _one_by_one(self, q):
        own, out = PROFILES[self.kernel].cumulative, np.empty(len(q))
        order = np.argsort(q)
        first = np.searchsorted(self.x, q - self.reach)
        last = np.searchsorted(self.x, np.maximum(q, self.least) + self.reach, side="right")
        for block in blocks(len(q), 1, BLOCK):
            rows = order[block]
            start, end = first[rows[0]], last[rows[-1]]
            near = slice(start, end)
            sums = own((q[rows, None] - self.x[near]) / self.widths[near]) @ self.weights[near]
            out[rows] = self.below[start] + sums
        return out

    def _of_laplace(self, q):
        out = np.zeros(len(q))
        for code, width in enumerate(self.of_class):
            own = self.codes == code
            x, log_weights = self.x[own], np.log(self.weights[own])
            below = np.append(0.0, np.cumsum(self.weights[own]))
            left = np.append(-np.inf, np.logaddexp.accumulate(log_weights + x / width))
            right = np.append(np.logaddexp.accumulate((log_weights - x / width)[::-1])[::-1], -np.inf)
            place = np.searchsorted(x, q, side="right")
            out += below[place] + (np.exp(right[place] + q / width) - np.exp(left[place] - q / width)) / 2
        return out

    def table(self, q, n_asked):
        """A `DistributionTable` or `CellMoments` for places q (None: all places in reach of kernels); None if direct
        sums at `n_asked` places are faster.
        """
        if PROFILES[self.kernel].compact and len(self.of_class) == 1 and n_asked > FEW:
            return CellMoments(self)
        if self.kernel != "gaussian":
            return None
        width = self.widths.min()
        numbers = np.arange(min((self.high - self.low) // width, n_asked) + 1)
        if q is not None and SUMS * len(numbers) >= n_asked:
            numbers = np.unique((q[(q >= self.least) & (q <= self.high)] - self.low) // width)
        return DistributionTable(self, width, numbers) if 0 < SUMS * len(numbers) < n_asked else None


class DistributionTable:
    """Polynomials that replace the distribution function on segments as long as a kernel width.

    Attributes
    ----------
    numbers : (s,) numbers of the segments, ascending
    starts : (s,) lower ends of the segments
    values : (s,) distribution function at the lower ends
    coefficients : (s, NODES + 1) Chebyshev coefficients of the integral of the density from the lower end
    """

    def __init__(self, kernels, width, numbers):
        self.origin, self.width, self.numbers = kernels.low, width, numbers
        self.starts = self.origin + numbers * width
        nodes = np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)
        places = (self.starts[:, None] + width * (1 + nodes) / 2).reshape(-1, 1)
        several = len(kernels.of_class) > 1
        labels = {"labels": kernels.codes, "n_labels": len(kernels.of_class)} if several else {}
        density = kernel_sums(
            places,
            kernels.x[:, None],
            weights=kernels.weights,
            bandwidth=kernels.of_class[None] if several else kernels.of_class[0],
            normalize=True,
            n_jobs=kernels.n_jobs,
            **labels,
        )
        density = density.reshape(len(numbers), NODES, -1).sum(axis=2)
        series = dct(density, axis=1) / NODES
        series[:, 0] /= 2
        self.coefficients = width / 2 * chebyshev.chebint(series, lbnd=-1, axis=1)
        # Adjacent segments join at their ends, because every Chebyshev polynomial is 1 at 1.
        first = np.flatnonzero(np.diff(numbers, prepend=-np.inf) > 1)
        ends = np.append(0.0, np.cumsum(self.coefficients.sum(axis=1))[:-1])
        run = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(numbers))))
        self.values = (kernels(self.starts[first]) - ends[first])[run] + ends

    def segments_of(self, q):
        """Index of the segment that contains each q, (m,); -1 if there is none."""
        number = (q - self.origin) // self.width
        place, last = number - self.numbers[0], len(self.numbers) - 1
        if self.numbers[last] - self.numbers[0] > last:  # some segments are skipped
            place = np.searchsorted(self.numbers, number)
        place = np.clip(place, 0, last).astype(np.intp)
        return np.where(self.numbers[place] == number, place, -1)

    def __call__(self, q, at):
        relative = 2 * (q - self.starts[at]) / self.width - 1
        out = np.empty(len(q))
        for rows in blocks(len(q), 16 * NODES):
            series = chebyshev.chebvander(relative[rows], NODES)
            out[rows] = self.values[at[rows]] + np.einsum("mk,mk->m", series, self.coefficients[at[rows]])
        return out


class CellMoments:
    """Sums over the points of a compact kernel of one width, in two cells below and two above each place.

    On either side of zero, the series ``C(u - v) = sum_k C^(k)(u) (-v)^k / k!`` ends with the degree of the polynomial
    C. If u and v are the distances of a place and of a point from the middle of a cell, points enter only through their
    moments ``sum_i w_i v_i^k``, which are differences of cumulative sums.

    Attributes
    ----------
    x : (n,) points, in widths from the lower end
    cumulated : (n + 1, k) cumulative moments of the points about the middles of their cells
    taylor : matrices (k, k) that map powers of u to the factors of moments, for points above and below a place
    """

    def __init__(self, kernels):
        self.origin, self.width, self.below = kernels.low, kernels.of_class[0], kernels.below
        self.x = (kernels.x - self.origin) / self.width
        self.cells = np.floor(self.x)
        pieces = PROFILES[kernels.kernel].pieces
        self.n_moments = len(pieces[0])
        k = np.arange(self.n_moments)
        self.taylor = [
            np.array([[comb(i + j, j) * (-1.0) ** j * piece[i + j] if i + j < len(k) else 0.0 for j in k] for i in k])
            for piece in pieces
        ]
        powers = self._powers(kernels.x, self.cells) * kernels.weights[:, None]
        self.cumulated = np.vstack([np.zeros(len(k)), np.cumsum(powers, axis=0)])

    def segments_of(self, q):
        """All places belong to the one segment."""
        return np.zeros(len(q), dtype=np.intp)

    def __call__(self, q, at):
        out, order = np.empty(len(q)), np.argsort(q)
        for block in blocks(len(q), 64 * self.n_moments, CACHE_BYTES):
            rows = order[block]
            out[rows] = self._of(q[rows])
        return out

    def _powers(self, q, cells):
        """Powers (m, k) of the distances of places from the middles of cells, rounded equally for points and places."""
        return np.vander((q - (self.origin + (cells + 0.5) * self.width)) / self.width, self.n_moments, increasing=True)

    def _of(self, places):
        q = np.maximum((places - self.origin) / self.width, 0.0)
        cell = np.floor(q)
        near = [np.searchsorted(self.x, q - 1), *(np.searchsorted(self.x, q + j, side="right") for j in (0, 1))]
        out = self.below[near[0]]
        for taylor, first, last, step in zip(self.taylor[::-1], near[:2], near[1:], (-1, 0), strict=True):
            border = np.clip(np.searchsorted(self.cells, cell + step + 1), first, last)
            for start, end, own in ((first, border, cell + step), (border, last, cell + step + 1)):
                moments = self.cumulated[end] - self.cumulated[start]
                out += np.einsum("mk,mk->m", self._powers(places, own) @ taylor, moments)
        return out
