"""
PerTurbo: perturbation fields and the region to query
=====================================================

The plots show the perturbation tau of every class, which is 0 on its samples and 1 far
away, the predicted classes, and the region near the decision boundaries from which
active learning draws its queries.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from spectralcls import PerTurboClassifier


def draw(model, X, y, title):
    """Draws tau of each class, and the region where the two smallest nearly tie."""
    n_classes = len(model.classes_)
    figure, axes = plt.subplots(
        1,
        n_classes + 1,
        figsize=(3.1 * n_classes + 3.7, 3.2),
        sharey=True,
        layout="constrained",
    )
    x, v = np.linspace(X.min(axis=0) - 0.5, X.max(axis=0) + 0.5, 200).T
    grid = np.stack(np.meshgrid(x, v), axis=-1)
    tau = model.perturbation(grid.reshape(-1, 2)).reshape(200, 200, n_classes)
    colors = [f"C{c}" for c in range(n_classes)]
    for c, ax in enumerate(axes[:-1]):
        image = ax.pcolormesh(
            x, v, tau[..., c], vmin=0, vmax=1, shading="gouraud", rasterized=True
        )
        ax.scatter(
            *X[y == c].T, color=colors[c], s=14, edgecolors="white", linewidths=0.4
        )
        ax.set_title(rf"$\tau$ of class {c}")
    figure.colorbar(image, ax=list(axes[:-1]), shrink=0.9)
    least = np.sort(tau, axis=2)
    axes[-1].contourf(
        x,
        v,
        tau.argmin(axis=2),
        levels=np.arange(n_classes + 1) - 0.5,
        colors=colors,
        alpha=0.3,
    )
    axes[-1].contourf(
        x,
        v,
        least[..., 1] - least[..., 0],
        levels=[-1, 0.1],
        colors=["#222222"],
        alpha=0.45,
    )
    axes[-1].scatter(
        *X.T, c=[colors[c] for c in y], s=14, edgecolors="white", linewidths=0.4
    )
    axes[-1].set_title("query region")
    figure.suptitle(title)


# %%
# The data are two spirals. ``fit`` tunes the bandwidth and the Tikhonov constant by
# leave-one-out.
rng = np.random.default_rng(0)
y, t = np.arange(300) % 2, np.sqrt(rng.random(300))
angle = np.pi * (3.5 * t + y)
X = 3 * t[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
X += 0.1 * rng.normal(size=X.shape)
spirals = PerTurboClassifier().fit(X, y)
draw(
    spirals,
    X,
    y,
    f"Each class perturbs least along its own arm (h = {spirals.bandwidth_:.2g})",
)

# %%
# The data are three Gaussians. In regions where two classes overlap, two perturbations
# are nearly equal, and a label is most informative.
X, y = make_blobs(150, centers=[[0, 0], [3, 0], [1.5, 2.5]], random_state=0)
clf = PerTurboClassifier().fit(X, y)
draw(clf, X, y, f"The dark region would be asked for (h = {clf.bandwidth_:.2g})")
plt.show()
