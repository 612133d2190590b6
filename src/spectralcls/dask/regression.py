"""Kernel regression on Dask collections."""

from dataclasses import dataclass

import dask
import dask.array as da
import numpy as np
from sklearn.utils import check_random_state

from .. import regression
from .._estimator import transactional
from .._tuning import bandwidth_ratio_of, reference_of
from .._utils.lazy import in_memory
from ..regression import Choice, Moments, RegressionForm, TargetUnits, candidates, chosen
from ._estimator import to_local
from ._inputs import DaskInputs
from ._points import TrainingPoints
from ._rows import as_column, as_points
from ._sums import nearest_points
from ._tuning import gather


class KernelRegressor(regression.KernelRegressor):
    """:class:`spectralcls.KernelRegressor` on Dask collections.

    `cv` is an int or "loo". Up to 2^22 numbers are gathered in this process; bandwidth, degree and metric are chosen
    there as in memory; of more data from samples: bandwidth and degree from `max_tuning_samples` points, with the
    bandwidth scaled by ``(m / n) ** (1 / (d + 4))``, a metric from 20 000.

    Parameters
    ----------
    bandwidth : {"cv", "silverman"} or float, default="cv"
        Radius h of the kernel. "cv" takes the one of the smallest held-out squared error.
    degree : {"cv", 0, 1}, default="cv"
        0 is the local mean, 1 the local line, which follows slopes to the edge of the data. "cv" takes the better one;
        above 10 features, where lines need many moments, the mean.
    kernel : str, default="gaussian"
        Shape of the kernel: "gaussian", "laplace", or one of "epanechnikov", "uniform", "quartic", "triweight",
        "cosine" and "linear", which are compact: they vanish beyond the bandwidth.
    scale : {"auto", None}, default="auto"
        "auto" brings each column of numbers to a scale of one, and the bandwidth counts in these units: no unit of a
        column matters. None takes the numbers as they are.
    metric : {"whiten", "diagonal", "full"}, transformer, list of these or None, default=None
        Map of the points before anything else, learned in `fit`. "diagonal" and "full": a
        :class:`~spectralcls.metric.GradientMetric` of the standardized features; "whiten": the inverse root of their
        covariance within eighths of y, or no more than scales, by a :class:`~spectralcls.metric.KernelMetric`. Or any
        transformer, as it is if it is fitted already. Of a list the one of the least held-out error, the whole of `fit`
        being cross-validated with each. None: the points as they are.
    cv : "loo", int, splitter or list of splits, default="loo"
        What is held out together. Copies of a sample, its target included, are one of greater weight.
    bandwidth_grid : array-like, default=None
        Bandwidths to try; by default :func:`~spectralcls.kernels.bandwidth_grid` of the training data, which goes on
        while its smallest or largest value is the best.
    max_tuning_samples : int or None, default=20000
        With more points than this in total, parameters are tuned on a random subsample of this size, stratified by
        class; `n_tuning_samples_` says how many points were used. A bandwidth that was tuned within m of n points is
        scaled to all of them by ``(m / n) ** (1 / (d + 4))``.
        Here m counts what it is validated against: all other points, in memory at most 200 000.
    tolerance : float or None, default=None
        Relative error allowed in kernel sums, in (0, 1); for ``degree=0`` only. A prediction is then off by at most
        twice this share of the range of y.
    random_state : int, RandomState instance or None, default=0
        Draws whatever is random: folds, subsamples, landmarks, starts. With an int a refit gives the same bits.
    n_jobs : int or None, default=None
        Threads; None means all cores unless joblib or threadpoolctl says otherwise.

    Attributes
    ----------
    bandwidth_ : float
        Bandwidth in use.
    degree_ : int
        Degree in use.
    cv_results_ : dict of str to ndarray
        What was tried, in the layout of :class:`sklearn.model_selection.GridSearchCV`; a score is R^2 of the points
        held out, averaged over the outputs. Only present if tuned.
    best_score_ : float
        Mean test score of what was chosen. Only present if something was tuned.
    n_tuning_samples_ : int
        Number of (distinct) points validated. Only present if something was tuned.
    metric_ : transformer or None
        The fitted map in use.
    scale_ : {"each", None}
        Whether each column of numbers was divided by a scale.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features. Only present if X has string names.

    References
    ----------
    .. [1] E. A. Nadaraya, "On estimating regression", Theory of Probability and its Applications 9 (1), 1964,
       pp. 141-142.
    .. [2] G. S. Watson, "Smooth regression analysis", Sankhya A 26 (4), 1964, pp. 359-372.
    .. [3] J. Fan, I. Gijbels, "Local Polynomial Modelling and Its Applications", Chapman and Hall, 1996.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_diabetes
    >>> from spectralcls.dask import KernelRegressor
    >>> X, y = (da.from_array(array, chunks=150) for array in load_diabetes(return_X_y=True))
    >>> X = X.rechunk((150, -1))
    >>> KernelRegressor(bandwidth=0.1, degree=0).fit(X, y).predict(X).compute().shape
    (442,)
    """

    _local_class = regression.KernelRegressor
    _kind_of_inputs = DaskInputs
    to_local = to_local

    @transactional
    def fit(self, X, y, sample_weight=None):
        """Fit the regression.

        Parameters
        ----------
        X : Dask array or data frame of shape (n_samples, n_features)
            Training points, of known chunk sizes.
        y : Dask array, series or array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.
        sample_weight : Dask array or array-like of shape (n_samples,), default=None
            Non-negative weights.

        Returns
        -------
        self : object
            The fitted regression; the points stay on the workers.
        """
        if not isinstance(self.cv, int | np.integer | str):
            raise ValueError(
                'On Dask collections cv must be an int or "loo": splits made for arrays in memory do not apply. '
                f"Got {self.cv!r}."
            )
        return super().fit(X, y, sample_weight)

    def _units_of(self, targets):
        """In Dask's approximate median, in passes over the targets alone."""
        exponent = int(np.frexp(abs(targets).max().compute())[1]) + 1
        scaled = np.ldexp(targets, -exponent)
        if self.tolerance is None:
            origin = np.ravel(dask.compute(*(da.percentile(column, 50) for column in scaled.T)))
        else:
            origin = scaled.min(axis=0).compute()
        return TargetUnits(exponent, origin, int(np.frexp(abs(scaled - origin).max().compute())[1]))

    def _choose(self, data, degrees):
        if self.bandwidth == "silverman":
            grid = [reference_of(data, "silverman", self.kernel)]
        elif self.bandwidth != "cv":
            grid = [float(self.bandwidth)]
        if self.bandwidth != "cv" and len(degrees) == 1:
            return Choice(grid[0], degrees[0])
        sample = gather(data, self.max_tuning_samples, check_random_state(self.random_state))
        shrunk = bandwidth_ratio_of(data, sample)
        if self.bandwidth == "cv":
            grid = candidates(self, sample) * (shrunk if self.bandwidth_grid is None else 1.0)
        return chosen(self, sample, degrees, grid, 1 / shrunk)

    def _formed(self, data):
        return DaskForm.of_collections(self.degree_, data, self.kernel, self.bandwidth_, self.tolerance, self.n_jobs)

    def predict(self, X):
        """Predict the targets.

        Parameters
        ----------
        X : Dask array or data frame of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        y : Dask array of shape (n_queries,) or (n_queries, n_outputs), float64
            Not computed yet, in the chunks of X.
        """
        predicted = self._units.back(self._form.predict(self._queries(X)))
        return predicted[:, 0] if self._one_output else predicted

    @property
    def predict_interval(self):
        """Not available: quantiles need the residuals in order."""
        raise AttributeError("Quantiles need the residuals in order: use to_local().predict_interval(X).")

    def score(self, X, y, sample_weight=None):
        """R^2, computed at once, averaged over the outputs.

        Parameters
        ----------
        X : Dask array or data frame of shape (n_queries, n_features)
            Queries.
        y : Dask array, series or array-like of shape (n_queries,) or (n_queries, n_outputs)
            Their targets.
        sample_weight : Dask array or array-like of shape (n_queries,), default=None
            Weights of the queries.

        Returns
        -------
        score : float
            1 for predictions without error, 0 for those of a constant.
        """
        X = as_points(X)
        predicted, truth = (array.reshape(len(X), -1) for array in (self.predict(X), as_column(y, X, "y")))
        weights = da.ones(len(X)) if sample_weight is None else as_column(sample_weight, X, "sample_weight")
        weights = weights.rechunk(predicted.chunks[0])[:, None]
        center = (weights * truth).sum(axis=0) / weights.sum()
        sums = [(weights * (truth - about) ** 2).sum(axis=0) for about in (predicted, center)]
        errors, spread = dask.compute(*sums)
        return float(np.mean(np.where(spread > 0, 1 - errors / np.where(spread > 0, spread, 1.0), errors == 0)))

    def _local_state(self):
        return {"_form": self._form.local()}


