"""Training points on the workers, with the interface that the fitted forms of `spectralcls._expansion` use."""

from dataclasses import fields

import dask
import dask.array as da
import numpy as np

from .. import _expansion
from .._utils.lazy import in_memory
from ._incomplete import class_log_sums, without_gaps
from ._rows import DistributedData, as_column, blocks, from_blocks, in_chunks, sizes
from ._sums import class_potentials, kernel_sums, nearest_codes


class TrainingPoints(_expansion.TrainingPoints):
    """`_expansion.TrainingPoints` whose points are lazy arrays on the workers."""

    @classmethod
    def of(cls, data, tolerance=None, n_jobs=None):
        """Create from checked training data, whose `class_weight` is in the user's scale."""
        scale = 1.0 if data.weights is None else float(data.weights.sum().compute()) / data.class_weight.sum()
        X, given = data.X, None
        if data.incomplete:
            (X, _), given = without_gaps(data), data.X
        class_weight = data.class_weight * scale
        return cls(X, data.codes, class_weight, data.weights, 1 / scale, tolerance, n_jobs, data.features, given)

    def class_log_sums(self, Q, columns, kernel, bandwidth):
        """As in memory; returns a Dask array (m, C, k)."""
        if kernel == "gaussian" and not self.tolerance:
            return class_log_sums(
                Q, self.X, self.codes, columns, self.weights, self.n_classes, bandwidth, self.features, self.n_jobs
            )
        widths = np.broadcast_to(bandwidth, self.n_classes)[None]
        sums = kernel_sums(
            Q,
            self.X,
            weights=columns,
            labels=self.codes,
            n_labels=self.n_classes,
            kernel=kernel,
            bandwidth=widths,
            log=True,
            rtol=self.tolerance or 0.0,
            n_jobs=self.n_jobs,
        )[:, 0]
        return sums[..., None] if sums.ndim == 2 else sums

    def pairs(self, Q, columns, kernel, bandwidth, log_scale, rtol=0.0):
        """As in memory with one bandwidth; returns two Dask arrays."""
        shift, sums = kernel_sums(
            Q, self.X, weights=columns, kernel=kernel, bandwidth=bandwidth, log="pair", rtol=rtol, n_jobs=self.n_jobs
        )
        return shift[:, None], sums

    def evaluate(self, Q, sums, finish, width):
        """As in memory; for lazy queries, returns a Dask array in their chunks."""
        if isinstance(Q, np.ndarray):
            return self.evaluate(in_chunks(Q), sums, finish, width).compute()
        found = sums(Q)
        parts = zip(*map(blocks, found), strict=True) if isinstance(found, tuple) else blocks(found)
        task = dask.delayed(finish)
        return from_blocks([task(part) for part in parts], sizes(Q), (width,) if width else (), np.float64)

    def fallback_to_nearest(self, scores, Q, candidates, compact):
        """As in memory, but lazy. A kernel that is not compact reaches every query."""
        if not compact:
            return scores
        if isinstance(Q, np.ndarray):
            return self.fallback_to_nearest(in_chunks(scores), in_chunks(Q), candidates, compact).compute()
        unreached = scores.map_blocks(lambda s: np.isneginf(s.max(axis=1)), drop_axis=1, dtype=bool)
        nearest = nearest_codes(Q, self.X, self.codes, unreached, candidates)
        return da.blockwise(_settled, "mc", scores, "mc", nearest, "m", dtype=np.float64)

    def log_density(self, kernel, bandwidth, log_share):
        return super().log_density(kernel, bandwidth, log_share).persist()

    def potentials(self, weights, kernel, bandwidths):
        """As in memory; the workers return only one number per class."""
        return class_potentials(
            self.X, self.codes, weights, self.n_classes, kernel, bandwidths, self.tolerance or 0.0, self.n_jobs
        )

    def broadcast_by_class(self, values):
        return self.codes.map_blocks(lambda codes: values[codes], dtype=np.float64)

    def with_sample_weights(self, columns):
        second = da.ones_like(self.codes, dtype=np.float64) if self.weights is None else self.weights
        first = second if columns is None else columns
        return da.stack([first, second], axis=1).rechunk({1: -1}).persist()

    def persist(self, *arrays):
        return dask.persist(*[as_column(array, self.X, "A") for array in arrays])


@_expansion.training_points.register(DistributedData)
def _(data, tolerance=None, n_jobs=None):
    return TrainingPoints.of(data, tolerance, n_jobs)


@_expansion.plain_points.register(da.Array)
def _(X, n_jobs=None):
    codes = da.zeros(X.shape[:1], dtype=np.int64, chunks=X.chunks[:1])
    return TrainingPoints(X, codes, np.array([float(X.shape[0])]), n_jobs=n_jobs)


@in_memory.register(TrainingPoints)
def _(points):
    return _expansion.TrainingPoints(*dask.compute(*[getattr(points, field.name) for field in fields(points)]))


def _settled(scores, nearest):
    """Set the score of the nearest point's class to 0 for queries that no kernel reaches."""
    rows = np.flatnonzero(nearest >= 0)
    scores = scores.copy()
    scores[rows, nearest[rows]] = 0.0
    return scores
