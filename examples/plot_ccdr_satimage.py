"""
CCDR: error against each parameter
==================================

What the pull of the neighborhood (beta), the dimension and the number of neighbors do to the error of two
simple classifiers on the embedding. The bands are confidence intervals of a share. Digits stand in for the
satellite images of the CCDR paper; to repeat those, give the path of ``satimage.npz`` (arrays X_train, y_train,
X_test, y_test) as the argument.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from spectralcls import CCDR
from spectralcls.plotting import EmbeddingErrorDisplay

files = [argument for argument in sys.argv[1:] if argument.endswith(".npz") and Path(argument).exists()]
if files:
    data = np.load(files[0])
    X, y, T, t = (data[key] for key in ("X_train", "y_train", "X_test", "y_test"))
else:
    X, T, y, t = train_test_split(*load_digits(return_X_y=True), random_state=0)

# %%
# The linear machine likes a small beta, which collapses each class onto its center; nearest neighbors like a
# larger one, which keeps the geometry.
classifiers = {"k-NN": KNeighborsClassifier(7), "linear": RidgeClassifier(alpha=1e-9)}
figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), sharey=True)
for ax, parameter, values in [
    (axes[0], "beta", [0.05, 0.1, 0.2, 0.5, 1, 2]),
    (axes[1], "n_components", [6, 8, 9, 10, 12, 14]),
    (axes[2], "n_neighbors", [2, 4, 6, 10]),
]:
    EmbeddingErrorDisplay.from_estimator(
        CCDR(14, beta=0.5), classifiers, X, y, T, t, parameter=parameter, values=values, ax=ax
    )
    ax.set_title(f"against {parameter}")
axes[0].set_ylim(0, 0.1)
plt.show()
