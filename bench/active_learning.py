"""Active learning near the borders against random labels: PerTurbo's section 4.2 (figure 5) on three data
sets.

Run ``python bench/active_learning.py``: it draws docs/images/active_learning.png and writes the table between
the marks in docs/guide/active_learning.md. Data are looked for in SPECTRALCLS_DATA.
"""

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from spectralcls.datasets import load
from spectralcls.perturbo import PerTurboClassifier, simulate
from spectralcls.plotting import ActiveLearningDisplay

DATA = {"Ecoli": "ecoli", "Wine": "wine", "SimData-1": "simdata_1"}
CLASSIFIERS = {"PerTurbo": PerTurboClassifier(scale=None), "k-NN": KNeighborsClassifier(3)}
PUBLISHED = {  # Courty, Burger and Laurent, end of section 4.2: points on the remaining pool, at the end
    ("Ecoli", "PerTurbo"): 12.9,
    ("Wine", "PerTurbo"): 20.9,
    ("SimData-1", "PerTurbo"): 10.5,
    ("Ecoli", "k-NN"): 14.2,
    ("Wine", "k-NN"): 27.8,
    ("SimData-1", "k-NN"): 12.9,
}
EARLY = 70  # labels asked for at the earlier of the two measurements
MARKS = "<!-- begin: bench/active_learning.py -->", "<!-- end: bench/active_learning.py -->"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--max-queries", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=None)
    parser.add_argument("--docs", type=Path, default=Path(__file__).resolve().parents[1] / "docs")
    arguments = parser.parse_args()

    figure, axes = plt.subplots(len(DATA) * len(CLASSIFIERS), 2, figsize=(8, 13.5), sharey="row", layout="constrained")
    rows = []
    for name, key in DATA.items():
        data = load(key)
        n_pool = len(data.data) - -(-len(data.data) // 3)
        n_queries = min(arguments.max_queries, int(0.9 * n_pool) - 2 * len(np.unique(data.target)))
        for label, classifier in CLASSIFIERS.items():
            print(f"{name}, {label}: {n_queries} queries", flush=True)
            curves = simulate(
                classifier,
                data.data,
                data.target,
                n_queries=n_queries,
                retune=20,
                n_repeats=arguments.repeats,
                n_jobs=arguments.jobs,
                random_state=0,
            )
            ActiveLearningDisplay(curves).plot(axes[len(rows)], title=f"{name}, {label}")
            rows.append((name, label, n_queries, curves))
    (arguments.docs / "images").mkdir(parents=True, exist_ok=True)
    figure.savefig(arguments.docs / "images" / "active_learning.png", dpi=90)
    replace_between_marks(arguments.docs / "guide" / "active_learning.md", report(rows, arguments.repeats))


def report(rows, n_repeats):
    """Markdown: one line per data set and classifier, and what the numbers say."""
    lines = [
        "Accuracy of border queries minus that of random labels, in points: mean ± standard error of",
        f"{n_repeats} random splits (two thirds pool, one third test set, raw features, two labeled samples",
        "a class at the start; PerTurbo tuned anew every 20 labels, k-NN with k = 3).",
        "",
        "| data | classifier | queries | pool that is left, at the end | published "
        f"| test set, after {EARLY} | test set, at the end |",
        "|---|---|---|---|---|---|---|",
    ]
    gains = {"pool": [], "early": [], "end": []}
    for name, label, n_queries, curves in rows:
        early = min(EARLY, n_queries)
        cells = {"pool": curves.gain("pool"), "early": curves.gain("test", early), "end": curves.gain("test")}
        for key, (mean, _) in cells.items():
            gains[key].append(100 * mean)
        text = {
            key: f"{100 * mean:+.1f} ± {100 * deviation / np.sqrt(n_repeats):.1f}"
            for key, (mean, deviation) in cells.items()
        }
        published = f"{PUBLISHED[name, label]:+.1f}"
        columns = (name, label, str(n_queries), text["pool"], published, text["early"], text["end"])
        lines.append(f"| {' | '.join(columns)} |")
    span = {key: f"{min(values):+.1f} to {max(values):+.1f}" for key, values in gains.items()}
    behind = sum(value < 0 for value in gains["early"])
    lines += [
        "",
        f"On what is left of the pool the gain at the end is {span['pool']} points: the difficult samples",
        f"have been labeled and are gone. On the fixed test set it is {span['early']} points after {EARLY}",
        f"queries (below zero in {behind} of {len(rows)} cases) and {span['end']} at the end. Only the",
        "latter two say how much better the classifier became.",
        "",
        "![Learning curves](../images/active_learning.png)",
    ]
    return "\n".join(lines)


def replace_between_marks(path, text):
    begin, end = MARKS
    page = path.read_text(encoding="utf-8")
    before, rest = page.split(begin)
    after = rest.split(end)[1]
    path.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
