"""What the named classifiers share: parameters, bandwidth, fit and decision."""

from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from .._tuning import check_folds
from .._validation import check_bandwidth, check_training_data, unchanged_on_error
from ..bandwidth import silverman_bandwidth
from ..kernels import KERNELS
from .engine import class_rows, fit_class_means
from .points import TrainingPoints
from .search import search_bandwidth


class KernelMeanClassifier(ClassifierMixin, BaseEstimator):
    """A classifier that compares a query with the classes' means in the feature space of a kernel.

    Subclasses say which by `_rule`. All of them learn ``scores(y) = g(y) (k(y) A) - b``.
    """

    _parameter_constraints = {
        "bandwidth": [
            Interval(Real, 0, None, closed="neither"),
            StrOptions({"cv", "silverman", "silverman_per_class"}),
            "array-like",
        ],
        "kernel": [StrOptions(set(KERNELS))],
        "cv": [
            Interval(Integral, 2, None, closed="left"),
            StrOptions({"loo"}),
            HasMethods(["split", "get_n_splits"]),
            "array-like",
        ],
        "bandwidth_grid": ["array-like", None],
        "tie_break": [StrOptions({"middle", "smallest"})],
        "max_tuning_samples": [Interval(Integral, 2, None, closed="left"), None],
        "tolerance": [Interval(Real, 0, 1, closed="neither"), None],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    def _rule(self):
        raise NotImplementedError

    def _log_priors(self, n_classes):
        """Logarithms of given class priors; None where the classes' shares in the training data serve."""
        return None

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Fit the classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training points; float32 stays float32, everything else becomes float64.
        y : array-like of shape (n_samples,)
            Class labels, two classes at least.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights. Weight k equals giving the sample k times, weight 0 leaving it out.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        ValueError
            For invalid data, one class only, or parameters that do not fit the data.
        """
        with unchanged_on_error(self):
            return self._fit(X, y, sample_weight)

    def _fit(self, X, y, sample_weight):
        data = check_training_data(self, X, y, sample_weight)
        rule = self._rule()
        log_priors = self._log_priors(len(data.classes))
        search = None
        if isinstance(self.bandwidth, str) and self.bandwidth == "cv":
            search = search_bandwidth(
                rule, data, check_folds(self.cv, y, data.kept), kernel=self.kernel, cv=self.cv,
                grid=self.bandwidth_grid, tie_break=self.tie_break, max_samples=self.max_tuning_samples,
                random_state=self.random_state, log_priors=log_priors, n_jobs=self.n_jobs,
            )
            bandwidth = search.bandwidth
        elif isinstance(self.bandwidth, str):
            bandwidth = reference_bandwidth(self.bandwidth, data, self.kernel)
        else:
            bandwidth = check_bandwidth(self.bandwidth, len(data.classes))
        points = TrainingPoints.of(
            data.X, data.codes, len(data.classes), data.weights, self.tolerance, self.n_jobs
        )
        model = fit_class_means(rule, points, self.kernel, bandwidth, log_priors)
        self._store(data, bandwidth, search, model)
        return self

    def _store(self, data, bandwidth, search, model):
        self.classes_ = data.classes
        self.bandwidth_ = bandwidth
        for name in ("bandwidth_grid_", "cv_scores_", "n_tuning_samples_", "inverse_density_"):
            self.__dict__.pop(name, None)
        if search is not None:
            self.bandwidth_grid_ = search.grid
            self.cv_scores_ = search.scores
            self.n_tuning_samples_ = search.n_samples
        if model.inverse_density is not None:
            self.inverse_density_ = model.inverse_density
        self._model = model

    def _check_queries(self, X):
        check_is_fitted(self)
        return validate_data(self, X, dtype=[np.float64, np.float32], reset=False)

    def _scores(self, X):
        X = self._check_queries(X)
        return self._model.scores(X)

    def decision_function(self, X):
        """Scores of the classes, larger wins.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)

        Returns
        -------
        scores : ndarray of shape (n_queries,) or (n_queries, n_classes), float64
            With two classes the score of ``classes_[1]`` less that of ``classes_[0]``. Always finite:
            logarithmic scores of classes that a compact kernel does not reach are placed below all others.

        Notes
        -----
        One pass over the n_queries x n_samples pairs, O(n_queries) memory.
        """
        scores = finite_scores(self._scores(X))
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X):
        """Labels of the best classes.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)

        Returns
        -------
        y : ndarray of shape (n_queries,)
            Where no kernel reaches (compact kernels) and the rule compares nothing else, the class of the
            nearest training point.
        """
        scores = self._scores(X)
        return self.classes_[scores.argmax(axis=1)]


def finite_scores(scores):
    """Replace -inf by what stands below all finite scores of the row, by the range of float64's exponent."""
    missing = np.isneginf(scores)
    if not missing.any():
        return scores
    lowest = np.where(missing, np.inf, scores).min(axis=1, keepdims=True)
    return np.where(missing, lowest + np.log(np.finfo(np.float64).tiny), scores)


def reference_bandwidth(rule, data, kernel):
    """Silverman's rule for all samples, or for each class; 1 where all samples are equal."""
    if not np.ptp(data.X, axis=0).any():
        return 1.0
    pooled = silverman_bandwidth(data.X, data.weights, kernel=kernel)
    if rule == "silverman":
        return pooled
    return np.array([
        silverman_bandwidth(data.X[own], None if data.weights is None else data.weights[own], kernel=kernel)
        if np.ptp(data.X[own], axis=0).any()
        else pooled
        for own in class_rows(data.codes, len(data.classes))
    ])
