"""Samples known only through a kernel, given as a matrix or as a function of two sets of samples."""

import numpy as np

from .._utils.copies import equal_rows
from .frames import Columns
from .inputs import Inputs, plain, take
from .read import FLOATS


class GivenKernel(Inputs):
    """Reads kernel values. A training sample's only coordinate is its row number; a query's coordinates are its kernel
    values.

    Training samples with equal kernel values are copies, and get the number of the first of them.

    Parameters
    ----------
    name : str
        Class of the estimator, for messages.
    kernel : "precomputed" or callable
        With "precomputed", X is the matrix (m, n) of kernel values with the samples of `fit`; a callable
        ``kernel(Q, X)`` returns this matrix.

    Attributes
    ----------
    K : ndarray (n, n)
        Kernel matrix of the training samples of positive weight.
    """

    def __init__(self, name, kernel, *, class_weight=None):
        super().__init__(name, missing="refuse", class_weight=class_weight, dtype=FLOATS)
        self.kernel = kernel

    def among(self, positions):
        """The kernel matrix of the training samples with coordinates `positions`, (m, 1)."""
        rows = numbers_of(positions)
        return self.K[np.ix_(rows, rows)]

    def _learned(self, X, raw, data, unlabeled=()):
        if self.kernel == "precomputed":
            if raw.shape[0] != raw.shape[1]:
                raise ValueError(f'kernel="precomputed" needs a square matrix in fit, got X of shape {raw.shape}.')
            self._kept = np.arange(len(raw)) if data.kept is None else np.flatnonzero(data.kept)
            K = raw[np.ix_(self._kept, self._kept)]
        else:
            self._points = take(raw, data.kept)
            self._draw(self._points, data._replace(X=self._points))
            K = self._values(self._points)
        self.K = K.astype(np.float64)
        if not np.allclose(self.K, self.K.T, atol=1e-8 * np.abs(self.K).max()):
            raise ValueError("The kernel matrix of the samples of fit is not symmetric.")
        first, group = equal_rows(self.K)
        return self._with_units(data._replace(X=first[group].astype(np.float64)[:, None]))[0]

    def __call__(self, X):
        raw = self._read(X, reset=False)
        raw = plain(raw) if isinstance(raw, Columns) else raw
        return raw[:, self._kept].astype(np.float64) if self.kernel == "precomputed" else self._values(raw)

    def _values(self, Q):
        K = np.asarray(self.kernel(Q, self._points), dtype=np.float64)
        if K.shape != (len(Q), len(self._points)):
            raise ValueError(f"kernel(Q, X) has shape {K.shape} for {len(Q)} queries and {len(self._points)} points.")
        if not np.isfinite(K).all():
            raise ValueError("kernel(Q, X) has values that are not finite.")
        return K


def numbers_of(positions):
    """Row numbers of training samples from their coordinates (m, 1)."""
    return positions[:, 0].astype(np.intp)
