"""Label quality and prediction sets, by leaving out training samples."""

from typing import Any

import numpy as np

from .._estimator import leave_one_out, mapped, within
from .._utils.typing import Array, ArrayLike


def label_quality(estimator: Any) -> Array:
    """How well each training label or target agrees with all other training points, from 0 to 1.

    For classes it is the probability of the label; for numbers, the share of the training samples whose residuals,
    relative to their usual size, are at least as large. A low value is a reason to check the label or target.

    Parameters
    ----------
    estimator : estimator
        A fitted classifier that has `predict_set`, or a fitted regressor of this package, also at the end of a pipeline
        or in a search.

    Returns
    -------
    quality : ndarray of shape (n_samples,)
        One value for each training sample of positive weight, in the order of `fit` and later `partial_fit`. NaN for a
        sample that no other one reaches (compact kernels), or that :class:`~spectralcls.AutoClassifier` or
        :class:`~spectralcls.AutoRegressor` never held out.

    Raises
    ------
    AttributeError
        If the estimator does not leave out its training points; the message gives the reason.
    sklearn.exceptions.NotFittedError
        Before `fit`.

    Notes
    -----
    The value is the share of the class in the class sums for kernel means, its probability for kernel ridge
    regression, its share of the explained parts for PerTurbo, and its probability in the vote of members that had not
    seen the point for `AutoClassifier`. Of several targets, the one with the largest relative residual counts. Cost and
    memory are those of the first call of `predict_set` or `predict_interval`, which shares the result. A kernel ridge
    classifier tuned on all of its points has the result from `fit`, unless it was loaded from a file.

    References
    ----------
    .. [1] C. Northcutt, L. Jiang, I. Chuang, "Confident Learning: Estimating Uncertainty in Dataset Labels", Journal of
       Artificial Intelligence Research 70, 2021, pp. 1373-1411.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls import ParzenClassifier
    >>> from spectralcls.inspection import label_quality
    >>> X, y = load_iris(return_X_y=True)
    >>> y[7] = 2  # a setosa
    >>> int(label_quality(ParzenClassifier().fit(X, y)).argmin())
    7
    """
    points = leave_one_out(within(estimator)[0])
    return points.support() if points.order is None else np.append(points.support(), np.nan)[points.order]


def predict_set(estimator: Any, X: ArrayLike, coverage: float = 0.9, by_class: bool = False) -> Array:
    """Find the classes that cannot be excluded for each query, as the classifiers' method of the same name does.

    Parameters
    ----------
    estimator : estimator
        A fitted classifier that has `predict_set`, also at the end of a pipeline or in a search.
    X : array-like of shape (n_queries, n_features)
        Queries as the pipeline takes them.
    coverage : float, default=0.9
        Probability, in (0, 1), that the set contains the true class.
    by_class : bool, default=False
        Whether the coverage holds within each class, not only over all classes together.

    Returns
    -------
    members : ndarray of bool of shape (n_queries, n_classes)
        Whether each of `classes_` is in the set.

    Raises
    ------
    AttributeError
        If the classifier cannot leave out its training points in closed form; the message gives the reason.
    sklearn.exceptions.NotFittedError
        Before `fit`.

    Notes
    -----
    The coverage is that of the classifier. Earlier steps that learned from the labels lower it, as does a metric
    learned from the same samples.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.decomposition import PCA
    >>> from sklearn.pipeline import make_pipeline
    >>> from spectralcls import ParzenClassifier
    >>> from spectralcls.inspection import predict_set
    >>> X, y = load_iris(return_X_y=True)
    >>> pipeline = make_pipeline(PCA(2), ParzenClassifier()).fit(X, y)
    >>> predict_set(pipeline, X[:1]).tolist()
    [[True, False, False]]
    """
    model, steps = within(estimator)
    leave_one_out(model)
    return model.predict_set(mapped(steps, X), coverage, by_class)
