"""
What a bandwidth does
=====================

The bandwidth determines how far the influence of a training point extends. If it is too
small, every point is isolated; if it is too large, all points merge and the decision
boundary is nearly straight. Cross-validation finds a value in between.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from spectralcls import ParzenClassifier

X, y = make_moons(200, noise=0.3, random_state=0)
X_test, y_test = make_moons(2000, noise=0.3, random_state=1)
tuned = ParzenClassifier().fit(X, y)
bandwidths = {"too small": 0.03, "chosen by fit": tuned.bandwidth_, "too large": 2.0}

x_axis, y_axis = np.linspace(-2, 3, 150), np.linspace(-1.7, 2.2, 120)
plane = np.stack(np.meshgrid(x_axis, y_axis), axis=-1).reshape(-1, 2)
markers = ("o", "black", "white"), ("^", "white", "black")
figure, axes = plt.subplots(1, 3, figsize=(11, 3.8), sharex=True, sharey=True)
for ax, (words, h) in zip(axes, bandwidths.items(), strict=True):
    model = ParzenClassifier(bandwidth=h).fit(X, y)
    posterior = model.predict_proba(plane)[:, 1].reshape(len(y_axis), len(x_axis))
    image = ax.pcolormesh(
        x_axis, y_axis, posterior, vmin=0, vmax=1, cmap="cividis", rasterized=True
    )
    ax.contour(x_axis, y_axis, posterior, levels=[0.5], colors="white", linewidths=1.5)
    for c, (marker, inside, edge) in enumerate(markers):
        style = {"color": inside, "edgecolors": edge, "linewidths": 0.5}
        ax.scatter(*X[y == c].T, s=16, marker=marker, **style)
    accuracy = 100 * model.score(X_test, y_test)
    ax.set(
        title=f"h = {h:.2g}: {words}",
        xlabel=f"{accuracy:.1f} % of 2 000 test points",
        xticks=[],
        yticks=[],
    )
figure.colorbar(image, ax=axes, label="posterior of the lower class", shrink=0.9)
plt.show()
