"""What each feature says of a query."""

from typing import Any

import numpy as np

from .._estimator import integrates_missing
from .._utils.typing import Array, ArrayLike
from ._influence import check_local


def feature_effect(estimator: Any, X: ArrayLike) -> Array:
    """Change of the class probabilities by each feature: known, less unknown with all others known.

    Parameters
    ----------
    estimator : estimator
        A fitted :class:`~spectralcls.ParzenClassifier` with the Gaussian kernel, without `metric` and `tolerance`: it
        integrates out what a query lacks, so that the effect is exact.
    X : array-like of shape (n_queries, n_features)
        Queries, numbers.

    Returns
    -------
    effect : ndarray of shape (n_queries, n_features, n_classes)
        Adds up to zero over the classes; zero for a value that is missing.

    Raises
    ------
    AttributeError
        If the classifier does not integrate out what a query lacks.
    ValueError
        For invalid queries.
    TypeError
        For an estimator of Dask collections.

    Notes
    -----
    The passes of `predict_proba`, one for each feature and one more.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls import ParzenClassifier
    >>> from spectralcls.inspection import feature_effect
    >>> X, y = load_iris(return_X_y=True)
    >>> feature_effect(ParzenClassifier(bandwidth=0.3).fit(X, y), X[70:71]).shape
    (1, 4, 3)
    """
    check_local(estimator)
    if not integrates_missing(estimator) or not hasattr(estimator, "predict_proba"):
        raise AttributeError(
            f"This {type(estimator).__name__} does not integrate out what a query lacks; a ParzenClassifier with the "
            "Gaussian kernel, without metric and tolerance, does."
        )
    known = estimator.predict_proba(X)
    X = np.asarray(X, dtype=np.float64)
    out = np.empty((X.shape[0], X.shape[1], known.shape[1]))
    for j in range(X.shape[1]):
        without = X.copy()
        without[:, j] = np.nan
        out[:, j] = known - estimator.predict_proba(without)
    return out
