"""
Imbalance and priors
====================

One case in twenty belongs to the class of interest. With the shares of the training set
as priors, the classifier makes the fewest errors overall but finds few of the rare
cases; with equal priors it finds most of them, at the price of false alarms. ``priors``
needs no new tuning of the densities. Most other classifiers have ``class_weight``.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs
from sklearn.metrics import recall_score

from spectralcls import AutoClassifier, KernelRidgeClassifier, ParzenClassifier

means = [[2, 2], [0.6, 0.6]]
X, y = make_blobs([950, 50], centers=means, random_state=0)
X_test, y_test = make_blobs([1900, 100], centers=means, random_state=1)
rare = int(np.bincount(y).argmin())

# %%
# The prior of the rare class varies from its share of the training set to 0.8.
share = np.mean(y == rare)
h = ParzenClassifier().fit(X, y).bandwidth_
weights = np.linspace(share, 0.8, 12)
found, false = [], []
for weight in weights:
    priors = np.where(np.arange(2) == rare, weight, 1 - weight)
    predicted = ParzenClassifier(bandwidth=h, priors=priors).fit(X, y).predict(X_test)
    found.append(np.mean(predicted[y_test == rare] == rare))
    false.append(np.mean(predicted[y_test != rare] == rare))

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
for c, marker in enumerate("o^"):
    label = "rare" if c == rare else "common"
    left.scatter(*X[y == c].T, s=12, marker=marker, label=f"{label} class", alpha=0.7)
left.set(title="Training points: 950 and 50", xlabel="feature 1", ylabel="feature 2")
left.legend()
right.plot(weights, found, "o-", label="rare cases found")
right.plot(weights, false, "^--", label="false alarms among the common")
right.axvline(share, color="gray", linewidth=1)
right.annotate(
    "share in the\ntraining set",
    (share, 0.9),
    (5, 0),
    textcoords="offset points",
    fontsize=8.5,
)
right.set(
    title="A larger prior: more cases, more false alarms",
    xlabel="prior of the rare class",
    ylabel="share",
)
right.set_ylim(0, 1)
right.legend(loc="center right")
plt.show()

# %%
# ``class_weight="balanced"`` gives both classes equal weight, also in tuning. The
# output is the share of rare cases that are found, and the share of false alarms among
# the common ones:
for kind in (ParzenClassifier, KernelRidgeClassifier, AutoClassifier):
    for weight in (None, "balanced"):
        predicted = kind(class_weight=weight).fit(X, y).predict(X_test)
        recall = recall_score(y_test == rare, predicted == rare)
        alarms = np.mean(predicted[y_test != rare] == rare)
        print(f"{kind.__name__:22}{weight or '':10}", end="")
        print(f"{100 * recall:5.0f} %{100 * alarms:6.1f} %")
