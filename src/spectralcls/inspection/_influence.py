"""The training samples that determine a prediction, from the terms of its sums."""

from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from .._estimator import coordinates, fitted_form, leave_one_out, mapped, user_rows
from .._expansion import blocks
from .._expansion.log_kernel import log_kernel
from .._inputs.missing import is_incomplete
from .._utils.typing import ArrayLike
from ..ensemble import AutoClassifier, AutoRegressor, vote_of
from ..regression import smoother_of, target_weights
from ._within import model_within

_NO_SUMS = "The predictions of this {} are not sums over its training samples."
_LACKS = "X lacks values; influence is defined for complete queries."


@dataclass(frozen=True)
class Influence:
    """Why the best class of each query beats the second: ``shares.sum(axis=1) + rest + baseline == margin``.

    For a regression, `margin` is the predicted number.

    Parameters
    ----------
    classes : ndarray of shape (n_queries, 2) or None
        The best and the second class; None for a regression.
    margin : ndarray of shape (n_queries,)
        Score of the best class minus that of the second; the prediction of a regression.
    points : ndarray of int of shape (n_queries, n_points)
        Training samples, the largest share in absolute value first.
    shares : ndarray of shape (n_queries, n_points)
        Contribution of each sample to the margin: positive for the best class, negative for the second. For a
        regression, the contribution of its target's difference from the mean to the prediction.
    rest : ndarray of shape (n_queries,)
        Contribution of all other training samples; in a vote, also of the members whose scores are not sums over
        samples.
    baseline : ndarray of shape (n_queries,)
        Margin if no training sample is within reach; the mean of the targets.

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

    classes: np.ndarray | None
    margin: np.ndarray
    points: np.ndarray
    shares: np.ndarray
    rest: np.ndarray
    baseline: np.ndarray


def influence(estimator: Any, X: ArrayLike, n_points: int = 10) -> Influence:
    """Find the training samples that determine each prediction, with signed shares.

    The shares, the rest and the baseline add up to the prediction of a number, or to the margin of the best class.

    Parameters
    ----------
    estimator : estimator
        A fitted classifier of class means (:mod:`spectralcls.kernel_mean`, or spectral with all components),
        :class:`~spectralcls.regression.KernelRidgeClassifier` or :class:`~spectralcls.AutoClassifier`, or any
        regressor of this package with one output, also at the end of a pipeline or in a search. The scores are
        probabilities for :class:`~spectralcls.ParzenClassifier` and `AutoClassifier`, each class's share of the sum of
        the cosines for rules that compare angles, and otherwise those of `decision_function`.
    X : array-like of shape (n_queries, n_features)
        Queries, without missing values unless the estimator replaces them.
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
        If the predictions are not sums over the training samples.
    ValueError
        For invalid queries, queries with missing values, or a regression of several outputs.
    TypeError
        For an estimator whose training points are on Dask workers.

    Notes
    -----
    Exact, from the terms of the sums that `predict` adds up: O(n_queries n_samples n_features). The scores of a ridge
    regression are sums over the labels, each with its weight in the prediction, ``k(q) (K + alpha)^-1``. This takes one
    inverse at the first call, O(n^3), and n^2 for each query. With more than `max_exact_samples` samples, the shares
    are those of the coefficients. In a vote each member divides its part of the margin among the samples in proportion
    to their contributions to its own margin. The prediction of a regression is the mean of the targets plus the
    differences of all targets from it, each with its weight.

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
    if is_regressor(model):
        return _of_number(model, X, n_points)
    if isinstance(model, AutoClassifier):
        return _of_vote(model, X, n_points)
    if not _has_sums(model):
        raise AttributeError(_NO_SUMS.format(type(model).__name__))
    Q = coordinates(model, X)
    if is_incomplete(Q):
        raise ValueError(_LACKS)
    shares_of, samples = _summands(model)
    form, found = fitted_form(model)[0], []
    for rows in blocks(len(Q), 32 * len(samples)):
        terms, scores = _terms(form, Q[rows])
        pair = _best_two(scores)
        shares, baseline = shares_of(Q[rows], terms, pair)
        found.append((pair, _margin(scores, pair), *_largest(*_by_row(shares, samples), n_points), baseline))
    pair, margin, points, shares, rest, baseline = (np.concatenate(part) for part in zip(*found, strict=True))
    return Influence(model.classes_[pair], margin, points, shares, rest, baseline)


def _has_sums(model):
    form, order = fitted_form(model)
    return form is not None and (form.by_class or order is not None)


def _summands(model):
    """A function that divides the margin among the points, and the first training row of each point. The function
    takes queries, their `_terms` and pairs of classes; it returns each point's contribution (m, n) to the score of the
    first class minus that of the second, and the rest (m,).
    """
    form, order = fitted_form(model)
    smoother = smoother_of(model)
    if smoother is not None:
        shares_of = _of_labels(form, smoother, leave_one_out(model).codes)
    else:
        shares_of = partial(_shares, form)
    samples = np.arange(len(form.points.X)) if order is None else np.unique(order, return_index=True)[1]
    return shares_of, user_rows(model, samples)


