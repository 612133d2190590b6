"""AutoClassifier and what users have, on the same splits: ``python -m bench.auto [--splits 4] [--rows 1700]``.

Every data set of $SPECTRALCLS_DATA that has numeric features, and scikit-learn's: at most `rows` random rows of each,
random splits of two thirds for training. Each result is stored when it is there (docs/measured/auto.json), so that an
interrupted run goes on where it stopped; the page is docs/measured/auto.md. Times are CPU seconds of fitting, tuning
included, on one thread.
"""

import argparse
import importlib.util
import json
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn import datasets
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from bench.data import folder, path
from bench.measure import processor_seconds
from bench.page import machine, table
from spectralcls import AutoClassifier
from spectralcls._inputs.encoder import ColumnEncoder
from spectralcls.cli import peers
from spectralcls.cli.registry import ENTRIES, Entry, Setting

STORE = Path(__file__).parents[1] / "docs" / "measured" / "auto.json"
OURS, SVM = "AutoClassifier", "SVM"
FOLDS = 5
BUDGETS = (5, 20, 60)  # seconds
TREES = ("HistGradientBoosting", "RandomForest")
BINS = 10  # of the expected calibration error


def all_sets():
    """Name to a function that loads (X, y): one or two arrays of rows in a file."""
    found = {}
    for place in sorted(Path(folder() or ".").glob("*.npz")):
        with np.load(place, allow_pickle=False) as file:
            if "X" in file.files or "X_train" in file.files:
                found[place.stem] = lambda place=place: _read(place)
    names = {"wdbc": datasets.load_breast_cancer, "iris": datasets.load_iris, "wine": datasets.load_wine}
    for name, load in (names | {"digits": datasets.load_digits}).items():
        found.setdefault(name, lambda load=load: load(return_X_y=True))
    return found


def _read(place):
    with np.load(place, allow_pickle=False) as file:
        if "X" in file.files:
            return file["X"], file["y"]
        return tuple(np.concatenate([file[f"{name}_train"], file[f"{name}_test"]]) for name in "Xy")


