"""Distribution function and quantiles of a density in one dimension."""

import numpy as np

from .._expansion.points import blocks
from ..kernels import PROFILES
from ._whitening import _REACH

_BISECTIONS = 80


def cumulative(form, q):
    """Probability of values up to q (m,)."""
    if form.bounds is None:
        return _sums(form, q)
    low, high = form.bounds[0]
    q = np.clip(q, low, high)
    out = np.zeros(len(q))
    for mirror in form.mirrors:
        sign, shift = (1.0, 0.0) if mirror is None else (mirror.signs[0], mirror.shifts[0])
        (start,) = _sums(form, np.array([sign * low + shift]))
        out += sign * (_sums(form, sign * q + shift) - start)
    return np.clip(out, 0.0, 1.0)


def quantiles(form, p):
    """The least values whose cumulative probability reaches p, to rounding, by bisection; of the shape of p."""
    p = np.asarray(p, dtype=np.float64)
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"p must lie between 0 and 1, got {p!r}.")
    shape, p = p.shape, p.ravel()
    x, widths = form.space.leave(form.points.X)[:, 0], form.widths * np.exp(form.space.log_volume)
    reach = _REACH.get(form.kernel, 1.0) * widths
    low, high = (x - reach).min(), (x + reach).max()
    if form.bounds is not None:
        low, high = max(low, form.bounds[0, 0]), min(high, form.bounds[0, 1])
    below, above = np.full(len(p), low), np.full(len(p), high)
    for _ in range(_BISECTIONS):
        middle = below + (above - below) / 2
        reached = cumulative(form, middle) >= p
        below, above = np.where(reached, below, middle), np.where(reached, middle, above)
    everywhere = not PROFILES[form.kernel].compact
    ends = np.array([-np.inf, np.inf]) if everywhere else np.array([low, high])
    if form.bounds is not None:
        ends = np.clip(ends, *form.bounds[0])
    return np.where(p == 0, ends[0], np.where(p == 1, ends[1], above)).reshape(shape)


def _sums(form, q):
    """sum_i w_i C((q - x_i) / h_i), C the kernel's own distribution function."""
    x, widths = form.space.leave(form.points.X)[:, 0], form.widths * np.exp(form.space.log_volume)
    weights, own = form.weights, PROFILES[form.kernel].cumulative
    out = np.empty(len(q))
    for rows in blocks(len(q), 32 * len(x)):
        out[rows] = own((q[rows, None] - x) / widths) @ weights
    return out
