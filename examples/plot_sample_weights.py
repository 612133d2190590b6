"""
Learned weights 1/f: sparse regions count
=========================================

The Laplacian rules weight each training point by one over the density at that point.
Points in sparse regions, often at the edge of a class, then count as much as those in
the dense core.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from spectralcls import LaplacianISEClassifier

X, y = make_blobs([150, 60], centers=[[2, 2], [0.6, 0.6]], random_state=0)
model = LaplacianISEClassifier().fit(X, y)
weights = model.inverse_density_ / model.inverse_density_.mean()
centers = np.array([X[y == c].mean(axis=0) for c in (0, 1)])
distance = np.linalg.norm(X - centers[y], axis=1)
largest = np.argsort(-weights)[:10]

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for c in (0, 1):
    left.scatter(distance[y == c], weights[y == c], s=14, label=f"class {c}", alpha=0.6)
left.set(
    xlabel="Distance to the center of the class",
    ylabel="Weight 1/f over its mean",
    ylim=(0, None),
)
left.legend()
right.scatter(*X.T, s=14, c=[f"C{c}" for c in y], alpha=0.6)
right.scatter(*X[largest].T, marker="*", s=110, color="black")
right.set(xlabel="Feature 1", ylabel="Feature 2", title="Stars: the 10 largest weights")
figure.suptitle(f"The largest weights are at the edge (h = {model.bandwidth_:.2g})")
plt.show()
