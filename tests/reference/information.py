"""Slow truth for entropies and divergences: double loops over pairs, in plain float64."""

import functools
import math

import numpy as np
import reference
from reference import PROFILES

log_normalizer = functools.cache(reference.log_normalizer)


def window(x, y, kernel, h):
    u = math.sqrt(sum((a - b) ** 2 for a, b in zip(x, y, strict=True))) / h
    return float(PROFILES[kernel](np.float64(u))) * math.exp(-log_normalizer(kernel, len(x), h))


def inner(X, Y, w, v, kernel, h):
    """sum_ij w_i v_j K_h(x_i, y_j), the weights as they are."""
    return math.fsum(
        a * b * window(x, y, kernel, h) for x, a in zip(X, w, strict=True) for y, b in zip(Y, v, strict=True)
    )


def densities(points, X, w, kernel, h, leave_one_out=False):
    w = np.asarray(w) / np.sum(w)
    result = []
    for i, point in enumerate(points):
        others = [j for j in range(len(X)) if not (leave_one_out and j == i)]
        total = math.fsum(w[j] * window(point, X[j], kernel, h) for j in others)
        result.append(total / math.fsum(w[j] for j in others))
    return np.array(result)


def information_potential(X, w, kernel, h):
    w = np.asarray(w) / np.sum(w)
    return inner(X, X, w, w, kernel, h)


def gram(X, Y, w, v, kernel, h_xx, h_xy, h_yy):
    w, v = np.asarray(w) / np.sum(w), np.asarray(v) / np.sum(v)
    return inner(X, X, w, w, kernel, h_xx), inner(X, Y, w, v, kernel, h_xy), inner(Y, Y, v, v, kernel, h_yy)


def integrated_squared_error(*arguments):
    pp, pq, qq = gram(*arguments)
    return pp - 2 * pq + qq


def cauchy_schwarz(*arguments):
    pp, pq, qq = gram(*arguments)
    return -math.log(pq / math.sqrt(pp * qq))


def laplacian_pdf(X, Y, w, v, kernel, h_f, h_xx, h_xy, h_yy):
    both = np.concatenate([X, Y])
    f = densities(both, both, np.concatenate([w, v]), kernel, h_f)
    w = np.asarray(w) / np.sqrt(f[: len(X)])
    v = np.asarray(v) / np.sqrt(f[len(X) :])
    return cauchy_schwarz(X, Y, w, v, kernel, h_xx, h_xy, h_yy)
