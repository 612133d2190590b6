"""
Digits in the plane: PCA, LDA and CCDR
======================================

This example maps the same 64-pixel digits into two dimensions in three ways. PCA
ignores the labels. LDA uses the labels, but only linear projections. CCDR uses the
labels and the neighborhoods: each class gathers around its center (a ring), and new
points follow their neighbors. Two of the ten classes are far from all others, so that
the axes of its picture are by rank: equal numbers of points take equal lengths.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from spectralcls import CCDR
from spectralcls.plotting import EmbeddingDisplay

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, random_state=0)
maps = {
    "PCA": PCA(2),
    "LDA": LinearDiscriminantAnalysis(n_components=2),
    "CCDR": CCDR(2),
}

figure, axes = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained")
for ax, (name, embedding) in zip(axes, maps.items(), strict=True):
    points = embedding.fit_transform(X, y)
    if name == "CCDR":
        EmbeddingDisplay.from_estimator(embedding, X_test, y_test, ax=ax)
    else:
        EmbeddingDisplay(
            embedding.transform(X_test), y_test, class_names=range(10)
        ).plot(ax)
    nearest = KNeighborsClassifier().fit(points, y)
    accuracy = 100 * nearest.score(embedding.transform(X_test), y_test)
    ax.set(title=f"{name}: {accuracy:.0f} % by k-NN in the plane", xticks=[], yticks=[])
    ax.get_legend().remove()
figure.legend(
    *axes[2].get_legend_handles_labels(), loc="outside right center", title="digit"
)
plt.show()
