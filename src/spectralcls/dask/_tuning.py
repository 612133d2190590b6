"""The bandwidth for training data on the workers: reference rules from moments, or cross-validation."""

from functools import partial

import dask
import dask.array as da
import numpy as np
from sklearn.utils import check_random_state

from .. import _tuning
from .._expansion import BLOCK_BYTES
from .._expansion.held_out import fold_weight, held_out_scores, judged_by_sums, outside, sample_and_scores
from .._tuning import bandwidth_ratio_of, folds_by_content, gathered
from .._utils.training_data import TrainingData
from ..kernels import check_repetitions, reference_rule
from ._rows import DistributedData, blocks, column_blocks
from ._sums import kernel_sums, total, tree

MAX_MEASURED = 5000  # incomplete points that a reference bandwidth comes from
MOST_VALUES = 1 << 22  # numbers that come to this process whole, so that what is drawn from them is as in memory


@_tuning.reference_of.register(DistributedData)
def _(data, rule, kernel="gaussian", random_state=0):
    """Silverman's rule for all samples, or for each class; 1 where all samples are equal.

    If values are missing, it is that of a sample, for as many points as there are.
    """
    if data.incomplete:
        points = gather(data, MAX_MEASURED, check_random_state(random_state))
        found = _tuning.reference_bandwidth(
            rule, points.X, points.codes, len(points.classes), points.weights, kernel=kernel
        )
        return found * bandwidth_ratio_of(data, points)
    weights = column_blocks(data.weights, data.X)
    moments = dask.delayed(_moments)
    parts = [
        moments(*part, len(data.classes)) for part in zip(blocks(data.X), blocks(data.codes), weights, strict=True)
    ]
    by_class = tree(_add_moments, parts).compute()
    scale = data.class_weight.sum() / by_class[0].sum()
    d = data.X.shape[1]
    pooled = _silverman(_merged(*by_class), scale, d, kernel) or 1.0
    if rule == "silverman":
        return pooled
    return np.array([_silverman(each, scale, d, kernel) or pooled for each in zip(*by_class, strict=True)])


def _silverman(moments, scale, d, kernel):
    weight, _, squares = moments
    if squares == 0:
        return None
    n = weight * scale
    check_repetitions(n)
    return reference_rule(np.sqrt(squares * scale / (n - 1) / d), n, d, "silverman", kernel)


def _moments(X, codes, weights, n_classes):
    """Weight (C,), mean (C, d) and sum of squared distances to the mean (C,) of each class."""
    weights = np.ones(len(X)) if weights is None else weights
    weight, mean, squares = np.zeros(n_classes), np.zeros((n_classes, X.shape[1])), np.zeros(n_classes)
    for c in np.unique(codes):
        w, points = weights[codes == c], X[codes == c].astype(np.float64)
        weight[c], mean[c] = w.sum(), w @ points / w.sum()
        squares[c] = w @ ((points - mean[c]) ** 2).sum(axis=1)
    return weight, mean, squares


def _add_moments(*parts):
    stacked = [np.stack(column, axis=1) for column in zip(*parts, strict=True)]  # (C, parts, ...)
    merged = [_merged(*each) for each in zip(*stacked, strict=True)]
    return tuple(np.stack(column) for column in zip(*merged, strict=True))


def _merged(weight, mean, squares):
    """Moments of the union of samples, from the moments of each."""
    total = weight.sum()
    center = weight @ mean / (total or 1.0)
    return total, center, squares.sum() + weight @ ((mean - center) ** 2).sum(axis=1)


@sample_and_scores.register(DistributedData)
def _(data, points, sample, rule, estimator):
    """A sample of more points, of a rule that compares sums alone, is validated against all points on the workers."""
    compares_sums = rule.weighting is None and not rule.needs_potentials and not data.incomplete
    if len(points.X) == data.X.shape[0] or not compares_sums or estimator.cv == "loo":
        return sample, held_out_scores
    seed = check_random_state(estimator.random_state).randint(2**31)
    sample = sample._replace(folds=folds_by_content(sample.X, estimator.cv, seed), bandwidth_ratio=1.0)
    return sample, partial(scores_against_all, data=data, n_folds=estimator.cv, seed=seed)


