"""
Useless features and a learned metric
=====================================

A distance counts every feature. As features of pure noise are added to four informative
ones, nearest neighbors and Parzen windows lose accuracy. With a learned metric, Parzen
windows keep most of it.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from spectralcls import ParzenClassifier
from spectralcls.metric import KernelMetric
from spectralcls.plotting import EmbeddingDisplay

# On iris alone there may be nothing to learn; then fit warns.
warnings.simplefilter("ignore", ConvergenceWarning)
X, y = load_iris(return_X_y=True)
noise = np.random.default_rng(0).normal(size=(len(X), 32))
counts = [0, 4, 8, 16, 32]
classifiers = {
    "k-NN": make_pipeline(StandardScaler(), KNeighborsClassifier(5)),
    "Parzen": ParzenClassifier(),
    "Parzen with a learned metric": ParzenClassifier(metric="diagonal"),
}

splits = StratifiedShuffleSplit(4, test_size=0.4, random_state=0)
accuracy = {name: [] for name in classifiers}
for count in counts:
    wide = np.hstack([X, noise[:, :count]])
    for name, classifier in classifiers.items():
        scores = [
            classifier.fit(wide[train], y[train]).score(wide[test], y[test])
            for train, test in splits.split(wide, y)
        ]
        accuracy[name].append(100 * np.mean(scores))

figure, ax = plt.subplots(figsize=(6.5, 4))
for (name, values), style in zip(accuracy.items(), ("s--", "^:", "o-"), strict=True):
    ax.plot(counts, values, style, label=name)
ax.set(
    title="A learned metric keeps the accuracy among noise",
    xlabel="features of noise added to iris",
    ylabel="test accuracy, %",
)
ax.legend()

# %%
# In the metric of all points, a column of noise has at most a quarter of the weight of
# the best two columns. The plane of these two separates the classes.
names = [*load_iris().feature_names, *(f"noise {j}" for j in range(noise.shape[1]))]
wide = pd.DataFrame(
    StandardScaler().fit_transform(np.hstack([X, noise])), columns=names
)
metric = KernelMetric(kind="diagonal").fit(wide, y)
_, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
weights = np.abs(np.diag(metric.components_))
order = np.argsort(-weights)
axes[0].barh([names[j] for j in order[:10]], weights[order[:10]])
axes[0].invert_yaxis()
axes[0].set(xlabel="Weight in the metric", title="The ten largest of 36 weights")
EmbeddingDisplay.from_estimator(metric, wide, y, components=order[:2], ax=axes[1])
axes[1].set(
    title="The two columns of most weight",
    xlabel=names[order[0]],
    ylabel=names[order[1]],
)
plt.show()
