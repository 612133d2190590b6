"""Boosted trees of bounded size, in one thread, and all of them evaluated at once."""

from functools import cache

import numpy as np
import threadpoolctl
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.utils.multiclass import unique_labels

from .._tuning import stratified_subsample
from .._tuning.temperature import softmax
from .._utils.copies import random_keys
from .._utils.from_sklearn import boosted_nodes

ITERATIONS, RATE, LEAVES = 30, 0.16, 8  # as many leaves as a byte has bits
MOST_TREES = 240  # of all classes; fewer iterations go further each
_HIGHEST_RATE = 0.3
_MOST_POINTS = 30_000  # more points do not help so few leaves
_BLOCK = 1 << 22  # comparisons at a time
_LOWEST_BIT = np.array([(byte & -byte).bit_length() - 1 for byte in range(256)])


class BoostedTrees(ClassifierMixin, BaseEstimator):
    """A small :class:`~sklearn.ensemble.HistGradientBoostingClassifier`, of a bounded number of trees and points.

    It learns in one thread, whatever OpenMP would take: its threads wait busily between the histograms of few points,
    and sums in them depend on how many there are.

    Queries pass all splits of all trees at once [1]_: each split that a query fails takes the leaves on its left from
    those that it may reach, one bit each; the first that remains is its leaf. Evaluated by scikit-learn, a query of two
    classes took 0.19 ms instead of 0.015, one of ten classes 1.1 instead of 0.02. The arrays stored here are a sixth as
    large, and hold no random generator, which NumPy 1 could not read if NumPy 2 has written it.

    References
    ----------
    .. [1] C. Lucchese et al., "QuickScorer: a fast algorithm to rank documents with additive ensembles of regression
       trees", SIGIR 2015.
    """

    def fit(self, X, y, sample_weight=None):
        """Fit to X (n, d) without missing values, y (n,), positive weights (n,)."""
        if len(X) > _MOST_POINTS:
            some = stratified_subsample(y, _MOST_POINTS, random_keys(X))
            X, y, sample_weight = X[some], y[some], None if sample_weight is None else sample_weight[some]
        self.classes_ = unique_labels(y)
        iterations = max(1, min(ITERATIONS, MOST_TREES // len(self.classes_)))
        model = HistGradientBoostingClassifier(
            learning_rate=min(RATE * ITERATIONS / iterations, _HIGHEST_RATE),
            max_iter=iterations,
            max_leaf_nodes=LEAVES,
            early_stopping=False,
            random_state=0,
        )
        with _openmp().limit(limits=1):
            model.fit(X, y, sample_weight)
        trees, self.start_ = boosted_nodes(model)
        self.n_trees_ = len(trees)
        self.features_, self.thresholds_, self.left_, self.values_ = map(np.stack, zip(*map(_tree, trees), strict=True))
        return self

    def predict_proba(self, X):
        """Probabilities of the classes, (n, C)."""
        X = np.asarray(X, dtype=np.float64)
        step = max(1, _BLOCK // self.features_.size)
        scores = np.concatenate([self._scores(X[i : i + step]) for i in range(0, len(X), step)])
        if scores.shape[1] == 1:  # of the second class, against 0 for the first
            scores = np.hstack([np.zeros_like(scores), scores])
        return softmax(scores)

    def _scores(self, X):
        # Queries last, side by side in memory: splits of a tree by trees by queries.
        failed = np.ascontiguousarray(X.T)[self.features_.T] > self.thresholds_.T[..., None]
        left = np.bitwise_and.reduce(np.where(failed, self.left_.T[..., None], np.uint8(255)), axis=0)
        values = self.values_[np.arange(self.n_trees_)[:, None], _LOWEST_BIT[left]]
        return self.start_ + values.reshape(-1, self.start_.shape[1], len(X)).sum(axis=0).T


def _tree(nodes):
    """Feature, threshold and the leaves that remain to the right of each split; values of the leaves from left on."""
    features, thresholds = np.zeros(LEAVES - 1, dtype=np.intp), np.full(LEAVES - 1, np.inf)
    remaining, values = np.full(LEAVES - 1, 255, dtype=np.uint8), np.zeros(LEAVES)
    n_splits = n_leaves = 0

    def walk(node):
        nonlocal n_splits, n_leaves
        if node["is_leaf"]:
            values[n_leaves] = node["value"]
            n_leaves += 1
            return
        split, first = n_splits, n_leaves
        n_splits += 1
        features[split], thresholds[split] = node["feature_idx"], node["num_threshold"]
        walk(nodes[node["left"]])
        remaining[split] = 255 & ~((1 << n_leaves) - (1 << first))
        walk(nodes[node["right"]])

    walk(nodes[0])
    return features, thresholds, remaining, values


@cache
def _openmp():
    """The libraries, looked for once: that takes milliseconds."""
    return threadpoolctl.ThreadpoolController().select(user_api="openmp")