def _of_labels(form, smoother, codes):
    """The function of `_summands` for a regression on the labels, from the weight of each label in a prediction.

    The terms of the coefficients are not informative: for nearby points they are large and of either sign.
    """

    def shares_of(Q, _, pair):
        weights = smoother(Q)
        shares = weights * ((codes == pair[:, :1]).astype(float) - (codes == pair[:, 1:]))
        return shares, (form.offsets[pair[:, 1]] - form.offsets[pair[:, 0]]) * (1 - weights.sum(axis=1))

    return shares_of


def _of_vote(model, X, n_points):
    """Influence in a vote: the members' influences, scaled to each member's contribution to the margin."""
    Q, p = coordinates(model, X), model.predict_proba(X)
    pair, (vote, seen, n) = _best_two(p), vote_of(model)
    heads, inputs = _members(model, Q)
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
            own, samples = _by_row(own, samples)
            shares[:, samples if seen is None else seen[samples]] += own * scale[:, None]
            baseline += offset * scale
        shares, samples = _by_row(shares * factor[rows, None], user_rows(model, np.arange(n)))
        points, named, others = _largest(shares, samples, n_points)
        found.append((points, named, (rest * factor[rows] + others), baseline * factor[rows]))
    points, shares, rest, baseline = (np.concatenate(part) for part in zip(*found, strict=True))
    return Influence(model.classes_[pair], margin, points, shares, rest, baseline)


def _members(model, Q):
    """The last steps of the members of a vote, and their queries."""
    pipelines = [member.pipeline for _, member in model.members_]
    inputs = [mapped([step for _, step in pipeline.steps[:-1]], Q) for pipeline in pipelines]
    return [pipeline.steps[-1][1] for pipeline in pipelines], inputs


def _of_number(model, X, n_points):
    """Influence on a predicted number."""
    predicted = model.predict(X)
    if predicted.ndim > 1:
        raise ValueError(f"influence explains one output, but y had {predicted.shape[1]}: fit a regressor for each.")
    Q, found = coordinates(model, X), []
    parts, n, samples = _parts_of_vote(model, Q) if isinstance(model, AutoRegressor) else _parts(model, Q)
    for rows in blocks(len(Q), 48 * n):
        shares, rest, baseline = parts(rows, predicted[rows])
        points, named, others = _largest(shares, samples, n_points)
        found.append((points, named, rest + others, baseline))
    points, shares, rest, baseline = (np.concatenate(part) for part in zip(*found, strict=True))
    return Influence(None, predicted, points, shares, rest, baseline)


def _parts(model, Q):
    """A function that divides the predictions for some rows of queries into shares (m, n) of the training samples, the
    rest (m,), and a baseline (m,); the number of points; and the first sample of each.
    """
    sums = target_weights(model)
    if sums is None:
        raise AttributeError(_NO_SUMS.format(type(model).__name__))
    if is_incomplete(Q):
        raise ValueError(_LACKS)

    def parts(rows, predicted):
        return sums.weights(Q[rows]) * sums.targets[:, 0], 0.0, np.full(len(predicted), sums.baseline[0])

    return parts, len(sums.targets), sums.samples


def _parts_of_vote(model, Q):
    """The same for a vote, in which each member divides its part in proportion to its own shares."""
    vote, seen, n = vote_of(model)
    heads, inputs = _members(model, Q)
    members = [(i, head, Z, target_weights(head)) for i, (head, Z) in enumerate(zip(heads, inputs, strict=True))]

    def parts(rows, predicted):
        shares, rest, start = np.zeros((len(predicted), n)), np.zeros(len(predicted)), vote.constant[0]
        for i, head, Z, sums in members:
            part = vote.weights[i] * vote.member(i, head.predict(Z[rows]).reshape(-1, 1))[:, 0]
            if sums is None:
                rest += part
                continue
            own = sums.weights(coordinates(head, Z[rows])) * sums.targets[:, 0]
            start += (least := vote.weights[i] * vote.member(i, sums.baseline[None])[0, 0])
            whole = own.sum(axis=1)
            scale = np.divide(part - least, whole, out=np.zeros(len(whole)), where=whole != 0)
            shares[:, sums.samples if seen is None else seen[sums.samples]] += own * scale[:, None]
        baseline, whole = vote.back(np.array([[start]]))[0, 0], shares.sum(axis=1) + rest
        factor = np.divide(predicted - baseline, whole, out=np.zeros(len(whole)), where=whole != 0)
        return shares * factor[:, None], rest * factor, np.full(len(whole), baseline)

    return parts, n, np.arange(n)


def _best_two(scores):
    return np.argsort(-scores, axis=1, kind="stable")[:, :2]


def _margin(scores, pair):
    each = np.arange(len(scores))
    return scores[each, pair[:, 0]] - scores[each, pair[:, 1]]


def _by_row(shares, rows):
    """Shares (m, n) added up over equal `rows` (n,), as of a count; and these rows."""
    found, place = np.unique(rows, return_inverse=True)
    if len(found) == len(rows):
        return shares, rows
    return np.stack([np.bincount(place, of_query) for of_query in shares]), found


def _largest(shares, rows, n_points):
    """The `rows` with the largest shares, their shares, and the sum of the others."""
    points = np.argsort(-np.abs(shares), axis=1, kind="stable")[:, :n_points]
    named = np.take_along_axis(shares, points, axis=1)
    np.put_along_axis(shares, points, 0.0, axis=1)
    return rows[points], named, shares.sum(axis=1)


def _shares(form, _, terms, pair):
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
