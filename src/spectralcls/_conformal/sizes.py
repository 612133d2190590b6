"""The usual size of a residual at a point: a kernel regression of the sizes of left-out residuals on all columns."""

from typing import Any, NamedTuple

import numpy as np

from .._tuning import median_distance
from .._utils.copies import random_keys
from .._utils.validation import mean_one
from ..kernels import kernel_matrix, kernel_sums
from ..linalg import inverse_in_place
from ..linalg.ridge import factor_in_place, residuals_left_out
from .choice import losses_of_others

WIDTH = 2.0  # bandwidth of the Laplace kernel, in multiples of the median distance
RIDGES = 1.0, 10.0, 100.0  # candidates, next to a constant size
# A ridge shrinks the logarithms of sizes more than their left-out likelihood supports, so multiples are tried, too.
STRETCHES = 0.5, 1.0, 1.5, 2.0
# Log likelihood that the best candidate gains by chance if all sizes are alike. In this case, widths of intervals vary
# by .01 on average, and by .04 without it; if sizes differ, coverage in the fifth of the largest falls by .01 at most.
CHANCE = 0.5
MOST = 2000  # samples from which sizes are learned
FEW = 40  # with fewer units, sizes are constant
STEPS = 4  # of Fisher scoring, from a constant
LARGEST = 4.0  # larger multiples of the usual size count as this one, so that an outlier does not spread to neighbors


class PointKernel(NamedTuple):
    """The Laplace kernel of the points X (n, d)."""

    X: np.ndarray
    bandwidth: float
    n_jobs: int | None

    @classmethod
    def of(cls, X, n_jobs=None):
        X = X.astype(np.float64)
        return cls(X, WIDTH * median_distance(X, np.random.RandomState(0)), n_jobs)

    def among(self):
        """Values among the points, (n, n)."""
        return kernel_matrix(self.X, kernel="laplace", bandwidth=self.bandwidth, n_jobs=self.n_jobs)

    def sums(self, Q, columns):
        """Sums (m, k) of the values at queries, times columns (n, k)."""
        form = {"kernel": "laplace", "bandwidth": self.bandwidth, "n_jobs": self.n_jobs}
        return kernel_sums(Q.astype(np.float64, copy=False), self.X, weights=columns, **form)


