"""Binary problems on an embedding, and the machines for them: the paper's linear SVM, and any other."""

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.svm import LinearSVC
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from .._typing import ArrayLike, RandomState


def linear_svm(features: ArrayLike, random_state: RandomState = None) -> LinearSVC:
    """Unfitted linear SVM with hinge loss and C = 1 / mean |x|^2, the default of SVM-light.

    It is the machine with C = 1 for samples scaled to a mean square of 1, with the bias on their scale.

    Parameters
    ----------
    features : ndarray or sparse array of shape (n_samples, n_features)
        Training samples, for the scale of C.
    random_state : int, RandomState instance or None, default=None
        Of the machine, whose solver shuffles the samples.

    Returns
    -------
    machine : LinearSVC
        The machine, not fitted.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from spectralcls.spectral_kernel import linear_svm
    >>> linear_svm(X, random_state=0).fit(X, y == 0).score(X, y == 0)
    1.0
    """
    squares = features.multiply(features) if sp.issparse(features) else features**2
    mean_square = float(squares.sum(dtype=np.float64)) / features.shape[0] or 1.0
    return LinearSVC(
        C=1 / mean_square, intercept_scaling=np.sqrt(mean_square), loss="hinge", max_iter=100_000,
        random_state=random_state,
    )


def fit_binary(estimator, features, target):
    """The estimator fitted; a label that all samples share is predicted for all."""
    if target.all() or not target.any():
        estimator = DummyClassifier(strategy="most_frequent")
    return estimator.fit(features, target)


def decisions(estimator, features):
    if len(estimator.classes_) == 1:
        return np.full(len(features), 1.0 if estimator.classes_[0] else -1.0)
    if hasattr(estimator, "decision_function"):
        return estimator.decision_function(features)
    return estimator.predict_proba(features)[:, 1] - 0.5


def score_folds(estimator, features, target, splits, score):
    if not splits:
        return np.nan
    truth, predicted = [], []
    for train, test in splits:
        fitted = fit_binary(clone(estimator), features[train], target[train])
        truth.append(target[test])
        predicted.append(decisions(fitted, features[test]))
    truth, predicted = np.concatenate(truth), np.concatenate(predicted)
    return score(predicted[:, None], truth[:, None], np.ones(len(truth)))[0]


def binary_targets(y):
    """Whether y is multilabel, its labels, and the boolean targets of the binary problems, (n, p)."""
    if sp.issparse(y) or (y.ndim == 2 and y.shape[1] > 1):
        kind = type_of_target(y)
        if kind != "multilabel-indicator":
            raise ValueError(f"Unknown label type: {kind}. Use one column of labels, or an indicator matrix.")
        y = y.toarray() if sp.issparse(y) else y
        return True, np.arange(y.shape[1]), y.astype(bool)
    y = column_or_1d(y, warn=True)
    check_classification_targets(y)
    classes = np.unique(y)
    if len(classes) < 2:
        raise ValueError("The number of classes has to be greater than one; got 1 class")
    return False, classes, y[:, None] == (classes if len(classes) > 2 else classes[1:])
