"""The effect of each feature of a query on the probabilities of the classes, or on a predicted number."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from .._estimator import columns, drawn, integrates_missing, mapped, names_after
from .._inputs.frames import NUMBER, Column, Columns
from .._utils.typing import Array, ArrayLike
from ._within import model_within

ROWS = 10_000  # limit on the rows of a table that are predicted at once


@dataclass(frozen=True)
class FeatureEffect:
    """The effect of knowing each feature; ``np.asarray(effect)`` is `values`.

    Parameters
    ----------
    values : ndarray of shape (n_queries, n_features, n_classes)
        The probability with the feature minus that without it. For a regression, the same of the prediction, of
        shape (n_queries, n_features), with a last axis if there are several outputs.
    features : ndarray of shape (n_features,)
        Their names; ``x0``, ``x1``, ... if X had none.
    classes : ndarray of shape (n_classes,) or None
        The classes; None for a regression.
    exact : bool
        Whether the features were integrated out, given all others; otherwise their values were drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls import KernelRidgeClassifier
    >>> from spectralcls.inspection import feature_effect
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> effect = feature_effect(KernelRidgeClassifier().fit(X, y), X[70:71])
    >>> effect.features[abs(effect.values[0]).max(axis=1).argmax()]
    'sepal width (cm)'
    """

    values: Array
    features: Array
    classes: Array | None
    exact: bool

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype, copy=copy)


def feature_effect(estimator: Any, X: ArrayLike) -> FeatureEffect:
    """Change of the prediction when the value of each feature becomes known, given all other features.

    For a classifier, these are changes of the class probabilities; for a regressor, of the predicted number.

    If the classifier integrates over missing values of a query, the feature is integrated out, which is exact given all
    other features. This applies to the Gaussian :class:`~spectralcls.ParzenClassifier` without `metric` and
    `tolerance`, and to other classifiers of class means. With any other classifier the values of 100 random training
    samples replace the query's, and the predictions are averaged.

    Parameters
    ----------
    estimator : estimator
        A fitted classifier or regressor of this package, also at the end of a pipeline or in a search. The features of
        a pipeline are those of its last step.
    X : array-like or data frame of shape (n_queries, n_features)
        Queries.

    Returns
    -------
    effect : FeatureEffect
        Its `values` (n_queries, n_features, n_classes) add up to zero over the classes. Without `predict_proba` the
        scores are explained; with two classes the score of the first is minus that of the second. For a regression they
        have shape (n_queries, n_features), or a last axis for several outputs.

    Raises
    ------
    AttributeError
        If the estimator is not a classifier or regressor of this package, or keeps no training samples, as after a fit
        to sparse or kernel matrices or Dask collections.
    ValueError
        For invalid queries.
    TypeError
        For an estimator whose training points are on Dask workers.

    See Also
    --------
    influence : The training samples that determine a prediction.
    sklearn.inspection.permutation_importance : How much each feature matters for a score over many queries.

    Notes
    -----
    The exact effect takes one call of `predict_proba` per feature and one more; draws take a hundred times as many.
    Drawn values may be inconsistent with the other features. The standard error of an average over the draws is at most
    .05 for a probability, and a tenth of the standard deviation of the drawn predictions for a number.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls import ParzenClassifier
    >>> from spectralcls.inspection import feature_effect
    >>> X, y = load_iris(return_X_y=True)
    >>> feature_effect(ParzenClassifier(bandwidth=0.3).fit(X, y), X[70:71]).values.shape
    (1, 4, 3)
    """
    model, steps = model_within(estimator)
    of_classes = hasattr(model, "classes_")
    if not hasattr(model, "_inputs") or not (of_classes or is_regressor(model)):
        raise AttributeError(
            "feature_effect takes a classifier or regressor of spectralcls, also in a pipeline. This one is of the "
            f"type {type(model).__name__}."
        )
    queries = columns(model, mapped(steps, X))
    exact = integrates_missing(model) and hasattr(model, "predict_proba")
    without = _integrated if exact else _drawn
    known = _answers(model, queries)
    values = known[:, None] - without(model, queries, known.shape[1])
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = names_after(steps, None) if steps else None
    if names is None or len(names) != len(queries):
        names = [f"x{j}" for j in range(len(queries))]
    if not of_classes and model.predict(queries.take(np.arange(1))).ndim == 1:
        values = values[..., 0]
    return FeatureEffect(values, np.asarray(names, dtype=object), model.classes_ if of_classes else None, exact)


def _answers(model, queries):
    """Class probabilities (m, C), or scores if there are none; predictions (m, k) of a regression."""
    if hasattr(model, "predict_proba"):
        return model.predict_proba(queries)
    if is_regressor(model):
        return model.predict(queries).reshape(queries.n_rows, -1)
    scores = model.decision_function(queries)
    return scores if scores.ndim == 2 else np.column_stack([-scores, scores])


def _integrated(model, queries, n_classes):
    """Predictions without each feature, (m, d, C), by a classifier that integrates over missing values."""
    out = np.empty((queries.n_rows, len(queries), n_classes))
    lacking = np.full(queries.n_rows, np.nan)
    for j, column in enumerate(queries):
        without = Columns(queries)
        without[j] = Column(column.name, NUMBER, lacking, np.isnan(lacking))
        out[:, j] = _answers(model, without)
    return out


def _drawn(model, queries, n_classes):
    """Predictions without each feature, (m, d, C), averaged over values drawn from training samples."""
    rows, weights = drawn(model)
    m, d, n = queries.n_rows, len(queries), len(weights)
    out = np.empty((m, d, n_classes))
    some = max(1, ROWS // n)
    for start in range(0, m, some):
        block = np.arange(start, min(start + some, m))
        repeated = queries.take(np.repeat(block, n))
        each = np.tile(np.arange(n), len(block))
        for j in range(d):
            table = Columns(repeated)
            table[j] = rows[j].take(each)
            answers = _answers(model, table).reshape(len(block), n, n_classes)
            out[block, j] = np.tensordot(weights / weights.sum(), answers, (0, 1))
            missing = queries[j].missing[block]
            out[block[missing], j] = _answers(model, queries.take(block[missing])) if missing.any() else 0.0
    return out
