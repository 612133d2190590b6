"""Tables with gaps and categories, and scales: ``python -m bench.tables [--splits 3] [--samples 400] [--only PART]``.

Each result is stored when it is there (docs/measured/tables.json), so that an interrupted run goes on where it stopped
(remove the file to measure again); the page is docs/measured/tables.md. Splits are the
same for all methods, a third of the rows is for testing; processor seconds on one thread.
"""

import argparse
import json
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

from bench.data import folder
from bench.measure import processor_seconds
from bench.page import machine
from bench.tables_page import page
from spectralcls import (
    AutoClassifier,
    CauchySchwarzClassifier,
    ISEClassifier,
    KernelRidgeClassifier,
    LaplacianISEClassifier,
    ParzenClassifier,
    ParzenDensity,
    PerTurboClassifier,
    datasets,
)

DOCS = Path(__file__).resolve().parents[1] / "docs"
STORE = DOCS / "measured" / "tables.json"
SETS = (
    "iris",
    "wine",
    "breast_cancer",
    "glass",
    "ecoli",
    "pima",
    "ionosphere",
    "wbc",
    "ratsch_thyroid",
    "ratsch_banana",
)
SCALE_SETS = (*SETS, "digits", "letter", "satimage", "shuttle", "covertype", "blood_transfusion")
TIMED = ("satimage", "letter", "wine", "mixed")
MIXED_FILES = ("adult", "credit")  # <name>.csv in the data folder, the class in the last column
SHARE = 0.3
IMPUTERS = {
    "mean": lambda: make_pipeline(SimpleImputer()),
    "k-NN": lambda: make_pipeline(StandardScaler(), KNNImputer()),
    "iterative": lambda: make_pipeline(StandardScaler(), IterativeImputer(max_iter=5, random_state=0)),
}
KINDS = {
    "Parzen": ParzenClassifier,
    "ISE": ISEClassifier,
    "Laplacian ISE": LaplacianISEClassifier,
    "Cauchy-Schwarz": CauchySchwarzClassifier,
    "PerTurbo": PerTurboClassifier,
}


# Sets


def problem(name, n_samples):
    """Features and labels of a set, at most `n_samples` of them, without classes of fewer than nine."""
    bunch = datasets.load(name)
    X, y = np.asarray(bunch.data, dtype=np.float64), np.asarray(bunch.target)
    known = np.isfinite(X).all(axis=1)
    X, y = X[known], y[known]
    rows = np.random.default_rng(0).permutation(len(y))[:n_samples]
    X, y = X[rows], y[rows]
    frequent = np.isin(y, [label for label in np.unique(y) if np.count_nonzero(y == label) > 8])
    return X[frequent], y[frequent]


def splits_of(y, n):
    return StratifiedShuffleSplit(n, test_size=1 / 3, random_state=0).split(np.zeros(len(y)), y)


def with_gaps(X, seed=1):
    return np.where(np.random.default_rng(seed).random(X.shape) < SHARE, np.nan, X)


def accuracies(methods, splits):
    """Mean accuracy in per cent of each method over (train, y_train, test, y_test)."""
    found = {name: [] for name in methods}
    for train, y, test, truth in splits:
        for name, make in methods.items():
            found[name].append(100 * make().fit(train, y).score(test, truth))
    return {name: float(np.mean(values)) for name, values in found.items()}


# Parts


def gaps(name, arguments):
    """One set: complete, with gaps as they are, and after imputation."""
    X, y = problem(name, arguments.samples)
    broken, found = with_gaps(X), {}
    makers = KINDS | {"boosting": partial(HistGradientBoostingClassifier, random_state=0)}
    for a, b in splits_of(y, arguments.splits):
        ways = {"complete": (X[a], X[b]), "as they are": (broken[a], broken[b])}
        for imputer, make_imputer in IMPUTERS.items():
            fill = make_imputer().fit(broken[a])
            ways[imputer] = fill.transform(broken[a]), fill.transform(broken[b])
        for kind, make in makers.items():
            for way, (train, test) in ways.items():
                if kind != "boosting" or way not in IMPUTERS:
                    accuracy = 100 * make().fit(train, y[a]).score(test, y[b])
                    found.setdefault(f"{kind}, {way}", []).append(accuracy)
    return {key: float(np.mean(values)) for key, values in found.items()}


def _after(imputer, make):
    return make_pipeline(IMPUTERS[imputer](), make())


