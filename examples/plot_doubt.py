"""
When it does not know: sets, doubtful labels, reasons
=====================================================

A classifier that can leave out each training point exactly can say more than a label: which classes it cannot exclude,
which training labels it doubts, and which training points decided.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from sklearn.datasets import load_iris

from spectralcls import ParzenClassifier
from spectralcls.plotting import InfluenceDisplay, LabelQualityDisplay

X, y = load_iris(return_X_y=True)
X = X[:, 2:] + np.random.default_rng(0).uniform(-0.05, 0.05, (len(X), 2))  # lengths are rounded to 0.1
model = ParzenClassifier().fit(X, y)

# %%
# The set of classes that 95 % coverage leaves. Where two classes overlap both remain; far from all points none does:
# that is how "unknown" looks.
x, z = np.meshgrid(np.linspace(0, 8, 160), np.linspace(-0.5, 3.5, 160))
members = model.predict_set(np.column_stack([x.ravel(), z.ravel()]), coverage=0.95)
size = members.sum(axis=1)
shown = np.where(size == 1, members.argmax(axis=1) + 1, np.where(size > 1, 4, 0)).reshape(x.shape)
figure, ax = plt.subplots(layout="constrained")
colors = ListedColormap(["white", "#9ecae9", "#ffbf79", "#88d27a", "#999999"])
ax.pcolormesh(x, z, shown, cmap=colors, vmin=-0.5, vmax=4.5, rasterized=True)
ax.scatter(*X.T, c=y, cmap=ListedColormap(["C0", "C1", "C2"]), s=12, edgecolor="white", linewidth=0.4)
ax.set(xlabel="Petal length", ylabel="Petal width", title="White: unlike all classes. Gray: several are possible.")
plt.show()

# %%
# The labels that all other points support least: samples on the wrong side of the border.
display = LabelQualityDisplay.from_estimator(model, y, n_doubtful=6)
display.ax_.set_title("A low probability is a reason to look again")
plt.show()

# %%
# Why the most doubtful sample would be classified otherwise: the samples that add most to the margin.
i = display.doubtful_[0]
others = np.arange(len(X)) != i
reasons = InfluenceDisplay.from_estimator(ParzenClassifier().fit(X[others], y[others]), X[[i]])
reasons.ax_.set_title(f"Sample {i} is labeled {y[i]}")
plt.show()
