"""Tuning with training data on the workers: a sample in this process, validated against all rows."""

from functools import partial

import dask.array as da
import numpy as np
from sklearn.utils import check_random_state

from .._expansion import BLOCK_BYTES
from .._expansion.held_out import fold_weight, held_out_scores, judged_by_sums, outside, sample_and_scores
from .._tuning import drawn_from, folds_by_content, stratified_subsample
from .._utils.blocks import as_blocks, by_rows, in_memory
from ._sums import kernel_sums

# collections of at most this many numbers are gathered completely, so that samples are drawn as in memory
MOST_VALUES = 1 << 22


@sample_and_scores.register(da.Array)
def _(X, data, points, sample, rule, estimator):
    """For a rule that compares only sums, validate the sample against all points on the workers."""
    compares_sums = rule.weighting is None and not rule.needs_potentials and not data.incomplete
    if len(points.X) == X.shape[0] or not compares_sums or estimator.cv == "loo":
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
    fold = partial(folds_by_content, n_folds=n_folds, seed=seed)
    all_folds = by_rows(data.X, fold, shape=(), dtype=np.intp).persist()
    rows_per_block = max(1, BLOCK_BYTES // (16 * len(problem.bandwidths) * sample.n_classes))
    log_sums = kernel_sums(
        as_blocks(sample.X, rows_per_block),
        data.X,
        weights=data.weights,
        labels=data.codes,
        n_labels=sample.n_classes,
        kernel=problem.kernel,
        bandwidth=problem.bandwidths,
        log=True,
        exclude_groups=(sample.folds, all_folds),
        n_jobs=problem.n_jobs or 1,
    ).compute()
    inside = fold_weight(all_folds, data.codes, data.weights, n_folds, sample.n_classes)
    return judged_by_sums(problem, log_sums, outside(inside), sample.folds).scored()


@drawn_from.register(da.Array)
def _(X, data, n_samples, rng):
    """Gather all points if they are few, otherwise a stratified random sample, in the original order and with the given
    weights.

    Points are few if there are at most `n_samples` of them, or if they hold at most `MOST_VALUES` numbers. The code for
    data in memory then draws its samples from all of them.
    """
    if n_samples is not None and X.shape[0] > n_samples and X.size > MOST_VALUES:
        codes = in_memory(data.codes)
        data = data.take(stratified_subsample(codes, n_samples, rng.random_sample(len(codes))))
    return in_memory(data._replace(kept=None, y=None))
