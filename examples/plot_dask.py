"""
Dask: the same classifier on chunks
===================================

Many estimators learn from Dask collections, which need not fit in memory or on one
machine. Here the chunks are small and the workers are threads; with a
``distributed.Client`` nothing else changes. The answer is that of a fit in memory.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np

from spectralcls import ParzenClassifier
from spectralcls.datasets import make_two_spirals

X, y = make_two_spirals(4000, noise=0.3, random_state=0)
classifier = ParzenClassifier(bandwidth=0.2).fit(
    da.from_array(X, chunks=(500, 2)), da.from_array(y, chunks=500)
)

# %%
# Predictions are Dask arrays in the chunks of the queries: nothing is computed until it
# is asked for.
side = np.linspace(-4, 4, 120)
plane = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
labels = classifier.predict(da.from_array(plane, chunks=(3600, 2)))
print(labels)

local = ParzenClassifier(bandwidth=0.2).fit(X, y).predict(plane)
regions = labels.compute()
different = np.sum(regions != local)
print(f"{different} of {len(local)} labels differ from those of a fit in memory")

# %%
# The regions, one chunk of queries above the other.
figure, ax = plt.subplots(figsize=(5.4, 5))
ax.pcolormesh(
    side, side, regions.reshape(120, 120), cmap="cividis", alpha=0.4, rasterized=True
)
for c, marker in enumerate("o^"):
    ax.scatter(*X[y == c].T, s=4, marker=marker)
starts = np.cumsum([0, *labels.chunks[0]])[1:-1] // 120
ax.hlines(side[starts], -4, 4, color="black", linewidth=0.8, linestyle=":")
ax.set(
    title=f"{len(labels.chunks[0])} chunks of queries, 8 of training points",
    xticks=[],
    yticks=[],
)
plt.show()
