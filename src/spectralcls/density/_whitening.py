"""Coordinates in which one bandwidth suits all directions."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from .._tuning.spread import centers_and_spreads, within_reach
from .._utils.conversion import as_array
from .._utils.validation import check_positive


@dataclass(frozen=True)
class Space:
    """Coordinates ``z = root^-1 (x - center)``; the identity if there is no root.

    Attributes
    ----------
    root : None, (d,) or lower triangular (d, d)
    center : (d,)
    """

    root: np.ndarray | None = None
    center: np.ndarray | None = None

    @classmethod
    def of(cls, kind, X, weights):
        """Coordinates of spread one ("diag") or unit covariance ("full") for the points X, or unchanged coordinates.

        A column without spread stays unchanged. Far values count as the farthest value within reach.
        """
        if kind == "spherical":
            return cls()
        centers, units = centers_and_spreads(X.T, weights)
        varies = units > 0
        center, units = np.where(varies, centers, 0.0), np.where(varies, units, 1.0)
        if kind == "diag":
            return cls(units, center)
        relative = ((within_reach(X.astype(np.float64), weights) - center) / units)[:, varies]
        correlation = np.eye(X.shape[1])
        correlation[np.ix_(varies, varies)] = np.cov(relative.T, aweights=weights, bias=True) if varies.any() else 1.0
        return cls.of_covariance(correlation, center, units)

    @classmethod
    def of_scales(cls, scales, X):
        """Coordinates of equal spread in all features, scaled so that the geometric mean of the spreads is unchanged.

        A column of scale 0 stays unchanged.
        """
        varies = scales > 0
        if np.count_nonzero(varies) < 2:
            return cls()
        logs = np.where(varies, np.log(np.where(varies, scales, 1.0)), 0.0)
        root = np.exp(np.where(varies, logs - logs[varies].mean(), 0.0))
        return cls(root, np.where(varies, _middle(X), 0.0))

    @classmethod
    def of_kernel(cls, covariance, X):
        """Coordinates for a kernel with this covariance (d, d), or with these variances (d,) of the features."""
        d, center, covariance = X.shape[1], _middle(X), as_array(covariance, "covariance_type", np.float64)
        if covariance.shape == (d,):
            check_positive(covariance, "covariance_type")
            return cls(np.sqrt(covariance), center)
        if covariance.shape != (d, d):
            raise ValueError(
                f"covariance_type must be a word, {d} variances (one for each feature) or a covariance matrix "
                f"({d}, {d}); got shape {covariance.shape}."
            )
        if not np.allclose(covariance, covariance.T):
            raise ValueError("covariance_type must be a symmetric matrix.")
        return cls.of_covariance(covariance, center)

    @classmethod
    def of_covariance(cls, covariance, center, units=1.0):
        """Coordinates of unit covariance for points with this covariance (d, d), given in `units` (d,) of the
        features."""
        try:
            root = cholesky(covariance, lower=True)
        except np.linalg.LinAlgError:
            root = None
        # The diagonal of root holds the residual deviation of each feature given the previous ones.
        if root is None or (np.diag(root) <= 1e-7 * np.sqrt(np.diag(covariance))).any():
            raise ValueError(
                "The covariance matrix is not positive definite: features depend linearly on each other. "
                'Leave some out, or use covariance_type="diag".'
            )
        return cls(np.reshape(units, (-1, 1)) * root, center)

    @property
    def log_volume(self):
        """log of the volume in x of a unit volume in z."""
        if self.root is None:
            return 0.0
        return float(np.log(self.root if self.root.ndim == 1 else np.diag(self.root)).sum())

    def scales(self, d):
        """Standard deviations of a kernel along the features, (d,)."""
        if self.root is None:
            return np.ones(d)
        if self.root.ndim == 1:
            return self.root
        largest = np.abs(self.root).max(axis=1)  # its square may overflow
        return largest * np.linalg.norm(self.root / largest[:, None], axis=1)

    def correlation(self, d):
        """The matrix root root^T in units of the `scales`."""
        if np.ndim(self.root) < 2:
            return np.eye(d)
        rows = self.root / self.scales(d)[:, None]
        return rows @ rows.T

    def covariance(self, d):
        """The matrix root root^T."""
        return self.correlation(d) * np.outer(self.scales(d), self.scales(d))

    def enter(self, X):
        """Coordinates z of points x, in the dtype of X."""
        if self.root is None:
            return X
        offset, largest = X - self.center, np.finfo(X.dtype).max
        if self.root.ndim == 1:
            with np.errstate(over="ignore"):
                Z = offset / self.root
        else:
            Z = np.ascontiguousarray(solve_triangular(self.root, offset.T, lower=True).T)
        return np.clip(Z, -largest, largest).astype(X.dtype)  # no kernel reaches points clipped here

    def leave(self, Z):
        """Points x from coordinates z, float64."""
        return np.asarray(Z, dtype=np.float64) if self.root is None else self.stretch(Z) + self.center

    def stretch(self, Z):
        """Differences in x from differences in z."""
        if self.root is None:
            return Z
        return Z * self.root if self.root.ndim == 1 else Z @ self.root.T

    def of_features(self, features):
        """The coordinates of some of the features."""
        if self.root is None:
            return self
        if self.root.ndim == 1:
            return Space(self.root[features], self.center[features])
        d = len(self.root)
        correlation, scales = self.correlation(d)[np.ix_(features, features)], self.scales(d)[features]
        return Space.of_covariance(correlation, self.center[features], scales)


def _middle(X):
    """A center near most points, (d,) float64. If a far point shifted it, differences between the others would be lost
    in rounding."""
    return np.median(X, axis=0).astype(np.float64)
