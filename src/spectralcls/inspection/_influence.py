"""The training samples that determine a prediction, from the terms of a classifier's sums."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from .._estimator import coordinates, fitted_form, leave_one_out, mapped
from .._expansion import blocks
from .._expansion.sums_left_out import log_kernel
from .._inputs.missing import is_incomplete
from .._utils.typing import ArrayLike
from ..ensemble import AutoClassifier, vote_of
from ..regression import smoother_of
from ._within import model_within


@dataclass(frozen=True)
class Influence:
    """Why the best class of each query beats the second: ``shares.sum(axis=1) + rest + baseline == margin``.

    Parameters
    ----------
    classes : ndarray of shape (n_queries, 2)
        The best and the second class.
    margin : ndarray of shape (n_queries,)
        Score of the best class minus that of the second.
    points : ndarray of int of shape (n_queries, n_points)
        Training samples, the largest share in absolute value first.
    shares : ndarray of shape (n_queries, n_points)
        Contribution of each sample to the margin: positive for the best class, negative for the second.
    rest : ndarray of shape (n_queries,)
        Contribution of all other training samples; in a vote, also of the members whose scores are not sums over
        samples.
    baseline : ndarray of shape (n_queries,)
        Margin if no training sample is within reach.

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
    """Training samples that determine each prediction, with signed shares that add up to the margin of the best class.

    Parameters
    ----------
    estimator : estimator
        A fitted classifier of class means (:mod:`spectralcls.kernel_mean`, or spectral with all components),
        :class:`~spectralcls.regression.KernelRidgeClassifier` or :class:`~spectralcls.AutoClassifier`, also at the end
        of a pipeline or in a search. The scores are probabilities for :class:`~spectralcls.ParzenClassifier` and
        `AutoClassifier`, each class's share of the sum of the cosines for rules that compare angles, and otherwise
        those of `decision_function`.
    X : array-like of shape (n_queries, n_features)
        Queries, without missing values.
    n_points : int, default=10
        Number of training samples to list for each query.

    Returns
    -------
    influence : Influence
        Its `points` are positions among the samples of positive weight in `fit` (and `partial_fit`); merged copies
        appear as the first of them.

    Raises
    ------
    AttributeError
        If the scores of the classifier are not sums over its training samples.
    ValueError
        For invalid queries, or queries with missing values.
    TypeError
        For an estimator whose training points are on Dask workers.

    Notes
    -----
    Exact, from the terms of the sums that `predict` adds up: O(n_queries n_samples n_features). The scores of a ridge
    regression are sums over the labels, each with its weight in the prediction, ``k(q) (K + alpha)^-1``. This takes one
    inverse at the first call, O(n^3), and n^2 for each query. With more than `max_exact_samples` samples, the shares
    are those of the coefficients. In a vote each member divides its part of the margin among the samples in proportion
    to their contributions to its own margin.

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
    model, steps = model_within(estimator)
    X = mapped(steps, X)
    if isinstance(model, AutoClassifier):
        return _of_vote(model, X, n_points)
    if not _has_sums(model):
        raise AttributeError(f"The scores of this {type(model).__name__} are not sums over its training samples.")
    Q = coordinates(model, X)
    if is_incomplete(Q):
        raise ValueError("X lacks values; influence is defined for complete queries.")
    shares_of, samples = _summands(model)
    form, found = fitted_form(model)[0], []
    for rows in blocks(len(Q), 32 * len(samples)):
        terms, scores = _terms(form, Q[rows])
        pair = _best_two(scores)
        shares, baseline = shares_of(Q[rows], terms, pair)
        found.append((pair, _margin(scores, pair), *_largest(shares, n_points), baseline))
    pair, margin, points, shares, rest, baseline = (np.concatenate(part) for part in zip(*found, strict=True))
    return Influence(model.classes_[pair], margin, samples[points], shares, rest, baseline)


def _has_sums(model):
    form, order = fitted_form(model)
    return form is not None and (form.by_class or order is not None)


def _summands(model):
    """A function that divides the margin among the points, and the first training sample of each point. The function
    takes queries, their `_terms` and pairs of classes; it returns each point's contribution (m, n) to the score of the
    first class minus that of the second, and the rest (m,).
    """
    form, order = fitted_form(model)
    smoother = smoother_of(model)
    if smoother is not None:
        return _of_labels(form, smoother, leave_one_out(model))
    samples = np.arange(len(form.points.X)) if order is None else np.unique(order, return_index=True)[1]
    return lambda _, terms, pair: _shares(form, terms, pair), samples


def _of_labels(form, smoother, points):
    """The results of `_summands` for a regression on the labels, from the weight of each label in a prediction.

    The terms of the coefficients are not informative: for nearby points they are large and of either sign.
    """

    def shares_of(Q, _, pair):
        weights = smoother(Q)
        shares = weights * ((points.codes == pair[:, :1]).astype(float) - (points.codes == pair[:, 1:]))
        return shares, (form.offsets[pair[:, 1]] - form.offsets[pair[:, 0]]) * (1 - weights.sum(axis=1))

    return shares_of, np.unique(points.order, return_index=True)[1]


def _of_vote(model, X, n_points):
    """Influence in a vote: the members' influences, scaled to each member's contribution to the margin."""
    Q, p = coordinates(model, X), model.predict_proba(X)
    pair, (vote, seen, n) = _best_two(p), vote_of(model)
    pipelines = [member.pipeline for _, member in model.members_]
    inputs = [mapped([step for _, step in pipeline.steps[:-1]], Q) for pipeline in pipelines]
    heads = [pipeline.steps[-1][1] for pipeline in pipelines]
    posteriors = [np.zeros(p.shape) for _ in heads]
    for head, Z, posterior in zip(heads, inputs, posteriors, strict=True):
        posterior[:, head.classes_] = head.predict_proba(Z)
    *parts, prior = (_margin(np.broadcast_to(part, p.shape), pair) for part in vote.parts(posteriors))
    margin, mixed = _margin(p, pair), sum(parts) + prior
    factor = np.divide(margin, mixed, out=np.zeros(len(mixed)), where=mixed != 0)  # effect of the final temperature
    found = []
    for rows in blocks(len(Q), 48 * n):
        shares, baseline, rest = np.zeros((len(margin[rows]), n)), prior[rows].copy(), np.zeros(len(margin[rows]))
        for head, Z, part in zip(heads, inputs, parts, strict=True):
            if not _has_sums(head) or len(head.classes_) < p.shape[1]:
                rest += part[rows]
                continue
            (shares_of, samples), queries = _summands(head), coordinates(head, Z[rows])
            own, offset = shares_of(queries, _terms(fitted_form(head)[0], queries)[0], pair[rows])
            whole = own.sum(axis=1) + offset
            scale = np.divide(part[rows], whole, out=np.zeros(len(whole)), where=whole != 0)
            shares[:, samples if seen is None else seen[samples]] += own * scale[:, None]
            baseline += offset * scale
        points, named, others = _largest(shares * factor[rows, None], n_points)
        found.append((points, named, (rest * factor[rows] + others), baseline * factor[rows]))
    points, shares, rest, baseline = (np.concatenate(part) for part in zip(*found, strict=True))
    return Influence(model.classes_[pair], margin, points, shares, rest, baseline)


def _best_two(scores):
    return np.argsort(-scores, axis=1, kind="stable")[:, :2]


def _margin(scores, pair):
    each = np.arange(len(scores))
    return scores[each, pair[:, 0]] - scores[each, pair[:, 1]]


def _largest(shares, n_points):
    """The points with the largest shares, their shares, and the sum of the others."""
    points = np.argsort(-np.abs(shares), axis=1, kind="stable")[:, :n_points]
    named = np.take_along_axis(shares, points, axis=1)
    np.put_along_axis(shares, points, 0.0, axis=1)
    return points, named, shares.sum(axis=1)


def _shares(form, terms, pair):
    """Contribution of each point to the score of the first class of a pair minus that of the second, and the rest."""
    if form.by_class:
        shares = terms * ((form.points.codes == pair[:, :1]).astype(float) - (form.points.codes == pair[:, 1:]))
    else:
        shares = terms * (form.columns.T[pair[:, 0]] - form.columns.T[pair[:, 1]])
    offsets = form.offsets[pair[:, 1]] - form.offsets[pair[:, 0]] if form.rule.decision == "distance" else 0.0
    return shares, np.broadcast_to(offsets, len(pair)).astype(np.float64)


def _terms(form, Q):
    """Contribution (m, n) of each training sample, up to a factor per class if the form is not by class; and the scores
    (m, C).
    """
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
