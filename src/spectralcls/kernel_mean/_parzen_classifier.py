"""The Bayes rule with Parzen density estimates of the classes."""

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from .._estimator import log_posterior, with_parameters
from .._expansion import Rule
from .._utils.typing import Array, ArrayLike, ClassWeight
from .._utils.validation import check_priors, weights_of_classes
from ..kernels import log_normalizer
from ._kernel_mean_classifier import KernelMeanClassifier


@with_parameters
class ParzenClassifier(KernelMeanClassifier):
    """Bayes classifier with a Parzen (kernel) density estimate for each class.

    A query is assigned to the class with the largest ``P_c p_c(y)``, where p_c is the mean of kernels centered at the
    training points of the class. All computations use logarithms: even a query a thousand bandwidths from all data has
    a finite log density (with the Gaussian kernel) and the correct posterior.

    Parameters
    ----------
    bandwidth : {"cv", "cv_per_class", "silverman", "silverman_per_class"}, float or dict, default="cv"
        Radius h of the kernel. ``"cv"`` chooses the bandwidth by cross-validation, ``"silverman"`` uses the
        normal-reference rule for all samples, and ``"silverman_per_class"`` uses it for each class. ``"cv_per_class"``
        multiplies these class bandwidths by the best common factor; `cv_results_` then contains the corresponding
        bandwidths for all samples. A dict ``{label: h}`` gives one bandwidth for each class. The bandwidth is 1 if the
        data have no spread. ``"cv_per_class"`` refits for each fold and factor.
    priors : array-like of shape (n_classes,), dict or None, default=None
        Prior probabilities, in the order of `classes_` or as ``{label: p}``. None means the class proportions of the
        training data.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply the sample weights: ``{label: weight}``, or ``"balanced"`` for weights
        inversely proportional to the class frequencies. None means that all are one.
    kernel : str, default="gaussian"
        Shape of the kernel: "gaussian", "laplace", or one of "epanechnikov", "uniform", "quartic", "triweight",
        "cosine" and "linear", which are compact: they vanish beyond the bandwidth.
    metric : {"whiten", "diagonal", "full"}, transformer or None, default=None
        Map of the coordinates, learned in `fit`: a :class:`~spectralcls.metric.KernelMetric` of this kind, or any
        transformer. A fitted transformer is used unchanged, but cloning undoes its fit unless it is in a
        :class:`sklearn.frozen.FrozenEstimator`. Bandwidths are in the units of the mapped points. None: no map.
    categorical_features : "from_dtype", array-like of bool, int or str, or None, default="from_dtype"
        Categorical columns, as a mask, positions or names. ``"from_dtype"`` means the columns of a data frame that do
        not hold numbers. All levels of a category have the same distance from each other; the levels of an ordered
        category are represented by their ranks. The distance is tuned for each column together with the bandwidth; it
        is 0 for an uninformative category.
    scale : "auto" or None, default="auto"
        ``"auto"`` scales each column of numbers to mean 0 and standard deviation 1, estimated robustly if there are
        outliers or rare values; columns of spread 1 stay unchanged. With labels and a bandwidth to tune, all columns
        are divided by one number instead if this makes held-out labels clearly more likely; `scale_` is then "shared"
        instead of "each". Scales are learned once, in `fit` or the first `partial_fit`, and bandwidths are in these
        units. None uses the numbers unchanged.
    cv : int, "loo", splitter or list of splits, default=5
        Folds of the cross-validation. An int means random stratified folds, and ``"loo"`` means leave-one-out. Both
        keep equal rows of a class together, unless another class contains such a row too, so that no point is validated
        against its copy. The test sets of a splitter must partition the samples.
    scoring : {"auto", "accuracy", "balanced_accuracy", "neg_log_loss"}, default="auto"
        Score to maximize on held-out points. ``"auto"`` chooses the least log loss among the candidates within half a
        standard error of the best accuracy.
    bandwidth_grid : array-like, default=None
        Bandwidths to try; by default :func:`~spectralcls.kernels.bandwidth_grid` of the training data.
    max_tuning_samples : int or None, default=20000
        If there are more points, parameters are tuned on a random subsample of this size, stratified by class;
        `n_tuning_samples_` is the number used. A bandwidth tuned with m of n points is scaled to n points by the factor
        ``(m / n) ** (1 / (d + 4))``. Here m counts the points against which the subsample is validated: all points of
        the other folds, but at most 200 000 if the data are in memory.
    tolerance : float or None, default=None
        Relative error allowed in kernel sums, in (0, 1). None means exact up to rounding. Approximate sums are used if
        they are predicted to be faster; tuning always uses exact sums. The errors of the joint densities ``P_c p_c(y)``
        of a query add up to at most ``tolerance`` times the sum of these densities; its posterior probabilities are off
        by at most ``tolerance / (1 - tolerance)``.
    random_state : int, RandomState instance or None, default=0
        Seed of folds, subsamples, landmarks and starting vectors. With an int, a refit gives identical results.
    n_jobs : int or None, default=None
        Number of threads. None means all cores, unless joblib or threadpoolctl sets a lower limit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    class_prior_ : ndarray of shape (n_classes,)
        Prior probabilities.
    metric_ : transformer or None
        Fitted map in use.
    bandwidth_ : float or ndarray of shape (n_classes,)
        Bandwidth in use.
    cv_results_ : dict of str to ndarray
        Scores of all candidates, in the layout of :class:`sklearn.model_selection.GridSearchCV`: `params`, a column
        ``param_<name>`` for each parameter, `mean_test_score` (accuracy weighted by `sample_weight`, or the score that
        `scoring` names), `std_test_score`, `rank_test_score`, and ``split<k>_test_score`` for each fold. Only present
        if something was tuned. Of tied candidates, the middle one is chosen (the lower of two).
    best_score_ : float
        Mean test score of the chosen candidate. Only present if something was tuned.
    n_tuning_samples_ : int
        Number of (distinct) validated points. Only present if something was tuned.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features. Only present if X has string names.

    See Also
    --------
    ISEClassifier : Compares distances to class means instead of densities.

    Notes
    -----
    Cost: a fit with a given bandwidth takes O(n d). Tuning takes one pass over the pairs of at most
    `max_tuning_samples` points with all points, and `predict` takes one over the m n pairs of queries and points.
    Memory beyond the data is O(n + m).

    References
    ----------
    .. [1] E. Parzen, "On estimation of a probability density function and mode", The Annals of Mathematical
       Statistics 33 (3), 1962, pp. 1065-1076.
    .. [2] B. W. Silverman, "Density Estimation for Statistics and Data Analysis", Chapman and Hall, 1986.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls import ParzenClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> ParzenClassifier(bandwidth=0.5).fit(X, y).predict(X[:2])
    array([0, 0])
    """

    _: KW_ONLY
    priors: ArrayLike | dict | None = None
    class_weight: ClassWeight = None

    _parameter_constraints = {"priors": ["array-like", dict, None]}
    _without_probabilities = None
    _temperature = 1.0

    def _rule(self):
        return Rule("density")

    def _make_inputs(self):
        inputs = super()._make_inputs()
        inputs.class_weight = None  # changes the priors, not the points
        return inputs

    def _log_priors(self, data):
        if self.priors is None and self.class_weight is None:
            return None
        if self.priors is None:
            priors = data.class_weight / data.class_weight.sum()
        else:
            priors = check_priors(self.priors, data.classes)
        with np.errstate(divide="ignore"):
            if self.class_weight is None:
                return np.log(priors)
            log_priors = np.log(priors * self._class_weights(data))
        return log_priors - np.logaddexp.reduce(log_priors)

    def _importance(self, data):
        if self.priors is None and self.class_weight is None:
            return None
        if self.priors is None:
            return self._class_weights(data)
        # In the population described by the priors, the weight of a sample is the prior of its class divided by the
        # proportion of the class in the training set.
        share = data.class_weight / data.class_weight.sum()
        return check_priors(self.priors, data.classes) / share * self._class_weights(data)

    def _class_weights(self, data):
        if self.class_weight is None:
            return np.ones(data.n_classes)
        return weights_of_classes(self.class_weight, data.classes, data.class_weight)

    def _learn_means(self, data, rule, log_priors, before=None):
        super()._learn_means(data, rule, log_priors, before)
        if log_priors is None:
            self.class_prior_ = data.class_weight / data.class_weight.sum()
        else:
            self.class_prior_ = np.exp(log_priors)
        # The scores omit the normalizing constant. If bandwidths are class-wise, it is that of the narrowest kernel.
        self._log_constant = -log_normalizer(self.kernel, data.X.shape[1], np.min(self.bandwidth_))

    def predict_log_proba(self, X: Any) -> Array:
        """Log posterior probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        log_p : ndarray of shape (n_queries, n_classes)
            Log probabilities; -inf for a class out of reach of a compact kernel. If all classes are out of reach, the
            nearest training point decides: its class has probability one. Classes with prior probability zero do not
            take part.

        Notes
        -----
        One pass over the n_queries x n_samples pairs: O(n_queries n_samples n_features) time, O(n_queries) memory.
        """
        return log_posterior(self._scores(self._queries(X)))

    def score_samples(self, X: Any) -> Array:
        """Log density ``log sum_c P_c p_c(y)`` of each query.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        log_density : ndarray of shape (n_queries,)
            Logarithm of a density that integrates to one in the units of X (with a `metric`, over the mapped points);
            -inf out of reach of a compact kernel.

        Notes
        -----
        One pass over the n_queries x n_samples pairs.
        """
        X = self._queries(X)
        log_density = self._model.log_total(X) + self._log_constant
        return log_density if self._inputs.step is not None else log_density - self._inputs.log_jacobian(X)
