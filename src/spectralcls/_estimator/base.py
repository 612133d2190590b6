"""Base classes of the estimators, and the transaction that every fit is."""

import functools
from typing import Any, Self

import numpy as np
from scipy.special import logsumexp
from sklearn.base import ClassifierMixin, _fit_context

from .._inputs import validate_complete
from .._utils.typing import Array, ArrayLike
from .parameters import complete
from .state import Versioned
from .tables import TableMixin


def transactional(method=None, *, keep=False, nested_validation=False):
    """Decorator of `fit` and its kin: the estimator changes as a whole when they succeed, and otherwise not at all.

    The method works on a copy of the estimator, which the estimator becomes in one assignment at the end. Whatever
    ends it early, invalid data or Ctrl-C, therefore leaves the estimator as it was.

    Parameters
    ----------
    method : callable
        ``method(self, ...)`` may set attributes on `self` as it likes, and returns `self` or something else.
    keep : bool, default=False
        Whether the copy starts with what was learned before, as `partial_fit` needs it. Otherwise it starts with the
        parameters alone, so that no attribute survives that the new fit does not set. Arrays are not copied: a method
        that keeps them must not write into them.
    nested_validation : bool, default=False
        Whether estimators and functions that the method calls validate their own parameters, as those have to that a
        user hands in.
    """
    if method is None:
        return functools.partial(transactional, keep=keep, nested_validation=nested_validation)
    validated = _fit_context(prefer_skip_nested_validation=not nested_validation)(method)

    @functools.wraps(method)
    def whole(self, *args, **kwargs):
        trial = object.__new__(type(self))
        vars(trial).update(vars(self) if keep else _not_learned(self))
        result = validated(trial, *args, **kwargs)
        self.__dict__ = vars(trial)
        return self if result is trial else result

    return whole


def _not_learned(estimator):
    """The parameters, and what scikit-learn notes on an estimator: its metadata requests, its output format and its
    callbacks."""
    noted = {"_metadata_request", "_sklearn_output_config", "_skl_callbacks", "_parent_callback_ctx"}
    kept = {*estimator._get_param_names(), *noted}
    return {name: value for name, value in vars(estimator).items() if name in kept}


class Estimator(Versioned):
    """An estimator whose parameters of shared names have the shared meaning.

    For each parameter of the constructor that `PARAMETERS` lists, a subclass inherits the constraint and, in place of
    a line ``%(name)s`` of its docstring, the description; its own `_parameter_constraints` come first. `ATTRIBUTES`
    likewise replace their lines.
    """

    _of_complete_points = "its formulas are of complete points"  # why no value may be missing

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        complete(cls)

    def _check_numbers(self, X, y="no_validation", **options):
        """scikit-learn's `validate_data` for complete numbers; messages name the column of others, and say why."""
        return validate_complete(self, X, y, why=self._of_complete_points, **options)


class ScoreClassifier(TableMixin, ClassifierMixin, Estimator):
    """A classifier by scores of the classes, larger wins.

    Subclasses learn from checked data in ``_learn(data, y)`` and score checked queries in ``_scores(X)``, an array
    (m, C) in which -inf means that a class is out of reach.
    """

    @transactional
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training points, or a data frame; float32 stays float32, all other numbers become float64.
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
            For invalid data, one class only, or parameters that do not fit the data. A fitted classifier stays as it
            was.
        """
        data = self._check_training_data(X, y, sample_weight)
        self.classes_ = data.classes
        self._learn(self._prepared(data, y), y)
        return self

    def _prepared(self, data, y):
        """The training data as `_learn` is to see them, and `_scores` the queries through `_mapped`."""
        return data

    def _mapped(self, X):
        return X

    def _learn(self, data, y):
        raise NotImplementedError

    def _scores(self, X):
        raise NotImplementedError

    def _winners(self, X):
        """The best class of each checked query, (m,): that of the largest score, however it is found."""
        return self._scores(X).argmax(axis=1)

    def _check_queries(self, X):
        return self._mapped(self._check_points(X))

    def decision_function(self, X: Any) -> Array:
        """Score the classes, larger wins.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        scores : ndarray of shape (n_queries,) or (n_queries, n_classes), float64
            With two classes the score of ``classes_[1]`` less that of ``classes_[0]``. Always finite:
            logarithmic scores of classes out of reach are placed below all others.

        Raises
        ------
        ValueError
            For queries with NaN or infinity, or of another number of features than in `fit`.
        sklearn.exceptions.NotFittedError
            Before `fit`.

        Notes
        -----
        One pass over the n_queries x n_samples pairs: O(n_queries n_samples n_features) time, O(n_queries) memory.
        """
        scores = finite_scores(self._scores(self._check_queries(X)))
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: Any) -> Array:
        """Predict the best class of each query.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        y : ndarray of shape (n_queries,)
            Labels, in the dtype of `classes_`. Where no kernel reaches (compact kernels) and the rule compares nothing
            else, the class of the nearest training point, among the classes of positive prior probability.

        Raises
        ------
        ValueError
            For queries with NaN or infinity, or of another number of features than in `fit`.
        sklearn.exceptions.NotFittedError
            Before `fit`.

        Notes
        -----
        At most the cost of `decision_function`.
        """
        best = self._winners(self._check_queries(X))
        return self.classes_[best]


def finite_scores(scores):
    """Replace -inf by what stands below all finite scores of the row, by the range of float64's exponent if that is
    more than its rounding."""
    missing = np.isneginf(scores)
    if not missing.any():
        return scores
    lowest = np.where(missing, np.inf, scores).min(axis=1, keepdims=True)
    below = np.minimum(lowest + np.log(np.finfo(np.float64).tiny), np.nextafter(lowest, -np.inf))
    return np.where(missing, below, scores)


def log_posterior(log_joint):
    """Log posterior probabilities (m, C). Less the largest first: far away a log joint may be 1e40."""
    relative = log_joint - log_joint.max(axis=1, keepdims=True)
    return relative - logsumexp(relative, axis=1, keepdims=True)
