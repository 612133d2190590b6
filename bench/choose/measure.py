"""What `spectralcls compare` would run, on the papers' data sets: accuracy, time, memory; and what a class can do."""

import time
import warnings

import numpy as np
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

import spectralcls.dask
from bench.measure import gib_beyond
from bench.reproduce.data import MissingData
from bench.reproduce.today import TITLES, parts
from spectralcls.cli.registry import ENTRIES, Setting
from spectralcls.datasets import make_twonorm

PEER = "RBF-SVM"  # tuned by grid search
POINTS = 4000  # of the run that measures memory


def entries():
    """The command line's classifiers under the names of their classes, and the peer."""
    public = set(spectralcls.__all__)
    return [entry for entry in ENTRIES if entry.name in public or entry.name == PEER]


def setting(X, y):
    folds = int(np.clip(np.unique(y, return_counts=True)[1].min(), 2, 5))
    return Setting(len(y), folds, float(X.var()), X.shape[1], 0, 1)


def fitted(entry, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small classes, and maps that a tried bandwidth leaves undetermined
        return entry.make(setting(X, y)).fit(X, y)


def accuracy(source, trials, step):
    """{data set: {classifier: {"rate": per cent, "seconds": of tuning and training}}}, one thread."""
    found = {}
    for name in TITLES:
        try:
            X, y, splits = parts(source, name, trials)
        except MissingData:
            continue
        step(name)
        runs = {entry.name: [] for entry in entries()}
        for train, test in splits:
            scaler = StandardScaler().fit(X[train])
            X_train, X_test = scaler.transform(X[train]), scaler.transform(X[test])
            for entry in entries():
                start = time.process_time()
                model = fitted(entry, X_train, y[train])
                seconds = time.process_time() - start
                runs[entry.name].append((100 * np.mean(model.predict(X_test) == y[test]), seconds))
        found[name] = {
            key: {"rate": float(rate), "seconds": float(seconds)}
            for key, (rate, seconds) in ((key, np.mean(run, axis=0)) for key, run in runs.items())
        }
    return found


def memory():
    """{classifier: MiB that fitting and predicting `POINTS` points of 20 features takes beyond them}."""
    X, y = make_twonorm(2 * POINTS, random_state=0)

    def run(entry):
        return fitted(entry, X[:POINTS], y[:POINTS]).predict(X[POINTS:])

    fitted(entries()[0], X[:100], y[:100])  # threads and libraries are there before the first is measured
    return {entry.name: 1024 * max(gib_beyond(lambda entry=entry: run(entry))[1], 0.0) for entry in entries()}


def abilities(name):
    """What the class can do, asked of the class itself."""
    estimator = getattr(spectralcls, name)()
    tags = get_tags(estimator).input_tags
    return {
        "probabilities": hasattr(estimator, "predict_proba"),
        "sample weights": has_fit_parameter(estimator, "sample_weight"),
        "partial_fit": hasattr(estimator, "partial_fit"),
        "missing values": bool(tags.allow_nan),
        "sparse": bool(tags.sparse),
        "Dask, out of core": name in spectralcls.dask.__all__,
    }
