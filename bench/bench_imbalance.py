"""Rare classes: the defaults, and the effect of class_weight="balanced"

Real sets are reduced to two classes: the rarest class with at least 200 points, and all others. A thousand training
rows contain one rare row for 10, 50 or 100 others; the test rows contain at least ninety rare rows. Everything runs on
one thread. The classifiers have their defaults; those that need scaled features follow a `StandardScaler`.
"""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from bench.data import sets
from bench.measure import QUICK, half_interval, processor_seconds
from bench.pages import view
from spectralcls import AutoClassifier, KernelRidgeClassifier, ParzenClassifier, PerTurboClassifier

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
    means = pd.DataFrame(rows).groupby(["ratio", "method", "name"], sort=False).mean(numeric_only=True)
    blocks = []
    for ratio in RATIOS:
        of, table = means.loc[ratio], []
        for method in of.index.unique("method"):
            mean, lead = of.loc[method].mean(), of.loc["AutoClassifier"].balanced - of.loc[method].balanced
            table.append(
                {
                    "method": method,
                    "plain": f"{mean['plain']:.1f}",
                    "balanced": f"{mean['balanced']:.1f}",
                    "AUC, balanced": f"{mean['balanced AUC']:.1f}",
                    "lead of Auto": f"{lead.mean():+.1f} ± {half_interval(lead):.1f}" if lead.any() else "",
                    "fit, s": f"{mean['balanced, s']:.2f}",
                }
            )
        blocks += [f"One training row in {ratio + 1} is rare.", sorted(table, key=lambda row: -float(row["balanced"]))]
    return blocks
