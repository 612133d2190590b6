"""
A spectral map of two rings
===========================

Two concentric rings have the same mean, and no direction in the plane separates them.
In the space of the two leading eigenvectors of the kernel matrix, each ring has a
separate direction.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_circles

from spectralcls.plotting import EmbeddingDisplay
from spectralcls.spectral import SpectralLaplacianISEClassifier

X, y = make_circles(200, noise=0.06, factor=0.5, random_state=0)
X_test, y_test = make_circles(100, noise=0.06, factor=0.5, random_state=1)
model = SpectralLaplacianISEClassifier(n_components=2, bandwidth=0.15).fit(X, y)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4))
for c, marker in enumerate("o^"):
    left.scatter(*X[y == c].T, s=14, marker=marker, label=f"{c}")
left.set(
    title="The plane: one ring inside the other",
    aspect="equal",
    xlabel="feature 1",
    ylabel="feature 2",
)
left.legend(title="class")
EmbeddingDisplay.from_estimator(model, X, y, X_test=X_test, y_test=y_test, ax=right)
right.set_title(
    f"Two eigenvectors: {100 * model.score(X_test, y_test):.0f} % of the test points"
)
plt.show()
