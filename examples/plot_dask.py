"""
Dask: the same classifier on chunks
===================================

Many estimators learn from Dask collections, which need not fit in memory or on one
machine. Here the chunks are small and the workers are threads; the same code works with
a ``distributed.Client``. The results are those of a fit in memory.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np

from spectralcls import ParzenClassifier

# Two interleaved spirals, in random order
rng = np.random.default_rng(0)
y, t = rng.integers(0, 2, 4000), np.sqrt(rng.random(4000))
angle = np.pi * (3.5 * t + y)
X = 3 * t[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
X += 0.3 * rng.normal(size=X.shape)
classifier = ParzenClassifier(bandwidth=0.2).fit(
    da.from_array(X, chunks=(500, 2)), da.from_array(y, chunks=500)
)

# %%
# Predictions are Dask arrays in the chunks of the queries; nothing is computed before
# ``compute``.
n = 240
side = np.linspace(-4, 4, n)
plane = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
labels = classifier.predict(da.from_array(plane, chunks=(n * n // 4, 2)))
print(labels)

local = ParzenClassifier(bandwidth=0.2).fit(X, y).predict(plane)
regions = labels.compute()
different = np.sum(regions != local)
print(f"{different} of {len(local)} labels differ from those of a fit in memory")

# %%
# The left plot shows the training points of one chunk, which alone do not reveal the
# spirals. The right plot shows the labels of the queries: each band between two lines
# was a separate task, and the decision boundaries continue from band to band.
figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 4.4), sharex=True, sharey=True, layout="constrained"
)
for c, marker in enumerate("o^"):
    chunk = X[:500][y[:500] == c]
    left.scatter(*chunk.T, s=14, marker=marker, color=f"C{c}")
left.set_title("One of 8 chunks of training points")
right.contourf(
    side, side, regions.reshape(n, n), [-0.5, 0.5, 1.5], colors=["C0", "C1"], alpha=0.5
)
starts = np.cumsum(labels.chunks[0])[:-1] // n
right.hlines(side[starts], -4, 4, color="black", linewidth=1)
for k, row in enumerate([0, *starts]):
    right.annotate(
        f"task {k + 1}", (-3.9, side[row]), (0, 4), textcoords="offset points"
    )
right.set(title="Labels of the plane, by all of them", xticks=[], yticks=[])
plt.show()