class Gaussians:
    """Two classes of correlated normal features, and the posterior that sees only some of them."""

    def __init__(self, d, correlation):
        self.means = np.zeros((2, d))
        self.means[1, : d // 2] = 1.0
        self.covariance = (1 - correlation) * np.eye(d) + correlation

    def draw(self, n, rng):
        y = rng.integers(0, 2, n)
        return rng.multivariate_normal(np.zeros(len(self.covariance)), self.covariance, n) + self.means[y], y

    def score(self, X, y):
        """Accuracy of the true posterior given the features that each row has, those missing integrated out."""
        right = 0
        for x, label in zip(X, y, strict=True):
            has = ~np.isnan(x)
            if has.any():
                own = self.covariance[np.ix_(has, has)]
                logs = [multivariate_normal.logpdf(x[has], mean[has], own) for mean in self.means]
            else:
                logs = [0.0, 0.0]
            right += (np.argmax(logs) == label) if logs[0] != logs[1] else 0.5
        return 100 * right / len(y)


def bound(name, arguments):
    """What removing the entries takes from the true posterior, and what it takes from us and from imputation."""
    d, correlation = name
    truth, rng = Gaussians(d, correlation), np.random.default_rng(0)
    found = []
    for _ in range(arguments.splits):
        X, y = truth.draw(arguments.samples, rng)
        Q, u = truth.draw(2000, rng)
        broken, R = with_gaps(X, rng.integers(2**31)), with_gaps(Q, rng.integers(2**31))
        found.append(
            {
                "true density, complete": truth.score(Q, u),
                "true density, gaps": truth.score(R, u),
                "Parzen, complete": 100 * ParzenClassifier().fit(X, y).score(Q, u),
                "Parzen, as they are": 100 * ParzenClassifier().fit(broken, y).score(R, u),
                "Parzen, mean": 100 * _after("mean", ParzenClassifier).fit(broken, y).score(R, u),
                "Parzen, iterative": 100 * _after("iterative", ParzenClassifier).fit(broken, y).score(R, u),
            }
        )
    return {key: float(np.mean([run[key] for run in found])) for key in found[0]}


class Mixed:
    """A generated table: numbers, categories, an ordered category and a truth value, some of which say nothing.

    Features are independent within a class, hence the best posterior is known whatever is missing.
    """

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.means, self.levels = rng.normal(0, 0.6, (3, 4)), {}
        self.means[:, 2:] = 0  # two numbers of four are noise
        for name, n, sharp in (("color", 4, 0.7), ("town", 12, 0.0), ("trade", 9, 1.2), ("member", 2, 0.5)):
            logits = np.tile(rng.normal(size=n), (3, 1)) + sharp * rng.normal(size=(3, n))
            self.levels[name] = logits - logsumexp(logits, axis=1, keepdims=True)
        grades = -((np.arange(5) - np.array([[1.0], [2.0], [3.0]])) ** 2) / 2
        self.levels["grade"] = grades - logsumexp(grades, axis=1, keepdims=True)

    def draw(self, n, rng, share=0.0):
        """(frame, y, log joint probabilities of what the frame shows)."""
        y = rng.integers(0, 3, n)
        numbers = rng.normal(size=(n, 4)) + self.means[y]
        logs, frame = np.zeros((n, 3)), {}
        for j, unit in enumerate((1.0, 1000.0, 1.0, 50.0)):
            has = rng.random(n) >= share
            frame[f"number {j}"] = np.where(has, unit * numbers[:, j], np.nan)
            logs -= has[:, None] * (numbers[:, j, None] - self.means[:, j]) ** 2 / 2
        for name, own in self.levels.items():
            level = np.array([rng.choice(own.shape[1], p=np.exp(row)) for row in own[y]])
            has = rng.random(n) >= share
            logs += has[:, None] * own[:, level].T
            names = [f"{name} {k}" for k in range(own.shape[1])]
            frame[name] = pd.Categorical.from_codes(np.where(has, level, -1), names, ordered=name == "grade")
        return pd.DataFrame(frame), y, logs


def one_hot(make):
    """What people do by hand."""
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    levels = make_pipeline(
        SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    )
    is_number = make_column_selector(dtype_include="number")
    columns = make_column_transformer((numbers, is_number), (levels, make_column_selector(dtype_exclude="number")))
    return make_pipeline(columns, make())


MIXED_METHODS = {
    "Parzen": ParzenClassifier,
    "AutoClassifier": AutoClassifier,
    "one-hot, Parzen": partial(one_hot, ParzenClassifier),
    "boosting": partial(HistGradientBoostingClassifier, categorical_features="from_dtype", random_state=0),
}


def mixed(share, arguments):
    """The generated table: the best accuracy possible, and those reached."""
    found = []
    for seed in range(arguments.splits):
        source, rng = Mixed(seed), np.random.default_rng(100 + seed)
        frame, y, _ = source.draw(arguments.samples, rng, share)
        test, truth, logs = source.draw(3000, rng, share)
        own = accuracies(MIXED_METHODS, [(frame, y, test, truth)])
        found.append({"best possible": 100 * float(np.mean(logs.argmax(axis=1) == truth)), **own})
    return {key: float(np.mean([run[key] for run in found])) for key in found[0]}


def mixed_file(name, arguments):
    """A table of the data folder in its original form."""
    frame = pd.read_csv(Path(folder()) / f"{name}.csv", skipinitialspace=True, na_values=["?"])
    frame = frame.sample(min(len(frame), 3 * arguments.samples), random_state=0)
    X, y = frame.iloc[:, :-1], frame.iloc[:, -1].to_numpy()
    X = X.astype({column: "category" for column in X.select_dtypes(exclude="number")})
    splits = ((X.iloc[a], y[a], X.iloc[b], y[b]) for a, b in splits_of(y, arguments.splits))
    return accuracies(MIXED_METHODS, splits)


def scale(name, arguments):
    """Complete data as they are and scaled."""
    X, y = problem(name, arguments.samples)
    kinds = KINDS | {"kernel ridge": KernelRidgeClassifier}
    methods = {
        f"{kind}, {value}": partial(make, scale=value) for kind, make in kinds.items() for value in (None, "auto")
    }
    return accuracies(methods, ((X[a], y[a], X[b], y[b]) for a, b in splits_of(y, arguments.splits)))


def times(case, _):
    """Processor seconds with gaps, and over those of the complete data."""
    name, what, kind = case
    if name == "mixed":
        source = Mixed(0)
        complete, y, _ = source.draw(4000, np.random.default_rng(0))
        broken = source.draw(4000, np.random.default_rng(0), SHARE)[0]
    else:
        complete, y = problem(name, 4000)
        broken = with_gaps(complete)
    make = partial(KINDS[kind], n_jobs=1)
    training, queries = {"queries": (complete, broken), "points": (broken, complete), "both": (broken, broken)}[what]
    whole, model = make().fit(complete, y), make().fit(training, y)
    work = {
        "fit": ((make().fit, complete, y), (make().fit, training, y)),
        "predict": ((whole.decision_function, complete), (model.decision_function, queries)),
    }
    result = {"points": len(y), "features": complete.shape[1]}
    for name, (without, with_them) in work.items():
        result[f"{name}, s"] = processor_seconds(*with_them, repeats=3)[1]
        result[f"{name}, ratio"] = result[f"{name}, s"] / processor_seconds(*without, repeats=3)[1]
    return result


def peer(n, _):
    """Bandwidths of each feature by leave-one-out likelihood: KDEMultivariate of statsmodels, and ours."""
    from statsmodels.nonparametric.kernel_density import KDEMultivariate

    X = np.random.default_rng(0).normal(size=(n, 4)) * [1, 2, 0.5, 1]
    theirs = processor_seconds(lambda: KDEMultivariate(X, var_type="c" * 4, bw="cv_ml"))[1]
    ours = processor_seconds(ParzenDensity(covariance_type="diag", n_jobs=1).fit, X, repeats=3)[1]
    return {"statsmodels, s": theirs, "ours, s": ours, "ratio": theirs / ours}


PARTS = {
    "gaps": (gaps, SETS),
    "bound": (bound, ((6, 0.0), (6, 0.5), (6, 0.9), (20, 0.5))),
    "mixed": (mixed, (0.0, SHARE)),
    "mixed_file": (mixed_file, MIXED_FILES),
    "scale": (scale, SCALE_SETS),
    "times": (
        times,
        tuple(
            (name, what, kind)
            for name in TIMED
            for kind in ("Parzen", "Cauchy-Schwarz")
            for what in ("queries", "both")
        ),
    ),
    "peer": (peer, (500, 1000, 2000, 4000)),
}


def write(stored):
    STORE.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    STORE.with_suffix(".md").write_text(page(stored), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--only", choices=PARTS, action="append")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    stored = {"settings": {}, "results": {}}
    if STORE.exists():
        stored = json.loads(STORE.read_text(encoding="utf-8"))
    stored["machine"], settings = machine(), [arguments.splits, arguments.samples]
    for part in arguments.only or PARTS:
        measure, cases = PARTS[part]
        if stored["settings"].get(part) != settings:
            stored["settings"][part], stored["results"][part] = settings, {}
        for case in cases:
            key = case if isinstance(case, str) else json.dumps(case)
            if key in stored["results"].get(part, {}):
                continue
            if part == "mixed_file" and not (Path(folder()) / f"{case}.csv").exists():
                continue
            with threadpool_limits(1):
                found = measure(case, arguments)
            stored["results"].setdefault(part, {})[key] = found
            print(part, case, {key: round(value, 2) for key, value in found.items()}, flush=True)
            write(stored)


if __name__ == "__main__":
    main()
