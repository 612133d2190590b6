"""Local constant and local linear fits from kernel sums of moments.

With kernel values as weights, and with x measured from a fixed origin, the moments of a query are the sums of 1 and y
and, for a linear fit, of x, x x^T and x y^T. Dividing by the sum of 1 gives means, which do not depend on the scale of
the kernel values, so that nothing underflows.
"""

from dataclasses import dataclass

import numpy as np

from .._expansion.tree_cells import near_row
from ..kernels import PROFILES

RIDGE = 1e-8  # damping of slopes, relative to the kernel's variance; if one point has all the weight, the slope is zero
_FARTHEST = 1e4  # in distances between near points


@dataclass(frozen=True)
class LocalMoments:
    """Computes the moment columns of a fit of degree 0 or 1, and predictions from their sums.

    Attributes
    ----------
    degree : int
    origin : (d,) subtracted from x
    n_outputs : int
    extent : float, largest absolute coordinate after subtracting the origin; farther numbers, such as those that stand
        for missing ones, are moved there, so that they do not count as the size of rounding errors
    """

    degree: int
    origin: np.ndarray
    n_outputs: int
    extent: float

    @classmethod
    def of(cls, degree, X, Y):
        origin, near = near_row(X)
        largest = float(np.abs(X / 2 - origin / 2).max())
        return cls(degree, origin, Y.shape[1], 2 * min(largest, _FARTHEST * near))

    @property
    def n_columns(self):
        d, k = len(self.origin), self.n_outputs
        return 1 + k if self.degree == 0 else 1 + k + d + d * (d + 1) // 2 + d * k

    def columns(self, X, Y, weights):
        """Moment columns (n, n_columns): 1 and y, then x, the upper triangle of x x^T, and x y^T."""
        parts = [np.ones((len(X), 1)), Y]
        if self.degree:
            with np.errstate(over="ignore"):
                x = np.clip(X - self.origin, -self.extent, self.extent)
            first, second = np.triu_indices(x.shape[1])
            parts += [x, x[:, first] * x[:, second], (x[:, :, None] * parts[1][:, None]).reshape(len(X), -1)]
        columns = np.hstack(parts)
        return columns if weights is None else columns * weights[:, None]

    def predictions(self, Q, sums, kernel, bandwidth, degree=None):
        """Predictions (m, k) from sums (m, n_columns), which may have a common factor per row; NaN for empty sums."""
        with np.errstate(invalid="ignore"):
            means = sums[:, 1:] / np.where(sums[:, :1] > 0, sums[:, :1], np.nan)
        y = means[:, : self.n_outputs]
        if (self.degree if degree is None else degree) == 0:
            return y
        center, covariance, cross = self.local(Q, means, kernel, bandwidth)
        known = np.isfinite(y[:, 0])
        slope = np.zeros(cross.shape)
        slope[known] = np.linalg.solve(covariance[known], cross[known])
        with np.errstate(over="ignore"):
            x = Q - self.origin
        far = (np.abs(x) > _FARTHEST * self.extent).any(axis=1)  # nothing is known about slopes there
        x[far], slope[far] = 0.0, 0.0
        return y + np.einsum("md,mdk->mk", x - center, slope)

    def local(self, Q, means, kernel, bandwidth):
        """Centered moments at queries, from the means (m, n_columns - 1): center of x minus the origin (m, d),
        covariance of x plus the damping of slopes (m, d, d), and covariance of x and y (m, d, k)."""
        d, k = len(self.origin), self.n_outputs
        y, x, squares, products = np.split(means, [k, k + d, k + d + d * (d + 1) // 2], axis=1)
        covariance = np.empty((len(Q), d, d))
        first, second = np.triu_indices(d)
        covariance[:, first, second] = covariance[:, second, first] = squares - x[:, first] * x[:, second]
        covariance[:, range(d), range(d)] += (
            RIDGE * bandwidth**2 * PROFILES[kernel].variance(d) + 1e-13 * self.extent**2
        )
        return x, covariance, products.reshape(len(Q), d, k) - x[:, :, None] * y[:, None]
