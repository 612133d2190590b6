"""Boosted trees of bounded size, in one thread."""

from functools import cache

import threadpoolctl
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.utils.multiclass import unique_labels

ITERATIONS, RATE, LEAVES = 60, 0.08, 15
MOST_TREES = 600  # of all classes; fewer iterations go further each
_HIGHEST_RATE = 0.3


class BoostedTrees(ClassifierMixin, BaseEstimator):
    """A small :class:`~sklearn.ensemble.HistGradientBoostingClassifier`, whose time does not grow with the classes.

    One thread, whatever OpenMP would take: its threads wait busily between the histograms of few points, and sums in
    them depend on how many there are.
    """

    def fit(self, X, y, sample_weight=None):
        """Fit to X (n, d), y (n,), positive weights (n,)."""
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
