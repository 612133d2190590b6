"""Accuracy with missing values, and what scaling the features is worth: writes the tables of docs/guide/tables.md.

    python -m bench.tables [--splits 2] [--samples 300]

From small data sets 30 % of the entries are removed at random, in the training and the test part. The same classifier
either takes the holes as they are or follows an imputation. Splits are the same for all; the Parzen classifier tunes
itself.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from spectralcls import ParzenClassifier, datasets

PAGE = Path(__file__).resolve().parent.parent / "docs" / "guide" / "tables.md"
SETS = ("iris", "wine", "breast_cancer", "glass", "ecoli", "pima")
SHARE = 0.3


def parzen(**parameters):
    return ParzenClassifier(**parameters)


METHODS = {
    "as they are": parzen,
    "mean": lambda: make_pipeline(SimpleImputer(), parzen()),
    "k-NN": lambda: make_pipeline(StandardScaler(), KNNImputer(), parzen()),
    "iterative": lambda: make_pipeline(StandardScaler(), IterativeImputer(max_iter=5, random_state=0), parzen()),
    "boosting": lambda: HistGradientBoostingClassifier(random_state=0),
}


def problem(name, n_samples):
    """Features and labels of a set, at most `n_samples` of them."""
    bunch = datasets.load(name)
    X, y = np.asarray(bunch.data, dtype=np.float64), np.asarray(bunch.target)
    if y.ndim > 1:
        y = y[0]
    known = np.isfinite(X).all(axis=1)
    X, y = X[known], y[known]
    frequent = np.isin(y, [label for label in np.unique(y) if np.count_nonzero(y == label) > 8])
    X, y = X[frequent], y[frequent]
    rows = np.random.default_rng(0).permutation(len(y))[:n_samples]
    return X[rows], y[rows]


def measure(name, splits, n_samples):
    """Mean accuracies of one set: complete with and without scaling, and by each method with holes."""
    X, y = problem(name, n_samples)
    holes = np.random.default_rng(1).random(X.shape) < SHARE
    broken = np.where(holes, np.nan, X)
    found = {}
    for train, test in StratifiedShuffleSplit(splits, test_size=1 / 3, random_state=0).split(X, y):
        raw = parzen(scale=None).fit(X[train], y[train]).score(X[test], y[test])
        found.setdefault("raw", []).append(raw)
        found.setdefault("complete", []).append(parzen().fit(X[train], y[train]).score(X[test], y[test]))
        for method, make in METHODS.items():
            found.setdefault(method, []).append(make().fit(broken[train], y[train]).score(broken[test], y[test]))
    return {key: 100 * float(np.mean(values)) for key, values in found.items()}


def tables(results):
    """The two tables of the page, by the name of their place."""
    columns = ["complete", *METHODS]
    cells = {name: " | ".join(f"{result[key]:.1f}" for key in columns) for name, result in results.items()}
    rows = [f"| {name} | {own} |" for name, own in cells.items()]
    means = {key: np.mean([result[key] for result in results.values()]) for key in ["raw", *columns]}
    rows.append("| **mean** | " + " | ".join(f"**{means[key]:.1f}**" for key in columns) + " |")
    head = f"| accuracy % | {' | '.join(columns)} |\n|{' --- |' * (len(columns) + 1)}"
    missing = "\n".join([head, *rows])
    scale = ["| accuracy % | scale=None | scale=\"auto\" |", "| --- | --- | --- |"]
    scale += [f"| {name} | {result['raw']:.1f} | {result['complete']:.1f} |" for name, result in results.items()]
    scale.append(f"| **mean** | **{means['raw']:.1f}** | **{means['complete']:.1f}** |")
    return {"missing": missing, "scale": "\n".join(scale)}


def write(found):
    text = PAGE.read_text(encoding="utf-8")
    for place, table in found.items():
        start, end = f"<!-- {place} -->\n", "<!-- end -->"
        before, _, rest = text.partition(start)
        text = before + start + table + "\n" + end + rest.partition(end)[2]
    PAGE.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--samples", type=int, default=300)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    results = {}
    for name in SETS:
        results[name] = measure(name, arguments.splits, arguments.samples)
        print(name, {key: round(value, 1) for key, value in results[name].items()}, flush=True)
        write(tables(results))


if __name__ == "__main__":
    main()
