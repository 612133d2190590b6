"""Boosted trees of bounded size, learned in one thread and evaluated together."""

from functools import cache
from itertools import zip_longest

import numpy as np
import threadpoolctl
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.utils.multiclass import unique_labels

from .._tuning import stratified_subsample
from .._tuning.temperature import softmax
from .._utils.bases import BaseEstimator, ClassifierMixin, RegressorMixin
from .._utils.copies import random_keys
from .._utils.from_sklearn import boosted_nodes

ITERATIONS, RATE, LEAVES = 30, 0.16, 8  # as many leaves as a byte has bits
# Of numbers trees are added until the loss on unseen points stops falling: on 34 tables of at most 600 rows after 13 to
# more than 400. With all columns at each cut and leaves of 8 points the error was 4 % more on 17 of them; on the other
# 17 with 16 leaves a tree 1 % more, with half of the columns as much, with a fifth 3 %.
OF_NUMBERS = {"rate": 0.07, "leaf": 4, "columns": 0.3}
FIRST, MOST = 100, 800  # iterations; twice as many while the best are among the last
AMONG_THE_LAST = 0.75  # of the iterations
MOST_TREES = 240  # of all classes; fewer iterations go further each
_HIGHEST_RATE = 0.3
_MOST_POINTS = 30_000  # more points do not help so few leaves
_BLOCK = 1 << 22  # comparisons at a time
_NOTHING = np.array([(1, 0.0)], dtype=[("is_leaf", bool), ("value", float)])  # a tree of one leaf
_LOWEST_BIT = np.array([(byte & -byte).bit_length() - 1 for byte in range(256)])


class _Trees(BaseEstimator):
    """Boosted trees of scikit-learn, learned in one thread and evaluated all at once.

    OpenMP threads would wait busily between the histograms of few points, and their sums would depend on the number of
    threads.

    All splits of all trees are evaluated together [1]_: a bit mask holds the leaves that a query can reach, each failed
    split removes the leaves on its left, and the first remaining leaf is the answer. In scikit-learn a query of two
    classes took 0.19 ms instead of 0.015, one of ten classes 1.1 instead of 0.02. The arrays stored here are a sixth of
    the size, and contain no random generator, which NumPy 1 could not read from NumPy 2.

    References
    ----------
    .. [1] C. Lucchese et al., "QuickScorer: a fast algorithm to rank documents with additive ensembles of regression
       trees", SIGIR 2015.
    """

    def _keep(self, trees, start):
        """Trees of the columns in turn, and the scores (1, k) to which they add."""
        self.start_, self.n_trees_ = start, len(trees)
        self.features_, self.thresholds_, self.left_, self.values_ = map(np.stack, zip(*map(_tree, trees), strict=True))

    def _all_scores(self, X):
        """Sums of the trees, (n, k)."""
        X = np.asarray(X, dtype=np.float64)
        step = max(1, _BLOCK // self.features_.size)
        return np.concatenate([self._scores(X[i : i + step]) for i in range(0, len(X), step)])

    def _scores(self, X):
        # Queries last, side by side in memory: splits of a tree by trees by queries.
        failed = np.ascontiguousarray(X.T)[self.features_.T] > self.thresholds_.T[..., None]
        left = np.bitwise_and.reduce(np.where(failed, self.left_.T[..., None], np.uint8(255)), axis=0)
        values = self.values_[np.arange(self.n_trees_)[:, None], _LOWEST_BIT[left]]
        return self.start_ + values.reshape(-1, self.start_.shape[1], len(X)).sum(axis=0).T


class BoostedTrees(ClassifierMixin, _Trees):
    """A small :class:`~sklearn.ensemble.HistGradientBoostingClassifier`, of a bounded number of trees and points."""

    def fit(self, X, y, sample_weight=None):
        """Fit to X (n, d) without missing values, y (n,), positive weights (n,)."""
        X, y, sample_weight = _some(X, y, y, sample_weight)
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
        self._keep(*boosted_nodes(model))
        return self

    def predict_proba(self, X):
        """Probabilities of the classes, (n, C)."""
        scores = self._all_scores(X)
        if scores.shape[1] == 1:  # of the second class, against 0 for the first
            scores = np.hstack([np.zeros_like(scores), scores])
        return softmax(scores)


class BoostedRegression(RegressorMixin, _Trees):
    """The same of numbers, one or several: trees of each output.

    Parameters
    ----------
    iterations : sequence of int, default=None
        Of each output. None: as `unseen` points say; 200 without them.

    Attributes
    ----------
    iterations_ : ndarray of int, of each output
    """

    def __init__(self, iterations=None):
        self.iterations = iterations

    def fit(self, X, y, sample_weight=None, unseen=None):
        """Fit to X (n, d) without missing values, y (n,) or (n, k), positive weights (n,).

        With `unseen` points, targets and weights or None, until the squared error there stops falling.
        """
        Y, trees, starts = y.reshape(len(y), -1), [], []
        for j, column in enumerate(Y.T):
            model = HistGradientBoostingRegressor(
                learning_rate=OF_NUMBERS["rate"],
                max_iter=2 * FIRST if self.iterations is None else int(self.iterations[j]),
                max_leaf_nodes=LEAVES,
                min_samples_leaf=OF_NUMBERS["leaf"],
                max_features=OF_NUMBERS["columns"],
                early_stopping=False,
                warm_start=True,
                random_state=0,
            )
            with _openmp().limit(limits=1):
                if unseen is None:
                    kept = model.fit(X, column, sample_weight).max_iter
                else:
                    Q, truth, weights = unseen
                    kept = _grown(model, (X, column, sample_weight), Q, truth.reshape(len(Q), -1)[:, j], weights)
            own, start = boosted_nodes(model)
            trees.append(own[:kept])
            starts.append(np.ravel(start))
        self.iterations_ = np.array([len(own) for own in trees])
        # The outputs' trees in turns; one of value zero where an output has fewer.
        turns = zip_longest(*trees, fillvalue=_NOTHING)
        self._keep([tree for of_outputs in turns for tree in of_outputs], np.stack(starts, axis=1))
        return self

    def predict(self, X):
        """Predictions, (n, k)."""
        return self._all_scores(X)


def _grown(model, training, Q, truth, weights):
    """Fit a model with a warm start; the number of iterations after which its squared error at Q is least."""
    model.max_iter = FIRST
    while True:
        model.fit(*training)
        errors = [np.average((predicted - truth) ** 2, weights=weights) for predicted in model.staged_predict(Q)]
        best = int(np.argmin(errors)) + 1
        if best <= AMONG_THE_LAST * model.max_iter or model.max_iter >= MOST:
            return best
        model.max_iter *= 2


def _some(X, codes, y, weights):
    """At most `_MOST_POINTS` of the points, their answers and weights."""
    if len(X) <= _MOST_POINTS:
        return X, y, weights
    some = stratified_subsample(codes, _MOST_POINTS, random_keys(X))
    return X[some], y[some], None if weights is None else weights[some]


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