class Sizes(NamedTuple):
    """Usual sizes of residuals, ``exp(k(q) A + center)``.

    Absolute residuals count as exponential variables whose scale depends on the point. Fisher scoring for the logarithm
    of the scale has constant weights, so each step solves the same linear system for other targets, and each unit is
    left out in closed form. The likelihood of left-out residuals chooses the ridge and a factor of the logarithms; the
    constant is also a candidate. The result is shrunk to it, completely if the best candidate gains no more than by
    chance, as with few samples or if all residuals are alike.

    Attributes
    ----------
    of_samples : (n, k) sizes at the samples, each from the residuals of all other units, or of all if this is less
    center : (k,)
    columns : (r, k) A; None if sizes are constant
    kernel : object with the methods ``among()`` and ``sums(Q, columns)``
    """

    of_samples: np.ndarray
    center: np.ndarray
    columns: np.ndarray | None = None
    kernel: Any = None

    @classmethod
    def of(cls, errors, weights, X, kernel=None, units=None, n_jobs=None):
        """Learn from absolute residuals.

        Parameters
        ----------
        errors : ndarray of shape (n, k)
            Absolute residuals of left-out samples.
        weights : ndarray of shape (n,)
        X : ndarray of shape (n, d)
            Coordinates of the samples.
        kernel : object, optional
            A given kernel of all samples; by default the Laplace kernel of the coordinates.
        units : ndarray of shape (n,), optional
            Codes 0, 1, ... of the units; None: each sample is one.

        Notes
        -----
        Takes a Cholesky factor and its inverse for each of three ridges and up to 2000 samples. Memory is two matrices
        of this order.
        """
        n, k = errors.shape
        if (n if units is None else units.max() + 1) < FEW:
            return cls(np.ones((n, k)), np.zeros(k))
        rows = np.arange(n)
        if kernel is None:
            rows = np.argsort(random_keys(X), kind="stable")[:MOST]  # in an order that depends only on their values
            kernel = PointKernel.of(X[rows], n_jobs)
        K = kernel.among()
        scale = K.diagonal().mean()
        K = K / scale
        errors, weights = np.where(errors.any(axis=0), errors, 1.0)[rows], mean_one(weights[rows])[0]
        units = None if units is None else units[rows]
        candidates = [_constant(errors, weights, units)]
        for ridge in RIDGES:
            candidates += _by_ridge(K, ridge, errors, weights, units)
        logs, centers, columns = (np.stack(part) for part in zip(*candidates, strict=True))
        relative = np.minimum(errors / np.exp(logs), 2 * LARGEST)
        factors = np.log(np.average(relative, axis=1, weights=weights))  # (candidates, k)
        logs, centers = logs + factors[:, None], centers + factors
        losses = logs + relative / np.exp(factors)[:, None]
        of_samples = _mixed(logs, losses_of_others(losses, weights, units))
        total = np.einsum("i,cij->cj", weights, losses)
        center, columns = _mixed(centers, total), _mixed(columns, total[:, None])
        # A small residual counts in its own size, as it would in that of an equal query: equal targets, such as many
        # zeros, then have equal ratios, and an interval does not end just short of them.
        of_samples = np.exp(np.minimum(of_samples, K @ columns + center))
        found = cls(np.empty((n, k)), center, columns / scale if columns.any() else None, kernel)
        found.of_samples[rows] = of_samples
        others = np.setdiff1d(np.arange(n), rows)
        if len(others):
            found.of_samples[others] = found(X[others])
        return found

    def __call__(self, Q):
        """Sizes (m, k) at queries."""
        if self.columns is None:
            return np.broadcast_to(np.exp(self.center), (len(Q), len(self.center)))
        return np.exp(self.kernel.sums(Q, self.columns) + self.center)


def _constant(errors, weights, units):
    """Logarithms (n, k) of mean errors of the other units; the logarithm (k,) of the mean of all; zero columns."""
    own, each = weights[:, None] * errors, weights
    if units is not None:
        own, each = (np.apply_along_axis(lambda v: np.bincount(units, v)[units], 0, values) for values in (own, each))
    total = weights @ errors
    others = np.maximum(total - own, 1e-3 * total) / (weights.sum() - each)[:, None]
    return np.log(others), np.log(total / weights.sum()), np.zeros(errors.shape)


def _by_ridge(K, ridge, errors, weights, units):
    """For each of the `STRETCHES`, logarithms (n, k) of sizes, each without its unit; and center and columns for
    queries.
    """
    inverse = inverse_in_place(factor_in_place(K.copy(), ridge / weights, ridge))
    logs = np.broadcast_to(np.log(np.average(errors, axis=0, weights=weights)), errors.shape)
    for _ in range(STEPS):
        targets = logs + np.minimum(errors * np.exp(-logs), LARGEST) - 1
        center = np.average(targets, axis=0, weights=weights)
        columns = inverse @ (inverse.T @ (targets - center))
        logs = targets - residuals_left_out(inverse, columns, units)
    mean = np.average(logs, axis=0, weights=weights)
    return [(mean + s * (logs - mean), mean + s * (center - mean), s * columns) for s in STRETCHES]


def _mixed(values, losses):
    """Values of the best candidate, shrunk to those of the first by what it gains."""
    best = losses.argmin(axis=0)[None]
    gain = losses[:1] - np.take_along_axis(losses, best, axis=0)
    share = np.maximum(1 - CHANCE / np.maximum(gain, CHANCE), 0.0)[0]
    best = np.take_along_axis(values, np.broadcast_to(best, values[:1].shape), axis=0)[0]
    return (1 - share) * values[0] + share * best
