"""Kernel regression."""

from dataclasses import KW_ONLY
from numbers import Real
from typing import Literal

import numpy as np

from .._conformal import FEW, Residuals, chosen_by_others
from .._estimator import Regressor, at_end, with_parameters
from .._tuning import draw_sample
from .._utils.advice import advise
from .._utils.blocks import in_memory
from .._utils.from_sklearn import Interval, Options, StrOptions
from .._utils.target_units import TargetUnits
from .._utils.typing import ArrayLike, CrossValidation, Kernel, Metric, RandomState, Scale
from ..metric import LearnedMap, fitted_map
from ._bandwidth_search import chosen
from ._form import RegressionForm, held_out_predictions
from ._local_moments import LocalMoments
from ._regression_metric import RegressionKinds, variances

MOST_FEATURES = 10  # "cv" tries linear fits up to this many features: their moments take d^2 / 2 columns


@with_parameters
class KernelRegressor(Regressor):
    """Regression by local means (Nadaraya-Watson) or local lines, weighted by a kernel.

    The prediction a at x minimizes ``sum_i w_i k((x - x_i) / h) |y_i - a - b (x_i - x)|^2``, with b = 0 for degree 0.
    Bandwidth and degree minimize the exact leave-one-out error; one pass over the pairs serves all candidates.

    Parameters
    ----------
    bandwidth : {"cv", "silverman"} or float, default="cv"
        Radius h of the kernel. "cv" minimizes the held-out squared error.
    degree : {"cv", 0, 1}, default="cv"
        0 is the local mean; 1 is the local line, which follows slopes to the edge of the data. "cv" chooses the better
        one, but always the mean for more than 10 features, because lines then need many moments.
    kernel : str, default="gaussian"
        Shape of the kernel: "gaussian", "laplace", or one of "epanechnikov", "uniform", "quartic", "triweight",
        "cosine" and "linear", which are compact: they vanish beyond the bandwidth.
    scale : {"auto", None}, default="auto"
        "auto" scales each column of numbers to spread one. The bandwidth is in these units, so that the units of the
        features do not matter. None uses the numbers unchanged.
    metric : {"whiten", "diagonal", "full"}, transformer, list of these or None, default=None
        Map of the points, learned in `fit`. "diagonal" and "full": a :class:`~spectralcls.metric.GradientMetric` of the
        scaled features. "whiten": the inverse root of their covariance within eight slices of y, or only their scales,
        by a :class:`~spectralcls.metric.KernelMetric`. Otherwise any transformer, which is used unchanged if it is
        fitted. From a list, cross-validation of the whole `fit` chooses the map with the least error. None: no map.
    cv : "loo", int, splitter or list of splits, default="loo"
        Samples that are held out together. Copies of a sample with equal targets count as one sample of greater weight.
    bandwidth_grid : array-like, default=None
        Bandwidths to try; by default :func:`~spectralcls.kernels.bandwidth_grid` of the training data, which is
        extended as long as its smallest or largest value is the best.
    max_tuning_samples : int or None, default=20000
        If there are more points, parameters are tuned on a random subsample of this size; `n_tuning_samples_` is the
        number used. A bandwidth tuned with m of n points is scaled to n points by the factor
        ``(m / n) ** (1 / (d + 4))``. Here m counts the points against which the subsample is validated: all others, but
        at most 200 000 if the data are in memory.
    tolerance : float or None, default=None
        Relative error allowed in kernel sums, in (0, 1); only for ``degree=0``. The error of a prediction is then at
        most twice this fraction of the range of y.
    random_state : int, RandomState instance or None, default=0
        Seed of folds, subsamples, landmarks and starting vectors. With an int, a refit gives identical results.
    n_jobs : int or None, default=None
        Number of threads. None means all cores, unless joblib or threadpoolctl sets a lower limit.

    Attributes
    ----------
    bandwidth_ : float
        Bandwidth in use.
    degree_ : int
        Degree in use.
    cv_results_ : dict of str to ndarray
        Scores of all candidates, in the layout of :class:`sklearn.model_selection.GridSearchCV`. A score is R^2 of the
        held-out points, averaged over the outputs. Only present if tuned.
    best_score_ : float
        Mean test score of the chosen candidate. Only present if something was tuned.
    n_tuning_samples_ : int
        Number of (distinct) validated points. Only present if something was tuned.
    metric_ : transformer or None
        Fitted map in use.
    scale_ : {"each", None}
        Whether each column of numbers was divided by a scale.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features. Only present if X has string names.

    See Also
    --------
    ParzenDensity : The density of the samples; its kernels are the weights used here.
    sklearn.neighbors.KNeighborsRegressor : Means over a fixed number of neighbors.

    Notes
    -----
    Cost: a fit with a given bandwidth takes O(n d). Tuning over b bandwidths takes one pass over the pairs, O(n^2 (d +
    b columns)). Degree 0 has 1 + k columns for k outputs, and degree 1 has d (d + 1) / 2 + d + d k more. A query costs
    O(n (d + columns)).

    Slopes are damped: 1e-8 of the kernel's variance is added to the local variance of each feature. Far from the data,
    one sample has all the weight, and the prediction is its target. If no compact kernel reaches a query, it gets the
    prediction at the nearest sample.

    References
    ----------
    .. [1] E. A. Nadaraya, "On estimating regression", Theory of Probability and its Applications 9 (1), 1964,
       pp. 141-142.
    .. [2] G. S. Watson, "Smooth regression analysis", Sankhya A 26 (4), 1964, pp. 359-372.
    .. [3] J. Fan, I. Gijbels, "Local Polynomial Modelling and Its Applications", Chapman and Hall, 1996.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralcls import KernelRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, size=(300, 1))
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=300)
    >>> model = KernelRegressor().fit(X, y)
    >>> model.predict([[0.0], [1.5]]).round(1) + 0.0
    array([0., 1.])
    >>> model.predict_interval([[1.5]], coverage=0.9).round(1)
    array([[0.8, 1.1]])
    """

    bandwidth: Literal["cv", "silverman"] | float = "cv"
    _: KW_ONLY
    degree: Literal["cv", 0, 1] = "cv"
    kernel: Kernel = "gaussian"
    scale: Scale = "auto"
    metric: Metric = None
    cv: CrossValidation = "loo"
    bandwidth_grid: ArrayLike | None = None
    max_tuning_samples: int | None = 20_000
    tolerance: float | None = None
    random_state: RandomState = 0
    n_jobs: int | None = None

    _parameter_constraints = {
        "bandwidth": [Interval(Real, 0, None, closed="neither"), StrOptions({"cv", "silverman"})],
        "degree": [StrOptions({"cv"}), Options(int, {0, 1})],
    }

    metric_ = fitted_map
    _learns_on_workers = True

    def _learn(self, data):
        degrees = [0, 1] if self.degree == "cv" and data.X.shape[1] <= MOST_FEATURES else [self.degree]
        degrees = [0] if degrees == ["cv"] or (self.tolerance is not None and self.degree == "cv") else degrees
        if self.tolerance is not None and degrees != [0]:
            raise ValueError("tolerance needs degree=0: a slope is a difference of sums, whose error has no bound.")
        self._units = TargetUnits.of(in_memory(data.targets), self.tolerance)
        data = data._replace(targets=self._units.to(data.targets))
        choice = chosen(self, data, degrees)
        self.bandwidth_: float = choice.bandwidth
        self.degree_: int = choice.degree
        if choice.found is not None:
            self._note(choice.found, choice.n_samples)
            if choice.found.at_end is not None:
                advise(at_end(self, choice.found))
        self._form = RegressionForm.of(data, self.degree_, self.kernel, self.bandwidth_, self.tolerance, self.n_jobs)

    def _make_inputs(self):
        return super()._make_inputs(step=LearnedMap.of(self, RegressionKinds(self.random_state, self.n_jobs)))

    def _scaled(self, X):
        return self._form.predict(X)

    def _leave_one_out(self):
        sample, found = self._left_out()
        options = {"order": self._form.samples.copies.group, "units": sample.folds, "n_jobs": self.n_jobs}
        return Residuals.of(sample.targets - found, sample.weights, sample.X, **options)

    def _left_out(self):
        """The distinct samples, and their scaled predictions when they are left out, (n, k)."""
        form, results = self._form, vars(self).get("cv_results_")
        sample = draw_sample(form.samples, cv="loo", max_samples=None, random_state=0)
        widths, degrees = np.array([form.bandwidth]), [form.moments.degree]
        if results is not None and sample.n_samples <= FEW:
            names = "param_bandwidth", "param_degree"
            widths, degrees = (np.unique(np.asarray(results[name].tolist())) for name in names)
        moments = LocalMoments.of(max(degrees), sample.X, sample.targets)
        found = held_out_predictions(sample, moments, degrees, form.kernel, widths, self.n_jobs)[0]
        found = found.reshape(len(found), -1, found.shape[-1])
        variance = variances(sample.targets, sample.weights)
        losses = ((sample.targets[:, None] - found) ** 2 / variance).mean(axis=2).T
        best = chosen_by_others(losses, sample.weights, sample.folds)
        return sample, found[np.arange(len(found)), best] if len(found) > 1 else np.full_like(found[:, 0], np.inf)

    def _target_weights(self):
        samples = self._form.samples
        targets = self._units.back(samples.targets)
        mean = np.average(targets, axis=0, weights=samples.weights)
        return self._form.weights, targets - mean, mean, np.arange(len(targets))

    def _predictions_left_out(self):
        """Prediction of each training sample by the others, (n, k)."""
        return self._units.back(self._left_out()[1])[self._form.samples.copies.group]
