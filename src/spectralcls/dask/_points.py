"""Training points on the workers: what a fitted form of `spectralcls._expansion` needs of its points."""

from dataclasses import fields, replace

import dask
import dask.array as da
import numpy as np

from .. import _expansion
from ._incomplete import class_log_sums, without_gaps
from ._rows import blocks, from_blocks, sizes
from ._sums import class_potentials, kernel_sums, nearest_codes


class TrainingPoints(_expansion.TrainingPoints):
    """`_expansion.TrainingPoints` with arrays over the points on the workers, not computed."""

    @classmethod
    def of(cls, data, tolerance=None, n_jobs=None):
        """Of checked training data, whose `class_weight` is in the user's scale."""
        scale = 1.0 if data.weights is None else float(data.weights.sum().compute()) / data.class_weight.sum()
        X, given = data.X, None
        if data.incomplete:
            (X, _), given = without_gaps(data), data.X
        class_weight = data.class_weight * scale
        return cls(X, data.codes, class_weight, data.weights, 1 / scale, tolerance, n_jobs, data.features, given)

    def class_log_sums(self, Q, columns, kernel, bandwidth):
        """As in memory, a Dask array (m, C, k)."""
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
        """As in memory with one bandwidth, two Dask arrays."""
        shift, sums = kernel_sums(
            Q, self.X, weights=columns, kernel=kernel, bandwidth=bandwidth, log="pair", rtol=rtol, n_jobs=self.n_jobs
        )
        return shift[:, None], sums

    def evaluate(self, Q, sums, finish, width):
        """As in memory, a Dask array in the chunks of Q."""
        found = sums(Q)
        parts = zip(*map(blocks, found), strict=True) if isinstance(found, tuple) else blocks(found)
        task = dask.delayed(finish)
        return from_blocks([task(part) for part in parts], sizes(Q), (width,) if width else (), np.float64)

    def fallback_to_nearest(self, scores, Q, candidates, compact):
        """As in memory, lazily; a kernel that is not compact reaches every query."""
        if not compact:
            return scores
        unreached = scores.map_blocks(lambda s: np.isneginf(s.max(axis=1)), drop_axis=1, dtype=bool)
        nearest = nearest_codes(Q, self.X, self.codes, unreached, candidates)
        return da.blockwise(_settled, "mc", scores, "mc", nearest, "m", dtype=np.float64)

    def log_density(self, kernel, bandwidth, log_share):
        return super().log_density(kernel, bandwidth, log_share).persist()

    def potentials(self, weights, kernel, bandwidths):
        """Only numbers by class come back."""
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
        return dask.persist(*arrays)

    def local(self):
        """The same in this process."""
        arrays = dask.compute(*[getattr(self, field.name) for field in fields(self)])
        return _expansion.TrainingPoints(*arrays)


def local(expansion):
    """The fitted form with all training points in this process."""
    (columns,) = dask.compute(expansion.columns)
    return replace(expansion, points=expansion.points.local(), columns=columns)


def _settled(scores, nearest):
    """If no kernel reaches, the class of the nearest point gets the score 0."""
    rows = np.flatnonzero(nearest >= 0)
    scores = scores.copy()
    scores[rows, nearest[rows]] = 0.0
    return scores
