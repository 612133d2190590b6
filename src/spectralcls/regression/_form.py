"""The fitted local regression: predictions from moments of the training points at a query."""

from dataclasses import dataclass
from functools import partial, singledispatch

import numpy as np
from scipy.special import softmax

from .._expansion.log_kernel import log_kernel
from .._expansion.nearest import nearest_codes
from .._expansion.points import TrainingPoints, blocks, over_points
from .._inputs.training_data import TrainingData
from .._utils.blocks import by_rows, in_blocks, kept
from .._utils.copies import equal_rows
from ..kernels import kernel_sums
from ._local_moments import LocalMoments


@dataclass(frozen=True)
class RegressionForm:
    """Predicts the targets of queries in one pass over the points.

    Attributes
    ----------
    moments : LocalMoments
    points : TrainingPoints; if many samples are copies, one point for all samples at the same place
    targets : (n_samples, k)
    columns : (n, c) columns of the moments
    kernel : str
    bandwidth : float
    merged : TrainingData of all samples; None if each sample is a point
    """

    moments: LocalMoments
    points: TrainingPoints
    targets: np.ndarray
    columns: np.ndarray
    kernel: str
    bandwidth: float
    merged: TrainingData | None = None

    @classmethod
    def of(cls, data, degree, kernel, bandwidth, tolerance, n_jobs):
        moments = LocalMoments.of(degree, data.X, data.targets)
        # Differences of moments need float64.
        X = data.X.astype(np.float64, copy=False) if degree else data.X
        places = None if in_blocks(X) else places_of(data.X)
        if places is None:
            points = TrainingPoints.of(data.moved(X), tolerance, n_jobs)
            options = {"shape": (moments.n_columns,), "dtype": np.float64}
            columns = by_rows(data.X, moments.columns, data.targets, points.weights, **options)
            return cls(moments, points, data.targets, kept(X, columns)[0], kernel, bandwidth)
        first, place = places
        weights = np.bincount(place, data.weights).astype(np.float64)
        points = TrainingPoints.of(TrainingData.points(X[first], weights), tolerance, n_jobs)
        each = np.full(len(X), 1.0) if data.weights is None else data.weights
        columns = _summed(moments.columns(data.X, data.targets, each / points.weight_scale), place)
        merged = data._replace(X=X, kept=None, y=None, unmapped=None)
        return cls(moments, points, data.targets, columns, kernel, bandwidth, merged)

    @property
    def samples(self):
        """The training data, one row per sample."""
        if self.merged is not None:
            return self.merged
        return self.points.data(np.zeros(1))._replace(targets=self.targets)

    def predict(self, Q):
        """Predictions (m, k), float64. A query out of reach of all kernels gets the prediction at the nearest training
        point."""
        return nearest_if_nan(self.points.X, self, self.in_reach(Q), Q)

    def weights(self, Q):
        """Weights (m, n) of the samples' targets in the predictions; they add up to one."""
        samples, moments = self.samples, self.moments
        Q, X = Q.astype(np.float64, copy=False), samples.X.astype(np.float64, copy=False)
        logs = log_kernel(Q, X, self.kernel, self.bandwidth)
        logs += 0.0 if samples.weights is None else np.log(samples.weights)
        lost = np.isneginf(logs.max(axis=1))
        if lost.any():
            Q = Q.copy()
            Q[lost] = self.points.X[self.nearest(Q[lost])]
            return self.weights(Q)
        p = softmax(logs, axis=1)
        if moments.degree == 0:
            return p
        center, covariance, _ = moments.local(
            Q, p @ moments.columns(X, samples.targets, None)[:, 1:], self.kernel, self.bandwidth
        )
        x = X - moments.origin - center[:, None]  # (m, n, d)
        slopes = np.linalg.solve(covariance, (Q - moments.origin - center)[..., None])  # (m, d, 1)
        return p * (1 + (x @ slopes)[..., 0])

    def nearest(self, Q):
        """Row of the training point nearest to each query."""
        return nearest_codes(Q, self.points.X, np.arange(len(self.points.X)), self.points.n_jobs)

    def in_reach(self, Q):
        """Predictions (m, k), NaN for queries out of reach of all kernels."""
        options = {"kernel": self.kernel, "bandwidth": self.bandwidth}
        sums = partial(TrainingPoints.pairs, log_scale=0.0, rtol=self.points.tolerance or 0.0, **options)
        finish = partial(_predictions, self.moments, options)
        width, n_sums = self.moments.n_outputs, self.moments.n_columns
        return over_points(self.points.X, self.points, self.columns, Q, sums, finish, width, n_sums)


