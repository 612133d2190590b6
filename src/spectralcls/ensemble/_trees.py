"""Boosted trees of bounded size, in one thread."""

from functools import cache

import threadpoolctl
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.utils.multiclass import unique_labels

from .._tuning import random_keys, stratified_subsample

ITERATIONS, RATE, LEAVES = 30, 0.16, 8
MOST_TREES = 240  # of all classes; fewer iterations go further each
_HIGHEST_RATE = 0.3
_MOST_POINTS = 30_000  # so few leaves learn no more from more


class BoostedTrees(ClassifierMixin, BaseEstimator):
    """A small :class:`~sklearn.ensemble.HistGradientBoostingClassifier`, of a bounded number of trees and points.

    One thread, whatever OpenMP would take: its threads wait busily between the histograms of few points, and sums in
    them depend on how many there are.
    """

    def fit(self, X, y, sample_weight=None):
        """Fit to X (n, d), y (n,), positive weights (n,)."""
        if len(X) > _MOST_POINTS:
            some = stratified_subsample(y, _MOST_POINTS, random_keys(X))
            X, y, sample_weight = X[some], y[some], None if sample_weight is None else sample_weight[some]
        self.classes_ = unique_labels(y)
        iterations = max(1, min(ITERATIONS, MOST_TREES // len(self.classes_)))
        self.model_ = HistGradientBoostingClassifier(
            learning_rate=min(RATE * ITERATIONS / iterations, _HIGHEST_RATE),
            max_iter=iterations,
            max_leaf_nodes=LEAVES,
            early_stopping=False,
            random_state=0,
        )
        with _openmp().limit(limits=1):
            self.model_.fit(X, y, sample_weight)
        return self

    def predict_proba(self, X):
        """Probabilities of the classes, (n, C)."""
        with _openmp().limit(limits=1):
            return self.model_.predict_proba(X)


@cache
def _openmp():
    """The libraries, looked for once: that takes milliseconds."""
    return threadpoolctl.ThreadpoolController().select(user_api="openmp")
