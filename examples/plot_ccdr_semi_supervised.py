"""
Few labels, many samples: semi-supervised CCDR
==============================================

Samples without a label still shape the neighborhood graph. With few labels, a k-NN
classifier in the CCDR embedding of all samples is better than one that uses only the
labeled samples.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from spectralcls import CCDR

X, X_test, y, y_test = train_test_split(
    *load_digits(return_X_y=True), test_size=0.4, random_state=0
)


def accuracy(n_labels, seed):
    """Test accuracy of 1-NN on the raw pixels, and in the embedding of all samples."""
    order = np.random.default_rng(seed).permutation(len(X))
    labeled = np.concatenate(
        [order[y[order] == c][: n_labels // 10] for c in range(10)]
    )
    partial = np.full(len(y), -1)
    partial[labeled] = y[labeled]
    nearest = KNeighborsClassifier(1)
    raw = nearest.fit(X[labeled], y[labeled]).score(X_test, y_test)
    embedding = CCDR(9, beta=1.0, n_neighbors=6, unlabeled=-1, scale=None).fit(
        X, partial
    )
    nearest.fit(embedding.transform(X[labeled]), y[labeled])
    return raw, nearest.score(embedding.transform(X_test), y_test)


labels = np.array([20, 40, 80, 160])
scores = 100 * np.array([[accuracy(n, seed) for seed in range(3)] for n in labels])
mean, spread = scores.mean(axis=1), scores.std(axis=1)

figure, ax = plt.subplots()
ways = {
    "1-NN on pixels, labeled samples only": "s--",
    f"1-NN in CCDR of all {len(X)} samples": "o-",
}
for (name, style), m, s in zip(ways.items(), mean.T, spread.T, strict=True):
    ax.errorbar(labels, m, s, fmt=style, capsize=3, label=name)
ax.set(
    xscale="log",
    xlabel="labeled samples",
    ylabel="test accuracy, %",
    title="Unlabeled samples improve the classifier",
)
ax.set_xticks(labels, labels)
ax.minorticks_off()
ax.legend(title="mean and standard deviation of 3 draws", loc="lower right")
plt.show()
