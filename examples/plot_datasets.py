"""
The generators in the plane
===========================

The generators of :mod:`spectralcls.datasets` draw from distributions of the source
papers.
"""

import matplotlib.pyplot as plt

from spectralcls import datasets

samples = {
    "two_gaussians": datasets.make_two_gaussians((100, 5), random_state=0),
    "two_rings": datasets.make_two_rings(300, random_state=0),
    "two_spirals": datasets.make_two_spirals(300, random_state=0),
}
figure, axes = plt.subplots(1, 3, figsize=(12, 4))
for ax, (name, (X, y)) in zip(axes.flat, samples.items(), strict=True):
    for c, marker in enumerate("o^"):
        ax.scatter(*X[y == c].T, s=8, marker=marker)
    ax.set(title=name, xticks=[], yticks=[])
plt.show()
