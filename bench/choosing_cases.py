"""Cases that ``bench_choosing.py`` runs in a process of one checkout: accuracies, times and invariances of the
defaults.

They use only names that both checkouts have, and return numbers that JSON can hold."""

import importlib
import time

import numpy as np
import pandas as pd
from sklearn.datasets import load_wine
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import spectralcls
from bench.classifiers import OURS
from bench.data import load
from bench.frames import frame

PEERS = {
    "StandardScaler, SVC": lambda: make_pipeline(StandardScaler(), SVC()),
    "StandardScaler, k-NN": lambda: make_pipeline(StandardScaler(), KNeighborsClassifier()),
    "RandomForest": lambda: RandomForestClassifier(random_state=0),
    "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
}
SENTINEL, LEAST = -9999, 1e-6  # probabilities below count as this
TRAIN, TEST = 300, 1000  # at most this many rows


def made(name, **options):
    return PEERS[name]() if name in PEERS else OURS[f"{name}Classifier"](n_jobs=1, **options)


def judged(model, Q, truth):
    """Accuracy in percent, and mean log loss (None if there are no probabilities)."""
    found = {"accuracy": 100 * float(np.mean(model.predict(Q) == truth)), "log loss": None}
    if hasattr(model, "predict_proba"):
        own = model.predict_proba(Q)[truth[:, None] == model.classes_] if np.isin(truth, model.classes_).all() else None
        found["log loss"] = None if own is None else -float(np.log(np.maximum(own, LEAST)).mean())
    return found


def table(name):
    """All rows of a set and their classes."""
    data = load(name)
    if "markers" in data:
        known = data["markers"] != "unknown"
        return data["X"][known], np.unique(data["markers"][known], return_inverse=True)[1]
    return tuple(
        data[key] if key in data else np.concatenate([data[f"{key}_train"], data[f"{key}_test"]]) for key in "Xy"
    )


