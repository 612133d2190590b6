"""Training points on the workers, and the fitted form of `kernel_mean.engine.ClassMeans` over them."""

from dataclasses import fields

import dask
import dask.array as da
import numpy as np
from scipy.special import logsumexp

from ..kernel_mean import engine, points
from ._sums import class_potentials, kernel_sums, nearest_codes


class TrainingPoints(points.TrainingPoints):
    """`kernel_mean.points.TrainingPoints` with arrays over the points on the workers, not computed."""

    @classmethod
    def of(cls, data, tolerance=None, n_jobs=None):
        """Of checked training data, whose `class_weight` is in the user's scale."""
        scale = 1.0 if data.weights is None else float(data.weights.sum().compute()) / data.class_weight.sum()
        return cls(data.X, data.codes, data.class_weight * scale, data.weights, tolerance, n_jobs)

    def class_log_sums(self, Q, columns, kernel, bandwidth):
        """As in `kernel_mean.points`, a Dask array (m, C, k)."""
        options = dict(
            weights=columns, kernel=kernel, log=True, rtol=self.tolerance or 0.0, n_jobs=self.n_jobs
        )
        if np.ndim(bandwidth) == 0:
            sums = kernel_sums(
                Q, self.X, labels=self.codes, n_labels=self.n_classes, bandwidth=bandwidth, **options
            )
        else:
            sums = da.concatenate([
                kernel_sums(
                    Q, self.X, labels=da.where(self.codes == c, 0, -1), n_labels=1, bandwidth=h, **options
                )
                for c, h in enumerate(bandwidth)
            ], axis=1).rechunk({1: -1})
        return sums[..., None] if sums.ndim == 2 else sums

    def log_total(self, sums, log_share):
        return sums.map_blocks(
            lambda block: logsumexp(block + log_share, axis=1), drop_axis=1, dtype=np.float64
        )

    def log_density(self, kernel, bandwidth, log_share):
        sums = self.class_log_sums(self.X, self.weights, kernel, bandwidth)
        return self.log_total(sums[..., 0], log_share).persist()

    def potentials(self, weights, kernel, bandwidths):
        """Only numbers by class come back."""
        return class_potentials(
            self.X, self.codes, weights, self.n_classes, kernel, bandwidths, self.tolerance or 0.0, self.n_jobs
        )

    def of_class(self, values):
        return self.codes.map_blocks(lambda codes: values[codes], dtype=np.float64)

    def with_sample_weights(self, columns):
        second = da.ones_like(self.codes, dtype=np.float64) if self.weights is None else self.weights
        first = second if columns is None else columns
        return da.stack([first, second], axis=1).rechunk({1: -1}).persist()

    def hold(self, *arrays):
        return dask.persist(*arrays)

    def local(self):
        """The same in this process."""
        arrays = dask.compute(*[getattr(self, field.name) for field in fields(self)])
        return points.TrainingPoints(*arrays)


class ClassMeans(engine.ClassMeans):
    """`engine.ClassMeans` with lazy scores."""

    def scores(self, Q):
        """Scores as a Dask array (m, C), larger wins."""
        log_sums, log_density = self.log_sums(Q)
        rule, offsets = self.rule, self.offsets
        if log_density is None:
            scores = log_sums.map_blocks(rule.scores, offsets, dtype=np.float64)
        else:
            scores = da.blockwise(
                lambda sums, density: rule.scores(sums, offsets, density), "mc", log_sums, "mc", log_density,
                "m", dtype=np.float64,
            )
        if self.kernel == "gaussian" or rule.decision == "distance":
            return scores
        unreached = scores.map_blocks(lambda s: np.isneginf(s.max(axis=1)), drop_axis=1, dtype=bool)
        nearest = nearest_codes(Q, self.points.X, self.points.codes, unreached)
        return da.blockwise(_settle, "mc", scores, "mc", nearest, "m", dtype=np.float64)

    def local(self):
        """The same with all training points in this process."""
        content = {field.name: getattr(self, field.name) for field in fields(self)}
        weights, inverse_density = dask.compute(self.weights, self.inverse_density)
        content |= {
            "points": self.points.local(), "weights": weights, "inverse_density": inverse_density
        }
        return engine.ClassMeans(**content)


def _settle(scores, nearest):
    """Where no kernel reaches, the class of the nearest point gets the score 0."""
    rows = np.flatnonzero(nearest >= 0)
    scores = scores.copy()
    scores[rows, nearest[rows]] = 0.0
    return scores
