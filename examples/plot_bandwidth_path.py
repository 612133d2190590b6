"""
=============================================
Four rules, four bandwidths: the tuning paths
=============================================

The accuracy of every bandwidth, cross-validated in one pass over the pairs, and the regions that the best one
gives, for the four kernel-mean classifiers on two interleaved half-circles of different size.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons
from sklearn.inspection import DecisionBoundaryDisplay

from spectralcls.kernel_mean import (
    CauchySchwarzClassifier,
    ISEClassifier,
    LaplacianISEClassifier,
    ParzenClassifier,
)
from spectralcls.plotting import BandwidthPathDisplay

X, y = make_moons(n_samples=(250, 100), noise=0.25, random_state=0)
classifiers = [ParzenClassifier(), ISEClassifier(), LaplacianISEClassifier(), CauchySchwarzClassifier()]

# %%
# Above the paths, below the regions at the best bandwidth. The density rule tolerates small bandwidths, where
# it becomes the nearest-neighbour rule; the distance rules do not, because around isolated points the
# potentials decide, as they do far from all data.
figure, axes = plt.subplots(2, 4, figsize=(16, 7.5), layout="constrained")
for classifier, (above, below) in zip(classifiers, axes.T, strict=True):
    classifier.fit(X, y)
    BandwidthPathDisplay.from_estimator(classifier, ax=above)
    above.set(title=type(classifier).__name__, ylim=(0.6, 1.0))
    DecisionBoundaryDisplay.from_estimator(
        classifier, X, response_method="predict", ax=below, alpha=0.3, cmap="coolwarm", grid_resolution=200
    )
    below.scatter(*X.T, c=y, s=8, cmap="coolwarm")
    below.set(xticks=[], yticks=[], title=f"h = {classifier.bandwidth_:.2g}")
plt.show()
