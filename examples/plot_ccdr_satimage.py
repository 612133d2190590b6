"""
Satellite images: three classifiers after CCDR
==============================================

The experiment of the CCDR paper: 4 435 training and 2 000 test pixels with 36 features and six kinds of soil,
embedded into 14 dimensions that respect the labels, then classified by nearest neighbours, a linear machine
and a small neural network. Give the path of ``satimage.npz`` (arrays X_train, y_train, X_test, y_test,
classes) as the argument; without one, digits stand in.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from spectralcls.ccdr import CCDR
from spectralcls.plotting import EmbeddingDisplay, EmbeddingErrorDisplay

if len(sys.argv) > 1:
    data = np.load(sys.argv[1])
    X, y, T, t, names = (data[key] for key in ("X_train", "y_train", "X_test", "y_test", "classes"))
else:
    X, T, y, t = train_test_split(*load_digits(return_X_y=True), random_state=0)
    names = np.unique(y)

# %%
# Three one-liners. The linear machine likes a small beta, which collapses each class onto its centre; nearest
# neighbours like a larger one, which keeps the geometry.

network = make_pipeline(StandardScaler(), MLPClassifier(28, max_iter=2000, random_state=0))
classifiers = {
    "k-NN": make_pipeline(CCDR(14, beta=1.0), KNeighborsClassifier(7)),
    "linear": make_pipeline(CCDR(14, beta=0.05), RidgeClassifier(alpha=1e-9)),
    "neural network": make_pipeline(CCDR(14, beta=0.5), network),
}
for name, classifier in classifiers.items():
    print(f"{name:15} test error {100 * (1 - classifier.fit(X, y).score(T, t)):.2f} %")
print(f"{'raw k-NN':15} test error {100 * (1 - KNeighborsClassifier().fit(X, y).score(T, t)):.2f} %")

# %%
# The embedding, and figures 2 to 4 of the paper: error against beta, dimension and neighbours.

figure, axes = plt.subplots(2, 2, figsize=(12, 9), layout="constrained")
embedding = CCDR(14, beta=0.5).fit(X, y)
EmbeddingDisplay.from_estimator(embedding, class_names=names, ax=axes[0, 0])
last = {"k-NN": KNeighborsClassifier(7), "linear": RidgeClassifier(alpha=1e-9)}
for ax, parameter, values in [
    (axes[0, 1], "beta", [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5]),
    (axes[1, 0], "n_components", range(1, 21)),
    (axes[1, 1], "n_neighbors", [2, 3, 4, 5, 6, 8, 10, 14]),
]:
    EmbeddingErrorDisplay.from_estimator(
        CCDR(14, beta=0.5), last, X, y, T, t, parameter=parameter, values=list(values), ax=ax
    )
plt.show()
