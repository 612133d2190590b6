"""The base class of the classifiers: fit, scores, labels, probabilities."""

from typing import Any, Self

import numpy as np
from sklearn.metrics import accuracy_score

from .._tuning.temperature import finite_scores
from .._utils.available import available_if
from .._utils.bases import ClassifierMixin
from .._utils.blocks import by_rows, computed
from .._utils.typing import Array, ArrayLike
from . import prediction_sets
from .base import Estimator, transactional


def has_probabilities(estimator):
    """True if a classifier learns the temperature of its scores; otherwise raises an AttributeError with the reason."""
    reason = estimator._without_probabilities
    if reason is not None:
        raise AttributeError(f"{type(estimator).__name__} has no probabilities: {reason}")
    return True


def refuse_many_classes(estimator, n_classes, most):
    """Raise if there are too many classes, because the time is quadratic in their number."""
    if n_classes > most:
        raise ValueError(
            f"{type(estimator).__name__} takes up to {most} classes, got {n_classes}: its time grows with the square "
            "of their number. Use ParzenClassifier or KernelRidgeClassifier, which learn all classes in one pass."
        )


class Classifier(ClassifierMixin, Estimator):
    """A classifier that scores the classes; the largest score wins.

    Subclasses learn from checked data in ``_learn(data)`` and score coordinates in ``_scores(X)``, an array (m, C) in
    which -inf means that a class is out of reach. Probabilities are the softmax of the scores divided by
    `temperature_`, by default 1. `_searched` are the parameters whose search fits the temperature.
    """

    classes_: Array  # (C,)
    _fewest_classes = 2
    _searched: tuple[str, ...] = ("bandwidth",)
    _without_leave_one_out: str | None = prediction_sets.NOT_IN_CLOSED_FORM

    conformal_p_values = prediction_sets.conformal_p_values
    predict_set = prediction_sets.predict_set

    @property
    def _without_probabilities(self):
        """None, or the reason why there are no probabilities."""
        if any(map(self._is_tuned, self._searched)):
            return None
        return (
            "their temperature is fitted to held-out points, which are scored only if the bandwidth is tuned. Use "
            'bandwidth="cv", for a known bandwidth h with bandwidth_grid=[h].'
        )

    @property
    def _temperature(self):
        return vars(self).get("temperature_", 1.0)

    @transactional
    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, *, groups: ArrayLike | None = None
    ) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training points, as an array or data frame; float32 stays float32, all other numbers become float64. The
            classifiers of kernel means and spectra also take a Dask array or data frame and leave it in place:
            predictions of Dask queries are then lazy, each task uses one thread unless `n_jobs` is larger, and
            `to_local` loads everything into memory.
        y : array-like of shape (n_samples,)
            Class labels of at least two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights. Weight k is equivalent to k copies of the sample, weight 0 to leaving it out. A
            sample is left out with all its weight. If another class has an equal row, its weight is left out unit by
            unit; the unit is the largest number that divides all weights.
        groups : array-like of shape (n_samples,), default=None
            Group of each sample, such as a patient with several rows. Whatever leaves out samples, to choose
            parameters or to judge predictions, leaves out whole groups; what is promised then holds for new groups.

        Returns
        -------
        self : object
            Fitted classifier.

        Raises
        ------
        ValueError
            If the data are invalid, there is only one class, or parameters do not suit the data. A fitted classifier
            stays unchanged.
        TypeError
            For a Dask collection, if the classifier learns only in memory.
        """
        self._inputs = self._inputs_for(X)
        data = self._inputs.fit(X, y, sample_weight, groups, at_least=self._fewest_classes)
        self.classes_ = data.classes
        self._learn(data)
        return self

    def _learn(self, data):
        raise NotImplementedError

    def _scores(self, X):
        raise NotImplementedError

    def _evidence(self, X):
        """Finite scores of the classes for the user's queries."""
        return by_rows(self._scores(self._queries(X)), finite_scores)

    def _winners(self, X):
        """The class of the largest score for each query, (m,)."""
        return self._scores(X).argmax(axis=1)

    def decision_function(self, X: Any) -> Array:
        """Score the classes; the largest score wins.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        scores : ndarray of shape (n_queries,) or (n_queries, n_classes), float64
            With two classes, the score of ``classes_[1]`` minus that of ``classes_[0]``. Scores are always finite:
            logarithmic scores of classes out of reach are placed below all others.

        Raises
        ------
        ValueError
            If queries contain infinity or differ from `fit` in the number of features.
        sklearn.exceptions.NotFittedError
            Before `fit`.

        Notes
        -----
        One pass over the n_queries x n_samples pairs: O(n_queries n_samples n_features) time, O(n_queries) memory.
        """
        scores = self._evidence(X)
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
            Labels, in the dtype of `classes_`. If no compact kernel reaches a query and the rule compares only kernel
            sums, the label is that of the nearest training point among the classes of positive prior probability.

        Raises
        ------
        ValueError
            If queries contain infinity or differ from `fit` in the number of features.
        sklearn.exceptions.NotFittedError
            Before `fit`.

        Notes
        -----
        At most the cost of `decision_function`.
        """
        best = self._winners(self._queries(X))
        return by_rows(best, self.classes_.take, dtype=self.classes_.dtype)

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy, which is computed immediately, even for Dask queries.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.
        y : array-like of shape (n_queries,)
            Labels of the queries.
        sample_weight : array-like of shape (n_queries,), default=None
            Weights of the queries.

        Returns
        -------
        accuracy : float
            Weighted fraction of the queries with a correct label.

        Raises
        ------
        ValueError
            If the queries are invalid, or the number of labels or weights is not the number of queries.
        sklearn.exceptions.NotFittedError
            Before `fit`.

        Notes
        -----
        Costs as much as `predict`.
        """
        y, predicted, sample_weight = computed(y, self.predict(X), sample_weight)
        return float(accuracy_score(y, predicted, sample_weight=sample_weight))

    @available_if(has_probabilities)
    def predict_log_proba(self, X: Any) -> Array:
        """Log probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        log_p : ndarray of shape (n_queries, n_classes)
            Log probabilities, finite and accurate even if the probability itself would underflow.

        Raises
        ------
        ValueError
            If queries contain infinity or differ from `fit` in the number of features.
        sklearn.exceptions.NotFittedError
            Before `fit`.

        Notes
        -----
        Costs as much as `decision_function`.
        """
        return log_posterior(self._evidence(X) / self._temperature)

    @available_if(has_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        p : ndarray of shape (n_queries, n_classes)
            Probabilities, the softmax of the scores divided by one temperature; each row adds up to one.

        Raises
        ------
        ValueError
            If queries contain infinity or differ from `fit` in the number of features.
        sklearn.exceptions.NotFittedError
            Before `fit`.

        Notes
        -----
        Costs as much as `decision_function`.
        """
        return np.exp(self.predict_log_proba(X))


def log_posterior(scores):
    """Logarithms (m, C) of the softmax of scores, an array or a Dask array."""
    relative = scores - scores.max(axis=1, keepdims=True)  # before exp, because scores may be as large as 1e40
    return relative - np.log(np.exp(relative).sum(axis=1, keepdims=True))


def temperature(estimator):
    """The divisor of the scores in the softmax; None without probabilities."""
    return None if estimator._without_probabilities is not None else estimator._temperature