def scores_against_all(problem, data, n_folds, seed):
    """Accuracies of a rule that compares sums alone, on the problem's points against all points of other folds.

    Folds are those of the points' values, so that every worker knows them. If no compact kernel reaches, the nearest
    of the problem's own points decides.
    """
    sample = problem.sample
    all_folds = data.X.map_blocks(
        partial(folds_by_content, n_folds=n_folds, seed=seed), drop_axis=1, dtype=np.intp
    ).persist()
    rows_per_block = max(1, BLOCK_BYTES // (16 * len(problem.bandwidths) * sample.n_classes))
    log_sums = kernel_sums(
        da.from_array(sample.X, chunks=(rows_per_block, -1)),
        data.X,
        weights=data.weights,
        labels=data.codes,
        n_labels=sample.n_classes,
        kernel=problem.kernel,
        bandwidth=problem.bandwidths,
        log=True,
        exclude_groups=(sample.folds, all_folds),
        n_jobs=problem.n_jobs or 1,
    )
    count = dask.delayed(fold_weight)
    weights = column_blocks(data.weights, data.X)
    inside = tree(
        total,
        [
            count(*part, n_folds, sample.n_classes)
            for part in zip(blocks(all_folds), blocks(data.codes), weights, strict=True)
        ],
    )
    log_sums, inside = dask.compute(log_sums, inside)
    return judged_by_sums(problem, log_sums, outside(inside), sample.folds).scored()


@gathered.register(DistributedData)
def gather(data, n_samples, rng):
    """All points if they are few, or a stratified random sample, in this process and in their order; weights as given.

    Few are `n_samples`, or points of `MOST_VALUES` numbers: from these, the code for data in memory draws its own.
    """
    parts = list(
        zip(
            blocks(data.X),
            blocks(data.codes),
            column_blocks(data.weights_as_given, data.X),
            column_blocks(data.targets, data.X),
            strict=True,
        )
    )
    if n_samples is not None and data.X.shape[0] > n_samples and data.X.size > MOST_VALUES:
        parts = _sampled(parts, data.n_classes, n_samples, rng)
    X, codes, weights, targets = (
        None if column[0] is None else np.concatenate(column) for column in zip(*dask.compute(*parts), strict=True)
    )
    return TrainingData(X, codes, data.classes, weights, features=data.features, targets=targets)


def _sampled(parts, n_classes, n_samples, rng):
    count = dask.delayed(lambda codes: np.bincount(codes, minlength=n_classes))
    counts = np.array(dask.compute(*[count(codes) for _, codes, *_ in parts]))
    totals = counts.sum(axis=0)
    edges = np.cumsum(totals) * n_samples // totals.sum()
    wanted = np.maximum(np.diff(edges, prepend=0), np.minimum(totals, 2))  # every class remains
    seeds = rng.randint(2**31 - 1, size=len(parts) + 1)
    draw = np.random.default_rng(seeds[-1]).multivariate_hypergeometric
    quotas = np.stack([draw(counts[:, c], wanted[c]) for c in range(n_classes)], axis=1)
    take = dask.delayed(_take, nout=4)
    return [take(*part, quota, seed) for part, quota, seed in zip(parts, quotas, seeds[:-1], strict=True)]


def _take(X, codes, weights, targets, quota, seed):
    rng = np.random.RandomState(seed)
    rows = np.sort(
        np.concatenate(
            [rng.choice(np.flatnonzero(codes == c), size, replace=False) for c, size in enumerate(quota)]
        ).astype(np.intp)
    )
    return [None if column is None else column[rows] for column in (X, codes, weights, targets)]
