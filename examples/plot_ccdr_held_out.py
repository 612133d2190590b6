"""
CCDR on held-out points, against supervised UMAP
================================================

A supervised map separates classes well on the points whose labels it got. The question
is where new points are placed. Supervised UMAP places the training points by an
optimization with their labels, and new points by a second optimization without labels.
:class:`~spectralcls.CCDR` solves an eigenproblem with the labels, and computes the
place of a new point from its neighbors. Both learn from half of the digits. UMAP is not
part of this package: ``pip install "spectralcls[examples]"``.
"""

# sphinx_gallery_needs = ["umap"]

import warnings
from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from umap import UMAP

from spectralcls import CCDR

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
warnings.filterwarnings("ignore", module="umap")  # about its threads

# %%
# Times are seconds on one thread; for UMAP they exclude a first small fit, which
# compiles it. The error is that of 7 nearest neighbors in the map: cross-validated on
# the training points, as is often reported, and on the held-out points.
UMAP(random_state=0, n_jobs=1).fit(X_train[:100], y_train[:100]).transform(X_test[:9])
print(f"{'':6}{'dim':>4}{'fit s':>8}{'new s':>8}", end="")
print(f"{'error, training':>17}{'held out':>10}")
maps = {}
for dimension in (2, 9):
    for name, model in (
        ("CCDR", CCDR(dimension, n_jobs=1, scale=None)),
        ("UMAP", UMAP(n_components=dimension, random_state=0, n_jobs=1)),
    ):
        start = perf_counter()
        Z_train = model.fit_transform(X_train, y_train)
        fitted = perf_counter()
        Z_test = model.transform(X_test)
        end = perf_counter()
        nearest = KNeighborsClassifier(7)
        inside = 1 - cross_val_score(nearest, Z_train, y_train).mean()
        outside = 1 - nearest.fit(Z_train, y_train).score(Z_test, y_test)
        print(f"{name:6}{dimension:4}{fitted - start:8.2f}{end - fitted:8.2f}", end="")
        print(f"{100 * inside:15.1f} %{100 * outside:8.1f} %")
        maps[name, dimension] = Z_train, Z_test

# %%
# Both maps separate the points whose labels they got better than new points, so trust
# only the right column. Numbers mark the medians of the training digits.
options = {"layout": "constrained", "sharex": "row", "sharey": "row"}
figure, axes = plt.subplots(2, 2, figsize=(9, 8), **options)
for row, name in zip(axes, ("CCDR", "UMAP"), strict=True):
    parts = (y_train, "training"), (y_test, "held out")
    for ax, Z, (labels, kind) in zip(row, maps[name, 2], parts, strict=True):
        ax.scatter(*Z.T, c=labels, cmap="tab10", vmin=-0.5, vmax=9.5, s=8, alpha=0.7)
        for digit in range(10):
            center = np.median(maps[name, 2][0][y_train == digit], axis=0)
            ax.annotate(str(digit), center, fontsize=11, fontweight="bold")
        ax.set(xticks=[], yticks=[])
        ax.set_title(f"{name}, {kind}")
plt.show()

# %%
# Our recommendation: for a plot of ten classes in the plane, use UMAP, which separates
# all classes; the distances between clusters mean little. For features that another
# model uses, take CCDR with about one component less than there are classes: it needs
# no second optimization, and the place of a new point does not depend on a random
# start. Evaluate either map only on points that it has not seen.
