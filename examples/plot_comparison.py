"""
Compare on your own data
========================

This program compares the accuracy and time of several classifiers on the same splits,
like ``spectralcls compare``. Bars are one standard deviation over the splits.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spectralcls import (
    AutoClassifier,
    KernelRidgeClassifier,
    ParzenClassifier,
    PerTurboClassifier,
)

X, y = load_wine(return_X_y=True)
grid = {"svc__C": [1, 10, 100], "svc__gamma": [0.003, 0.03, 0.3]}
svm = GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid)
classifiers = [
    AutoClassifier(),
    KernelRidgeClassifier(),
    PerTurboClassifier(),
    ParzenClassifier(),
    svm,
]
names = [type(classifier).__name__ for classifier in classifiers[:-1]] + ["SVC, tuned"]

splits = StratifiedShuffleSplit(8, test_size=1 / 3, random_state=0)
accuracy, seconds = [], []
for classifier in classifiers:
    scores, times = [], []
    for train, test in splits.split(X, y):
        start = time.perf_counter()
        classifier.fit(X[train], y[train])
        times.append(time.perf_counter() - start)
        scores.append(100 * classifier.score(X[test], y[test]))
    accuracy.append((np.mean(scores), np.std(scores, ddof=1)))
    seconds.append(np.median(times))

rows, colors = np.arange(len(names)), ["C0"] * (len(names) - 1) + ["0.5"]
figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), sharey=True, layout="constrained")
mean, deviation = np.transpose(accuracy)
axes[0].hlines(rows, mean - deviation, mean + deviation, colors=colors, alpha=0.5)
axes[0].scatter(mean, rows, c=colors)
axes[0].set_xlabel("accuracy, % (bar: one standard deviation)")
axes[1].scatter(seconds, rows, c=colors)
axes[1].set(xscale="log", xlabel="seconds to tune and fit")
axes[0].set_yticks(rows, names)
axes[0].invert_yaxis()
figure.suptitle("Wine: what a point of accuracy costs")
plt.show()
