"""Rare classes: the defaults, and the effect of class_weight="balanced"

Real sets are reduced to two classes: the rarest class with at least 200 points, and all others. A thousand training
rows contain one rare row for 10, 50 or 100 others; the test rows contain at least ninety rare rows. Everything runs on
one thread. The classifiers have their defaults; those that need scaled features follow a `StandardScaler`.
"""

import os
import warnings
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import StratifiedShuffleSplit, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import spectralcls
from bench.before import Worker
from bench.before_cases import KINDS
from bench.bench_auto import sets
from bench.data import standardized
from bench.measure import QUICK, half_interval, limited_threads, processor_seconds
from bench.pages import view
from spectralcls import (
    AutoClassifier,
    KernelLogisticClassifier,
    KernelRidgeClassifier,
    ParzenClassifier,
    PerTurboClassifier,
    datasets,
)
from spectralcls._core import available_variants

NAMES = "ratsch_banana ratsch_ringnorm ratsch_twonorm satimage letter covertype shuttle skin digits".split()
if QUICK:
    NAMES = ["wine"]
RATIOS, DRAWS, ROWS, TESTED, FEWEST = (10,) if QUICK else (10, 50, 100), 1 if QUICK else 3, 1000, 2000, 200
SPLITS, FEW, BEFORE = 1 if QUICK else 2, 400, "SPECTRALCLS_BEFORE"
OURS = {
    "AutoClassifier": AutoClassifier,
    "KernelRidgeClassifier": KernelRidgeClassifier,
    "KernelLogisticClassifier": KernelLogisticClassifier,
    "PerTurboClassifier": PerTurboClassifier,
    "ParzenClassifier": ParzenClassifier,
}
THEIRS = {
    "SVC": lambda **options: make_pipeline(StandardScaler(), SVC(**options)),
    "LogisticRegression": lambda **options: make_pipeline(StandardScaler(), LogisticRegression(**options)),
    "RandomForest": lambda **options: RandomForestClassifier(random_state=0, **options),
    "HistGradientBoosting": lambda **options: HistGradientBoostingClassifier(random_state=0, **options),
}


def draw(name, ratio, seed, n=ROWS, tested=TESTED):
    """Training rows and labels, 1 for the rare class, and test rows and labels."""
    if name not in sets():
        pytest.skip(f"no data set {name}")
    X, y = sets()[name](return_X_y=True)
    classes, counts = np.unique(y, return_counts=True)
    enough = counts >= min(FEWEST, counts.max())
    rare = y == classes[enough][counts[enough].argmin()]
    rng = np.random.RandomState(seed)
    few, many = (rng.permutation(np.flatnonzero(of)) for of in (rare, ~rare))
    most = 2 * len(many) // 3
    n_few = min(max(2, round(n / (ratio + 1))), 2 * len(few) // 3, most // ratio)
    n_many = min(n_few * ratio, most)
    train = np.concatenate([few[:n_few], many[:n_many]])
    test = np.concatenate([few[n_few:][: tested // 2], many[n_many:][: tested // 2]])
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


@cache
def checkouts():
    """A process of commit 2ff33c6, in the folder $SPECTRALCLS_BEFORE, and one of this checkout."""
    if not os.environ.get(BEFORE):
        pytest.skip(f"set {BEFORE} to a checkout of 2ff33c6 with its core built")
    variant = available_variants()[0]
    return Worker(Path(os.environ[BEFORE]), variant), Worker(Path(__file__).parents[1], variant)


def whole(name, seed):
    """At most 600 random rows of a set, two thirds for training, without classes of fewer than six rows."""
    X, y = sets()[name](return_X_y=True)
    rows = np.random.RandomState(seed).permutation(len(y))[: 3 * FEW // 2]
    X, y = X[rows].astype(np.float64), np.unique(y[rows], return_inverse=True)[1]
    kept = (np.bincount(y)[y] > 5) & np.isfinite(X).all(axis=1)
    X, Q, y, truth = train_test_split(X[kept], y[kept], test_size=1 / 3, stratify=y[kept], random_state=seed)
    return X, y, Q, truth


@pytest.mark.parametrize("seed, name", list(product(range(SPLITS), sorted(sets()))))
@pytest.mark.parametrize("ratio", [0, 10, 50])
def test_degenerate_fits(record, ratio, seed, name, tmp_path):
    """Today's defaults compared with those of commit 2ff33c6, which tuned all bandwidths by accuracy on a grid that was
    not extended. The sets keep all classes (600 rows, two thirds for training), or have one rare row for 10 or 50
    others (400 rows for training); all are standardized.
    """
    X, y, Q, truth = draw(name, ratio, seed, FEW, FEW) if ratio else whole(name, seed)
    if np.bincount(y, minlength=2).min() < 2:
        pytest.skip(f"{name} has too few rows")
    X, Q = standardized(X, Q)
    np.savez(tmp_path / "data.npz", X=X, y=y, Q=Q)
    row, labels = {}, np.unique(y)
    for when, worker in zip(("before", "after"), checkouts(), strict=True):
        for kind, (predicted, shares, degenerate) in worker(f"answers|{tmp_path / 'data.npz'}").items():
            row[f"{kind} {when}"] = {
                "accuracy": 100 * float(accuracy_score(truth, predicted)),
                "balanced": 100 * float(balanced_accuracy_score(truth, predicted)),
                "loss": float(log_loss(truth, np.clip(shares, 1e-15, 1), labels=labels)) if shares else None,
                "one class": 100.0 * degenerate,
            }
    record(row)


@view("degenerate_fits")
def before_and_after(rows):
    """The tables give means over sets and splits, before → after: accuracy and balanced accuracy in percent, log loss
    ("-" if there are no probabilities), and the percentage of fits that predict one class for all their training
    points. *Before* is commit 2ff33c6, which tuned all bandwidths by accuracy on a grid that was not extended. The sets
    keep all classes, or have one rare row for 10 or 50 others.
    """
    blocks = []
    for ratio in sorted({row["ratio"] for row in rows}):
        chosen, table = [row for row in rows if row["ratio"] == ratio], []
        for kind in KINDS:
            line = {"classifier": kind}
            for key, digits in (("accuracy", 1), ("balanced", 1), ("loss", 3), ("one class", 0)):
                pair = [[row[f"{kind} {when}"][key] for row in chosen] for when in ("before", "after")]
                shown = ["-" if None in values else f"{np.mean(values):.{digits}f}" for values in pair]
                line[key] = " → ".join(shown)
            table.append(line)
        how = f"with one rare row in {ratio + 1}" if ratio else "with all classes"
        blocks += [f"This table is for {len({row['name'] for row in chosen})} sets {how}.", table]
    return blocks