def _predictions(moments, options, sums, Q):
    return moments.predictions(Q, sums[1], **options)


@singledispatch
def nearest_if_nan(X, form, predicted, Q):
    """The predictions (m, k) of a form; where they are NaN, those at the nearest point of X."""
    missing = np.flatnonzero(np.isnan(predicted[:, 0]))
    if len(missing):
        predicted[missing] = form.predict(X[form.nearest(Q[missing])])
    return predicted


def places_of(X):
    """The first row of each place, and the place of each row, if at least half of the rows are copies; otherwise
    None."""
    first, place = equal_rows(X)
    return (first, place) if 2 * len(first) <= len(X) else None


def _summed(columns, place):
    """Sums of the rows (n, c) at each place."""
    return np.stack([np.bincount(place, column) for column in columns.T], axis=1)


def held_out_predictions(sample, *shape):
    """`left_out_predictions` at the validated points of a sample."""
    places = places_of(sample.X) if sample.folds is None else None
    if places is not None:
        return _by_places(sample, *places, *shape)
    return left_out_predictions(sample, sample.X[sample.rows], sample.rows, *shape)


def _by_places(sample, first, place, moments, degrees, kernel, bandwidths, n_jobs):
    """`held_out_predictions` if many points share a place. A point's sums are those over the other places plus those
    over the other points at its own place.
    """
    rows, X = sample.rows, sample.X[first].astype(np.float64)
    columns = moments.columns(sample.X, sample.targets, sample.weights)
    at_place = _summed(columns, place)
    options = {"kernel": kernel, "bandwidth": bandwidths, "log": "pair", "n_jobs": n_jobs}
    scale, sums = kernel_sums(X, X, weights=at_place, exclude_self=True, **options)
    own = place[rows]
    alone, mates = np.bincount(place)[own] == 1, at_place[own] - columns[rows]  # K(0) is one
    out = np.empty((len(rows), len(bandwidths), len(degrees), sample.targets.shape[1]))
    for b, h in enumerate(bandwidths):
        others = sums[own, b]
        others = np.where(alone[:, None], others, np.exp(scale[own, b, None]) * others + mates)
        for i, degree in enumerate(degrees):
            out[:, b, i] = moments.predictions(X[own], others, kernel, h, degree)
    missing = np.isnan(out[:, :, 0, 0])
    lost = np.flatnonzero(missing.any(axis=1))
    if len(lost):
        shape = moments, degrees, kernel, bandwidths, n_jobs
        out[lost] = left_out_predictions(sample, sample.X[rows[lost]], rows[lost], *shape)[0]
    return out, missing


def left_out_predictions(sample, Q, own, moments, degrees, kernel, bandwidths, n_jobs):
    """Predictions (m, b, degree, k) at queries; each leaves out the sample point `own` (m,) and the points held out
    with it.

    Takes one pass over the pairs for all bandwidths and degrees. A query out of reach gets the prediction at the
    nearest of the other points; the second result is the mask (m, b) of these queries.
    """
    dtype = np.float64 if moments.degree else sample.X.dtype
    X, Q = sample.X.astype(dtype, copy=False), Q.astype(dtype, copy=False)
    columns = moments.columns(X, sample.targets, sample.weights).astype(dtype)

    def predictions(Q, own, widths):
        out = np.empty((len(Q), len(widths), len(degrees), sample.targets.shape[1]))
        for block in blocks(len(Q), 24 * len(widths) * moments.n_columns):
            options = {"kernel": kernel, "bandwidth": widths, "log": "pair", "n_jobs": n_jobs} | sample.left_out(
                own[block]
            )
            _, sums = kernel_sums(Q[block], X, weights=columns, **options)
            for b, h in enumerate(widths):
                for i, degree in enumerate(degrees):
                    out[block, b, i] = moments.predictions(Q[block], sums[:, b].astype(np.float64), kernel, h, degree)
        return out

    out = predictions(Q, own, bandwidths)
    missing = np.isnan(out[:, :, 0, 0])
    lost = np.flatnonzero(missing.any(axis=1))
    if len(lost) and len(X) > 1:
        near = X[nearest_codes(Q[lost], X, np.arange(len(X)), n_jobs, **sample.left_out(own[lost]))]
        for b, h in enumerate(bandwidths):
            there = missing[lost, b]
            out[lost[there], b] = predictions(near[there], own[lost[there]], np.array([h]))[:, 0]
    return out, missing
