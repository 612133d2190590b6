"""
Compare on your own data
========================

Accuracy and time of several classifiers on the same splits: what ``spectralcls compare`` prints, as a program.
Bars are one standard deviation over the splits.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spectralcls import CauchySchwarzClassifier, ISEClassifier, ParzenClassifier, PerTurboClassifier
from spectralcls.plotting import ComparisonDisplay

X, y = load_wine(return_X_y=True)
grid = {"svc__C": [1, 10, 100], "svc__gamma": [0.003, 0.03, 0.3]}
svm = GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid)
classifiers = [PerTurboClassifier(), CauchySchwarzClassifier(), ISEClassifier(), ParzenClassifier(), svm]
names = [type(classifier).__name__ for classifier in classifiers[:-1]] + ["SVC, tuned"]

records = []
for name, classifier in zip(names, classifiers, strict=True):
    accuracy, fit, predict = [], [], []
    for train, test in StratifiedShuffleSplit(8, test_size=1 / 3, random_state=0).split(X, y):
        start = time.perf_counter()
        classifier.fit(X[train], y[train])
        middle = time.perf_counter()
        accuracy.append(np.mean(classifier.predict(X[test]) == y[test]))
        predict.append(time.perf_counter() - middle)
        fit.append(middle - start)
    records.append(
        {
            "classifier": name,
            "accuracy_mean": np.mean(accuracy),
            "accuracy_std": np.std(accuracy, ddof=1),
            "fit_seconds": np.median(fit),
            "predict_seconds": np.median(predict),
        }
    )

display = ComparisonDisplay(records, baselines=["SVC, tuned"]).plot()
display.figure_.set_size_inches(10, 3.6)
display.figure_.suptitle("Wine: the same accuracy, a fraction of the time")
plt.show()
