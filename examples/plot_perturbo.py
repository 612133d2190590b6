"""
PerTurbo: perturbation fields and the region to query
=====================================================

The field tau of every class, 0 on its samples and 1 far away; the predicted classes; and the region near
their borders from which active learning draws.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from spectralcls import PerTurboClassifier
from spectralcls.datasets import make_two_spirals
from spectralcls.plotting import PerturbationDisplay

# %%
# Two spirals. The bandwidth and Tikhonov's constant are tuned by leave-one-out inside ``fit``.
X, y = make_two_spirals(300, random_state=0)
spirals = PerTurboClassifier().fit(X, y)
display = PerturbationDisplay.from_estimator(spirals, X, y)
display.figure_.suptitle(f"Each class perturbs least along its own arm (h = {spirals.bandwidth_:.2g})")

# %%
# Three Gaussians, with two regularizations.
X, y = make_blobs(150, centers=[[0, 0], [3, 0], [1.5, 2.5]], random_state=0)
for regularization in ("tikhonov", "truncate"):
    clf = PerTurboClassifier(1.0, regularization=regularization, alpha=0.1).fit(X, y)
    display = PerturbationDisplay.from_estimator(clf, X, y)
    display.figure_.suptitle(f"regularization={regularization!r}: spans of dimension {clf.ranks_.tolist()}")
plt.show()
