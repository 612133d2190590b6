"""Prediction sets, doubtful labels and unknown classes from leave-one-out sums, against what users have

*Ours* is full conformal prediction by the class sums of the Parzen classifier, tuned on the same points. *Split* is
split conformal prediction with the same classifier: half of the points fit it, the other half give the quantile, of
1 - p of the true class (LAC) or of the cumulated probabilities (APS, randomized). At most 1000 training points, one
thread.
"""

import warnings
from functools import cache
from itertools import product

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import LocalOutlierFactor

from bench.bench_auto import coded, sets
from bench.measure import QUICK, compare, limited_threads, processor_seconds
from bench.pages import view
from spectralcls import ISEClassifier, KernelRidgeClassifier, ParzenClassifier, PerTurboClassifier
from spectralcls.inspection import label_quality

NAMES = ["iris", "wine"]
if not QUICK:
    NAMES += "ecoli glass ionosphere letter pima satimage wdbc digits wbc blood_transfusion".split()
    NAMES += "ratsch_banana ratsch_thyroid".split()
DRAWS, MOST, TESTED = (1, 150, 150) if QUICK else (20, 1000, 1000)
LEVELS = (0.8, 0.9, 0.95)
FALSE_ALARMS = 0.05
OURS = {"Parzen": ParzenClassifier, "kernel ridge": KernelRidgeClassifier, "PerTurbo": PerTurboClassifier}


@cache
def whole(name):
    X, y = sets()[name](return_X_y=True)
    return X.astype(np.float64), np.unique(y, return_inverse=True)[1]


