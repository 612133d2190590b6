"""
Four rules, four bandwidths: the tuning paths
=============================================

For the four kernel-mean classifiers, this example draws the accuracy of every
bandwidth, cross-validated in one pass over the pairs, and the decision regions at the
best bandwidth. The data are two interleaved half-circles of different sizes.
"""

import matplotlib.pyplot as plt
from matplotlib.colors import ListedColormap
from sklearn.datasets import make_moons
from sklearn.inspection import DecisionBoundaryDisplay

from spectralcls import (
    CauchySchwarzClassifier,
    ISEClassifier,
    LaplacianISEClassifier,
    ParzenClassifier,
)
from spectralcls.plotting import BandwidthPathDisplay

X, y = make_moons(n_samples=(250, 100), noise=0.25, random_state=0)
classifiers = [
    ParzenClassifier(),
    ISEClassifier(),
    LaplacianISEClassifier(),
    CauchySchwarzClassifier(),
]
colors = ListedColormap(["#0072B2", "#E69F00"])

# %%
# The upper row shows the paths, the lower row the regions at the best bandwidth. The
# density rule tolerates small bandwidths, for which it becomes the nearest-neighbor
# rule. The distance rules do not, because the potentials decide around isolated points,
# as they do far from all data.
figure, axes = plt.subplots(2, 4, figsize=(13, 6.4))
for classifier, (above, below) in zip(classifiers, axes.T, strict=True):
    classifier.fit(X, y)
    display = BandwidthPathDisplay.from_estimator(classifier, ax=above)
    above.set(title=type(classifier).__name__, ylim=(0.6, 1.0))
    if above is not axes[0, 0]:
        above.set_ylabel("")
    above.legend(handles=[display.best_line_], loc="lower right")
    DecisionBoundaryDisplay.from_estimator(
        classifier,
        X,
        response_method="predict",
        ax=below,
        alpha=0.25,
        cmap=colors,
        grid_resolution=200,
    )
    for c, marker in enumerate("o^"):
        below.scatter(*X[y == c].T, s=10, marker=marker, color=colors(c))
    below.set(
        xticks=[],
        yticks=[],
        xlabel="",
        ylabel="",
        title=f"regions at h = {classifier.bandwidth_:.2g}",
    )
plt.show()
