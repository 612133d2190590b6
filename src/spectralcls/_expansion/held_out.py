"""Exact cross-validation of the bandwidth without refitting, with one pass over the pairs for all folds and bandwidths.

The training part of a fold consists of the *other* folds. So one call of `kernel_sums` that leaves out each query's
fold serves all folds, and all bandwidths share the distances. Subtracting the sum over the query's fold from the total
would lose small sums, such as 1e-100, next to k(x_i, x_i) = 1. Weighting by 1/f takes a second pass, because f depends
on the fold.
"""

from dataclasses import replace
from functools import reduce, singledispatch
from typing import NamedTuple

import numpy as np

from .._inputs.completion import completed_by_folds, outside
from .._inputs.missing import is_incomplete
from .._inputs.training_data import TrainingData
from .._tuning import Judge, Scored
from ..kernels import kernel_sums
from .class_means import class_means
from .expansion import Sums
from .incomplete import incomplete_class_log_sums
from .nearest import nearest_codes
from .points import BLOCK_BYTES, TrainingPoints, blocks, class_rows
from .rule import Rule

MAX_WEIGHTED_LEAVE_ONE_OUT = 2000
CACHE_BYTES = 1 << 20  # size of a block's results, which then fit into the second-level cache


class Problem(NamedTuple):
    """A rule to cross-validate on a `TuningSample`, and the bandwidths to try.

    With many points, only m of them, the `validated` rows of the sample, are held out and scored, which takes m n pairs
    instead of n^2. The potentials of an unweighted rule are then estimated from these rows. Weighting by 1/f needs all
    rows.
    """

    rule: Rule
    sample: NamedTuple
    kernel: str
    bandwidths: np.ndarray  # (b,), or (b, C): one per class
    log_priors: np.ndarray | None = None  # (C,); None: class proportions of the training part
    n_jobs: int | None = None
    scoring: str = "auto"
    importance: np.ndarray | None = None  # (C,) weight of an error on a point of each class
    priors: tuple = ()  # (k,) candidates for the rule's priors

    @property
    def shape(self):
        """Shape of the grid of candidates: (b,), or (b, k) if the priors are chosen too."""
        return (len(self.bandwidths), len(self.priors)) if self.priors else (len(self.bandwidths),)


class HeldOut(NamedTuple):
    """The sums and offsets that score every validated point without its own fold (or, for leave-one-out, itself)."""

    log_sums: np.ndarray  # (m, b, C)
    log_scale: np.ndarray  # (parts, b, C), or (parts, b, k, C)
    offsets: np.ndarray  # the shape of `log_scale`
    part: np.ndarray  # (m,) row of `log_scale` and `offsets` for each point
    log_densities: np.ndarray | None = None  # (m, b)


def held_out_scores(problem):
    """Scores of the candidates for `search`, from `judged`; NaN if there is only one sample."""
    judge = judged(problem)
    return Scored(np.full((1, *problem.shape), np.nan)) if judge is None else judge.scored()


@singledispatch
def sample_and_scores(X, data, points, sample, rule, estimator):
    """The sample on which to tune, and the function that scores a `Problem` with it.

    If the points X of the data are on workers, and more than the sample, a rule may validate the sample against them.
    """
    return sample, held_out_scores


def judged(problem):
    """A `Judge` with the held-out scores at all bandwidths, equal to those of a refit for each fold; None if there is
    only one sample.

    An unweighted rule takes one pass over the m n pairs, whatever the number of folds and bandwidths. A rule weighted
    by 1/f takes another pass, and O(n^3) for leave-one-out. Memory is O(m * bandwidths * (classes + folds)).
    """
    if len(problem.sample.X) == 1:  # a first `partial_fit` with one sample: nothing to validate against
        return None
    if np.ndim(problem.bandwidths) == 2:
        return _by_class(problem)
    if is_incomplete(problem.sample.X):
        return _judged(problem, _incomplete(problem))
    if problem.rule.weighting is not None:
        return _judged(problem, _weighted(problem))
    if not problem.rule.needs_potentials:
        return _without_potentials(problem)
    held_out = _leave_one_out(problem) if problem.sample.folds is None else _by_fold(problem)
    return _judged(problem, held_out)


