"""Binary problems on an embedding, and their classifiers: the paper's linear SVM, or another classifier."""

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.svm import LinearSVC
from sklearn.utils import check_array
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d, has_fit_parameter

from .._utils.from_sklearn import check_weights
from .._utils.typing import ArrayLike, RandomState
from .._utils.validation import check_class_labels

_MORE_STEPS = 10  # factor by which five more digits usually increase the number of solver steps


def linear_svm(
    features: ArrayLike, random_state: RandomState = None, sample_weight: ArrayLike | None = None
) -> LinearSVC:
    """Create a linear SVM with hinge loss and C = 1 / mean |x|^2, the default of SVM-light.

    It equals the SVM with C = 1 for samples scaled to a mean squared length of 1, with the bias on the same scale.

    Parameters
    ----------
    features : ndarray or sparse array of shape (n_samples, n_features)
        Training samples, which determine the scale of C.
    random_state : int, RandomState instance or None, default=None
        Seed of the solver, which shuffles the samples.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples in the mean.

    Returns
    -------
    machine : LinearSVC
        The SVM, not fitted.

    Raises
    ------
    ValueError
        If the features are not a finite matrix, or the weights are invalid.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from spectralcls.spectral import linear_svm
    >>> linear_svm(X, random_state=0).fit(X, y == 0).score(X, y == 0)
    1.0
    """
    features = check_array(features, accept_sparse=True, dtype=[np.float64, np.float32])
    if sample_weight is not None:
        sample_weight = check_weights(sample_weight, features, ensure_non_negative=True)
    squares = features.multiply(features) if sp.issparse(features) else features**2
    lengths = np.asarray(squares.sum(axis=1, dtype=np.float64)).ravel()
    mean_square = float(np.average(lengths, weights=sample_weight)) or 1.0
    return LinearSVC(
        C=1 / mean_square,
        intercept_scaling=np.sqrt(mean_square),
        loss="hinge",
        max_iter=100_000,
        random_state=random_state,
    )


def fit_binary(estimator, features, target, weights=None):
    """Fit the estimator; if all samples have the same label, fit one that always predicts this label."""
    if target.all() or not target.any():
        estimator = DummyClassifier(strategy="most_frequent")
    if weights is None:
        return estimator.fit(features, target)
    if not has_fit_parameter(estimator, "sample_weight"):
        raise ValueError(f"The given estimator {type(estimator).__name__} does not support sample_weight.")
    return estimator.fit(features, target, sample_weight=weights)


def fit_tight_tolerance(machine, features, target, weights):
    """Fit a linear SVM accurate to nine digits, so that a weight of two equals a sample given twice.

    If the solver does not reach this accuracy, as for labels independent of the features, its default tolerance is
    used. If the default already takes many steps, nine digits are not tried.
    """
    fitted = fit_binary(clone(machine), features, target, weights)
    most = machine.max_iter
    if _steps(fitted) * _MORE_STEPS > most:
        return fitted
    precise = fit_binary(clone(machine).set_params(tol=1e-9), features, target, weights)
    return precise if _steps(precise) < most else fitted


def _steps(fitted):
    return int(np.max(getattr(fitted, "n_iter_", 0)))


def decisions(estimator, features):
    if len(estimator.classes_) == 1:
        return np.full(len(features), 1.0 if estimator.classes_[0] else -1.0)
    if hasattr(estimator, "decision_function"):
        return estimator.decision_function(features)
    return estimator.predict_proba(features)[:, 1] - 0.5


def score_folds(estimator, features, target, weights, folds, score):
    """Score of the out-of-fold decisions for all samples; NaN without folds."""
    if folds is None:
        return np.nan
    decided = np.empty(len(target))
    for fold in np.unique(folds):
        test = folds == fold
        own = None if weights is None else weights[~test]
        decided[test] = decisions(fit_binary(clone(estimator), features[~test], target[~test], own), features[test])
    return score(decided[:, None], target[:, None], np.ones(len(target)) if weights is None else weights)[0]


def binary_targets(y):
    """Return whether y is multilabel, the labels, and the boolean targets (n, p) of the binary problems."""
    if sp.issparse(y) or (y.ndim == 2 and y.shape[1] > 1):
        kind = type_of_target(y)
        if kind != "multilabel-indicator":
            raise ValueError(f"Unknown label type: {kind}. Use one column of labels, or an indicator matrix.")
        y = y.toarray() if sp.issparse(y) else y
        return True, np.arange(y.shape[1]), y.astype(bool)
    y = column_or_1d(y, warn=True)
    check_class_labels(y)
    classes = np.unique(y)
    if len(classes) < 2:
        raise ValueError("The number of classes has to be greater than one; got 1 class")
    return False, classes, y[:, None] == (classes if len(classes) > 2 else classes[1:])
