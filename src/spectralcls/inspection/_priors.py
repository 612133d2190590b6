"""Populations with class shares that differ from the training data."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from .._estimator import within
from .._utils.advice import tell
from .._utils.bases import BaseEstimator, ClassifierMixin
from .._utils.typing import Array, ArrayLike
from .._utils.validation import check_priors

TOL = 1e-9  # relative change of a share in the last step; 1e-7 to 1e-12 agree within .001 standard errors
MAX_ITER = 10_000


@dataclass(frozen=True)
class Priors:
    """Estimated shares of the classes.

    Parameters
    ----------
    priors : ndarray of shape (n_classes,)
        In the order of `classes_`.
    standard_errors : ndarray of shape (n_classes,)
        Sampling errors of the queries, from the curvature of the likelihood. The error of the model adds to them if
        classes overlap. For a class without support among the queries, the entry is the share at which the likelihood
        has fallen by a factor of e.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralcls.inspection import Priors
    >>> Priors(np.array([0.25, 0.75]), np.array([0.05, 0.05])).priors.sum()
    np.float64(1.0)
    """

    priors: np.ndarray
    standard_errors: np.ndarray


def estimate_priors(estimator: Any, X: ArrayLike) -> Priors:
    """Estimate the shares of the classes among queries, assuming that only these shares differ from the training data.

    Parameters
    ----------
    estimator : estimator
        A fitted classifier with `predict_proba` and `class_prior_`, such as :class:`~spectralcls.ParzenClassifier`,
        :class:`~spectralcls.regression.KernelRidgeClassifier` or :class:`~spectralcls.AutoClassifier`, also at the end
        of a pipeline or in a search. Its probabilities must be calibrated.
    X : array-like of shape (n_queries, n_features)
        Queries.

    Returns
    -------
    priors : Priors
        Maximum likelihood estimates with standard errors. No share is zero: a query that fits all classes equally is
        added, because a class with share zero would be excluded whatever the queries.

    Raises
    ------
    AttributeError
        If the classifier has no `predict_proba` or no `class_prior_`.

    Warns
    -----
    ConvergenceWarning
        If the classes overlap so much that the iteration has not converged after 10 000 steps.

    See Also
    --------
    with_priors : A classifier for this population.

    Notes
    -----
    Uses the EM algorithm of [1]_. The log-likelihood is concave in the shares, so every start leads to the same
    maximum.

    References
    ----------
    .. [1] M. Saerens, P. Latinne, C. Decaestecker, "Adjusting the Outputs of a Classifier to New a Priori
       Probabilities: A Simple Procedure", Neural Computation 14 (1), 2002, pp. 21-41.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls import ParzenClassifier
    >>> from spectralcls.inspection import estimate_priors
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ParzenClassifier().fit(X[::2], y[::2])
    >>> estimate_priors(model, X[1:51:2]).priors.round(1)
    array([1., 0., 0.])
    """
    ratio = np.asarray(_ratios(estimator, X))
    n, n_classes = ratio.shape
    q = np.full(n_classes, 1 / n_classes)
    for _ in range(MAX_ITER):
        before, gain = q, np.mean(ratio / (ratio @ q)[:, None], axis=0)
        q = (n * q * gain + 1 / n_classes) / (n + 1)
        if np.max(np.abs(q - before) / before) < TOL:
            break
    else:
        tell(f"The shares still change after {MAX_ITER} steps.", ConvergenceWarning)
    relative, found = ratio / (ratio @ q)[:, None], q > 2 / n_classes / (n + 1)
    errors = 1 / np.maximum(n - relative.sum(axis=0), 1.0)
    basis = np.linalg.svd(np.ones((1, found.sum())))[2][1:]  # changes of shares add up to zero
    information = basis @ (relative[:, found].T @ relative[:, found]) @ basis.T
    values, vectors = np.linalg.eigh(information)  # the error is huge if nothing determines a difference of shares
    variance = (basis.T @ vectors) ** 2 @ (1 / np.maximum(values, np.finfo(np.float64).eps * n))
    errors[found] = np.sqrt(variance + np.sum(errors[~found] ** 2) / found.sum())
    return Priors(q, errors)


def with_priors(estimator: Any, priors: ArrayLike | dict) -> "PriorShiftClassifier":
    """Adjust a fitted classifier to a population with other class shares.

    Parameters
    ----------
    estimator : estimator
        A fitted classifier with `predict_proba` and `class_prior_`, also in a pipeline or search; it is not changed.
    priors : array-like of shape (n_classes,) or dict
        Shares in the order of `classes_`, or by label, adding up to one.

    Returns
    -------
    shifted : PriorShiftClassifier
        Fitted; calling `fit` again does not change the classifier.

    Raises
    ------
    ValueError
        For invalid priors.
    AttributeError
        If the classifier has no `predict_proba` or no `class_prior_`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls import ParzenClassifier
    >>> from spectralcls.inspection import with_priors
    >>> X, y = load_iris(return_X_y=True)
    >>> rare = with_priors(ParzenClassifier().fit(X, y), [0.98, 0.01, 0.01])
    >>> rare.predict(X[:2])
    array([0, 0])
    """
    check_is_fitted(estimator)
    return PriorShiftClassifier(FrozenEstimator(estimator), priors).fit(None, None)


class PriorShiftClassifier(ClassifierMixin, BaseEstimator):
    """The probabilities of a classifier, adjusted to other shares of the classes by Bayes' rule.

    Parameters
    ----------
    estimator : estimator
        A classifier with `predict_proba` and `class_prior_`; in a :class:`sklearn.frozen.FrozenEstimator` it is not
        fitted again.
    priors : array-like of shape (n_classes,) or dict
        Shares of the classes in the population of the queries, in the order of `classes_` or by label.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    estimator_ : estimator
        The fitted classifier.
    priors_ : ndarray of shape (n_classes,)
        The shares in use.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls import ParzenClassifier
    >>> from spectralcls.inspection import PriorShiftClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> PriorShiftClassifier(ParzenClassifier(), [0.2, 0.4, 0.4]).fit(X, y).predict(X[:2])
    array([0, 0])
    """

    def __init__(self, estimator: Any, priors: ArrayLike | dict):
        self.estimator = estimator
        self.priors = priors

    def fit(self, X: Any, y: ArrayLike, **fit_params: Any) -> Self:
        """Fit the classifier unless it is frozen.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training points.
        y : array-like of shape (n_samples,)
            Labels.
        **fit_params : dict
            Passed to the classifier's `fit`, such as `sample_weight`.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        estimator = clone(self.estimator).fit(X, y, **fit_params)
        _check_adjustable(estimator)
        self.priors_ = check_priors(self.priors, estimator.classes_)
        self.estimator_ = estimator
        self.classes_: Array = estimator.classes_
        return self

    def predict_proba(self, X: Any) -> Array:
        """Probability of each class in the other population.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        p : ndarray of shape (n_queries, n_classes)
            Each row adds up to one.
        """
        check_is_fitted(self)
        joint = _ratios(self.estimator_, X) * self.priors_
        return joint / joint.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> Array:
        """Predict the most probable class of each query in the other population.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        y : ndarray of shape (n_queries,)
            Labels.
        """
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def _ratios(estimator, X):
    """Class densities (m, C) up to a factor per query, with maximum 1."""
    _check_adjustable(estimator)
    prior = np.asarray(within(estimator)[0].class_prior_)
    p = np.maximum(estimator.predict_proba(X), np.finfo(np.float64).tiny)  # finite logarithms for excluded classes
    ratio = np.where(prior > 0, p / np.where(prior > 0, prior, 1.0), 0.0)
    return ratio / ratio.max(axis=1, keepdims=True)


def _check_adjustable(estimator):
    model = within(estimator)[0]
    for name, owner in {"predict_proba": estimator, "class_prior_": model}.items():
        if not hasattr(owner, name):
            kind = type(model).__name__
            raise AttributeError(f"{kind} has no {name}, which is needed to change the class shares.")
