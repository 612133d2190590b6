"""
PerTurbo's boundary query in scikit-activeml
============================================

This example defines a query strategy for `scikit-activeml
<https://scikit-activeml.github.io>`_ whose utility is the negative margin of PerTurbo.
It works with the loops, wrappers and multi-annotator tools of that library, and is
compared with its random sampling and uncertainty sampling. Install it with ``pip
install "spectralcls[examples]"``.
"""

# sphinx_gallery_needs = ["skactiveml"]

import matplotlib.pyplot as plt
import numpy as np
from skactiveml.base import SingleAnnotatorPoolQueryStrategy
from skactiveml.classifier import SklearnClassifier
from skactiveml.pool import RandomSampling, UncertaintySampling
from skactiveml.utils import MISSING_LABEL, is_labeled, simple_batch
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from spectralcls import PerTurboClassifier


class PerTurboSampling(SingleAnnotatorPoolQueryStrategy):
    """Queries the samples nearest a decision boundary of PerTurboClassifier."""

    def __init__(self, missing_label=MISSING_LABEL, random_state=None):
        super().__init__(missing_label=missing_label, random_state=random_state)

    def query(self, X, y, clf, candidates=None, batch_size=1, return_utilities=False):
        X, y, candidates, batch_size, return_utilities = self._validate_data(
            X, y, candidates, batch_size, return_utilities, reset=True
        )
        X_candidates, mapping = self._transform_candidates(candidates, X, y)
        tau = np.sort(clf.perturbation(X_candidates), axis=1)
        utilities = tau[:, 0] - tau[:, 1]
        if mapping is not None:
            utilities, nearest = np.full(len(X), np.nan), utilities
            utilities[mapping] = nearest
        return simple_batch(utilities, self.random_state_, batch_size, return_utilities)


# %%
# One loop runs all three strategies. The score is the accuracy of a 3-nearest-neighbor
# classifier.
X, y = make_blobs(900, centers=[[0, 0], [3, 0], [1.5, 2.5]], random_state=0)
X, X_test, y, y_test = X[:500], X[500:], y[:500], y[500:]


def accuracies(strategy, seed, n_queries=60):
    rng = np.random.default_rng(seed)
    labels = np.full(len(y), MISSING_LABEL)
    for c in range(3):
        start = rng.choice(np.flatnonzero(y == c), 2, replace=False)
        labels[start] = y[start]
    sampler = strategy(random_state=seed)
    scores = []
    for _ in range(n_queries):
        known = is_labeled(labels)
        if strategy is PerTurboSampling:
            model = PerTurboClassifier(1.0, alpha=0.1).fit(X[known], labels[known])
            i = sampler.query(X, labels, model)
        elif strategy is UncertaintySampling:
            model = SklearnClassifier(LogisticRegression(), classes=range(3))
            i = sampler.query(X, labels, model.fit(X, labels))
        else:
            i = sampler.query(X, labels)
        labels[i] = y[i]
        known = is_labeled(labels)
        scores.append(
            KNeighborsClassifier(3).fit(X[known], labels[known]).score(X_test, y_test)
        )
    return scores


_, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for strategy in (PerTurboSampling, UncertaintySampling, RandomSampling):
    mean = np.mean([accuracies(strategy, seed) for seed in range(5)], axis=0)
    ax.plot(6 + 1 + np.arange(len(mean)), 100 * mean, label=strategy.__name__)
ax.set(
    xlabel="Labeled samples",
    ylabel="Accuracy on a test set, %",
    title="Which strategy learns faster?",
)
ax.legend()
plt.show()

# %%
# Our conclusion: the boundary query works in scikit-activeml, and is better than the
# uncertainty of a linear model. Here neither is better than random queries: the three
# groups overlap, and the labels of points between them are nearly random. Compare
# strategies on your own labeled data before you use one.
