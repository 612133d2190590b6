"""Shared parts of all learned linear maps."""

from typing import Any

import numpy as np

from .._estimator import Estimator
from .._utils.bases import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from .._utils.typing import Array


def center(X, weights):
    """Means (d,) of the columns of X (n, d); of a constant column its value, without rounding or overflow."""
    with np.errstate(over="ignore"):
        return np.clip(np.average(X, axis=0, weights=weights), X.min(axis=0), X.max(axis=0))


class LinearMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """A transformer ``z = L (x - mean)`` learned from labels, with L in `components_` and the mean in `mean_`."""

    mean_: Array
    components_: Array

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def transform(self, X: Any) -> Array:
        """Map points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components)
            The mapped points, float32 for float32 input, else float64.

        Raises
        ------
        ValueError
            For points with NaN or infinity, or with another number of features than in `fit`.

        Notes
        -----
        Costs O(n_samples n_features n_components).
        """
        X = self._queries(X)
        return self._mapped(X - self.mean_).astype(X.dtype, copy=False)

    def _mapped(self, Z):
        return Z @ self.components_.T

    @property
    def _n_features_out(self):
        return len(self.components_)
