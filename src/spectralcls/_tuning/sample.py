"""The points on which parameters are tuned, and their folds."""

from numbers import Integral
from typing import NamedTuple

import numpy as np

from .._utils.validation import unit_scale
from ..kernels import without_own
from .folds import check_folds, drawn_seed, shuffled_ranks, stratified_subsample
from .grids import bandwidth_ratio

MANY_FOLDS = 20
MOST_OTHERS = 200_000  # limit on the points against which a subsample is validated


class TuningSample(NamedTuple):
    """Points with classes, weights and folds.

    Only the rows `validated` (None: all) are held out and predicted from the points outside their fold. A bandwidth for
    all points, multiplied by `bandwidth_ratio`, is the corresponding bandwidth for the sample.
    """

    X: np.ndarray  # (m, d)
    codes: np.ndarray  # (m,) classes 0 ... C - 1; some may be absent
    n_classes: int
    weights: np.ndarray  # (m,) float64; all are one, or the largest is in [1/2, 1)
    folds: np.ndarray | None  # (m,) 0 ... n_folds - 1, none empty; None leaves out one point at a time
    validated: np.ndarray | None = None  # (v,), ascending; None: all rows
    bandwidth_ratio: float = 1.0  # (n / m) ** (1 / (d + 4)) for m of n points, with d columns that are not constant
    features: np.ndarray | None = None  # (d,) feature of each column of an encoded table
    targets: np.ndarray | None = None  # (m, k) targets of a regression
    weight_scale: float = 1.0  # power of two; its product with `weights` gives the weights of the data
    one_split: bool = False  # whether the folds count as a single split, as do groups that are left out one by one

    @property
    def rows(self):
        """The rows that are validated."""
        return np.arange(len(self.X)) if self.validated is None else self.validated

    @property
    def n_samples(self):
        """Number of validated points."""
        return len(self.rows)

    @property
    def fold_weights(self):
        """Total weight of the validated points in each split; leave-one-out counts as a single split."""
        weights = self.weights[self.rows]
        if self.folds is None or self.one_split:
            return weights.sum(keepdims=True)
        return np.bincount(self.folds[self.rows], weights, minlength=self.folds.max() + 1)

    @property
    def n_effective(self):
        """Effective number of validated points."""
        weights = self.weights[self.rows]
        return weights.sum() ** 2 / (weights @ weights)

    def accuracies(self, right):
        """Accuracy in each split, (n_splits, ...), given which validated points are classified correctly, (v, ...).

        NaN marks a candidate that could not be scored, or a split without validated points.
        """
        weights = self.weights[self.rows]
        if self.folds is None or self.one_split:
            return np.tensordot(weights, right, 1)[None] / weights.sum()
        totals = self.fold_weights
        out = np.full((len(totals), *right.shape[1:]), np.nan)
        own_fold = self.folds[self.rows]
        for fold in np.flatnonzero(totals):
            own = own_fold == fold
            out[fold] = np.tensordot(weights[own], right[own], 1) / totals[fold]
        return out

    def left_out(self, rows):
        """Arguments of `kernel_sums` that leave the queries, these rows, or their folds out of their own sums."""
        return without_own(rows, self.folds)

    def splits(self):
        """(train, test) masks of each fold, or of each point for leave-one-out."""
        folds = np.arange(len(self.X)) if self.folds is None else self.folds
        for fold in range(folds.max() + 1):
            test = folds == fold
            yield ~test, test


def tuning_sample(estimator, data, **options):
    """`draw_sample` with the parameters of an estimator, which `options` override."""
    given = {"cv": estimator.cv, "max_samples": estimator.max_tuning_samples, "random_state": estimator.random_state}
    return draw_sample(data, **given | options)


def draw_sample(data, *, cv, max_samples, random_state, against_all=False):
    """The sample used to tune parameters.

    Unless `cv` provides the folds, copies (in each group) are merged into one point of greater weight, so that no point
    is validated against its copy. If there are more than `max_samples` points, a stratified subsample is drawn.

    Parameters
    ----------
    data : TrainingData
    cv : int, "loo", splitter or list of splits
        Number of random stratified folds, leave-one-out, or given folds of all samples. With missing values,
        `MANY_FOLDS` folds replace "loo", because the training points of each fold are completed from each other.
        With groups, folds consist of groups, and "loo" leaves out one group at a time.
    max_samples : int or None
        Limit on the number of points, all classes together.
    random_state : int, RandomState or None
    against_all : bool, default=False
        Whether a subsample is validated against all points, up to `MOST_OTHERS`; otherwise only against itself.
    """
    if isinstance(cv, str) and np.isnan(data.X).any():
        cv = MANY_FOLDS
    seed = drawn_seed(random_state)
    folds = check_folds(cv, data, seed + 1)
    if isinstance(cv, Integral | str):
        folds = None if folds is None else folds[data.copies.first]
        data = data.distinct()
    weights, exponent = unit_scale(None if data.weights is None or np.all(data.weights == 1) else data.weights)
    weights = np.ones(len(data.X)) if weights is None else weights
    n, validated = len(data.X), None
    if max_samples is not None and n > max_samples:
        keys, most = data.keys(seed), max(max_samples, MOST_OTHERS) if against_all else max_samples
        if n > most:
            rows = stratified_subsample(data.codes, most, keys)
            data, weights, keys = data.take(rows), weights[rows], keys[rows]
            folds = None if folds is None else folds[rows]
        if most > max_samples:
            validated = stratified_subsample(data.codes, max_samples, keys)
    if folds is None and not isinstance(cv, str):
        folds = shuffled_ranks(data.codes, data.keys(seed + 1)) % cv
    if folds is not None:
        folds = np.unique(folds, return_inverse=True)[1]
    ratio = bandwidth_ratio(len(data.X), n, data.X)
    points = {"features": data.features, "targets": data.targets, "weight_scale": 2.0**exponent}
    points["one_split"] = folds is not None and isinstance(cv, str)
    return TuningSample(data.X, data.codes, data.n_classes, weights, folds, validated, ratio, **points)
