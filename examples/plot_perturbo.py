"""
PerTurbo: perturbation fields and the region to query
=====================================================

The field tau of every class, 0 on its samples and 1 far away; the predicted classes; and the region near
their borders from which active learning draws (figures 2 to 4 of the PerTurbo paper).
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from spectralcls.datasets import make_two_spirals
from spectralcls.perturbo import PerTurboClassifier
from spectralcls.plotting import PerturbationDisplay

# %%
# Two spirals. The bandwidth and Tikhonov's constant are tuned by leave-one-out inside ``fit``.
X, y = make_two_spirals(300, random_state=0)
spirals = PerTurboClassifier().fit(X, y)
print(f"bandwidth {spirals.bandwidth_:.2f}, alpha {spirals.alpha_:g}")
PerturbationDisplay.from_estimator(spirals, X, y)

# %%
# Three Gaussians, with two regularisations of the paper's figure 3 (sigma = 1, alpha = 0.1).
X, y = make_blobs(150, centers=[[0, 0], [3, 0], [1.5, 2.5]], random_state=0)
for regularization in ("tikhonov", "truncate"):
    clf = PerTurboClassifier(1.0, regularization=regularization, alpha=0.1).fit(X, y)
    display = PerturbationDisplay.from_estimator(clf, X, y)
    display.figure_.suptitle(f"regularization={regularization!r}: spans of dimension {clf.ranks_.tolist()}")

plt.show()
