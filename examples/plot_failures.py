"""
When they fail
==============

This example has a task at which each of nine classes fails. The data are generated so
that the reason is clear, and each section says what helps.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import balanced_accuracy_score

from spectralcls import (
    AutoClassifier,
    KernelMap,
    KernelRegressor,
    KernelRidgeClassifier,
    ParzenClassifier,
    ParzenDensity,
    ParzenOutlierDetector,
    PerTurboClassifier,
    SpectralKernelClassifier,
)

rng = np.random.default_rng(0)


def draw(values, curves, xlabel, title, ylabel="Right, %"):
    figure, ax = plt.subplots(figsize=(5.4, 3.2), layout="constrained")
    for (name, curve), marker in zip(curves.items(), "osD", strict=False):
        ax.plot(values, 100 * np.array(curve), marker=marker, label=name)
    ax.set(xlabel=xlabel, ylabel=ylabel, title=title, xticks=values)
    ax.legend()
    plt.show()


# %%
# :class:`~spectralcls.AutoClassifier` minimizes errors, so it overlooks a rare class
# that overlaps a frequent one. What helps: ``class_weight="balanced"``.


def one_rare(n, share):
    y = np.where(rng.random(n) < share, "rare", "frequent")
    X = rng.normal(size=(n, 2))
    X[y == "rare", 0] += 1.5
    return X, y


shares = (0.5, 0.2, 0.1, 0.05)
curves = {"as it is": [], 'class_weight="balanced"': []}
for share in shares:
    X, y = one_rare(600, share)
    X_test, y_test = one_rare(2000, share)
    for curve, weight in zip(curves.values(), (None, "balanced"), strict=True):
        model = AutoClassifier(class_weight=weight).fit(X, y)
        curve.append(balanced_accuracy_score(y_test, model.predict(X_test)))
percent = [100 * share for share in shares]
title = "AutoClassifier: a rare class is overlooked"
draw(percent, curves, "Share of the rare class, %", title, "Balanced accuracy, %")

# %%
# :class:`~spectralcls.KernelRidgeClassifier` gives every column equal weight, so
# columns that say nothing about the class hide the others. What helps: a learned
# metric, as in ``AutoClassifier``.


def chessboard(n, useless):
    X = rng.uniform(-1, 1, size=(n, 2 + useless))
    return X, X[:, 0] * X[:, 1] > 0


useless = (0, 2, 6, 12, 18)
curves = {"AutoClassifier": [], "KernelRidgeClassifier": []}
for number in useless:
    X, y = chessboard(400, number)
    X_test, y_test = chessboard(1000, number)
    models = AutoClassifier(), KernelRidgeClassifier()
    for model, curve in zip(models, curves.values(), strict=True):
        curve.append(model.fit(X, y).score(X_test, y_test))
draw(
    useless,
    curves,
    "Useless columns, besides two informative ones",
    "KernelRidgeClassifier: useless columns",
)

# %%
# :class:`~spectralcls.ParzenClassifier` and :class:`~spectralcls.PerTurboClassifier`
# have one bandwidth for all classes by default. With many columns, no bandwidth suits
# both a narrow and a wide class. What helps: ``KernelRidgeClassifier``.


def narrow_in_wide(n, d):
    y = np.arange(n) % 2
    return rng.normal(size=(n, d)) * np.where(y, 2, 1)[:, None], y


columns = (2, 5, 10, 20, 30)
models = KernelRidgeClassifier(), ParzenClassifier(), PerTurboClassifier()
curves = {type(model).__name__: [] for model in models}
for d in columns:
    X, y = narrow_in_wide(400, d)
    X_test, y_test = narrow_in_wide(1000, d)
    for model, curve in zip(models, curves.values(), strict=True):
        curve.append(model.fit(X, y).score(X_test, y_test))
draw(columns, curves, "Columns", "A narrow class inside a wide one")

# %%
# :class:`~spectralcls.ParzenDensity` extends beyond a limit that the data cannot cross.
# What helps: mirror images of the samples, and twice the density on this side.
X = rng.exponential(size=(500, 1))
grid = np.linspace(-1, 3, 400)[:, None]
figure, ax = plt.subplots(figsize=(5.4, 3.2), layout="constrained")
ax.plot(
    grid, np.where(grid < 0, 0, np.exp(-grid)), "--", color="0.6", label="the truth"
)
mirrored = ParzenDensity().fit(np.concatenate([X, -X])).score_samples(grid)
ax.plot(grid[grid >= 0], 2 * np.exp(mirrored[grid[:, 0] >= 0]), label="mirrored")
ax.plot(grid, np.exp(ParzenDensity().fit(X).score_samples(grid)), label="as it is")
ax.set(
    xlabel="Waiting time",
    ylabel="Density",
    title="Half the density is lost at the limit",
)
ax.legend()
plt.show()

# %%
# :class:`~spectralcls.ParzenOutlierDetector` finds isolated points, but outliers in a
# cluster are not isolated. What helps: ``novelty=True`` after a fit to samples without
# outliers.
figure, axes = plt.subplots(1, 2, figsize=(7.4, 3.4), sharey=True, layout="constrained")
usual = rng.normal(size=(300, 2))
for ax, n in zip(axes, (3, 30), strict=True):
    X = np.concatenate([usual, rng.normal([5, 5], 0.2, size=(n, 2))])
    out = ParzenOutlierDetector().fit_predict(X) < 0
    ax.scatter(*X[~out].T, s=9, color="0.65", label="not detected")
    ax.scatter(*X[out].T, s=26, marker="X", color="C1", label="detected")
    ax.set(
        title=f"{n} outliers in a clump: {out[300:].sum()} found", xticks=[], yticks=[]
    )
axes[0].legend(loc="lower right")
plt.show()

# %%
# :class:`~spectralcls.KernelRegressor` has one bandwidth. A bandwidth that is small
# enough for a jump follows the noise elsewhere, and beyond the data nothing is known.
# What helps: trees for jumps; beyond the data, only a parametric model.
x = np.sort(rng.uniform(0, 10, 150))
y = np.where(x < 5, 0.0, 1.0) + 0.3 * np.maximum(x - 7, 0) + 0.05 * rng.normal(size=150)
model = KernelRegressor().fit(x[:, None], y)
grid = np.linspace(-1, 14, 400)
figure, ax = plt.subplots(figsize=(5.4, 3.2), layout="constrained")
ax.plot(x, y, ".", color="0.65", label="samples")
truth = np.where(grid < 5, 0.0, 1.0) + 0.3 * np.maximum(grid - 7, 0)
ax.plot(grid, truth, "--", color="0.4", label="the truth")
ax.plot(grid, model.predict(grid[:, None]), label="prediction")
ax.axvspan(10, 14, color="C1", alpha=0.1)
ax.set(xlabel="x", ylabel="y", title="KernelRegressor: a jump, and beyond the data")
ax.legend(loc="upper left")
plt.show()

# %%
# :class:`~spectralcls.KernelMap` shows the clusters of the data. If the classes are not
# these clusters, they overlap. What helps: more coordinates, or ``CCDR``, whose map
# uses the labels.
cluster = rng.integers(0, 3, 400)
centers = np.array([[0, 0], [6, 0], [3, 5]])
X = np.column_stack(
    [centers[cluster] + rng.normal(size=(400, 2)), rng.normal(size=400)]
)
y = X[:, 2] > 0
figure, ax = plt.subplots(figsize=(5.4, 3.6), layout="constrained")
Z = KernelMap(2, bandwidth=1.5).fit_transform(X)
for label, color in ((False, "C0"), (True, "C1")):
    ax.scatter(*Z[y == label].T, s=10, color=color, label=f"class {int(label)}")
ax.set(
    title="KernelMap: classes that are not clusters",
    xlabel="Coordinate 1",
    ylabel="Coordinate 2",
)
ax.legend()
plt.show()

# %%
# :class:`~spectralcls.SpectralKernelClassifier` represents a text by its words. Texts
# with only new words contain no information for it, and all get the same prediction.
# What helps: features of a language model, with one of the other classes.
topics = {
    "farming": "wheat corn harvest field seed crop soil rain",
    "money": "bank rate loan bond tax fund share debt",
}


def texts(n, new):
    """Texts of four words from their topic, of which a share was never used before."""
    labels = rng.choice(list(topics), n)
    lines = []
    for topic in labels:
        words = rng.choice(topics[topic].split(), 4)
        fresh = rng.random(4) < new
        lines.append(
            " ".join(np.where(fresh, rng.choice(["lorem", "ipsum", "dolor"], 4), words))
        )
    return lines, labels


shares = (0, 0.25, 0.5, 0.75, 1)
lines, labels = texts(200, 0)
words = TfidfVectorizer().fit(lines)
model = SpectralKernelClassifier().fit(words.transform(lines), labels)
curve = []
for share in shares:
    lines, labels = texts(500, share)
    curve.append(model.score(words.transform(lines), labels))
percent = [100 * share for share in shares]
title = "SpectralKernelClassifier: words not seen before"
draw(percent, {"SpectralKernelClassifier": curve}, "Unknown words, %", title)