def split(X, y, seed, most=TRAIN):
    """Training rows, other rows, and their classes; each class has at least two training rows."""
    counts = dict(zip(*np.unique(y, return_counts=True), strict=True))
    kept = np.array([counts[label] >= 6 for label in y])
    X, y = X[kept], y[kept]
    train = min(most, 2 * len(y) // 3)
    return train_test_split(X, y, train_size=train, test_size=min(TEST, len(y) - train), stratify=y, random_state=seed)


def fitted(name, X, y, **options):
    """A model, and processor seconds of its fit."""
    begin = time.process_time()
    model = made(name, **options).fit(X, y)
    return model, time.process_time() - begin


def on_set(data, name, seed):
    X, Q, y, truth = split(*table(data), seed)
    model, seconds = fitted(name, X.astype(np.float64), y)
    return judged(model, Q.astype(np.float64), truth) | {"seconds": seconds}


def seconds_of_many(data, name, rows):
    X, _, y, _ = split(*table(data), 0, rows)
    return fitted(name, X.astype(np.float64), y)[1]


def on_frame(data, name, seed):
    X, y = frame(data)
    rows, others, y, truth = split(np.arange(len(X)), y, seed)
    model, seconds = fitted(name, X.iloc[rows], y)
    return judged(model, X.iloc[others], truth) | {"seconds": seconds}


def spoiled(X, kind, rng):
    """X with sentinels in one cell, in 1 % of the cells, or in all cells of 1 % of the rows."""
    X = X.astype(np.float64)
    if kind == "1 % of rows":
        X[rng.permutation(len(X))[: max(1, len(X) // 100)]] = SENTINEL
    elif kind != "none":
        X.flat[rng.permutation(X.size)[: 1 if kind == "one cell" else max(1, X.size // 100)]] = SENTINEL
    return X


def contaminated(data, name, kind, seed):
    """Accuracy on clean rows after training on spoiled ones."""
    X, Q, y, truth = split(*(load_wine(return_X_y=True) if data == "wine" else table(data)), seed)
    return judged(fitted(name, spoiled(X, kind, np.random.default_rng(seed)), y)[0], Q.astype(np.float64), truth)[
        "accuracy"
    ]


def two_classes(seed):
    """300 training and 3000 other rows of two normal classes."""
    rng = np.random.default_rng(seed)
    y = (rng.random(3300) < 0.5).astype(int)
    X = rng.normal(size=(3300, 2)) + 1.5 * y[:, None]
    return X[:300], X[300:], y[:300], y[300:]


def losses(name, seed, change):
    """Log losses of a classifier without and with `change`, a function from X and y to X, y and weights."""
    X, Q, y, truth = two_classes(seed)
    found = []
    for A, b, weights in ((X, y, None), change(X, y)):
        model = made(name)
        model = model.fit(A, b) if weights is None else model.fit(A, b, sample_weight=weights)
        found.append(judged(model, Q, truth)["log loss"])
    return found


def weights(name, seed):
    return losses(name, seed, lambda X, y: (X, y, np.full(len(y), 1.5)))


def every_row_twice(name, seed):
    return losses(name, seed, lambda X, y: (np.repeat(X, 2, axis=0), np.repeat(y, 2), None))


def a_fifth_repeated(name, seed):
    return losses(name, seed, lambda X, y: (np.concatenate([X, X[:60]]), np.concatenate([y, y[:60]]), None))


def priors(name, seed):
    """Log losses with the true priors of the queries, given after the fit and before it."""
    from spectralcls.inspection import with_priors

    shares = [0.8, 0.15, 0.05]

    def drawn(n, p, rng):
        y = rng.choice(3, size=n, p=p)
        return rng.normal(size=(n, 2)) + 2.0 * np.c_[y, y % 2], y

    (X, y), (Q, truth) = (
        drawn(600, [1 / 3] * 3, np.random.default_rng(seed)),
        drawn(5000, shares, np.random.default_rng(99 + seed)),
    )
    both = with_priors(made(name).fit(X, y), shares), made(name, priors=shares).fit(X, y)
    return [judged(model, Q, truth)["log loss"] for model in both]


def units(name, seed):
    """A figure with all columns in one unit, and with the first column in a unit a thousand times smaller."""
    rng, factor, found = np.random.default_rng(seed), np.ones(3), []
    X, Q = rng.normal(size=(200, 3)), rng.normal(size=(1000, 3))
    target = lambda X: np.sin(2 * X[:, 1]) + X[:, 2] + X[:, 0] ** 2  # noqa: E731
    y, truth = target(X) + 0.1 * rng.normal(size=200), target(Q)
    for factor[0] in (1, 1000):
        if name == "KernelRegressor":
            model = importlib.import_module("spectralcls.regression").KernelRegressor(n_jobs=1)
            found.append(model.fit(X * factor, y).score(Q * factor, truth))
        elif name == "ParzenDensity":
            found.append(
                float(spectralcls.ParzenDensity().fit(X * factor).score_samples(Q * factor).mean() + np.log(factor[0]))
            )
        else:
            model = spectralcls.ParzenOutlierDetector(novelty=True).fit(X * factor)
            found.append(float(model.p_values(np.array([[0.0, 0.0, 10.0]]) * factor)[0]))
    return found


def gaps(name, seed):
    """Log losses if a number is missing with probability 1/2 in both classes, and with .8 and .2 by class."""
    X, Q, y, truth = two_classes(seed)
    rng, found = np.random.default_rng([seed, 1]), []
    for shares in (np.array([0.5, 0.5]), np.array([0.8, 0.2])):
        A, B = (
            pd.DataFrame(np.c_[np.where(rng.random(len(t)) < shares[t], np.nan, Z[:, 0]), Z[:, 1]], columns=["a", "b"])
            for Z, t in ((X, y), (Q, truth))
        )
        found.append(judged(made(name).fit(A, y), B, truth)["log loss"])
    return found


def outliers(name, seed):
    """Share of 200 normal samples that are called outliers, alone and together with 800 zeros."""
    x = np.random.default_rng(seed).normal(size=(200, 1))
    both = x, np.concatenate([np.zeros((800, 1)), x])
    return [float(np.mean(getattr(spectralcls, name)().fit_predict(A)[-200:] < 0)) for A in both]


def wide(name, seed):
    """Accuracies for two classes with 20 and with 2200 features."""
    rng, found = np.random.default_rng(seed), []
    for d in (20, 2200):
        y = np.arange(400) % 2
        X = rng.normal(size=(400, d)) + y[:, None] * 4 / np.sqrt(d)
        found.append(judged(fitted(name, X[:100], y[:100])[0], X[100:], y[100:])["accuracy"])
    return found
