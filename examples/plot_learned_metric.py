"""
Useless features and a learned metric
=====================================

A distance counts every feature. With more and more features of pure noise beside four that matter, nearest
neighbors and Parzen windows lose their way; behind a learned metric they keep it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from spectralcls import ParzenClassifier
from spectralcls.metric import KernelMetric

X, y = load_iris(return_X_y=True)
noise = np.random.default_rng(0).normal(size=(len(X), 32))
counts = [0, 4, 8, 16, 32]
metric = KernelMetric(kind="diagonal")
classifiers = {
    "k-NN": make_pipeline(StandardScaler(), KNeighborsClassifier(5)),
    "Parzen": make_pipeline(StandardScaler(), ParzenClassifier()),
    "Parzen behind KernelMetric": make_pipeline(StandardScaler(), metric, ParzenClassifier()),
}

accuracy = {name: [] for name in classifiers}
for count in counts:
    wide = np.hstack([X, noise[:, :count]])
    for name, classifier in classifiers.items():
        scores = [
            classifier.fit(wide[train], y[train]).score(wide[test], y[test])
            for train, test in StratifiedShuffleSplit(4, test_size=0.4, random_state=0).split(wide, y)
        ]
        accuracy[name].append(100 * np.mean(scores))

# %%
# The weights that the metric of the last split gave to each feature: four of iris, then the noise.
weights = np.abs(classifiers["Parzen behind KernelMetric"][1].components_).sum(axis=0)
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4))
for (name, values), style in zip(accuracy.items(), ("s--", "^:", "o-"), strict=True):
    left.plot(counts, values, style, label=name)
left.set(title="A learned metric ignores noise", xlabel="features of noise added to iris", ylabel="test accuracy, %")
left.legend()
right.bar(np.arange(len(weights)), weights, color=["C0"] * 4 + ["C1"] * (len(weights) - 4))
right.set(title="Weights: iris first, then noise", xlabel="feature", ylabel="weight")
plt.show()
