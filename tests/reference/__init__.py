"""Slow truth: float64 NumPy, straight from the formulas, O(n m d) memory. Nothing here is fast or clever."""

import numpy as np
from scipy.special import gammaln

# k(u), u = |x - y| / h.
POSITIVE = {
    "gaussian": lambda u: np.exp(-(u**2) / 2),
    "laplace": lambda u: np.exp(-u),
    "laplace_derivative": lambda u: np.exp(-u) / np.where(u > 0, u, np.inf),  # 0 for a pair of coincident points
}
COMPACT = {  # on the open ball u < 1
    "epanechnikov": lambda u: np.where(u < 1, 1 - u**2, 0.0),
    "uniform": lambda u: np.where(u < 1, 1.0, 0.0),
    "quartic": lambda u: np.where(u < 1, (1 - u**2) ** 2, 0.0),
    "triweight": lambda u: np.where(u < 1, (1 - u**2) ** 3, 0.0),
    "cosine": lambda u: np.where(u < 1, np.cos(np.pi * u / 2), 0.0),
    "linear": lambda u: np.where(u < 1, 1 - u, 0.0),
}
PROFILES = POSITIVE | COMPACT
LOGARITHMS = {  # of those that underflow
    "gaussian": lambda u: -(u**2) / 2,
    "laplace": lambda u: -u,
    "laplace_derivative": lambda u: np.where(u > 0, -u - np.log(np.where(u > 0, u, 1.0)), -np.inf),
}


def distances(Q, X, dtype=np.float64):
    Q, X = np.asarray(Q, dtype=dtype), np.asarray(X, dtype=dtype)
    squared = np.zeros((len(Q), len(X)), dtype=dtype)
    for feature in range(X.shape[1]):
        squared += (Q[:, feature, None] - X[None, :, feature]) ** 2
    return np.sqrt(squared)


_nodes, _weights = np.polynomial.legendre.leggauss(40)  # of hundreds the weights at the ends are off by 1e-12


def log_normalizer(kernel, d, h):
    """log of the integral of k(|x| / h) over R^d, the radial integral done numerically."""
    if kernel == "gaussian":
        return d * (0.5 * np.log(2 * np.pi) + np.log(h))
    support, n_panels = (1, 5) if kernel in COMPACT else (100 + 10 * d, 50)
    width = support / n_panels
    u = width * (np.arange(n_panels)[:, None] + (_nodes + 1) / 2)
    radial = np.sum(width * _weights / 2 * PROFILES[kernel](u) * u ** (d - 1))
    log_sphere = np.log(2) + d / 2 * np.log(np.pi) - gammaln(d / 2)
    return log_sphere + np.log(radial) + d * np.log(h)


def kernel_matrix(Q, X, kernel="gaussian", bandwidth=1.0, normalize=False):
    K = PROFILES[kernel](distances(Q, X) / bandwidth)
    if normalize:
        K = K * np.exp(-log_normalizer(kernel, np.shape(X)[1], bandwidth))
    return K


def _excluded(exclude_self, m):
    if exclude_self is False:
        return np.full(m, -1)
    return np.arange(m) if exclude_self is True else np.asarray(exclude_self)


def _log_sums(logk, W):
    """log(exp(logk) @ W), whatever underflows."""
    terms = logk[:, :, None] + np.log(np.abs(W))
    largest = terms.max(axis=1, initial=-np.inf)
    largest = np.where(np.isfinite(largest), largest, 0)
    return largest + np.log(np.sum(np.sign(W) * np.exp(terms - largest[:, None]), axis=1))


# What docs/guide/numerics.md promises of a term e^-a, read by a test of that page.
OF_GAUSSIAN = {np.float64: 1e-12, np.float32: 1e-5}
OF_EXPONENT, OF_LAPLACE, OF_LAPLACE_ON_GRID = 40, 32, 72  # epsilons


def rounding(exponents, dtype, kernel="gaussian", grid=False):
    """Relative error that is allowed a term e^-a, for any number of features."""
    dtype = np.dtype(dtype).type
    of_laplace = OF_LAPLACE_ON_GRID if grid and dtype == np.float64 else OF_LAPLACE
    always = OF_GAUSSIAN[dtype] if kernel == "gaussian" else of_laplace * np.finfo(dtype).eps
    return always + OF_EXPONENT * exponents * np.finfo(dtype).eps


def rounding_of_sums(sums, dtype):
    """The same of sums whose largest terms are about as large as they are."""
    return rounding(np.abs(np.log(np.maximum(sums, np.finfo(float).tiny))), dtype)


def kernel_sums(
    Q,
    X,
    *,
    weights=None,
    labels=None,
    n_labels=None,
    kernel="gaussian",
    bandwidth,
    log=False,
    exclude_self=False,
    exclude_groups=None,
    normalize=False,
    dtype=np.float64,
):
    """out[i, b, l, c]; the axes b, l, c are there when bandwidth is 1-D, labels are given, weights are 2-D.

    A kernel that is a function gives logarithms of values for u.
    """
    m, n, d = len(Q), len(X), np.shape(X)[1]
    hs = np.atleast_1d(np.asarray(bandwidth, dtype=dtype))
    W = np.ones((n, 1)) if weights is None else np.asarray(weights, dtype=dtype).reshape(n, -1)
    lab = np.zeros(n, dtype=int) if labels is None else np.asarray(labels)
    L = 1 if labels is None else (lab.max() + 1 if n_labels is None else n_labels)
    D = distances(Q, X, dtype)
    keep = np.arange(n)[None, :] != _excluded(exclude_self, m)[:, None]
    if exclude_groups is not None:
        keep &= np.asarray(exclude_groups[0])[:, None] != np.asarray(exclude_groups[1])[None, :]
    out = np.empty((m, len(hs), L, W.shape[1]), dtype)
    logarithm = LOGARITHMS.get(kernel, kernel if callable(kernel) else lambda u: np.log(PROFILES[kernel](u)))
    for b, h in enumerate(hs):
        with np.errstate(divide="ignore", invalid="ignore"):
            logk = logarithm(D / h)
            logk = np.where(keep, logk, -np.inf)
            if normalize:
                logk = logk - log_normalizer(kernel, d, h)
            for label in range(L):
                inside = lab == label
                if log:
                    out[:, b, label] = _log_sums(logk[:, inside], W[inside])
                else:
                    out[:, b, label] = np.exp(logk[:, inside]) @ W[inside]
    if np.ndim(weights) != 2:
        out = out[..., 0]
    if labels is None:
        out = out[:, :, 0]
    if np.ndim(bandwidth) == 0:
        out = out[:, 0]
    return out
