"""Tuning with training data on the workers: a sample in this process, validated against all rows."""

from functools import partial

import dask
import dask.array as da
import numpy as np
from sklearn.utils import check_random_state

from .._expansion import BLOCK_BYTES
from .._expansion.held_out import fold_weight, held_out_scores, judged_by_sums, outside, sample_and_scores
from .._inputs.training_data import TrainingData
from .._tuning import bandwidth_ratio_of, folds_by_content, gathered, reference_of
from .._utils.lazy import in_memory
from ._rows import DistributedData, blocks, column_blocks
from ._sums import kernel_sums, total, tree

MAX_MEASURED = 20_000  # points gathered for a rule of thumb; they give the spread to within half a percent
# collections of at most this many numbers are gathered completely, so that samples are drawn as in memory
MOST_VALUES = 1 << 22


@reference_of.register(DistributedData)
def _(data, rule, kernel="gaussian", random_state=0):
    """The reference bandwidth of the gathered points, converted to all points."""
    points = gather(data, MAX_MEASURED, check_random_state(random_state))
    return reference_of(points, rule, kernel) * bandwidth_ratio_of(data, points)


@sample_and_scores.register(DistributedData)
def _(data, points, sample, rule, estimator):
    """For a rule that compares only sums, validate the sample against all points on the workers."""
    compares_sums = rule.weighting is None and not rule.needs_potentials and not data.incomplete
    if len(points.X) == data.X.shape[0] or not compares_sums or estimator.cv == "loo":
        return sample, held_out_scores
    seed = check_random_state(estimator.random_state).randint(2**31)
    sample = sample._replace(folds=folds_by_content(sample.X, estimator.cv, seed), bandwidth_ratio=1.0)
    return sample, partial(scores_against_all, data=data, n_folds=estimator.cv, seed=seed)


def scores_against_all(problem, data, n_folds, seed):
    """Scores of a rule that compares only sums, for the problem's points against all points of the other folds.

    Folds depend on the points' values, so that every worker can compute them. If no compact kernel reaches a query, the
    nearest of the problem's points decides.
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
    """Gather all points if they are few, otherwise a stratified random sample, in the original order and with the given
    weights.

    Points are few if there are at most `n_samples` of them, or if they hold at most `MOST_VALUES` numbers. The code for
    data in memory then draws its samples from all of them.
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


@in_memory.register(DistributedData)
def _(data):
    return gather(data, None, None)


def _sampled(parts, n_classes, n_samples, rng):
    count = dask.delayed(lambda codes: np.bincount(codes, minlength=n_classes))
    counts = np.array(dask.compute(*[count(codes) for _, codes, *_ in parts]))
    totals = counts.sum(axis=0)
    edges = np.cumsum(totals) * n_samples // totals.sum()
    wanted = np.maximum(np.diff(edges, prepend=0), np.minimum(totals, 2))  # keep every class
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
