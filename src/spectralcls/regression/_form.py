"""The fitted regression: moments of the training points at a query."""

from dataclasses import dataclass

import numpy as np

from .._expansion.nearest import nearest_codes
from .._expansion.points import TrainingPoints, blocks
from .._tuning import distinct, draw_sample
from .._utils.cached import cached_property
from ..kernels import kernel_sums
from ._moments import Moments


@dataclass(frozen=True)
class RegressionForm:
    """Predictions at queries by one pass over the points.

    Attributes
    ----------
    moments : Moments
    points : TrainingPoints
    targets : (n, k)
    columns : (n, c) of the moments
    kernel : str
    bandwidth : float
    """

    moments: Moments
    points: TrainingPoints
    targets: np.ndarray
    columns: np.ndarray
    kernel: str
    bandwidth: float

    @classmethod
    def of(cls, moments, data, kernel, bandwidth, tolerance, n_jobs):
        # Differences of moments need the digits of float64.
        X = data.X.astype(np.float64, copy=False) if moments.degree else data.X
        points = TrainingPoints.of(data._replace(X=X), tolerance, n_jobs)
        columns = moments.columns(data.X, data.targets, points.weights)
        return cls(moments, points, data.targets, columns, kernel, bandwidth)

    def predict(self, Q):
        """(m, k), float64. Where no kernel reaches, the prediction at the nearest training point."""
        out = np.empty((len(Q), self.targets.shape[1]))
        for block in blocks(len(Q), 24 * self.moments.n_columns):
            out[block] = self._predict(Q[block])
        missing = np.flatnonzero(np.isnan(out[:, 0]))
        if len(missing):
            out[missing] = self.predict(self.points.X[self.nearest(Q[missing])])
        return out

    def nearest(self, Q):
        """Row of the training point nearest to each query."""
        return nearest_codes(Q, self.points.X, np.arange(len(self.points.X)), self.points.n_jobs)

    def _predict(self, Q):
        _, sums = self.points.pairs(
            Q, self.columns, self.kernel, self.bandwidth, 0.0, rtol=self.points.tolerance or 0.0
        )
        return self.moments.predictions(Q, sums, self.kernel, self.bandwidth)

    @cached_property
    def residuals(self):
        """Target less the prediction by the other training points, (n, k); copies of a sample are left out together."""
        data = self.points.data(np.zeros(1))._replace(targets=self.targets)
        sample = draw_sample(data, cv="loo", max_samples=None, random_state=0)
        predicted = held_out_predictions(
            sample, self.moments, [self.moments.degree], self.kernel, np.array([self.bandwidth]), self.points.n_jobs
        )[0][:, 0, 0]
        return (sample.targets - predicted)[distinct(data)[1]]


def held_out_predictions(sample, moments, degrees, kernel, bandwidths, n_jobs):
    """(v, b, degree, k) of the validated points of a sample, by the points that are not held out with them.

    One pass over the pairs for all bandwidths and degrees. Where no kernel reaches, the prediction at the nearest of the
    other points; the second result (v, b) says where.
    """
    X = sample.X.astype(np.float64, copy=False) if moments.degree else sample.X
    columns = moments.columns(X, sample.targets, sample.weights).astype(X.dtype)
    rows, folds = sample.rows, sample.folds

    def predictions(Q, own, widths):
        """Without the folds of the points `own`, or without them alone."""
        out = np.empty((len(own), len(widths), len(degrees), sample.targets.shape[1]))
        for block in blocks(len(own), 24 * len(widths) * moments.n_columns):
            _, sums = kernel_sums(
                Q[block],
                X,
                weights=columns,
                kernel=kernel,
                bandwidth=widths,
                log="pair",
                n_jobs=n_jobs,
                **_left_out(own[block], folds),
            )
            for b, h in enumerate(widths):
                for i, degree in enumerate(degrees):
                    out[block, b, i] = moments.predictions(Q[block], sums[:, b].astype(np.float64), kernel, h, degree)
        return out

    out = predictions(X[rows], rows, bandwidths)
    missing = np.isnan(out[:, :, 0, 0])
    lost = np.flatnonzero(missing.any(axis=1))
    if len(lost):
        near = X[nearest_codes(X[rows[lost]], X, np.arange(len(X)), n_jobs, **_left_out(rows[lost], folds))]
        for b, h in enumerate(bandwidths):
            there = missing[lost, b]
            out[lost[there], b] = predictions(near[there], rows[lost[there]], np.array([h]))[:, 0]
    return out, missing


def _left_out(rows, folds):
    return {"exclude_self": rows} if folds is None else {"exclude_groups": (folds[rows], folds)}
