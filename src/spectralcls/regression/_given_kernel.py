"""The fitted form of a penalized expansion whose kernel the user gives: queries are rows of kernel values."""

from dataclasses import dataclass

import numpy as np

from ..linalg.ridge import Smoother


@dataclass(frozen=True)
class GivenForm:
    """Scores ``k(q) A - b`` of queries, which are given by their kernel values with all training samples, (m, n).

    Attributes
    ----------
    points : (r,) indices of the samples with coefficients
    columns : (r, k) A
    offsets : (k,) b
    """

    points: np.ndarray
    columns: np.ndarray
    offsets: np.ndarray

    def scores(self, Q):
        return self.values(Q) - self.offsets

    def values(self, Q):
        return Q[:, self.points] @ self.columns


class GivenSmoother(Smoother):
    """The `Smoother` of the samples `points` (r,), from the kernel matrix K (n, n) of all samples."""

    def __init__(self, K, points, ridge, weights):
        self._K, self._points, self._ridge, self._weights = K, points, ridge, weights

    def among(self):
        return self._K[np.ix_(self._points, self._points)]

    def values(self, Q):
        return Q[:, self._points]

    def sums(self, Q, columns):
        return self.values(Q) @ columns
