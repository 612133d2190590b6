"""
Rings and spirals: boundaries of any shape
==========================================

Four classifiers with their defaults separate classes that no straight line can
separate. ``fit`` chooses the bandwidths.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from sklearn.datasets import make_circles, make_moons
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.model_selection import train_test_split

from spectralcls import (
    CauchySchwarzClassifier,
    ISEClassifier,
    ParzenClassifier,
    PerTurboClassifier,
)

rng = np.random.default_rng(0)
labels, t = np.arange(300) % 2, np.sqrt(rng.random(300))
angle = np.pi * (3.5 * t + labels)
spirals = 3 * t[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
samples = {
    "moons": make_moons(300, noise=0.25, random_state=0),
    "rings": make_circles(300, noise=0.1, factor=0.5, random_state=0),
    "spirals": (spirals + 0.25 * rng.normal(size=(300, 2)), labels),
}
classifiers = [
    ParzenClassifier(),
    ISEClassifier(),
    CauchySchwarzClassifier(),
    PerTurboClassifier(),
]
colors = ListedColormap(["#0072B2", "#E69F00"])

figure, axes = plt.subplots(3, 4, figsize=(11, 8))
for row, (name, (X, y)) in zip(axes, samples.items(), strict=True):
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, stratify=y, random_state=0
    )
    for ax, classifier in zip(row, classifiers, strict=True):
        classifier.fit(X_train, y_train)
        DecisionBoundaryDisplay.from_estimator(
            classifier,
            X,
            response_method="predict",
            ax=ax,
            alpha=0.25,
            cmap=colors,
            grid_resolution=150,
        )
        for c, marker in enumerate("o^"):
            ax.scatter(
                *X_test[y_test == c].T,
                s=16,
                marker=marker,
                color=colors(c),
                edgecolors="white",
                linewidths=0.4,
            )
        accuracy = 100 * classifier.score(X_test, y_test)
        ax.set(xticks=[], yticks=[], xlabel=f"{accuracy:.0f} % of the test points")
    row[0].set_ylabel(name)
for ax, classifier in zip(axes[0], classifiers, strict=True):
    ax.set_title(type(classifier).__name__)
plt.show()