def split(X, y, rows, seed):
    """Training and test part of at most `rows` rows, always the same; labels that only the test part has are -1."""
    kept = np.random.RandomState(0).permutation(len(X))[:rows]
    X, y = X[kept].astype(np.float64), np.unique(y[kept], return_inverse=True)[1]
    order = np.random.RandomState(seed).permutation(len(X))
    train, test = np.split(order, [2 * len(X) // 3])
    known, codes = np.unique(y[train], return_inverse=True)
    truth = np.where(np.isin(y[test], known), np.searchsorted(known, y[test]), -1)
    return X[train], codes, X[test], truth


def _svm_search(encoders):
    grid = [
        {"columnencoder": [encoder], "svc__C": np.logspace(-1, 3, 5), "svc__gamma": np.logspace(-2, 2, 5, base=4)}
        for encoder in encoders
    ]
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    return GridSearchCV(make_pipeline(ColumnEncoder(), _ScaledSVC()), grid, cv=folds)


class _ScaledSVC(SVC):
    """`gamma` in units of scikit-learn's "scale"."""

    def fit(self, X, y):
        gamma = self.gamma
        try:
            self.gamma = gamma / (X.shape[1] * X.var())
            return super().fit(X, y)
        finally:
            self.gamma = gamma


_ScaledSVC.__name__ = "SVC"


def _fit_svm(X, y):
    return _svm_search([ColumnEncoder(indicators=False)]).fit(X, y)


def _fit_encoded_svm(X, y):
    return _svm_search([ColumnEncoder(indicators=False), ColumnEncoder(), ColumnEncoder("rank")]).fit(X, y)


def _fit_calibrated_svm(X, y):
    model = _fit_svm(X, y).best_estimator_
    lonely = np.flatnonzero(np.bincount(y)[y] == 1)  # calibration needs every class in two folds
    X, y = np.concatenate([X, X[lonely]]), np.concatenate([y, y[lonely]])
    return CalibratedClassifierCV(model, cv=StratifiedKFold(min(FOLDS, np.bincount(y).min()))).fit(X, y)


def _fit_peer(entry):
    def fit(X, y):
        setting = Setting(len(X), FOLDS, 1.0, X.shape[1], 0, 1)
        return make_pipeline(StandardScaler(), entry.make(setting)).fit(X, y)

    return fit


def _xrfm(setting):
    from bench.torch_peers import HeldOut, RecursiveFeatureMachine

    return HeldOut(RecursiveFeatureMachine(), random_state=setting.seed)


def _nca(setting):
    from bench.torch_peers import HeldOut, TorchNCA

    return HeldOut(TorchNCA(random_state=setting.seed), random_state=setting.seed)


PEERS = {entry.name: ("sklearn", entry) for entry in ENTRIES if entry.name in TREES} | peers.PEERS
PEERS |= {"xRFM": ("xrfm", Entry("xRFM", "", _xrfm)), "torch NCA": ("torch", Entry("torch NCA", "", _nca))}
METHODS = {
    OURS: lambda X, y: AutoClassifier(n_jobs=1).fit(X, y),
    SVM: _fit_svm,
    "SVM, encodings": _fit_encoded_svm,
    "SVM, calibrated": _fit_calibrated_svm,
} | {name: _fit_peer(entry) for name, (_, entry) in PEERS.items()}
QUICK = [OURS, SVM, "RandomForest", "HistGradientBoosting", "LightGBM"]


def measure(fit, X, y, Q, truth):
    model, seconds = processor_seconds(fit, X, y)
    result = {"seconds": seconds}
    result["accuracy"] = float(np.mean(np.ravel(model.predict(Q)) == truth))
    if hasattr(model, "predict_proba"):
        p = model.predict_proba(Q)
        result |= {"log loss": log_loss(p, truth), "calibration error": calibration_error(p, truth)}
    if hasattr(model, "summary_"):
        result["summary"] = model.summary_
    return result


def log_loss(p, truth):
    """Mean of -log p, p at least 1e-3 and 0 for a class that was not there to learn."""
    own = np.where(truth >= 0, p[np.arange(len(p)), truth], 0.0)
    return float(-np.log(np.maximum(own, 1e-3)).mean())


def calibration_error(p, truth):
    """Expected calibration error of the most probable class over ten equal bins."""
    top, right = p.max(axis=1), p.argmax(axis=1) == truth
    bins = np.minimum((top * BINS).astype(int), BINS - 1)
    gaps = np.bincount(bins, top - right, minlength=BINS)
    return float(np.abs(gaps).sum() / len(p))


def official():
    """Sets with a split that is usual in publications, in full: name to a function that loads both parts."""
    return {
        "letter, 16000 / 4000": lambda: _first(*_read(path("letter.npz")), 16_000),
        "satimage, 4435 / 2000": _satimage,
        "covertype, 500000 / 81012": lambda: _first(*_shuffled(*_read(path("covertype.npz"))), 500_000),
    }


def _first(X, y, n):
    return X[:n], y[:n], X[n:], y[n:]


def _shuffled(X, y):
    order = np.random.RandomState(0).permutation(len(X))
    return X[order].astype(np.float32), y[order]


def _satimage():
    with np.load(path("satimage.npz"), allow_pickle=False) as file:
        return [file[key] for key in ("X_train", "y_train", "X_test", "y_test")]


def run_official(methods, names, stored, save):
    for name, load in official().items():
        if not any(name.startswith(wanted) for wanted in names):
            continue
        entry = stored.setdefault("official", {}).setdefault(name, {})
        X, y, Q, truth = load()
        known, codes = np.unique(y, return_inverse=True)
        truth = np.searchsorted(known, truth)
        for method in methods:
            if method not in entry:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    entry[method] = measure(METHODS[method], X, codes, Q, truth)
                save()
                print(f"{name} {method}: {entry[method]['accuracy']:.4f}, {entry[method]['seconds']:.1f} s", flush=True)


def run_budgets(stored, save):
    """`time_budget=` in seconds on the clock, whatever else the machine does."""
    X, y, Q, truth = official()["letter, 16000 / 4000"]()
    for budget in BUDGETS:
        start = time.monotonic()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = AutoClassifier(time_budget=budget, n_jobs=1).fit(X, y)
        stored.setdefault("budgets", {})[str(budget)] = {
            "seconds": time.monotonic() - start,
            "points": model.n_samples_used_,
            "accuracy": float(np.mean(model.predict(Q) == truth)),
        }
        save()
        print(budget, stored["budgets"][str(budget)], flush=True)


def run(sets, methods, rows, splits, stored, save):
    for seed in range(splits):
        for name in sets:
            X, y, Q, truth = split(*all_sets()[name](), rows, seed)
            if len(np.unique(y)) < 2:
                continue
            entry = stored.setdefault(f"{rows} rows", {}).setdefault(name, {}).setdefault(str(seed), {})
            for method in methods:
                if method in entry:
                    continue
                with warnings.catch_warnings(), threadpool_limits(1):
                    warnings.simplefilter("ignore")  # classes with fewer points than folds
                    entry[method] = measure(METHODS[method], X, y, Q, truth)
                save()
                found = entry[method]
                print(f"{name} {seed} {method}: {found['accuracy']:.3f}, {found['seconds']:.1f} s", flush=True)


def averages(sets, key, methods):
    """Name of each set to the means over its splits, an array with one value for each method."""
    return {
        name: np.mean([[runs[m].get(key, np.nan) for m in methods] for runs in entry.values()], axis=0)
        for name, entry in sets.items()
    }


def percent(values, digits=1):
    return [f"{100 * value:.{digits}f}" for value in values]


def sections(title, sets):
    """A table for the methods that have run on as many splits as any, and one for all on the splits they share."""
    done = {m: sum(m in runs for entry in sets.values() for runs in entry.values()) for m in METHODS}
    everywhere = [m for m in METHODS if all(m in entry["0"] for entry in sets.values())]
    most = [m for m in everywhere if done[m] == done[OURS]]
    lines = section(title, sets, most)
    if most != everywhere:
        lines += section(title, sets, everywhere)
    missing = [m for m in METHODS if m not in everywhere]
    return [*lines, f"Not measured on all sets: {'; '.join(missing)}.", ""] if missing else lines


def section(title, sets, methods):
    """Tables of one number of rows: on the splits on which all of the methods have run."""
    sets = {
        name: {seed: runs for seed, runs in entry.items() if all(m in runs for m in methods)}
        for name, entry in sets.items()
    }
    accuracy, seconds = averages(sets, "accuracy", methods), averages(sets, "seconds", methods)
    rows = [{"set": name} | dict(zip(methods, percent(row), strict=True)) for name, row in accuracy.items()]
    every = np.array(list(accuracy.values()))
    rows.append({"set": f"mean of {len(sets)}"} | dict(zip(methods, percent(every.mean(axis=0), 2), strict=True)))
    n_splits = sorted({len(entry) for entry in sets.values()})
    lines = [
        f"## {len(methods)} methods, at most {title}, splits: {' to '.join(map(str, n_splits))}",
        "",
        table(rows),
        "",
    ]
    if OURS in methods and SVM in methods:
        lines += [comparison(list(sets), every, np.array(list(seconds.values())), methods), ""]
    further = []
    for key in ("log loss", "calibration error", "seconds"):
        values = np.mean(list(averages(sets, key, methods).values()), axis=0)
        # A method without probabilities has no losses.
        further.append({"mean": key} | {m: v for m, v in zip(methods, values.tolist(), strict=True) if np.isfinite(v)})
    return [*lines, table(further), ""]


def comparison(names, accuracy, seconds, methods):
    """The table in words."""
    ours, svm = methods.index(OURS), methods.index(SVM)
    gains = 100 * (accuracy[:, ours] - accuracy[:, svm])
    ratios = seconds[:, ours] / seconds[:, svm]
    others = np.delete(accuracy, ours, axis=1)
    level = accuracy[:, ours] >= others.max(axis=1)
    best = 100 * (accuracy.max(axis=1) - accuracy[:, svm]).mean()
    alone = [
        f"{method} on {(accuracy[:, ours] >= accuracy[:, k]).sum()}" for k, method in enumerate(methods) if k != ours
    ]
    return (
        f"{OURS} less {SVM}: {gains.mean():+.2f} points in the mean, {gains.min():+.1f} at worst "
        f"({names[int(gains.argmin())]}), {gains.max():+.1f} at best ({names[int(gains.argmax())]}). At least level "
        f"with the best of all others on {level.sum()} of {len(names)} sets; with each alone: {'; '.join(alone)}. "
        f"Time to fit over that of the {SVM}'s grid search: {np.median(ratios):.2f} in the median, "
        f"{ratios.max():.2f} at most ({names[int(ratios.argmax())]}).\n"
        f"\nWhat binds: the best of these {len(methods)} methods, picked for each set on its test parts, is "
        f"{best:.2f} points above the {SVM}. No choice among them gains more."
    )


def page(stored):
    """Markdown of everything stored."""
    lines = [
        "# Measured: AutoClassifier and what users have",
        "",
        "Written by `python -m bench.auto`. At most the stated number of random rows of each set, random splits of two",
        "thirds for training, all methods on the same splits. SVM: RBF kernel on standardized features, 25 pairs of C",
        f"and gamma, {FOLDS} folds; with encodings: those of AutoClassifier's members are searched too. The others",
        "have their defaults (the forest 500 trees), on standardized features. Accuracy in per cent; log loss with",
        "probabilities of at least 1e-3;",
        "expected calibration error over ten bins; seconds of CPU time to fit, tuning included, on one thread.",
        "",
    ]
    for title, sets in stored["results"].items():
        lines += sections(title, sets)
    if official_runs := stored.get("official"):
        rows = [
            {
                "set": name,
                "method": method,
                "accuracy": f"{100 * found['accuracy']:.2f}",
                "log loss": found.get("log loss", ""),
                "CPU seconds": found["seconds"],
            }
            for name, runs in official_runs.items()
            for method, found in runs.items()
        ]
        missing = [name for name in official() if OURS not in official_runs.get(name, {})]
        lines += ["## In full, with the usual split", "", table(rows), ""]
        lines += [f"{OURS} on {name}: not measured.\n" for name in missing]
    if budgets := stored.get("budgets"):
        rows = [
            {
                "time_budget": budget,
                "seconds to fit": found["seconds"],
                "points": found["points"],
                "accuracy": f"{100 * found['accuracy']:.2f}",
            }
            for budget, found in budgets.items()
        ]
        lines += ["## Time budgets on letter, 16000 / 4000", "", table(rows), ""]
    return "\n".join([*lines, f"{stored['machine']}."]) + "\n"


def main():
    parser = argparse.ArgumentParser(prog="python -m bench.auto", description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", help="all by default")
    absent = {name for name, (module, _) in PEERS.items() if importlib.util.find_spec(module) is None}
    parser.add_argument(
        "--methods",
        nargs="+",
        default=[method for method in METHODS if method not in absent],
        help="all that are installed by default; 'quick' stands for the cheap ones",
    )
    parser.add_argument("--rows", type=int, default=1700)
    parser.add_argument("--splits", type=int, default=4)
    parser.add_argument("--official", nargs="+", metavar="SET", help="these in full instead: letter satimage covertype")
    parser.add_argument("--budgets", action="store_true", help="time budgets on letter instead")
    parser.add_argument("--page", action="store_true", help="only write the page anew")
    parser.add_argument("--store", type=Path, default=STORE)
    arguments = parser.parse_args()
    methods = QUICK if arguments.methods == ["quick"] else arguments.methods
    if unknown := set(methods) - set(METHODS):
        parser.error(f"there is no method {', '.join(sorted(unknown))}, only {', '.join(METHODS)}")
    stored = json.loads(arguments.store.read_text("utf-8")) if arguments.store.exists() else {"results": {}}
    with threadpool_limits(1):  # as all of it runs
        stored["machine"] = machine()

    def save():
        arguments.store.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")

    if arguments.official:
        run_official(methods, arguments.official, stored, save)
    elif arguments.budgets:
        run_budgets(stored, save)
    elif not arguments.page:
        run(arguments.sets or list(all_sets()), methods, arguments.rows, arguments.splits, stored["results"], save)
    save()
    arguments.store.with_suffix(".md").write_text(page(stored), encoding="utf-8")


if __name__ == "__main__":
    main()
