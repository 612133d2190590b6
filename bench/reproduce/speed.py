"""What the thesis's protocol costs, and what it costs with a refit for each bandwidth and fold."""

import time

import numpy as np
from sklearn.model_selection import GridSearchCV

from .cells import cell
from .data import THESIS, thesis_data, thesis_splits
from .thesis import CLASSIFIERS, FOLDS, GRID, predict_tuned

TIMED_TRIALS = 2


def cells(trials):
    return [cell("speed.measure", 10, data=data, classifier=name) for data in THESIS for name in CLASSIFIERS]


def measure(source, data, classifier):
    """Processor seconds a trial: one pass for all folds and bandwidths, and GridSearchCV; one thread."""
    X, y, splits = thesis_data(source, data)
    seconds = {"one pass": [], "refits": []}
    for trial, (train, test) in enumerate(thesis_splits(data, y, splits, TIMED_TRIALS)):
        start = time.process_time()
        predict_tuned(CLASSIFIERS[classifier](), X[train], y[train], X[test], trial)
        middle = time.process_time()
        search = GridSearchCV(CLASSIFIERS[classifier](n_jobs=1), {"bandwidth": list(GRID)}, cv=FOLDS)
        search.fit(X[train], y[train]).predict(X[test])
        seconds["one pass"].append(middle - start)
        seconds["refits"].append(time.process_time() - middle)
    return {name: float(np.min(values)) for name, values in seconds.items()}


def write_page(store, out, trials, jobs):
    """`speed.md`."""
    lines = [
        "# Speed of the thesis's protocol",
        "",
        f"Processor seconds of one trial (the faster of {TIMED_TRIALS}): {len(GRID)} bandwidths, "
        f"{FOLDS} folds, fit "
        "and prediction of the test set. One pass is the estimators' own cross-validation; refits is "
        "scikit-learn's "
        "GridSearchCV around the same estimator.",
        "",
        "| data | classifier | one pass | refits | ratio |",
        "|---|---|---|---|---|",
    ]
    totals = np.zeros(2)
    for data in THESIS:
        for classifier in CLASSIFIERS:
            wanted = cell("speed.measure", data=data, classifier=classifier)
            value = store.value(wanted)
            head = f"| {THESIS[data].title} | {classifier} |"
            if value is None:
                lines.append(f"{head} {store.failure(wanted) or 'not run'} | | |")
                continue
            once, refits = value["one pass"], value["refits"]
            totals += once, refits
            lines.append(f"{head} {once:.3f} | {refits:.3f} | {refits / once:.1f} |")
    done = {key: kept["seconds"] for key, kept in store.cells.items() if key.startswith("thesis.")}
    protocol = sum(seconds for key, seconds in done.items() if "rates(" in key)
    lines += [
        "",
        f"{trials} trials of these classifiers on these data are {trials * totals[0] / 60:.1f} minutes "
        f"of one core in "
        f"one pass and {trials * totals[1] / 60:.1f} minutes with refits: "
        f"{totals[1] / max(totals[0], 1e-9):.1f} times.",
        "",
        f"All of the protocol in this run (Bayes, ISE, Laplacian ISE, CS, both spectral classifiers with "
        f"means and "
        f"medians, and the SVM) took {protocol / 60:.1f} minutes of cells, {protocol / 60 / jobs:.1f} "
        f"minutes on {jobs} "
        "processes.",
    ]
    (out / "speed.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
