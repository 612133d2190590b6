"""
Mean shift: clusters without their number
=========================================

Every sample climbs the density to a mode, all of them at once; samples that arrive at
the same mode are a cluster. Stars are the modes. A wider kernel has fewer of them.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from spectralcls import KernelMeanShift, ParzenDensity
from spectralcls.plotting import DensityDisplay

X, _ = make_blobs(
    [300, 200, 150, 50],
    centers=[[0, 0], [4, 1], [1, 4], [5, 5]],
    cluster_std=[1, 0.8, 0.6, 0.4],
    random_state=0,
)
figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True)
for ax, h in zip(axes, (0.6, 1.35), strict=True):
    model = KernelMeanShift(h).fit(X)
    DensityDisplay.from_estimator(
        ParzenDensity(h).fit(X), X, ax=ax, cmap="Greys", alpha=0.5
    ).marks_.remove()
    for cluster, center in enumerate(model.cluster_centers_):
        own = X[model.labels_ == cluster]
        ax.scatter(*own.T, s=8, color=f"C{cluster}")
        ax.scatter(
            *center,
            marker="*",
            s=180,
            color=f"C{cluster}",
            edgecolors="black",
            zorder=3,
        )
    ax.set_title(f"h = {h}: {len(model.cluster_centers_)} modes")
plt.show()
