"""
A land-cover map that knows its limits
======================================

From a few rectangles marked by hand, a classifier predicts a class for every pixel of a
scene, including pixels of a kind that nobody marked. Here the scene is a picture of 273
280 pixels that comes with scikit-learn, with sky, water, trees and tiles as land cover;
nobody marked the red walls. The rectangles for evaluation are apart from those for
training, because neighboring pixels are near copies. A random forest and histogram
boosting get the same pixels.
"""

# sphinx_gallery_needs = ["dask"]

import os
from pathlib import Path
from time import process_time

import dask.array
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from scipy.ndimage import gaussian_filter, uniform_filter
from sklearn.datasets import load_sample_image
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from spectralcls import KernelRidgeClassifier, ParzenClassifier, ParzenOutlierDetector

# %%
# Each pixel has four bands: the shares of red and blue in its light, the total light,
# and the texture around it.
scene = load_sample_image("china.jpg") / 255
gray = scene.mean(axis=2)
variance = uniform_filter(gray**2, 7) - uniform_filter(gray, 7) ** 2
texture = np.sqrt(np.maximum(variance, 0))
smooth = gaussian_filter(scene, (1, 1, 0))
light = smooth.sum(axis=2) + 0.03
red, blue = smooth[..., 0] / light, smooth[..., 2] / light
bands = np.dstack([red, blue, light, texture])

# %%
# The numbers are left, top, right and bottom of each rectangle. There are rectangles
# for training and for evaluation, and two on the walls, which are not a class.
sky, tiles, trees, water = classes = ("sky", "tiles", "trees", "water")
learn = [
    (sky, 30, 30, 70, 70),
    (sky, 560, 40, 610, 90),
    (tiles, 205, 85, 245, 108),
    (tiles, 170, 264, 250, 278),
    (trees, 10, 390, 60, 420),
    (trees, 605, 280, 635, 330),
    (trees, 440, 360, 480, 400),
    (water, 360, 230, 400, 270),
]
check = [
    (sky, 400, 20, 520, 60),
    (tiles, 225, 376, 295, 388),
    (tiles, 160, 166, 230, 176),
    (trees, 180, 380, 240, 415),
    (trees, 540, 380, 600, 415),
    (water, 450, 240, 520, 275),
]
walls = [("walls", 125, 285, 190, 315), ("walls", 120, 132, 180, 148)]


def pixels(marks):
    parts = [bands[top:bottom, left:right] for _, left, top, right, bottom in marks]
    X = [part.reshape(-1, bands.shape[2]) for part in parts]
    names = [mark[0] for mark in marks]
    return np.concatenate(X), np.repeat(names, [len(part) for part in X])


X_marked, y_marked = pixels(learn)
X_check, y_check = pixels(check)
X_walls, _ = pixels(walls)
random = np.random.default_rng(0)
chosen = [random.choice(np.flatnonzero(y_marked == c), 500, False) for c in classes]
X, y = X_marked[np.concatenate(chosen)], y_marked[np.concatenate(chosen)]
every = bands.reshape(-1, bands.shape[2])
print(f"{len(X)} pixels to learn from, {len(X_check)} to check, {len(every)} to map")

# %%
# Each model uses one thread.
models = {
    "Parzen": ParzenClassifier(n_jobs=1),
    "kernel ridge": KernelRidgeClassifier(n_jobs=1),
    "random forest": RandomForestClassifier(n_jobs=1, random_state=0),
    "boosting": HistGradientBoostingClassifier(random_state=0),
}


def compare(X, y, X_check, y_check, every):
    print(f"{'':14}{'right':>8}{'fit s':>8}{'pixels/s':>10}")
    for name, model in models.items():
        start = process_time()
        model.fit(X, y)
        fitted = process_time()
        model.predict(every)
        end = process_time()
        right = f"{100 * np.mean(model.predict(X_check) == y_check):.1f} %"
        print(f"{name:14}{right:>8}{fitted - start:8.2f}", end="")
        print(f"{len(every) / (end - fitted):10.0f}")


compare(X, y, X_check, y_check, every)
for name, model in models.items():
    confidence = model.predict_proba(X_walls).max(axis=1).mean()
    print(f"On the walls {name} has a mean confidence of {100 * confidence:.0f} %")

# %%
# Every model is confident of some class on the walls. Probabilities of the classes add
# up to one, so they cannot express "none of them". A prediction set can: it contains
# all classes that cannot be excluded at 99 % coverage, so it is empty for a pixel
# unlike all classes and has two classes if both are possible. The area of applicability
# needs no labels: it contains the pixels whose density is at least as high as for 99 %
# of the training pixels.
model = models["Parzen"]
start = process_time()
members = model.predict_set(every, coverage=0.99)
seconds = process_time() - start
detector = ParzenOutlierDetector(contamination=0.01, novelty=True).fit(X)
outside = detector.predict(every) < 0
print(f"Prediction sets: {len(every) / seconds:.0f} pixels a second")
print(f"Sets of size 0, 1, 2, ...: {np.bincount(members.sum(axis=1))}")
for name, rows in (("checked", X_check), ("walls", X_walls)):
    empty = ~model.predict_set(rows, coverage=0.99).any(axis=1)
    print(f"{name}: {100 * empty.mean():.1f} % of the sets are empty,", end=" ")
    print(f"{100 * np.mean(detector.predict(rows) < 0):.1f} % outside the area")
