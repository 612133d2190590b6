"""What training points and features say of a query, and what all points say of the label of one."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy.special import logsumexp

from .._estimator import columns, coordinates, fitted_form, integrates_missing, leave_one_out
from .._expansion import blocks
from .._expansion.leave_one_out import log_kernel
from .._inputs.frames import NUMBER, Column, Columns
from .._inputs.missing import is_incomplete
from .._utils.typing import Array, ArrayLike


@dataclass(frozen=True)
class Influence:
    """Why the best class of each query beats the second: ``shares.sum(axis=1) + rest + baseline == margin``.

    Parameters
    ----------
    classes : ndarray of shape (n_queries, 2)
        The best and the second class.
    margin : ndarray of shape (n_queries,)
        Score of the best class less that of the second.
    points : ndarray of int of shape (n_queries, n_points)
        Training samples, the largest share in absolute value first.
    shares : ndarray of shape (n_queries, n_points)
        What each of them adds to the margin: positive for the best class, negative for the second.
    rest : ndarray of shape (n_queries,)
        What all other training samples add.
    baseline : ndarray of shape (n_queries,)
        Margin without a training sample in reach.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls import ParzenClassifier
    >>> from spectralcls.inspection import influence
    >>> X, y = load_iris(return_X_y=True)
    >>> found = influence(ParzenClassifier(bandwidth=0.5).fit(X[1:], y[1:]), X[:1])
    >>> found.points.shape
    (1, 10)
    """

    classes: np.ndarray
    margin: np.ndarray
    points: np.ndarray
    shares: np.ndarray
    rest: np.ndarray
    baseline: np.ndarray


def influence(estimator: Any, X: ArrayLike, n_points: int = 10) -> Influence:
    """The training samples that decide each query, with signed shares that add up to the margin of the best class.

    Parameters
    ----------
    estimator : estimator
        A fitted classifier by class means (:mod:`spectralcls.kernel_mean`, spectral ones with all components) or
        :class:`~spectralcls.regression.KernelRidgeClassifier`. The scores are posterior probabilities for
        :class:`~spectralcls.ParzenClassifier`, the classes' shares in the cosines where angles are compared, and
        otherwise those of `decision_function`.
    X : array-like of shape (n_queries, n_features)
        Queries, without missing values.
    n_points : int, default=10
        Training samples to name for each query.

    Returns
    -------
    influence : Influence
        Samples are numbered like those of positive weight in `fit` (and `partial_fit`); copies that the
        model has merged appear as the first of them.

    Raises
    ------
    AttributeError
        If the scores of the classifier are no sums over its training samples.
    ValueError
        For invalid queries, or such that lack values.
    TypeError
        For an estimator of Dask collections.

    Notes
    -----
    Exact, from the terms of the sums that `predict` adds up: O(n_queries n_samples n_features).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls import ParzenClassifier
    >>> from spectralcls.inspection import influence
    >>> X, y = load_iris(return_X_y=True)
    >>> found = influence(ParzenClassifier(bandwidth=0.5).fit(X[1:], y[1:]), X[:1], n_points=3)
    >>> y[1:][found.points]
    array([[0, 0, 0]])
    """
    if not isinstance(n_points, Integral) or n_points < 1:
        raise ValueError(f"n_points must be a positive integer, got {n_points!r}.")
    check_local(estimator)
    form, order = fitted_form(estimator)
    if form is None or not (form.by_class or order is not None):
        raise AttributeError(f"The scores of this {type(estimator).__name__} are no sums over its training samples.")
    Q = coordinates(estimator, X)
    if is_incomplete(Q):
        raise ValueError("X lacks values; influence is defined for complete queries.")
    found = [
        _of_block(form, Q[rows], min(n_points, len(form.points.X))) for rows in blocks(len(Q), 32 * len(form.points.X))
    ]
    best, margin, points, shares, rest, baseline = (np.concatenate(part) for part in zip(*found, strict=True))
    if order is not None:
        points = np.unique(order, return_index=True)[1][points]
    return Influence(estimator.classes_[best], margin, points, shares, rest, baseline)


def check_local(estimator):
    """Queries are explained one by one, in memory."""
    if hasattr(estimator, "to_local"):
        raise TypeError("This takes an estimator and queries in memory: pass estimator.to_local().")


def _of_block(form, Q, n_points):
    terms, scores = _terms(form, Q)
    best = np.argsort(-scores, axis=1, kind="stable")[:, :2]
    each, codes = np.arange(len(Q)), form.points.codes
    if form.by_class:
        shares = terms * ((codes == best[:, :1]).astype(float) - (codes == best[:, 1:]))
    else:
        shares = terms * (form.columns.T[best[:, 0]] - form.columns.T[best[:, 1]])
    baseline = np.zeros(len(Q))
    if form.rule.decision == "distance":
        baseline = form.offsets[best[:, 1]] - form.offsets[best[:, 0]]
    points = np.argsort(-np.abs(shares), axis=1, kind="stable")[:, :n_points]
    named = np.take_along_axis(shares, points, axis=1)
    np.put_along_axis(shares, points, 0.0, axis=1)
    margin = scores[each, best[:, 0]] - scores[each, best[:, 1]]
    return best, margin, points, named, shares.sum(axis=1), baseline


def _terms(form, Q):
    """What each training sample adds, (m, n), but for a factor by class of a full A; and the scores (m, C)."""
    points = form.points
    if not form.by_class:
        k = np.exp(log_kernel(Q, points.X, form.kernel, form.bandwidth))
        return k, k @ form.columns - form.offsets
    terms = np.empty((len(Q), len(points.X)))
    columns = np.ones((len(points.X), 1)) if form.columns is None else form.columns.reshape(len(points.X), -1)
    widths = np.broadcast_to(form.bandwidth, points.n_classes)
    for c, width in enumerate(widths):
        own = points.codes == c
        terms[:, own] = log_kernel(Q, points.X[own], form.kernel, width) + np.log(columns[own, 0])
    terms += np.broadcast_to(form.log_scale, points.n_classes)[points.codes]
    scores = form.scores(Q)
    if form.rule.decision != "distance":
        terms -= np.logaddexp.reduce(terms, axis=1, keepdims=True)
        scores = np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
    elif form.log_share is not None and columns.shape[1] > 1:
        sums = points.class_log_sums(Q, form.columns, form.kernel, form.bandwidth)[..., 1] + form.log_share
        terms -= np.logaddexp.reduce(sums, axis=1, keepdims=True) / 2
    return np.exp(terms), scores


def feature_effect(estimator: Any, X: ArrayLike) -> Array:
    """Change of the class probabilities by each feature: known, less unknown with all others known.

    Parameters
    ----------
    estimator : estimator
        A fitted :class:`~spectralcls.ParzenClassifier` with the Gaussian kernel, without `metric` and `tolerance`: it
        integrates out what a query lacks, so that the effect is exact.
    X : array-like or data frame of shape (n_queries, n_features)
        Queries.

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
    queries = columns(estimator, X)
    known = estimator.predict_proba(queries)
    out = np.empty((queries.n_rows, len(queries), known.shape[1]))
    lacking = np.full(queries.n_rows, np.nan)
    for j, column in enumerate(queries):
        without = Columns(queries)
        without[j] = Column(column.name, NUMBER, lacking, np.isnan(lacking))
        out[:, j] = known - estimator.predict_proba(without)
    return out


