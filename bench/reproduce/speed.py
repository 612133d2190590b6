"""What the thesis's protocol costs, and what it costs with a refit for each bandwidth and fold."""

import time

import numpy as np
from sklearn.model_selection import GridSearchCV

from .cells import cell
from .data import THESIS, thesis_data, thesis_splits
from .thesis import FOLDS, GRID, model, predict_tuned

TIMED_TRIALS = 2
TRIALS = 100  # of the thesis
CORES = 2
COMPARED = {
    "Bayes": ("bayes", None),
    "ISE": ("ise", None),
    "Laplacian ISE": ("laplacian_ise", None),
    "CS": ("cs", None),
    "spectral ISE, means": ("spectral_ise", "mean"),
    "spectral ISE, medians": ("spectral_ise", "median"),
    "spectral Laplacian ISE, means": ("spectral_laplacian_ise", "mean"),
    "spectral Laplacian ISE, medians": ("spectral_laplacian_ise", "median"),
}


def _cell(data, name):
    classifier, center = COMPARED[name]
    return cell("speed.measure", 30 if center else 5, data=data, classifier=classifier, center=center)


def cells():
    return [_cell(data, name) for data in THESIS for name in COMPARED]


def measure(source, data, classifier, center):
    """Processor seconds a trial: one search for all folds and bandwidths, and GridSearchCV; one thread."""
    X, y, splits = thesis_data(source, data)
    seconds = {"one search": [], "refits": []}
    for trial, (train, test) in enumerate(thesis_splits(data, y, splits, TIMED_TRIALS)):
        start = time.process_time()
        predict_tuned(model(classifier, center), X[train], y[train], X[test], trial)
        middle = time.process_time()
        search = GridSearchCV(model(classifier, center), {"bandwidth": list(GRID)}, cv=FOLDS)
        search.fit(X[train], y[train]).predict(X[test])
        seconds["one search"].append(middle - start)
        seconds["refits"].append(time.process_time() - middle)
    return {name: float(np.mean(values)) for name, values in seconds.items()}


def write_page(store, out, jobs):
    """`speed.md`."""
    lines = [
        "# Speed of the thesis's protocol",
        "",
        f"Written by `python -m bench.reproduce speed`. Processor seconds of one trial (mean of {TIMED_TRIALS}): "
        f"{len(GRID)} bandwidths, {FOLDS} folds, fit and prediction of the test set, one thread. One search is the "
        "estimators' own cross-validation; refits is scikit-learn's GridSearchCV around the same estimator.",
        "",
        "| data | classifier | one search | refits | ratio |",
        "|---|---|---|---|---|",
    ]
    totals = np.zeros(2)
    for data in THESIS:
        for name in COMPARED:
            wanted = _cell(data, name)
            value = store.value(wanted)
            head = f"| {THESIS[data].title} | {name} |"
            if value is None:
                lines.append(f"{head} {store.failure(wanted) or 'not run'} | | |")
                continue
            once, refits = value["one search"], value["refits"]
            totals += once, refits
            lines.append(f"{head} {once:.3f} | {refits:.3f} | {refits / once:.1f} |")
    once, refits = TRIALS * totals / 60 / CORES
    lines += [
        "",
        f"Extrapolated from these {TIMED_TRIALS} trials to the thesis's {TRIALS}: all classifiers on all data take "
        f"{once:.1f} minutes on {CORES} cores with one search, {refits:.1f} minutes with refits, "
        f"{refits / max(once, 1e-9):.1f} times as long.",
    ]
    protocol = ("thesis.rates", "thesis.svm_rates")
    done = [kept["seconds"] for key, kept in store.cells.items() if key.startswith(protocol)]
    if done:
        lines += [
            "",
            f"Measured: the cells of the whole protocol that were computed beside this page ({len(done)} of them, "
            f"with the SVM and its grid searches) took {sum(done) / 60:.1f} minutes, "
            f"{sum(done) / 60 / jobs:.1f} on each of {jobs} processes.",
        ]
    (out / "speed.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
