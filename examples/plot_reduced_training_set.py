"""
=====================================
Accuracy against training set size
=====================================

A kernel classifier keeps its training points, and the cost of a prediction is
proportional to their number. :func:`~spectralcls.kernel_mean.reduce_training_set` keeps
a few points with weights: either representatives, whose weighted kernel mean is near
that of their class, or the points with the largest weights 1 / f, as the thesis
proposes.

Representatives reach the accuracy of the whole set if there are enough of them to span
their class at the given bandwidth. If there are fewer, they are better than a random
subset for classes that do not overlap (above), but not for classes that do (below). The
points with the largest weights are in sparse regions. Enough of them suffice if classes
do not overlap. If classes overlap, they mislead a density classifier, and more points
may be worse than fewer.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.model_selection import train_test_split

from spectralcls import ParzenClassifier
from spectralcls.kernel_mean import reduce_training_set

SIZES = np.array([10, 20, 40, 80, 160, 320])
COLORS = {"representative": "C2", "weight": "C3", "random": "0.5"}

figure, axes = plt.subplots(2, 3, figsize=(12, 7), layout="constrained")
for row, noise in zip(axes, (0.08, 0.3), strict=True):
    X, y = make_moons(3000, noise=noise, random_state=0)
    X_test, y_test = make_moons(3000, noise=noise, random_state=1)
    whole = ParzenClassifier().fit(X, y)
    h = whole.bandwidth_

    for ax, method in zip(row, ("representative", "weight"), strict=False):
        indices, weights = reduce_training_set(
            X, y, 40, method=method, bandwidth=h, random_state=0
        )
        colors = np.array(["C0", "C1"])
        ax.scatter(*X.T, s=2, c=colors[y], alpha=0.15)
        area = 60 * weights / weights.max()
        ax.scatter(*X[indices].T, s=area, c=colors[y[indices]], edgecolors="k")
        ax.set(title=f"40 of {len(X)} points: {method}", xticks=[], yticks=[])

    accuracy = {name: [] for name in COLORS}
    for size in SIZES:
        subsets = {
            method: reduce_training_set(
                X, y, size, method=method, bandwidth=h, random_state=0
            )
            for method in ("representative", "weight")
        }
        random, _ = train_test_split(
            np.arange(len(X)), train_size=size, stratify=y, random_state=0
        )
        subsets["random"] = random, np.ones(size)
        for name, (indices, weights) in subsets.items():
            model = ParzenClassifier(bandwidth=h).fit(
                X[indices], y[indices], sample_weight=weights
            )
            accuracy[name].append(model.score(X_test, y_test))
    for name, values in accuracy.items():
        row[2].plot(SIZES, values, "o-", color=COLORS[name], label=name)
    row[2].axhline(
        whole.score(X_test, y_test), color="k", linewidth=1, label=f"all {len(X)}"
    )
    row[2].set(
        xscale="log",
        xlabel="training points kept",
        ylabel="test accuracy",
        title=f"noise {noise}",
    )
axes[0, 2].legend(loc="lower right")
plt.show()