def label_quality(estimator: Any) -> Array:
    """Probability of each training label by all other training points.

    A low value is a reason to look at the label again: the point lies among those of another class.

    Parameters
    ----------
    estimator : estimator
        A fitted classifier that has `predict_set`.

    Returns
    -------
    quality : ndarray of shape (n_samples,)
        Of the training samples of positive weight, in the order of `fit` and later `partial_fit`. NaN for a sample
        that no other one reaches (compact kernels), or that :class:`~spectralcls.AutoClassifier` never held out.

    Raises
    ------
    AttributeError
        If the classifier cannot leave out its training points in closed form.
    sklearn.exceptions.NotFittedError
        Before `fit`.

    Notes
    -----
    Kernel means give the share of a class in the class sums, kernel ridge regression its probability, PerTurbo the
    share of what the spans explain, `AutoClassifier` its vote for points that its members had not seen. Cost and
    memory are those of the first call of `predict_set`, and both share the result; a kernel ridge regression that was
    tuned on all of its points, and not loaded from a file since, has it from `fit`.

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
    points = leave_one_out(estimator)
    with np.errstate(invalid="ignore"):
        quality = np.exp(points.own - logsumexp(points.scores, axis=1))
    return quality if points.order is None else np.append(quality, np.nan)[points.order]
