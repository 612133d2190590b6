"""Fitted regressions with their points on the workers."""

from dataclasses import dataclass

import dask
import dask.array as da
import numpy as np

from .._utils.lazy import determination, in_memory
from .._utils.target_units import TargetUnits, target_units
from ..regression import LocalMoments, RegressionForm, regression_form
from ._points import TrainingPoints
from ._rows import DistributedData, as_column, in_chunks
from ._sums import nearest_points


@dataclass(frozen=True)
class DaskForm(RegressionForm):
    """`RegressionForm` whose arrays over the points are on the workers."""

    def predict(self, Q):
        """As in memory; for lazy queries, returns a Dask array in their chunks."""
        if isinstance(Q, np.ndarray):
            return self.predict(in_chunks(Q)).compute()
        predicted = self._predict(Q)
        if self.kernel == "gaussian":
            return predicted
        places = nearest_points(Q, self.points.X, da.isnan(predicted[:, 0]))
        return da.map_blocks(_filled, predicted, self._predict(places), dtype=np.float64)

    def _predict(self, Q):
        Q = Q.astype(self.points.X.dtype)
        _, sums = self.points.pairs(
            Q, self.columns, self.kernel, self.bandwidth, 0.0, rtol=self.points.tolerance or 0.0
        )
        return da.map_blocks(
            _predictions,
            Q,
            sums,
            form=(self.moments, self.kernel, self.bandwidth),
            dtype=np.float64,
            chunks=(Q.chunks[0], (self.targets.shape[1],)),
        )


@target_units.register(da.Array)
def _(targets, tolerance):
    """The origin is Dask's approximate median, found in passes over the targets only."""
    exponent = np.frexp(abs(targets).max(axis=0).compute())[1] + 1
    scaled = np.ldexp(targets, -exponent)
    if tolerance is None:
        origin = np.ravel(dask.compute(*(da.percentile(column, 50) for column in scaled.T)))
    else:
        origin = scaled.min(axis=0).compute()
    return TargetUnits(exponent, origin, np.frexp(abs(scaled - origin).max(axis=0).compute())[1])


@regression_form.register(DistributedData)
def _(data, degree, kernel, bandwidth, tolerance, n_jobs):
    X, Y = data.X, data.targets
    moments = LocalMoments.of(degree, X, Y)
    points = TrainingPoints.of(data._replace(X=X.astype(np.float64) if degree else X), tolerance, n_jobs)
    parts = [X, Y] + ([] if data.weights is None else [data.weights[:, None]])
    columns = da.map_blocks(
        _columns, *parts, moments=moments, dtype=np.float64, chunks=(X.chunks[0], (moments.n_columns,))
    ).persist()
    return DaskForm(moments, points, Y, columns, kernel, bandwidth)


@in_memory.register(DaskForm)
def _(form):
    targets, columns = dask.compute(form.targets, form.columns)
    return RegressionForm(form.moments, in_memory(form.points), targets, columns, form.kernel, form.bandwidth)


@determination.register(da.Array)
def _(predicted, y, sample_weight=None):
    n = len(predicted)
    truth = as_column(y, predicted, "y").reshape(n, -1)
    predicted = predicted.reshape(n, -1)
    weights = da.ones(n, chunks=predicted.chunks[0]) if sample_weight is None else sample_weight
    weights = as_column(weights, predicted, "sample_weight")[:, None]
    center = (weights * truth).sum(axis=0) / weights.sum()
    sums = [(weights * (truth - about) ** 2).sum(axis=0) for about in (predicted, center)]
    errors, spread = dask.compute(*sums)
    return float(np.mean(np.where(spread > 0, 1 - errors / np.where(spread > 0, spread, 1.0), errors == 0)))


def _columns(X, Y, weights=None, *, moments):
    return moments.columns(X, Y, None if weights is None else weights[:, 0])


def _predictions(Q, sums, form):
    moments, kernel, bandwidth = form
    return moments.predictions(Q, sums, kernel, bandwidth)


def _filled(predicted, others):
    return np.where(np.isnan(predicted), others, predicted)