def _judged(p, held_out):
    validated = p.sample.rows
    judge = Judge(p.sample, p.shape, p.scoring, logs=p.rule.decision == "density", importance=p.importance)
    log_sums = held_out.log_sums[:, :, None] if p.priors else held_out.log_sums
    for rows in blocks(len(validated), 8 * np.prod(p.shape) * p.sample.n_classes, CACHE_BYTES):
        own = validated[rows]
        part = held_out.part[rows]
        log_densities = None if held_out.log_densities is None else held_out.log_densities[rows]
        sums = Sums(log_sums[rows] + held_out.log_scale[part], None, log_densities)
        scores = p.rule.scores(sums, held_out.offsets[part])
        predicted = scores.argmax(axis=-1)
        unreached = (predicted == 0) & np.isneginf(scores[..., 0])  # all scores are -inf
        some = unreached.reshape(len(own), -1).any(axis=1)
        if some.any():
            nearest = _nearest_of_others(p, own[some], held_out.log_scale[0, 0] > -np.inf)
            predicted[some] = np.where(unreached[some].T, nearest, predicted[some].T).T
        judge.add(rows, scores, predicted=predicted)
    return judge


def _nearest_of_others(p, rows, candidates):
    """Class of the nearest point outside the fold of each of the validated `rows`, among the classes that can win."""
    if candidates.all():
        return nearest_codes(p.sample.X[rows], p.sample.X, p.sample.codes, p.n_jobs, **p.sample.left_out(rows))
    own = np.flatnonzero(candidates[p.sample.codes])
    folds = np.arange(len(p.sample.X)) if p.sample.folds is None else p.sample.folds
    return nearest_codes(
        p.sample.X[rows], p.sample.X[own], p.sample.codes[own], p.n_jobs, exclude_groups=(folds[rows], folds[own])
    )


def judged_by_sums(p, log_sums, class_weight, part):
    """`judged`, given the class sums, for an unweighted rule without potentials.

    Parameters
    ----------
    log_sums : ndarray (m, b, C)
        Class sums of each validated point over the training part of its fold.
    class_weight : ndarray (parts, C)
        Weight of each class in a training part.
    part : ndarray (m,)
        Training part of each validated point.
    """
    no_totals = np.zeros((len(class_weight), len(p.bandwidths), p.sample.n_classes))
    return _judged(p, _held_out(p, log_sums, no_totals, class_weight, part))


def _without_potentials(p):
    """`judged` for an unweighted rule without potentials: one pass that leaves out each query's fold."""
    return judged_by_sums(p, _class_log_sums_of_others(p, p.bandwidths), *_training_weight(p))