def draw(name, seed):
    """Training points, labels, queries and their labels, in random order; classes of fewer than 10 samples left out."""
    if name not in sets():
        pytest.skip(f"no data set {name}")
    X, y = whole(name)
    kept = np.flatnonzero(np.bincount(y)[y] >= 10)
    order = np.random.RandomState(seed).permutation(kept)
    n = min(2 * len(order) // 3, MOST)
    train, test = order[:n], order[n : n + TESTED]
    X, y, Q, truth = coded(X[train], y[train], X[test], y[test])
    return X, y, Q[truth >= 0], truth[truth >= 0]


def split_conformal(X, y, Q, level, seed, method):
    """Sets of split conformal prediction with a Parzen classifier."""
    rng = np.random.RandomState(seed)
    order = rng.permutation(len(X))
    fitting, calibration = order[::2], order[1::2]
    missing = np.setdiff1d(np.unique(y), y[fitting])
    fitting = np.concatenate([fitting, [calibration[y[calibration] == c][0] for c in missing]]).astype(int)
    model = ParzenClassifier(n_jobs=1).fit(X[fitting], y[fitting])
    p, q = model.predict_proba(X[calibration]), model.predict_proba(Q)
    if method == "APS":
        p, q = (cumulated(each, rng) for each in (p, q))
    else:
        p, q = 1 - p, 1 - q
    scores = np.sort(p[np.arange(len(calibration)), y[calibration]])
    k = int(np.ceil((len(scores) + 1) * level))
    return q <= (scores[k - 1] if k <= len(scores) else np.inf)


def cumulated(p, rng):
    """Probability of all classes before each, and a random part of its own."""
    order = np.argsort(-p, axis=1, kind="stable")
    ordered = np.take_along_axis(p, order, axis=1)
    sums = np.cumsum(ordered, axis=1) - rng.uniform(size=(len(p), 1)) * ordered
    out = np.empty_like(p)
    np.put_along_axis(out, order, sums, axis=1)
    return out


def worst_class(found, truth):
    """Coverage of the worst class with ten queries at least."""
    hits = found[np.arange(len(truth)), truth]
    return min((float(hits[truth == c].mean()) for c in np.unique(truth) if (truth == c).sum() >= 10), default=np.nan)


@pytest.mark.parametrize("seed, name", list(product(range(DRAWS), NAMES)))
def test_coverage(record, seed, name):
    """Share of the queries whose class is in the set, mean number of classes in a set, and the coverage of the worst
    class with and without `by_class`."""
    X, y, Q, truth = draw(name, seed)
    row = {"n": len(X)}
    with limited_threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ParzenClassifier(n_jobs=1).fit(X, y)
        for level in LEVELS:
            found = {"ours": model.predict_set(Q, level), "ours by class": model.predict_set(Q, level, by_class=True)}
            found |= {f"split {kind}": split_conformal(X, y, Q, level, seed, kind) for kind in ("LAC", "APS")}
            for who, members in found.items():
                row[f"{who} {level:g} coverage"] = float(members[np.arange(len(truth)), truth].mean())
                row[f"{who} {level:g} size"] = float(members.sum(axis=1).mean())
                row[f"{who} {level:g} worst class"] = worst_class(members, truth)
    record(row)


@pytest.mark.parametrize("name", NAMES)
def test_families(record, name):
    """Coverage and size at 90 % of the other families, mean of three draws of at most 300 training points."""
    row = {}
    with limited_threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for label, kind in {**OURS, "ISE": ISEClassifier}.items():
            figures = []
            for seed in range(3):
                X, y, Q, truth = draw(name, seed)
                found = kind(n_jobs=1).fit(X[:300], y[:300])
                kept = np.isin(truth, found.classes_)
                members = found.predict_set(Q[kept])
                own = np.searchsorted(found.classes_, truth[kept])
                figures.append((members[np.arange(len(own)), own].mean(), members.sum(axis=1).mean()))
            row |= dict(zip((f"{label} coverage", f"{label} size"), map(float, np.mean(figures, axis=0)), strict=True))
    record(row)


@pytest.mark.parametrize("seed, name", list(product(range(1 if QUICK else 3), NAMES)))
def test_label_quality(record, seed, name):
    """A tenth of the labels exchanged at random: area under the ROC curve of finding them, and processor seconds of fit
    and quality. The forest gives the out-of-fold probability of the label (cleanlab's self-confidence), by five
    folds."""
    X, y, _, _ = draw(name, seed)
    rng, C = np.random.RandomState(seed), y.max() + 1
    changed = rng.uniform(size=len(y)) < 0.1
    given = np.where(changed, (y + rng.randint(1, C, len(y))) % C, y)
    row = {}
    with limited_threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for label, kind in OURS.items():
            quality, seconds = processor_seconds(lambda kind=kind: label_quality(kind(n_jobs=1).fit(X, given)))
            row |= {f"{label} AUC": float(roc_auc_score(changed, -quality)), f"{label}, s": seconds}
        forest = RandomForestClassifier(n_jobs=1, random_state=seed)
        p, seconds = processor_seconds(cross_val_predict, forest, X, given, cv=5, method="predict_proba")
    own = p[np.arange(len(given)), given]
    record(row | {"forest AUC": float(roc_auc_score(changed, -own)), "forest, s": seconds})


@pytest.mark.parametrize("name", NAMES)
def test_unknown_classes(record, name):
    """Each class in turn is left out of training (at most six): share of it that is called unknown, at 5 % false alarms
    among the queries of other classes. Ours is the empty set at 95 % coverage, whose share of false alarms is whatever
    it is; the others have their threshold set on the queries themselves, which flatters them."""
    X, y, Q, truth = draw(name, 0)
    if y.max() < 2:
        pytest.skip("two classes")
    figures = []
    with limited_threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for c in range(min(6, y.max() + 1)):
            known, novel = y != c, truth == c
            if not novel.any():
                continue
            model = ParzenClassifier(n_jobs=1).fit(X[known], y[known])
            empty = ~model.predict_set(Q, 1 - FALSE_ALARMS).any(axis=1)
            scale = X[known].std(axis=0) + 1e-12
            others = {
                "LOF": LocalOutlierFactor(novelty=True).fit(X[known] / scale).score_samples(Q / scale),
                "IsolationForest": IsolationForest(random_state=0).fit(X[known]).score_samples(Q),
                "largest probability": model.predict_proba(Q).max(axis=1),
            }
            found = {"ours": empty[novel].mean(), "false alarms of ours": empty[~novel].mean()}
            for who, scores in others.items():
                found[who] = np.mean(scores[novel] < np.quantile(scores[~novel], FALSE_ALARMS))
            figures.append(found)
    record({key: float(np.mean([each[key] for each in figures])) for key in figures[0]})


@pytest.mark.parametrize("n, d", [(1000, 8), (5000, 8)] if QUICK else [(1000, 8), (5000, 8), (20_000, 8), (20_000, 32)])
def test_time(record, n, d):
    """`predict_set` of 1000 queries and 5 classes against `predict_proba`, after the first call; seconds of that first
    call, which scores the training points, are given apart."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, n)
    X, Q = rng.normal(size=(n, d)) + 0.5 * y[:, None], rng.normal(size=(1000, d)) + 1.0
    with limited_threads(1):
        model = ParzenClassifier(bandwidth=1.0, scale=None, n_jobs=1).fit(X, y)
        _, first = processor_seconds(model.predict_set, Q[:1])
    functions = {"predict_proba": lambda: model.predict_proba(Q), "predict_set": lambda: model.predict_set(Q)}
    record(compare(functions, repeats=3)[0] | {"first call, s": first})


@view("coverage")
def summary(rows):
    """Over all draws: coverage less what was asked for, in standard errors of the mean over draws; and sizes."""
    blocks, out = [], []
    for name in dict.fromkeys(row["name"] for row in rows):
        own = [row for row in rows if row["name"] == name]
        line = {"set": name, "n": own[0]["n"]}
        for level, who in product(LEVELS, ("ours", "split LAC", "split APS")):
            line[f"{who} {level:g}"] = " / ".join(
                f"{np.mean([row[f'{who} {level:g} {what}'] for row in own]):.{digits}f}"
                for what, digits in (("coverage", 3), ("size", 2))
            )
        out.append(line)
    ratios = {}
    for level, peer in product(LEVELS, ("split LAC", "split APS")):
        each = [
            np.mean([r[f"ours {level:g} size"] for r in rows if r["name"] == line["set"]])
            / np.mean([r[f"{peer} {level:g} size"] for r in rows if r["name"] == line["set"]])
            for line in out
        ]
        ratios[f"{peer}, {level:g}"] = f"{np.exp(np.mean(np.log(each))):.3f} ({min(each):.2f} to {max(each):.2f})"
    blocks += ["Coverage and mean size, means over the draws.", out]
    return [
        *blocks,
        "Mean size of our sets relative to those of split conformal prediction, geometric mean over the sets "
        "(least to greatest).",
        [ratios],
    ]
