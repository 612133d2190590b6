"""Kernel ridge regression."""

from collections.abc import Callable
from dataclasses import KW_ONLY
from functools import partial
from typing import Any, Literal

import numpy as np

from .._conformal import FEW, Residuals, chosen_by_others
from .._estimator import Regressor, with_parameters
from .._expansion.ridge_targets import NumberTargets
from .._inputs.given import numbers_of
from .._inputs.training_data import TrainingData
from .._tuning import group_folds, ridge_grid
from .._utils.copies import random_keys
from .._utils.from_sklearn import StrOptions
from .._utils.typing import Array
from ..kernels import kernel_sums
from ..linalg.ridge import solve
from ._kernel_ridge import KernelRidge
from ._regression_metric import RegressionKinds

FOLDS = 5  # folds for the residuals of intervals, if the system was solved by conjugate gradients


@with_parameters
class KernelRidgeRegressor(KernelRidge, Regressor):
    """Kernel ridge regression of numbers, tuned by leave-one-out in closed form.

    For each standardized output, f minimizes ``sum_i w_i (y_i - f(x_i))^2 + alpha |f|^2``, where |f| is the norm in the
    kernel's space. Bandwidth and alpha minimize the leave-one-out squared error, averaged over the outputs.

    Parameters
    ----------
    bandwidth : "cv" or float, default="cv"
        Radius h of the kernel. "cv" chooses the best of `bandwidth_grid`.
    alpha : "cv" or float, default="cv"
        Ridge penalty. "cv" chooses the best of `alpha_grid`.
    kernel : {"cv", "laplace", "gaussian", "precomputed"} or callable, default="cv"
        Kernel: ``exp(-r / h)`` or ``exp(-r^2 / (2 h^2))``. "cv" chooses the better one. "precomputed" means that X is
        the kernel matrix with the samples of `fit`; a callable ``kernel(Q, X)`` returns this matrix. In both cases,
        `bandwidth` and `scale` have no effect, `metric` must be None, and `points_` holds the indices of the samples.
    metric : {"whiten", "diagonal", "full"}, transformer or None, default=None
        Map of the coordinates, learned in `fit`. "diagonal" and "full": a :class:`~spectralcls.metric.GradientMetric`.
        "whiten": the inverse root of the features' covariance within eight slices of y, or only their scales, by a
        :class:`~spectralcls.metric.KernelMetric`. Otherwise any transformer, which is used unchanged if it is fitted.
        Bandwidths are in the units of the mapped points. None: no map.
    categorical_features : "from_dtype", array-like of bool, int or str, or None, default="from_dtype"
        Categorical columns, as a mask, positions or names. ``"from_dtype"`` means the columns of a data frame that do
        not hold numbers. Any two levels are equally far apart; levels of an ordered category are represented by their
        ranks.
    scale : "auto" or None, default="auto"
        ``"auto"`` scales each column of numbers to mean 0 and standard deviation 1, estimated robustly if there are
        outliers or rare values; columns of spread 1 stay unchanged. None uses the numbers unchanged.
    bandwidth_grid : array-like, default=None
        Bandwidths to try. By default, 2 and 12 times the median distance between points; for the Gaussian, 0.7 and 3
        times and, if the widest bandwidth tried so far is the best, also 12 and then 24 times.
    alpha_grid : array-like, default=None
        Ridge penalties to try, for points of mean weight one. By default, 0.001, 0.01 and 0.1. With the best bandwidth,
        1 and 10 are also tried as long as the largest is the best. With a Cholesky factor in float64, so are 0.0001 to
        0.000001 as long as the smallest is the best.
    max_tuning_samples : int or None, default=3000
        With more distinct points than this, parameters are tuned on a random subsample.
    max_exact_samples : int, default=6000
        Up to this many distinct points, the system is solved by a Cholesky factor of n^2 float64 numbers. Larger
        systems are solved by conjugate gradients or, from 20 000 points on, in cells (see Notes).
    tol : float, default=1e-4
        Residual of conjugate gradients, relative to the right-hand side.
    max_iter : int, default=200
        Maximum number of conjugate gradient iterations.
    rank : int, default=1000
        Rank of the part of the preconditioner that reaches beyond cells of 1000 points.
    random_state : int, RandomState instance or None, default=0
        Seed of folds, subsamples, landmarks and starting vectors. With an int, a refit gives identical results.
    verbose : bool, default=False
        Report progress on stderr.
    n_jobs : int or None, default=None
        Number of threads. None means all cores, unless joblib or threadpoolctl sets a lower limit.

    Attributes
    ----------
    metric_ : transformer or None
        Fitted map in use.
    kernel_ : str
        Kernel in use.
    bandwidth_, alpha_ : float
        Values in use.
    loss_ : float
        Leave-one-out squared error, relative to the variance of the targets.
    cv_results_ : dict of str to ndarray
        Scores of all candidates, in the layout of :class:`sklearn.model_selection.GridSearchCV`. A score is the
        negative leave-one-out squared error, relative to the variance. It is NaN for bandwidths tried only with the
        other kernel. Only present if tuned.
    best_score_ : float
        Mean test score of the chosen candidate. Only present if something was tuned.
    n_tuning_samples_ : int
        Number of (distinct) validated points. Only present if something was tuned.
    dual_coef_ : ndarray of shape (n_points, n_outputs)
        Coefficients of the kernels at `points_`, for standardized targets. Only present if a single system holds all
        points.
    points_ : ndarray of shape (n_points, n_features)
        Distinct training points.
    intercept_ : ndarray of shape (n_outputs,)
        Means of the targets, to which predictions tend far from all points.
    residuals_ : ndarray of shape (n_outputs,)
        Relative residuals of conjugate gradients. Only present if they solved the system.
    n_iter_ : int
        Iterations of conjugate gradients; 1 for a Cholesky factor.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features. Only present if X has string names.

    See Also
    --------
    KernelRidgeClassifier : Kernel ridge regression of class indicators.
    KernelRegressor : Local means and lines, for curves and few features.
    spectralcls.metric.GradientMetric : A metric learned with this regression.

    Notes
    -----
    Cost: an exact fit takes n^3 / 3 multiply-adds for each combination of bandwidth and alpha, and n^2 numbers of
    memory. An iterative fit takes a pass over the n^2 pairs for each iteration, and n (2 rank + 8 n_outputs + 1000)
    numbers of memory. A query needs n kernel evaluations.

    From 20 000 distinct points on, if there are more than `max_exact_samples`, four random trees partition the points
    into cells of at most 1500. A prediction is the mean, over the trees, of the regressions in the query's cells.
    Bandwidth and ridge minimize the leave-one-out loss within some cells; `loss_` is the loss at the points of these
    cells if all trees predict. A fit takes time proportional to n and memory for 4 n_points n_outputs coefficients; a
    query needs at most 6000 kernel evaluations. In cells, `tol`, `max_iter` and `rank` have no effect.

    Cells, and subsamples on which parameters are tuned, are solved in float32 if this changes predictions by less than
    0.003 of the targets' spread.

    Multiplying targets by a power of two, or adding a number without rounding, changes no bit of the standardized
    targets. A point is left out with all its weight. Equal rows with equal targets are one point, so that a weight of
    two equals a row given twice. The unit of weights does not matter.

    References
    ----------
    R. Rifkin, R. Lippert, "Notes on regularized least squares", MIT-CSAIL-TR-2007-025.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from spectralcls.regression import KernelRidgeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> KernelRidgeRegressor().fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.4
    True
    """

    _: KW_ONLY
    kernel: Literal["cv", "laplace", "gaussian", "precomputed"] | Callable[[Any, Any], Any] = "cv"

    _parameter_constraints = {"kernel": [StrOptions({"cv", "laplace", "gaussian", "precomputed"}), callable]}

    # Subsets of {.35, .7, 1.4, 2, 3, 6, 12, 24} medians were tried on the fifteen tables of bench_intervals (at most
    # 600 rows). With this one, the squared error is .3 % larger than with all values and both kernels, and at most 5 %
    # larger on any table. With the Laplace kernel alone, it is 4 to 6 % larger, and up to 50 % on a table; with the
    # classifier's grid, it is 6 % larger.
    _BANDWIDTH_FACTORS = {"laplace": (2.0, 12.0), "gaussian": (0.7, 3.0)}
    # If the truth is nearly linear, wide Gaussians and small ridges help: on 34 tables of at most 500 rows, 16
    # candidates instead of 12 reduced the geometric mean of the squared errors by 13 %, and no error increased by more
    # than 5 %. The reduction was 10 % with widths only up to 12, 10 % with ridges only down to 1e-5, and 4 % with the
    # further ridges alone.
    _FURTHER_FACTORS = {"gaussian": (12.0, 24.0)}

    def _metric_kinds(self):
        return RegressionKinds(self.random_state, self.n_jobs)

    def _alphas(self):
        return ridge_grid(-3, -1)

    def _more_alphas(self, dtype, n):
        # Coefficients grow as ridges shrink; in float32 sums and conjugate gradients, rounding cancels the gain.
        exact = dtype == np.float64 and n <= self.max_exact_samples
        return np.concatenate([ridge_grid(-6, -4) if exact else [], super()._more_alphas(dtype, n)])

    def _keep(self, choice, targets):
        self._standardization = targets.standardization
        if "_local" in vars(self):
            self._of_cells = targets.Y  # for intervals

    @property
    def intercept_(self) -> float | Array:
        """Means of the targets, (n_outputs,)."""
        return self._standardization.back(0.0)

    def _offsets(self):
        return 0.0 * self._standardization.center

    @property
    def _units(self):
        return self._standardization

    def _scaled(self, X):
        return self._model.values(X).astype(np.float64)

    def _leave_one_out(self):
        targets, predicted = self._left_out()
        changes = None
        if self._has_factor:
            of_model = self._smoother.residuals(self.dual_coef_, self._groups)
            changes = partial(self._smoother.changes, residuals=of_model, units=self._groups)
        kernel = self._smoother if self._is_given else None
        options = {"units": self._groups, "order": self._order, "kernel": kernel, "n_jobs": self.n_jobs}
        return Residuals.of(targets - predicted, self._weights, self.points_, changes, **options)

    def _left_out(self):
        """Standardized targets of the points, and their predictions when they are left out, (n, k)."""
        if "_local" in vars(self):
            targets = NumberTargets(self._of_cells, self._weights, self._standardization)
            return targets.Y, self._predictions_by_others(targets)
        targets = NumberTargets(self._smoother_targets(), self._weights, self._standardization)
        if "residuals_" in vars(self):
            return targets.Y, self._by_folds(targets)
        tried = self._tried() if len(self.points_) <= FEW else []
        if len(tried) < 2:
            return targets.Y, targets.Y - self._smoother.residuals(self.dual_coef_, self._groups)
        found, left_out = [], {"units": self._groups}
        for form, alpha in tried:
            K = self._matrix(self.points_, **form)
            found.append(solve(K, targets.Y, alpha, self._weights, **left_out).held_out)
        losses = np.stack([targets.judged(each).losses for each in found])
        best = chosen_by_others(losses, self._weights, self._groups)
        return targets.Y, np.stack(found)[best, np.arange(len(losses[0]))]

    def _tried(self):
        """The kernels, as arguments of `_matrix`, and the ridges that were compared; empty if nothing was tuned."""
        results = vars(self).get("cv_results_", {"params": [], "mean_test_score": []})
        found = []
        for params, score in zip(results["params"], results["mean_test_score"], strict=True):
            form = {name: params.get(name, getattr(self, f"{name}_")) for name in ("kernel", "bandwidth")}
            if np.isfinite(score):
                found.append((form | {"n_jobs": self.n_jobs}, params.get("alpha", self.alpha_)))
        return found

    def _predictions_left_out(self):
        """Prediction of each training sample by a model that has not seen it, (n, k); None if that takes more than a
        factor of one system."""
        return self._standardization.back(self._left_out()[1])[self._order] if self._has_factor else None

    def _target_weights(self):
        if "_local" in vars(self):
            return None
        Y, weights = self.dual_coef_, self._smoother.values
        if self._has_factor:
            Y, weights = self._smoother_targets(), self._smoother
        mean = self._standardization.back(np.zeros((1, Y.shape[1])))
        return weights, self._standardization.back(Y) - mean, mean[0], np.unique(self._order, return_index=True)[1]

    def _by_folds(self, targets):
        """Prediction of each point by a model of the other folds, (n, k)."""
        X, form = self.points_, {"kernel": self.kernel_, "bandwidth": self.bandwidth_, "n_jobs": self.n_jobs}
        folds, out = np.argsort(np.argsort(random_keys(X))) % FOLDS, np.empty(targets.Y.shape)
        if self._groups is not None:
            folds = group_folds(TrainingData.points(X, self._weights)._replace(groups=self._groups), FOLDS, 0)
        for fold in np.unique(folds):
            others = folds != fold
            solution = self._iterate(X[others], targets.take(others), self.alpha_, np.random.RandomState(0), form)
            coefficients = solution.coefficients.astype(X.dtype)
            out[~others] = kernel_sums(X[~others], X[others], weights=coefficients, **form)
        return out

    def _smoother_targets(self):
        """The standardized targets, (n, k), computed as ``(K + alpha W^-1) A``."""
        points = self._inputs.K[numbers_of(self.points_)] if self._is_given else self.points_
        fitted = self._model.values(points).astype(np.float64)
        return fitted + (self.alpha_ / self._weights)[:, None] * self.dual_coef_
