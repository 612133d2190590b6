"""The span of a class: its samples, and the limit of the perturbation for bandwidths that hardly distinguish them."""

from dataclasses import dataclass, field, fields

import numpy as np
from sklearn.utils import gen_batches

from .._utils.cached import cached_property
from ._kernel import exponents

EPS = np.finfo(np.float64).eps
LOWEST = -1e300  # replaces the log of an unrepresentable share; finite, so that differences are defined
BLOCK = 2048  # least number of queries scored together


@dataclass(frozen=True)
class Regularization:
    """Regularization of K_l^-1; ``kind`` is "tikhonov", "truncate" or None."""

    kind: str | None
    alpha: float = 0.0
    retained: float = 0.95

    def singular(self, n):
        """Relative threshold below which pivots and eigenvalues of a kernel matrix of order n are rounding errors."""
        return n * EPS

    def filter(self, values):
        """Filter factor of each eigenvalue v of K_l, ascending: 1 - tau = sum filter(v) (u^T k)^2 / v with eigenvectors
        u.
        """
        if self.kind == "tikhonov":
            return values / (values + self.alpha)
        sound = values > self.singular(len(values)) * values[-1]
        if self.kind is None:
            return sound.astype(float)
        return (sound & self.kept(values, sound)).astype(float)

    def kept(self, values, sound):
        """Mask of the largest eigenvalues, given in ascending order, that are needed for the share `retained` of the
        trace.
        """
        size = np.where(sound, values, 0.0)
        cumulative = np.cumsum(size[::-1])
        return largest(size, 1 + int(np.searchsorted(cumulative, self.retained * cumulative[-1] * (1 - 8 * EPS))))


def largest(size, n):
    """Mask of the n largest values and of those equal to the last of them, because their eigenvectors are arbitrary."""
    return size >= np.sort(size)[-n] * (1 - len(size) * EPS)


@dataclass(frozen=True, kw_only=True)
class Span:
    """The samples of a class, whose images span its subspace of the feature space.

    Attributes
    ----------
    samples : (n, d) all training points of the class.
    weights : (n,) their weights, or None if all are one.
    bandwidth : float
    regularization : Regularization
    profile : str, the kernel
    lineage : object shared by a model and its extensions.
    """

    samples: np.ndarray
    weights: np.ndarray | None
    bandwidth: float
    regularization: Regularization
    profile: str = "gaussian"
    lineage: object = field(default_factory=object, repr=False)

    @property
    def weight(self):
        """Total weight of the samples."""
        return len(self.samples) if self.weights is None else self.weights.sum()

    def __getstate__(self):
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @cached_property
    def _moments(self):
        """Mean of the samples, and their mean squared and largest deviation in units of the bandwidth."""
        center = np.average(self.samples, axis=0, weights=self.weights)
        with np.errstate(over="ignore", invalid="ignore"):
            squared = np.square((self.samples - center) / self.bandwidth).sum(axis=1)
            return center, np.average(squared, weights=self.weights), np.sqrt(squared.max())

    @cached_property
    def _mean_exponent(self):
        """Mean of e = -log k over all pairs of samples."""
        if self.profile == "gaussian":
            return self._moments[1]
        return np.average(self._mean_exponents(self.samples), weights=self.weights)

    def _mean_exponents(self, Q):
        """Mean of e = -log k between each query and the samples."""
        center, variance, _ = self._moments
        if self.profile == "gaussian":
            return (np.square((Q - center) / self.bandwidth).sum(axis=1) + variance) / 2
        out = np.empty(len(Q))
        for rows in gen_batches(len(Q), BLOCK):
            out[rows] = np.average(-exponents(self.samples, Q[rows], "laplace", self.bandwidth), 0, self.weights)
        return out

    def flat_limit(self, Q):
        """tau to first order in e = -log k, for a bandwidth so large that the plain formula gives only rounding errors.

        With rho = n / (n + alpha), and means over the samples x and x',
        tau = alpha / (n + alpha) + 2 rho mean e(y, x) - rho^2 mean e(x, x') + O(n e^2 / alpha):
        the larger class wins; among equally large classes the nearest wins, for the Gaussian the one with the nearest
        mean.

        Returns
        -------
        constant : float, the first term
        excess : (m,) the other terms, of flat queries
        flat : (m,) bool, whether the neglected term is smaller than the rounding of the direct evaluation
        """
        center, _, radius = self._moments
        n, alpha = self.weight, self.regularization.alpha
        rho, excess = n / (n + alpha), np.zeros(len(Q))
        floor = {"tikhonov": alpha, "truncate": n, None: self.regularization.singular(n)}[self.regularization.kind]
        with np.errstate(over="ignore", invalid="ignore"):
            largest = np.sqrt(np.square((Q - center) / self.bandwidth).sum(axis=1)) + radius
            largest = largest**2 / 2 if self.profile == "gaussian" else largest
            flat = largest**2 < EPS * min(1.0, floor / n)
        if flat.any():
            excess[flat] = 2 * rho * self._mean_exponents(Q[flat]) - rho**2 * self._mean_exponent
        return alpha / (n + alpha), excess, flat
