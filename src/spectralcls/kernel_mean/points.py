"""Training points by class, and the kernel sums over them that the rules need."""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from .._validation import unit_scale
from ..kernels import kernel_sums

BLOCK_BYTES = 1 << 26


def blocks(n_rows, bytes_per_row, limit=BLOCK_BYTES):
    """Slices of rows whose results stay below `limit` bytes together."""
    rows = max(1, int(limit // max(bytes_per_row, 1)))
    return [slice(start, min(start + rows, n_rows)) for start in range(0, n_rows, rows)]


def class_rows(codes, n_classes):
    """Row numbers of each class."""
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.searchsorted(codes[order], np.arange(1, n_classes)))


@dataclass(frozen=True)
class TrainingPoints:
    """Points with their classes and weights in this process.

    Attributes
    ----------
    X : (n, d)
    codes : (n,) class of each point, 0 ... C - 1
    class_weight : (C,) sum of the weights of each class
    weights : (n,) positive sample weights; None for ones
    tolerance : allowed error of the sums, see `class_log_sums`; None for exact ones
    """

    X: np.ndarray
    codes: np.ndarray
    class_weight: np.ndarray
    weights: np.ndarray | None = None
    tolerance: float | None = None
    n_jobs: int | None = None

    @classmethod
    def of(cls, X, codes, n_classes, weights=None, tolerance=None, n_jobs=None):
        """With weights brought to a scale that is safe in float32."""
        weights = None if weights is None else unit_scale(weights)
        class_weight = np.bincount(codes, weights, minlength=n_classes).astype(np.float64)
        return cls(X, codes, class_weight, weights, tolerance, n_jobs)

    @property
    def n_classes(self):
        return len(self.class_weight)

    def class_log_sums(self, Q, columns, kernel, bandwidth):
        """log sum_{j in c} w_j k(q, x_j) as float64 (m, C, k), each class at its own bandwidth if there are
        several.

        With a tolerance the errors of the sums of a query and a column add up to at most `tolerance` times
        their total; with bandwidths by class each sum keeps it for itself.
        """
        options = dict(kernel=kernel, log=True, rtol=self.tolerance or 0.0, n_jobs=self.n_jobs)
        n_columns = 1 if np.ndim(columns) < 2 else columns.shape[1]
        shape = (len(Q), self.n_classes, n_columns)
        if np.ndim(bandwidth) == 0:
            sums = kernel_sums(
                Q, self.X, weights=columns, labels=self.codes, n_labels=self.n_classes, bandwidth=bandwidth,
                **options,
            )
            return sums.astype(np.float64, copy=False).reshape(shape)
        sums = np.full(shape, -np.inf)
        for c, own in enumerate(class_rows(self.codes, self.n_classes)):
            if len(own):
                w = None if columns is None else columns[own]
                part = kernel_sums(Q, self.X[own], weights=w, bandwidth=bandwidth[c], **options)
                sums[:, c] = part.reshape(len(Q), n_columns)
        return sums

    def log_total(self, sums, log_share):
        """log f (m,) from the class sums (m, C) of the sample weights."""
        return logsumexp(sums + log_share, axis=1)

    def log_density(self, kernel, bandwidth, log_share):
        """log f at the training points, (n,)."""
        log_density = np.empty(len(self.X))
        for block in blocks(len(self.X), 24 * self.n_classes):
            sums = self.class_log_sums(self.X[block], self.weights, kernel, bandwidth)
            log_density[block] = self.log_total(sums[..., 0], log_share)
        return log_density

    def potentials(self, weights, kernel, bandwidths):
        """sum_ij w_i w_j k(x_i, x_j) over each class, self pairs included, (C,); bandwidths (C,)."""
        weights = np.ones(len(self.X)) if weights is None else weights
        out = np.zeros(self.n_classes)
        for c, own in enumerate(class_rows(self.codes, self.n_classes)):
            if len(own):
                X, w = self.X[own], weights[own]
                sums = kernel_sums(
                    X, X, weights=w, kernel=kernel, bandwidth=bandwidths[c], rtol=self.tolerance or 0.0,
                    n_jobs=self.n_jobs,
                )
                out[c] = w @ sums.astype(np.float64)
        return out

    def scaled_by_class(self, columns, log_scale):
        """The same k(y) A with the classes' factors in the columns, so that a tolerance refers to its entries."""
        relative = np.exp(log_scale - log_scale.max())
        if np.all(relative == 1):
            return columns, log_scale
        factors = self.of_class(relative)
        (columns,) = self.hold(factors if columns is None else columns * factors)
        return columns, np.full_like(log_scale, log_scale.max())

    def of_class(self, values):
        """What holds for its class, at every point."""
        return values[self.codes]

    def with_sample_weights(self, columns):
        """A second column, for the density at a query."""
        second = np.ones(len(self.X)) if self.weights is None else self.weights
        return np.column_stack([second if columns is None else columns, second])

    def hold(self, *arrays):
        """Arrays that serve several times."""
        return arrays
