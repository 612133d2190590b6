"""The README's picture: ``python -m bench.hero`` draws classifiers on moons, rings and spirals, accuracy and time."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from matplotlib.colors import ListedColormap  # noqa: E402
from sklearn.datasets import make_moons  # noqa: E402
from sklearn.model_selection import GridSearchCV, train_test_split  # noqa: E402
from sklearn.svm import SVC  # noqa: E402

import spectralcls  # noqa: E402
from bench.measure import processor_seconds  # noqa: E402
from spectralcls.datasets import make_two_rings, make_two_spirals  # noqa: E402

PATH = Path(__file__).parents[1] / "docs" / "images" / "hero.png"
COLORS = ListedColormap(["#0072B2", "#E69F00"])
NAMES = ["CauchySchwarzClassifier", "ISEClassifier", "ParzenClassifier", "PerTurboClassifier"]
REPEATS = 7


def samples():
    return {
        "moons": make_moons(400, noise=0.25, random_state=0),
        "rings": make_two_rings(400, width=0.9, random_state=0),
        "spirals": make_two_spirals(400, noise=0.25, random_state=0),
    }


def classifiers():
    grid = {"C": [0.1, 1, 10, 100, 1000], "gamma": [0.01, 0.1, 1, 10, 100]}
    ours = {name: getattr(spectralcls, name)(n_jobs=1) for name in NAMES}
    return ours | {"SVC, grid search": GridSearchCV(SVC(), grid)}


def panel(ax, classifier, X, y):
    """Regions, test points, accuracy and time of one classifier on one sample."""
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    seconds = processor_seconds(classifier.fit, X_train, y_train, repeats=REPEATS)[1]
    low, high = X.min(axis=0) - 0.4, X.max(axis=0) + 0.4
    x_axis, y_axis = np.linspace(low[0], high[0], 200), np.linspace(low[1], high[1], 200)
    plane = np.stack(np.meshgrid(x_axis, y_axis), axis=-1).reshape(-1, 2)
    scores = classifier.decision_function(plane).reshape(200, 200)
    ax.contourf(x_axis, y_axis, scores > 0, levels=[-0.5, 0.5, 1.5], colors=COLORS.colors, alpha=0.22)
    ax.contour(x_axis, y_axis, scores, levels=[0], colors="#404040", linewidths=1)
    for c, marker in enumerate("o^"):
        ax.scatter(*X_test[y_test == c].T, s=14, marker=marker, color=COLORS(c), edgecolors="white", linewidths=0.3)
    words = f"{100 * classifier.score(X_test, y_test):.0f} %,  {1000 * seconds:.2g} ms"
    if seconds >= 0.0995:
        words = f"{100 * classifier.score(X_test, y_test):.0f} %,  {1000 * seconds:.0f} ms"
    ax.set(xticks=[], yticks=[])
    ax.set_xlabel(words, fontsize=10)
    for spine in ax.spines.values():
        spine.set_visible(False)


def main():
    with plt.style.context("spectralcls.plotting.spectralcls"):
        found = classifiers()
        figure, axes = plt.subplots(3, len(found), figsize=(11.5, 7.2))
        for row, (name, (X, y)) in zip(axes, samples().items(), strict=True):
            for ax, classifier in zip(row, found.values(), strict=True):
                panel(ax, classifier, X, y)
            row[0].set_ylabel(name, fontsize=11)
        for ax, name in zip(axes[0], found, strict=True):
            ax.set_title(name, fontsize=10, loc="center")
        title = "Defaults, tuned inside fit: test accuracy, and processor time to tune and train on 200 points"
        figure.suptitle(title, fontsize=12)
        PATH.parent.mkdir(exist_ok=True)
        figure.savefig(PATH, dpi=110)


if __name__ == "__main__":
    main()
