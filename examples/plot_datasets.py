"""
The generators in the plane
===========================

Distributions of the source papers, as :mod:`spectralcls.datasets` draws them. Those of more than two features
are shown in their first two principal components.
"""

import matplotlib.pyplot as plt
from sklearn.decomposition import PCA

from spectralcls import datasets

samples = {
    "two_gaussians": datasets.make_two_gaussians((100, 5), random_state=0),
    "two_rings": datasets.make_two_rings(300, random_state=0),
    "gaussian_in_ring": datasets.make_gaussian_in_ring(300, random_state=0),
    "two_spirals": datasets.make_two_spirals(300, random_state=0),
    "ringnorm": datasets.make_ringnorm(600, random_state=0),
    "twonorm": datasets.make_twonorm(600, random_state=0),
    "waveform": datasets.make_waveform(600, random_state=0),
    "simdata_1": datasets.make_simdata(1, 600, random_state=0),
}
figure, axes = plt.subplots(2, 4, figsize=(12, 6))
for ax, (name, (X, y)) in zip(axes.flat, samples.items(), strict=True):
    plane = X if X.shape[1] == 2 else PCA(2).fit_transform(X)
    for c in range(y.max() + 1):
        ax.scatter(*plane[y == c].T, s=8, marker="o^sDvP*X<>"[c], color=f"C{c % 8}")
    ax.set(title=name, xlabel=f"{X.shape[1]} features, {y.max() + 1} classes", xticks=[], yticks=[])
plt.show()
