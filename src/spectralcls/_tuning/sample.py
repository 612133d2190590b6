"""The points on which parameters are tuned, and their folds."""

from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from .._utils.validation import unit_scale
from .folds import distinct_rows, shuffled_ranks, stratified_subsample

MANY_FOLDS = 20


class TuningSample(NamedTuple):
    """Points by class with weights and folds.

    Only the rows `validated` need be held out, against all others; where that takes all points (`validated` None) and
    there are too many, the sample is a part of them, and bandwidths for it are `growth` times those for all points.
    """

    X: np.ndarray  # (m, d)
    codes: np.ndarray  # (m,) classes 0 ... C - 1; a fold may leave out all points of a class
    n_classes: int
    weights: np.ndarray  # (m,) float64, the largest in [1/2, 1)
    folds: np.ndarray | None  # (m,) 0 ... n_folds - 1, none empty; None leaves out one point at a time
    validated: np.ndarray | None = None  # (v,), ascending; None: all rows
    growth: float = 1.0  # (n / m) ** (1 / (d + 4))
    features: np.ndarray | None = None  # (d,) feature of each column of a table that was encoded
    targets: np.ndarray | None = None  # (m, k) what a regression predicts

    @property
    def rows(self):
        """The rows that are validated."""
        return np.arange(len(self.X)) if self.validated is None else self.validated

    @property
    def n_samples(self):
        """How many points are validated."""
        return len(self.rows)

    @property
    def fold_weights(self):
        """Weight of the validated points of each split; leaving out one point at a time is one split."""
        weights = self.weights[self.rows]
        if self.folds is None:
            return weights.sum(keepdims=True)
        return np.bincount(self.folds[self.rows], weights, minlength=self.folds.max() + 1)

    def accuracies(self, right):
        """Accuracy in each split, (n_splits, ...), of an array (v, ...): which validated points are classified right.

        NaN marks candidates of which no statement can be made, and splits without validated points.
        """
        weights = self.weights[self.rows]
        if self.folds is None:
            return np.tensordot(weights, right, 1)[None] / weights.sum()
        totals = self.fold_weights
        out = np.full((len(totals), *right.shape[1:]), np.nan)
        own_fold = self.folds[self.rows]
        for fold in np.flatnonzero(totals):
            own = own_fold == fold
            out[fold] = np.tensordot(weights[own], right[own], 1) / totals[fold]
        return out

    def splits(self):
        """(train, test) masks of each fold; of each point if one is left out at a time."""
        folds = np.arange(len(self.X)) if self.folds is None else self.folds
        for fold in range(folds.max() + 1):
            test = folds == fold
            yield ~test, test


def draw_sample(data, folds=None, *, cv, max_samples, random_state, against_all=False, targets=None):
    """The sample that parameters are tuned on.

    Copies of a point within a class are one point of greater weight, so that no point is validated against its own
    copy, but in tables with categories, where different samples are often equal. More than `max_samples` are thinned
    to a stratified subsample.

    Parameters
    ----------
    data : TrainingData
    folds : ndarray (n,), optional
        Of all rows, as `check_folds` reads them from a splitter; None to make them from `cv`.
    cv : int or "loo"
        Random stratified folds, or one point at a time; of points with gaps `MANY_FOLDS`, because those outside of a
        fold complete the others.
    max_samples : int or None
        All classes together.
    random_state : int, RandomState or None
    against_all : bool, default=False
        Whether a subsample is validated against all points; otherwise it is all that is used.
    targets : ndarray (n, k), optional
        Of a regression: points are copies of each other if their targets are equal too.
    """
    X, codes = data.X, data.codes
    weights = np.ones(len(X)) if data.weights is None else unit_scale(data.weights)
    if folds is None and data.features is None:  # equal rows of a table with categories are no copies
        first, group = distinct_rows(X if targets is None else np.column_stack([X, targets]), codes)
        X, codes, weights = X[first], codes[first], np.bincount(group, weights)
        targets = None if targets is None else targets[first]
    n = len(X)
    rng = check_random_state(random_state)
    validated = None
    if max_samples is not None and n > max_samples:
        validated = stratified_subsample(codes, max_samples, rng)
        if not against_all:
            X, codes, weights = X[validated], codes[validated], weights[validated]
            folds = None if folds is None else folds[validated]
            targets = None if targets is None else targets[validated]
            validated = None
    if cv == "loo" and np.isnan(X).any():
        cv = MANY_FOLDS
    if folds is None and cv != "loo":
        folds = shuffled_ranks(codes, rng) % cv
    if folds is not None:
        folds = np.unique(folds, return_inverse=True)[1]
    growth = (n / len(X)) ** (1 / (X.shape[1] + 4))
    return TuningSample(X, codes, len(data.classes), weights, folds, validated, growth, data.features, targets)
