"""Spatial proteomics: the organelle of a protein by macro F1, over a hundred stratified splits of the markers

All classifiers run on one thread and on the same splits: four fifths of the markers for training and one fifth for
testing. The SVM and k-NN search grids by macro F1 in five folds, as pRoloc does; the other classifiers have their
defaults. [The gallery](../gallery/plot_organelles.rst) describes the data and further questions.
"""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from bench.data import load
from bench.measure import QUICK, processor_seconds
from bench.pages import view
from spectralcls import AutoClassifier, KernelRidgeClassifier, PerTurboClassifier

SPLITS, TEST = 3 if QUICK else 100, 0.2
GRIDS = {"scoring": "f1_macro", "cv": 5, "n_jobs": 1}
METHODS = {
    "SVM, tuned": GridSearchCV(SVC(), {"C": 4.0 ** np.arange(6), "gamma": 10.0 ** np.arange(-2, 3)}, **GRIDS),
    "k-NN, tuned": GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 7, 9, 15]}, **GRIDS),
    "AutoClassifier": AutoClassifier(n_jobs=1),
    "KernelRidgeClassifier": KernelRidgeClassifier(n_jobs=1),
    "PerTurboClassifier": PerTurboClassifier(n_jobs=1),
}


@pytest.mark.parametrize("name", ["dunkley2006", "hyperLOPIT2015"])
@pytest.mark.parametrize("method", METHODS)
def test_splits(record, name, method):
    """The table gives the mean and standard deviation of macro F1 over the splits, in percent, and the difference
    between this mean and the SVM's, with its 95 % interval. Test sets of different splits share proteins; the interval
    accounts for this (Nadeau and Bengio, 2003). *Seconds* are the processor seconds of one fit with tuning."""
    data = load(name)
    known = data["markers"] != "unknown"
    X, y, scores, seconds = data["X"][known], data["markers"][known], [], 0.0
    for train, test in StratifiedShuffleSplit(SPLITS, test_size=TEST, random_state=0).split(X, y):
        model, spent = processor_seconds(METHODS[method].fit, X[train], y[train])
        scores.append(round(100 * f1_score(y[test], model.predict(X[test]), average="macro"), 3))
        seconds += spent
    record({"scores": scores, "seconds": seconds / SPLITS})


@view("splits")
def classifiers(rows):
    table = []
    for row in rows:
        scores = np.array(row["scores"])
        line = {"data": row["name"], "method": row["method"], "macro F1": f"{scores.mean():.1f}"}
        line |= {"deviation": f"{scores.std(ddof=1):.1f}", "less the SVM": "", "seconds": row["seconds"]}
        svm = next(other for other in rows if (other["name"], other["method"]) == (row["name"], "SVM, tuned"))
        if svm is not row:
            less = scores - svm["scores"]
            reach = stats.t.ppf(0.975, SPLITS - 1) * less.std(ddof=1) * np.sqrt(1 / SPLITS + TEST / (1 - TEST))
            line["less the SVM"] = f"{less.mean():+.1f} ± {reach:.1f}"
        table.append(line)
    return [sorted(table, key=lambda line: (line["data"], -float(line["macro F1"])))]