@dataclass(frozen=True)
class DaskForm(RegressionForm):
    """`RegressionForm` with arrays over the points on the workers."""

    @classmethod
    def of_collections(cls, degree, data, kernel, bandwidth, tolerance, n_jobs):
        X, Y = data.X, data.targets
        origin = X.mean(axis=0, dtype=np.float64).compute()
        moments = Moments(degree, origin, Y.shape[1], float(abs(X - origin).max().compute()))
        points = TrainingPoints.of(data._replace(X=X.astype(np.float64) if degree else X), tolerance, n_jobs)
        parts = [X, Y] + ([] if data.weights is None else [data.weights[:, None]])
        columns = da.map_blocks(
            _columns, *parts, moments=moments, dtype=np.float64, chunks=(X.chunks[0], (moments.n_columns,))
        ).persist()
        return cls(moments, points, Y, columns, kernel, bandwidth)

    def predict(self, Q):
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

    def local(self):
        targets, columns = dask.compute(self.targets, self.columns)
        return RegressionForm(self.moments, in_memory(self.points), targets, columns, self.kernel, self.bandwidth)


def _columns(X, Y, weights=None, *, moments):
    return moments.columns(X, Y, None if weights is None else weights[:, 0])


def _predictions(Q, sums, form):
    moments, kernel, bandwidth = form
    return moments.predictions(Q, sums, kernel, bandwidth)


def _filled(predicted, others):
    return np.where(np.isnan(predicted), others, predicted)
