"""Rare classes: the defaults, and the effect of class_weight="balanced"

Real sets are reduced to two classes: the rarest class with at least 200 points, and all others. A thousand training
rows contain one rare row for 10, 50 or 100 others; the test rows contain at least ninety rare rows. Everything runs on
one thread. The classifiers have their defaults; those that need scaled features follow a `StandardScaler`.
"""

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import spectralcls
from bench.data import sets
from bench.measure import QUICK, half_interval, limited_threads, processor_seconds
from bench.pages import view
from spectralcls import (
    AutoClassifier,
    KernelRidgeClassifier,
    ParzenClassifier,
    PerTurboClassifier,
    datasets,
)

NAMES = "ratsch_banana ratsch_ringnorm ratsch_twonorm satimage letter covertype shuttle skin digits".split()
if QUICK:
    NAMES = ["wine"]
RATIOS, DRAWS, ROWS, TESTED, FEWEST = (10,) if QUICK else (10, 50, 100), 1 if QUICK else 3, 1000, 2000, 200
OURS = {
    "AutoClassifier": AutoClassifier,
    "KernelRidgeClassifier": KernelRidgeClassifier,
    "PerTurboClassifier": PerTurboClassifier,
    "ParzenClassifier": ParzenClassifier,
}
THEIRS = {
    "SVC": lambda **options: make_pipeline(StandardScaler(), SVC(**options)),
    "LogisticRegression": lambda **options: make_pipeline(StandardScaler(), LogisticRegression(**options)),
    "RandomForest": lambda **options: RandomForestClassifier(random_state=0, **options),
    "HistGradientBoosting": lambda **options: HistGradientBoostingClassifier(random_state=0, **options),
}


def draw(name, ratio, seed):
    """Training rows and labels, 1 for the rare class, and test rows and labels."""
    if name not in sets():
        pytest.skip(f"no data set {name}")
    X, y = sets()[name]()
    classes, counts = np.unique(y, return_counts=True)
    enough = counts >= min(FEWEST, counts.max())
    rare = y == classes[enough][counts[enough].argmin()]
    rng = np.random.RandomState(seed)
    few, many = (rng.permutation(np.flatnonzero(of)) for of in (rare, ~rare))
    most = 2 * len(many) // 3
    n_few = min(max(2, round(ROWS / (ratio + 1))), 2 * len(few) // 3, most // ratio)
    n_many = min(n_few * ratio, most)
    train = np.concatenate([few[:n_few], many[:n_many]])
    test = np.concatenate([few[n_few:][: TESTED // 2], many[n_many:][: TESTED // 2]])
    return X[train].astype(np.float64), rare[train].astype(int), X[test].astype(np.float64), rare[test].astype(int)


@pytest.mark.parametrize("seed, name, ratio", list(product(range(DRAWS), NAMES, RATIOS)))
@pytest.mark.parametrize("method", [*OURS, *THEIRS])
def test_rare(record, seed, name, ratio, method):
    """Balanced accuracy with and without the weights and the area under the ROC curve, in percent, and processor
    seconds of the fit with weights.
    """
    X, y, Q, truth = draw(name, ratio, seed)
    row = {}
    with warnings.catch_warnings(), limited_threads(1):
        warnings.simplefilter("ignore")  # a classifier predicts one class for all rows
        for weights in (None, "balanced"):
            options = {"class_weight": weights} | ({"n_jobs": 1} if method in OURS else {})
            model, seconds = processor_seconds((OURS | THEIRS)[method](**options).fit, X, y)
            p = model.predict_proba(Q)[:, 1] if hasattr(model, "predict_proba") else model.decision_function(Q)
            key = weights or "plain"
            row[key] = 100 * float(balanced_accuracy_score(truth, model.predict(Q)))
            row[f"{key} AUC"], row[f"{key}, s"] = 100 * float(roc_auc_score(truth, p)), seconds
    record(row)


@view("rare")
def by_ratio(rows):
    """*Plain* and *balanced* are the balanced accuracies without and with weights, in percent, as means over sets and
    draws. *Lead of Auto* is the balanced accuracy of AutoClassifier with weights minus that of the method with weights,
    with a 95 % interval over the sets."""
    names = list(dict.fromkeys(row["name"] for row in rows))
    blocks = []
    for ratio in RATIOS:
        found = {}
        for row in rows:
            if row["ratio"] == ratio:
                found.setdefault(row["method"], {}).setdefault(row["name"], []).append(row)

        def mean(method, key, found=found):
            return np.array([np.mean([row[key] for row in found[method][name]]) for name in names])

        table = []
        for method in found:
            lead = mean("AutoClassifier", "balanced") - mean(method, "balanced")
            table.append(
                {
                    "method": method,
                    "plain": f"{mean(method, 'plain').mean():.1f}",
                    "balanced": f"{mean(method, 'balanced').mean():.1f}",
                    "AUC, balanced": f"{mean(method, 'balanced AUC').mean():.1f}",
                    "lead of Auto": f"{lead.mean():+.1f} ± {half_interval(lead):.1f}" if lead.any() else "",
                    "fit, s": f"{mean(method, 'balanced, s').mean():.2f}",
                }
            )
        blocks += [f"One training row in {ratio + 1} is rare.", sorted(table, key=lambda row: -float(row["balanced"]))]
    return blocks


def majority_tables(folder):
    """The customer table of the tests, with 78 % of one class, and two generated sets with 90 % of one class."""
    import office

    export = office.export(folder / "customers.csv", office.customers(1200), "german utf-8")
    customers = datasets.read_table(export, target=office.TARGET, as_frame=True)
    yield "customers", customers.data, np.asarray(customers.target)
    for seed in range(2):
        X, y = make_classification(n_samples=1000, weights=[0.9], random_state=seed)
        yield f"make_classification({seed})", pd.DataFrame(X), y


@pytest.mark.parametrize("kind", [name for name in spectralcls.__all__ if name.endswith("Classifier")])
def test_majority(record, kind, tmp_path):
    """The table gives the accuracy of each classifier with defaults minus that of always predicting the most frequent
    class, in points, with half the width of a 95 % interval over ten splits.
    """
    row, splitter = {}, StratifiedShuffleSplit(2 if QUICK else 10, test_size=1 / 3, random_state=0)
    for name, X, y in majority_tables(tmp_path):
        gains = []
        for train, test in splitter.split(X, y):
            model = getattr(spectralcls, kind)().fit(X.iloc[train], y[train])
            majority = DummyClassifier(strategy="most_frequent").fit(X.iloc[train], y[train])
            ours, theirs = (classifier.score(X.iloc[test], y[test]) for classifier in (model, majority))
            gains.append(100 * float(ours - theirs))
        row |= {name: float(np.mean(gains)), f"±, {name}": float(half_interval(gains))}
    record(row)
