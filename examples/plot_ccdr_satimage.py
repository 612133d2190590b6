"""
CCDR: error against each parameter
==================================

This example shows how the weight of the neighborhood (beta), the dimension and the
number of neighbors affect the error of two simple classifiers on the embedding. The
bands are confidence intervals of the error rate. Digits replace the satellite images of
the CCDR paper; to repeat the paper's experiment, pass the path of ``satimage.npz``
(arrays X_train, y_train, X_test, y_test) as the argument.
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

files = [
    argument
    for argument in sys.argv[1:]
    if argument.endswith(".npz") and Path(argument).exists()
]
if files:
    data = np.load(files[0])
    X, y, T, t = (data[key] for key in ("X_train", "y_train", "X_test", "y_test"))
else:
    X, T, y, t = train_test_split(*load_digits(return_X_y=True), random_state=0)

# %%
# A small beta collapses each class onto its center, which suits the linear classifier.
# A larger beta keeps the geometry, which suits nearest neighbors. On the digits these
# differences are within the bands. Only one effect is significant: with fewer than nine
# components, one less than there are classes, the linear classifier fails.
classifiers = {"k-NN": KNeighborsClassifier(7), "linear": RidgeClassifier(alpha=1e-9)}


def errors(**parameters):
    """Test error of each classifier on an embedding by these parameters."""
    embedding = CCDR(**{"n_components": 14, "beta": 0.5} | parameters, scale=None)
    Z, Z_test = embedding.fit_transform(X, y), embedding.transform(T)
    return [
        1 - classifier.fit(Z, y).score(Z_test, t) for classifier in classifiers.values()
    ]


figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), sharey=True)
for ax, parameter, values in [
    (axes[0], "beta", [0.05, 0.1, 0.2, 0.5, 1, 2]),
    (axes[1], "n_components", [6, 8, 9, 10, 12, 14]),
    (axes[2], "n_neighbors", [2, 4, 6, 10]),
]:
    found = np.array([errors(**{parameter: value}) for value in values])
    half = 1.28 * np.sqrt(found * (1 - found) / len(t))  # 80 % of a normal distribution
    for name, error, width in zip(classifiers, found.T, half.T, strict=True):
        ax.plot(values, error, "o-", markersize=4, label=name)
        ax.fill_between(values, error - width, error + width, alpha=0.15)
    ax.set(xlabel=parameter)
axes[0].set_xscale("log")
axes[0].legend()
figure.suptitle("With fewer than nine components, the linear classifier fails")
axes[0].set(ylim=(0, 0.04), ylabel="test error")
plt.show()