hold = model.predict_set(X_check, coverage=0.99)
hold = hold[np.arange(len(X_check)), model.classes_.searchsorted(y_check)]
print(f"Sets on checked pixels that contain the true class: {100 * hold.mean():.1f} %")

# %%
# The share above falls short of 99 %, because this guarantee holds for pixels drawn
# like the training pixels, and a rectangle elsewhere has different light.
shape = gray.shape
size = members.sum(axis=1).reshape(shape)
label = model.classes_.searchsorted(model.predict(every)).reshape(shape)
known = np.where(size == 0, 4, np.where(size > 1, 5, label))
colors = ["#9ecae9", "#e0862f", "#3f8f4f", "#2f6f9f", "#d6219c", "#f5e14b"]
palette = ListedColormap(colors)
figure, axes = plt.subplots(2, 2, figsize=(9.5, 6.9), layout="constrained")
axes[0, 0].imshow(scene)
for marks, style in ((learn, "-"), (check, ":"), (walls, ":")):
    for name, left, top, right, bottom in marks:
        edge = "black" if name == "walls" else colors[classes.index(name)]
        corners = (left, top), right - left, bottom - top
        for color, width, line in (("white", 3.2, "-"), (edge, 1.8, style)):
            box = plt.Rectangle(*corners, fill=False, ec=color, lw=width, ls=line)
            axes[0, 0].add_patch(box)
options = {"cmap": palette, "vmin": -0.5, "vmax": 5.5, "interpolation": "nearest"}
axes[0, 1].imshow(label, **options)
axes[1, 0].imshow(known, **options)
axes[1, 1].imshow(scene)
veil = np.zeros((*shape, 4))
veil[outside.reshape(shape)] = (0.84, 0.13, 0.61, 1)
axes[1, 1].imshow(veil, interpolation="nearest")
titles = (
    "Solid: learned; dotted: checked; black: walls",
    "A class for every pixel",
    "Classes where one is sure",
    "Outside the area of applicability",
)
for ax, title in zip(axes.flat, titles, strict=True):
    ax.set(xticks=[], yticks=[])
    ax.set_title(title)
names = (*classes, "none of these", "more than one")
handles = [plt.Rectangle((0, 0), 1, 1, color=color) for color in colors]
figure.legend(handles, names, loc="outside lower center", ncols=6, frameon=False)
plt.show()

# %%
# A scene larger than memory comes as a Dask array, with whole bands in each chunk:
# ``raster.chunk(y=64).data`` of an xarray that rioxarray opened, for instance. The
# labels of a chunk are computed when they are needed.


def label_block(block):
    flat = block.reshape(-1, block.shape[2])
    return model.classes_.searchsorted(model.predict(flat)).reshape(block.shape[:2])


chunks = dask.array.from_array(bands, chunks=(64, -1, -1))
mapped = chunks.map_blocks(label_block, drop_axis=2, dtype=label.dtype)
same = np.mean(mapped.compute() == label)
print(f"{mapped.numblocks[0]} chunks, {same:.0%} of the labels are the same")

# %%
# The last part uses satellite data, Statlog's Landsat pixels: six soils and crops, with
# four bands of a pixel and its eight neighbors. They are not included. To run this
# part, save ``X_train``, ``y_train``, ``X_test``, ``y_test`` and ``classes`` (names)
# with ``numpy.savez`` as ``satimage.npz``, and let the environment variable
# ``SPECTRALCLS_DATA`` name its folder.
file = Path(os.environ.get("SPECTRALCLS_DATA", ""), "satimage.npz")
if file.exists():
    landsat = np.load(file)
    parts = "X_train", "y_train", "X_test", "y_test"
    X, y, X_check, y_check = (landsat[part] for part in parts)
    compare(X, y, X_check, y_check, X_check)
    size = model.predict_set(X_check, coverage=0.95).sum(axis=1)
    print("Classes in a set at 95 % coverage:    0    1    2    3 ...")
    for c, name in enumerate(landsat["classes"]):
        print(f"{name:35}", *(f"{n:4}" for n in np.bincount(size[y_check == c])))
else:
    print("Not run: satimage.npz is not there")

# %%
# Our recommendation: to classify every pixel, use the model that is most accurate on
# separate rectangles: ``ParzenClassifier`` for the scene, ``KernelRidgeClassifier`` for
# Landsat. Always add the area of applicability: it needs no labels, takes one line, and
# shows where there are no training data. It is not proof that a label is right: a third
# of the walls are inside. Nor does it prove that a label is wrong: much of the sky
# between the two training rectangles is outside, and the map is right there.
