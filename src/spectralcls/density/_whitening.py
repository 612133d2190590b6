"""Coordinates in which one bandwidth suits all directions."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from .._tuning import spreads, within_reach
from .._utils.conversion import as_array
from .._utils.validation import check_positive


@dataclass(frozen=True)
class Space:
    """Coordinates ``z = root^-1 (x - center) / units``.

    Attributes
    ----------
    center : (d,)
    units : (d,) standard deviations, along the features, of a kernel that is round with bandwidth 1 in z
    root : lower triangular (d, d), ``root root^T`` is the correlation matrix of such a kernel; None: the identity
    """

    center: np.ndarray
    units: np.ndarray
    root: np.ndarray | None = None

    @classmethod
    def of(cls, shape, X, weights, scales=None):
        """Coordinates in which kernels of this shape are round.

        Parameters
        ----------
        shape : {"spherical", "diag", "full"}, variances (d,) or covariance matrix (d, d) of a kernel
            "spherical" leaves the geometric mean of the scales unchanged. For "full", far values count as the farthest
            value within reach.
        X, weights : the points (n, d) and their weights
        scales : (d,), a column of scale 0 stays unchanged; None: the spreads of X, or 0 for "spherical"
        """
        d, center = X.shape[1], np.median(X, axis=0).astype(np.float64)  # near most points, so that no digits are lost
        if not isinstance(shape, str):
            covariance = as_array(shape, "covariance_type", np.float64)
            if covariance.shape == (d,):
                check_positive(covariance, "covariance_type")
                return cls(center, np.sqrt(covariance))
            if covariance.shape != (d, d):
                raise ValueError(
                    f"covariance_type must be a word, {d} variances (one for each feature) or a covariance matrix "
                    f"({d}, {d}); got shape {covariance.shape}."
                )
            if not np.allclose(covariance, covariance.T):
                raise ValueError("covariance_type must be a symmetric matrix.")
            return cls.of_covariance(covariance, center)
        if scales is None:
            scales = np.zeros(d) if shape == "spherical" else spreads(X, weights)
        varies = scales > 0
        center, units = np.where(varies, center, 0.0), np.where(varies, scales, 1.0)
        if shape == "spherical" and varies.any():
            units[varies] /= np.exp(np.log(scales[varies]).mean())
        if shape != "full" or not varies.any():
            return cls(center, units)
        relative, covariance = (within_reach(X.astype(np.float64), weights) - center) / units, np.eye(d)
        covariance[np.ix_(varies, varies)] = np.cov(relative[:, varies].T, aweights=weights, bias=True)
        return cls.of_covariance(covariance, center, units)

    @classmethod
    def of_covariance(cls, covariance, center, units=1.0):
        """Coordinates in which a kernel with this covariance (d, d), in `units` (d,) of the features, is round."""
        with np.errstate(invalid="ignore", divide="ignore"):
            own = np.sqrt(np.diag(covariance))
            correlation = covariance / own / own[:, None]
        try:
            root = np.linalg.cholesky(correlation)
        except np.linalg.LinAlgError:
            root = np.zeros((1, 1))
        # The diagonal of root holds the residual deviation of each feature given the previous ones.
        if not (np.diag(root) > 1e-7).all():
            raise ValueError(
                "The covariance matrix is not positive definite: features depend linearly on each other. "
                'Leave some out, or use covariance_type="diag".'
            )
        return cls(center, own * units, root)

    @property
    def log_volume(self):
        """log of the volume in x of a unit volume in z."""
        return float(np.log(self.units).sum() + (0.0 if self.root is None else np.log(np.diag(self.root)).sum()))

    @property
    def correlation(self):
        return np.eye(len(self.units)) if self.root is None else self.root @ self.root.T

    @property
    def covariance(self):
        return self.correlation * np.outer(self.units, self.units)

    def enter(self, X):
        """Coordinates z of points x, in the dtype of X."""
        largest = np.finfo(X.dtype).max
        with np.errstate(over="ignore"):
            Z = np.clip((X - self.center) / self.units, -largest, largest)  # no kernel reaches points clipped here
        if self.root is not None:
            Z = np.clip(solve_triangular(self.root, Z.T, lower=True, check_finite=False).T, -largest, largest)
        return np.ascontiguousarray(Z, dtype=X.dtype)

    def stretch(self, Z):
        """Differences in x from differences in z, float64."""
        return (Z if self.root is None else Z @ self.root.T) * self.units

    def leave(self, Z):
        """Points x from coordinates z, float64."""
        return self.stretch(Z) + self.center

    def of_features(self, features):
        """The coordinates of some of the features."""
        center, units = self.center[features], self.units[features]
        if self.root is None:
            return Space(center, units)
        return Space.of_covariance(self.correlation[np.ix_(features, features)], center, units)
