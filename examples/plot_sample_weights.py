"""
Learned weights 1/f: the border counts
======================================

The Laplacian rules weight each training point by one over the density at it. Points in sparse regions, often those near
the border of a class, count as much as those of the crowded core.
"""

import matplotlib.pyplot as plt

from spectralcls import LaplacianISEClassifier
from spectralcls.datasets import make_two_gaussians
from spectralcls.plotting import SampleWeightsDisplay

X, y = make_two_gaussians((150, 60), random_state=0)
model = LaplacianISEClassifier().fit(X, y)
display = SampleWeightsDisplay.from_estimator(model, X, y)
display.figure_.set_size_inches(10, 4)
display.figure_.suptitle(f"The largest weights lie at the rim (h = {model.bandwidth_:.2g})")
plt.show()