def _by_fold(p):
    """Cross-validate an unweighted rule with potentials: one pass over the pairs of different folds, and one over the
    pairs within each class and fold.

    In a class, let B_gh be the sum over the pairs of a point of fold g and a point of fold h. The total of the training
    part of fold f is sum_{g, h != f} B_gh = sum_{g != f} (R_g + B_gg) - R_f, where R_g = sum_{h != g} B_gh comes from
    the first pass. B is symmetric, so R_f is at most the sum of the other R_g, and the difference loses no relevant
    digits. If only some rows are validated, R and B are estimated from the validated rows of each class and fold and
    scaled to its full weight. A total is never smaller than its diagonal, the sum of the squared weights.
    """
    widths, plain, squared = _widths(p)
    log_sums = _class_log_sums_of_others(p, widths)
    n_folds = p.sample.folds.max() + 1
    n_buckets = p.sample.n_classes * n_folds
    buckets = p.sample.codes * n_folds + p.sample.folds
    rows = p.sample.rows
    across, within = np.zeros((2, n_buckets, len(plain)))
    every, some = class_rows(buckets, n_buckets), class_rows(buckets[rows], n_buckets)
    for bucket, (own, places) in enumerate(zip(every, some, strict=True)):
        if len(places):
            u = p.sample.weights[rows[places]]
            u = u * (p.sample.weights[own].sum() / u.sum())
            sums = log_sums[places[:, None], squared, bucket // n_folds]
            across[bucket] = u @ np.exp(sums.astype(np.float64))
            sums = kernel_sums(
                p.sample.X[rows[places]],
                p.sample.X[own],
                weights=_unless_ones(p.sample.weights[own]),
                kernel=p.kernel,
                bandwidth=widths[squared],
                log=True,
                n_jobs=p.n_jobs,
            )
            within[bucket] = u @ np.exp(sums.astype(np.float64))
    across, within = (sums.reshape(p.sample.n_classes, n_folds, -1).T for sums in (across, within))  # (b, fold, C)
    both = across + within
    totals = (both.sum(axis=1, keepdims=True) - both - across).swapaxes(0, 1)
    diagonals = outside(fold_weight(p.sample.folds, p.sample.codes, p.sample.weights**2, n_folds, p.sample.n_classes))
    totals = np.maximum(totals, diagonals[:, None])
    return _held_out(p, log_sums[:, plain], totals, *_training_weight(p))


def _leave_one_out(p):
    """Leave-one-out for an unweighted rule with potentials: one pass without the pairs of a point with itself.

    If a point is left out, the sum over the pairs of its class is the diagonal plus the off-diagonal sum, each without
    the terms of that point. The rest of the off-diagonal sum is never negative, so the rest of the diagonal is a lower
    bound.
    """
    widths, plain, squared = _widths(p)
    log_sums = _class_log_sums_of_others(p, widths)
    rows = p.sample.rows
    codes, weights = p.sample.codes[rows], p.sample.weights[rows]
    each = np.arange(len(codes))
    own_row = weights[:, None] * np.exp(log_sums[each, :, codes][:, squared].astype(np.float64))
    pairs = np.zeros((p.sample.n_classes, len(plain)))
    np.add.at(pairs, codes, own_row)
    all_weight, their_weight = (
        np.bincount(c, w, minlength=p.sample.n_classes)
        for c, w in ((p.sample.codes, p.sample.weights), (codes, weights))
    )
    pairs *= (all_weight / np.where(their_weight > 0, their_weight, 1.0))[:, None]
    diagonal = np.bincount(p.sample.codes, p.sample.weights**2, minlength=p.sample.n_classes)
    totals = np.repeat((pairs + diagonal[:, None]).T[None], len(codes), axis=0)
    totals[each, :, codes] = (diagonal[codes] - weights**2)[:, None] + np.maximum(pairs[codes] - 2 * own_row, 0)
    return _held_out(p, log_sums[:, plain], totals, *_training_weight(p))


def _by_class(p):
    """`judged` for class-wise bandwidths, which share no kernel values: a refit for each fold and bandwidth."""
    folds, sample = _few_folds(p, "class-wise bandwidths"), p.sample
    rules = [replace(p.rule, priors=priors) for priors in p.priors] or [p.rule]
    judge = Judge(sample, p.shape, p.scoring, logs=p.rule.decision == "density", importance=p.importance)
    for fold, places in enumerate(class_rows(folds[sample.rows], folds.max() + 1)):
        if len(places):
            others = np.flatnonzero(folds != fold)
            parts = sample.X[others], sample.codes[others], np.arange(sample.n_classes), sample.weights[others]
            points = TrainingPoints.of(TrainingData(*parts, features=sample.features), n_jobs=p.n_jobs)
            scores = [
                [class_means(rule, points, p.kernel, h, p.log_priors)[0].scores(sample.X[sample.rows[places]])]
                for h in p.bandwidths
                for rule in rules
            ]
            judge.add(places, np.concatenate(scores).swapaxes(0, 1).reshape(len(places), *p.shape, -1))
    return judge


def _few_folds(p, what):
    """The fold of each point, its index for leave-one-out; raises if that would take too many folds."""
    n, given = len(p.sample.X), p.sample.folds
    folds = np.arange(n) if given is None else given
    if (given is None or p.sample.one_split) and n * (folds.max() + 1) > MAX_WEIGHTED_LEAVE_ONE_OUT**2:
        raise ValueError(
            f"Leave-one-out of {n} points takes O(n^3) for {what}; the limit is "
            f"{MAX_WEIGHTED_LEAVE_ONE_OUT} points. Set cv to a number of folds, or lower max_tuning_samples."
        )
    return folds


def _weighted(p):
    """Cross-validate a rule weighted by 1/f: the first pass computes f without each fold, and the second the weighted
    sums.
    """
    n, folds = len(p.sample.X), _few_folds(p, "a rule weighted by 1/f")
    n_folds = folds.max() + 1
    inside = folds[:, None] == np.arange(n_folds)
    class_weight = _other_weight(p, folds)
    log_total = np.log(class_weight.sum(axis=1))
    log_sums = np.empty((n, len(p.bandwidths), p.sample.n_classes))
    log_densities = np.empty((n, len(p.bandwidths)))
    totals = np.zeros((n_folds, len(p.bandwidths), p.sample.n_classes))
    for some in blocks(len(p.bandwidths), 24 * n * n_folds, 4 * BLOCK_BYTES):
        widths = p.bandwidths[some]
        log_f = np.empty((n, len(widths), n_folds))
        for rows in blocks(n, 24 * len(widths) * n_folds):
            sums = _log_sums(p, rows, widths, labels=folds, n_labels=n_folds)
            log_f[rows] = log_sums_of_others(sums.astype(np.float64)) - log_total
        log_densities[:, some] = np.take_along_axis(log_f, folds[:, None, None], axis=2)[..., 0]
        log_f[np.arange(n), :, folds] = 0.0  # avoids an overflow; points of the left-out fold get weight 0 below
        member = np.where(inside, 0.0, p.sample.weights[:, None])[:, None]
        log_sums[:, some] = _weighted_log_sums(p, folds, member * p.rule.point_weights(log_f), widths)
        if p.rule.needs_potentials:
            totals[:, some] = _weighted_totals(p, member * np.exp(-log_f / 2), widths)
    if not p.rule.needs_query_density:
        log_densities = None
    return _held_out(p, log_sums, totals, class_weight, folds, log_densities)


def _weighted_log_sums(p, folds, weights, widths):
    """log of the class sums (n, b, C) of each point over the other folds; of `weights` (n, b, folds), the last axis is
    the fold that is left out.
    """
    out = np.empty((len(p.sample.X), len(widths), p.sample.n_classes))
    for fold, queries in enumerate(class_rows(folds, weights.shape[2])):
        if len(queries):
            others = np.flatnonzero(folds != fold)
            out[queries] = kernel_sums(
                p.sample.X[queries],
                p.sample.X[others],
                weights=weights[others, :, fold, None],
                labels=p.sample.codes[others],
                n_labels=p.sample.n_classes,
                kernel=p.kernel,
                bandwidth=widths,
                log=True,
                n_jobs=p.n_jobs,
            )[..., 0]
    return out


def _weighted_totals(p, weights, widths):
    """sum_ij u_i u_j k(x_i, x_j) over the pairs of each class, (folds, b, C), for weights u (n, b, folds)."""
    widths, _ = p.rule.potential_kernel(p.kernel, widths, p.sample.X.shape[1])
    out = np.zeros((weights.shape[2], len(widths), p.sample.n_classes))
    for code, own in enumerate(class_rows(p.sample.codes, p.sample.n_classes)):
        if not len(own):  # all points are in the left-out fold, or the class has none yet
            continue
        u = weights[own]
        # For sums with a scale, the core skips terms that are negligible compared with k(x_i, x_i).
        log_scale, sums = kernel_sums(
            p.sample.X[own], p.sample.X[own], weights=u, kernel=p.kernel, bandwidth=widths, log="pair", n_jobs=p.n_jobs
        )
        u = u * np.exp(log_scale.astype(np.float64))[..., None]
        out[:, :, code] = np.einsum("ibf,ibf->fb", u, sums.astype(np.float64))
    return out


def _incomplete(p):
    """Cross-validate any rule on points with missing values, fold by fold. The values are filled from other training
    points if the point is in the training part, and integrated out if it is held out.
    """
    X, codes, weights, folds, rows = p.sample.X, p.sample.codes, p.sample.weights, p.sample.folds, p.sample.rows
    completed = completed_by_folds(X, codes, folds, weights, p.sample.features, p.n_jobs)
    log_sums = np.empty((len(rows), len(p.bandwidths), p.sample.n_classes))
    log_densities = np.empty(log_sums.shape[:2]) if p.rule.needs_query_density else None
    totals = np.zeros((len(completed), *log_sums.shape[1:]))
    for fold, points in enumerate(completed):
        own, others = np.flatnonzero(folds[rows] == fold), np.flatnonzero(folds != fold)
        if len(own):
            sample = p.sample._replace(X=points[others], codes=codes[others], weights=weights[others], validated=None)
            sums, totals[fold], log_total = _of_queries(p._replace(sample=sample), X[rows[own]])
            log_sums[own] = sums[..., 0]
            if log_densities is not None:
                log_densities[own] = np.logaddexp.reduce(sums[..., 1], axis=2) - log_total
    return _held_out(p, log_sums, totals, _other_weight(p, folds), folds[rows], log_densities)


def _of_queries(p, Q):
    """For queries with missing values: the logarithms of the class sums (m, b, C, k) of the rule's weight columns, the
    totals (b, C), and the log of the total weight.
    """
    X, codes, weights, rule = p.sample.X, p.sample.codes, p.sample.weights, p.rule
    log_f, log_total, factors = np.zeros((len(X), len(p.bandwidths))), np.log(weights.sum()), None
    if rule.weighting is not None:
        log_f = _log_sums(p, slice(None), p.bandwidths).astype(np.float64) - log_total
        factors = [rule.point_weights(log_f), np.ones_like(log_f)][: 1 + rule.needs_query_density]
        factors = np.stack(factors, axis=2)
    log_sums = incomplete_class_log_sums(
        Q, X, codes, p.sample.n_classes, p.bandwidths, weights, factors, p.sample.features, p.n_jobs
    )
    totals = 0.0
    if rule.needs_potentials:
        totals = _weighted_totals(p, (weights[:, None] * np.exp(-log_f / 2))[..., None], p.bandwidths)[0]
    return log_sums, totals, log_total


def _held_out(p, log_sums, totals, class_weight, part, log_densities=None):
    """`HeldOut` from class sums and totals, with the class weights (parts, C) of the training parts."""
    class_weight = class_weight[:, None]
    _, log_factor = p.rule.potential_kernel(p.kernel, 1.0, p.sample.X.shape[1])
    with np.errstate(divide="ignore", invalid="ignore"):  # a class of weight 0 has no potential
        log_potentials = log_factor + np.log(totals) - 2 * np.log(class_weight)
    class_weight = np.broadcast_to(class_weight, totals.shape)
    rules = [replace(p.rule, priors=priors) for priors in p.priors] or [p.rule]
    found = [rule.coefficients(class_weight, log_potentials, p.log_priors) for rule in rules]
    log_scale, offsets = (np.stack(parts, axis=2) for parts in zip(*found, strict=True)) if p.priors else found[0]
    return HeldOut(log_sums, log_scale, offsets, part, log_densities)


def _widths(p):
    """Bandwidths to evaluate, and the indices into them for the means and for the potentials."""
    squared, _ = p.rule.potential_kernel(p.kernel, p.bandwidths, p.sample.X.shape[1])
    if np.array_equal(squared, p.bandwidths):
        every = np.arange(len(p.bandwidths))
        return p.bandwidths, every, every
    both = np.concatenate([p.bandwidths, squared])
    order = np.argsort(both)
    new = np.ones(len(both), dtype=bool)
    # If consecutive h^2 have ratio 2, the kernel of the potentials has the next bandwidth of the grid.
    new[1:] = np.diff(both[order]) > 1e-9 * both[order][1:]
    position = np.empty(len(both), dtype=np.intp)
    position[order] = np.cumsum(new) - 1
    return both[order][new], position[: len(p.bandwidths)], position[len(p.bandwidths) :]


def _class_log_sums_of_others(p, widths):
    """log of the class sums (m, b, C) of each validated point over the points of other folds."""
    options = dict(labels=p.sample.codes, n_labels=p.sample.n_classes, **p.sample.left_out(p.sample.rows))
    rows = slice(None) if p.sample.validated is None else p.sample.validated  # a slice, so that X is not copied
    return _log_sums(p, rows, widths, **options)


def _log_sums(p, rows, widths, **buckets):
    options = dict(kernel=p.kernel, bandwidth=widths, log=True, n_jobs=p.n_jobs)
    return kernel_sums(p.sample.X[rows], p.sample.X, weights=_unless_ones(p.sample.weights), **options, **buckets)


def _unless_ones(weights):
    return None if np.all(weights == 1) else weights


def _training_weight(p):
    """Weight of each class in the training part of each fold, and the fold of each validated point."""
    if p.sample.folds is not None:
        return _other_weight(p, p.sample.folds), p.sample.folds[p.sample.rows]
    rows = p.sample.rows
    each = np.arange(len(rows))
    class_weight = np.tile(np.bincount(p.sample.codes, p.sample.weights, minlength=p.sample.n_classes), (len(rows), 1))
    class_weight[each, p.sample.codes[rows]] -= p.sample.weights[rows]
    return class_weight, each


def _other_weight(p, folds):
    """Weight of each class outside each fold, (n_folds, C)."""
    return outside(fold_weight(folds, p.sample.codes, p.sample.weights, folds.max() + 1, p.sample.n_classes))


def fold_weight(folds, codes, weights, n_folds, n_classes):
    """Weight of each class in each fold, (n_folds, C)."""
    flat = np.asarray(np.bincount(folds * n_classes + codes, weights, minlength=n_folds * n_classes))
    return flat.reshape(n_folds, n_classes).astype(np.float64)


def log_sums_of_others(sums):
    """log of the sum over all buckets but one, for each bucket of the last axis."""
    buckets = np.moveaxis(sums, -1, 0).astype(np.float64)
    largest = reduce(np.maximum, buckets)
    shift = np.where(np.isneginf(largest), 0, largest)
    terms = np.exp(buckets - shift)
    others = np.zeros_like(terms)
    for step in (1, -1):  # preceding buckets, then following ones
        others[::step][1:] += np.add.accumulate(terms[::step][:-1])
    with np.errstate(divide="ignore"):
        out = np.log(others) + shift
    # If a bucket exceeds all others by more than the range of float64, the sum of the others underflows.
    hidden = (others < np.finfo(np.float64).tiny / np.finfo(np.float64).eps).any(axis=0)
    if hidden.any():
        out[:, hidden] = _log_sums_of_others_in_any_range(buckets[:, hidden])
    return np.moveaxis(out, 0, -1)


def _log_sums_of_others_in_any_range(buckets):
    """Like `log_sums_of_others`, but along the first axis and without underflow. Each term takes several exponentials
    and logarithms.
    """
    out = np.full_like(buckets, -np.inf)
    out[1:] = np.logaddexp.accumulate(buckets[:-1])
    out[:-1] = np.logaddexp(out[:-1], np.logaddexp.accumulate(buckets[:0:-1])[::-1])
    return out
