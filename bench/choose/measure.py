"""Every public classifier with its defaults on the papers' data sets: accuracy, time and memory."""

import subprocess
import sys
import time
import warnings

import numpy as np
from sklearn.preprocessing import StandardScaler

import spectralcls
from bench.measure import gib_beyond
from bench.reproduce.data import MissingData
from bench.reproduce.today import TITLES, parts
from spectralcls.cli.registry import Setting, select
from spectralcls.datasets import make_twonorm

PEER = "RBF-SVM"  # tuned by grid search
POINTS = 1000  # of the run that measures memory


def classifiers():
    """{name: function of the training data that gives an unfitted classifier}: every public one, and the peer."""
    names = [name for name in spectralcls.__all__ if name.endswith("Classifier")]
    made = {name: lambda X, y, name=name: getattr(spectralcls, name)(n_jobs=1) for name in names}
    (peer,) = select([PEER])
    return made | {PEER: lambda X, y: peer.make(setting(X, y))}


def setting(X, y):
    folds = int(np.clip(np.unique(y, return_counts=True)[1].min(), 2, 5))
    return Setting(len(y), folds, float(X.var()), X.shape[1], 0, 1)


def fitted(make, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small classes, and maps that a tried bandwidth leaves undetermined
        return make(X, y).fit(X, y)


def accuracy(source, trials, names, step):
    """{data set: {classifier: {"rate": per cent, "seconds": of tuning and training}}}, one thread."""
    found, chosen = {}, {name: make for name, make in classifiers().items() if name in names}
    for name in TITLES:
        try:
            X, y, splits = parts(source, name, trials)
        except MissingData:
            continue
        step(name)
        runs = {key: [] for key in chosen}
        for train, test in splits:
            scaler = StandardScaler().fit(X[train])
            X_train, X_test = scaler.transform(X[train]), scaler.transform(X[test])
            for key, make in chosen.items():
                start = time.process_time()
                model = fitted(make, X_train, y[train])
                seconds = time.process_time() - start
                runs[key].append((100 * np.mean(model.predict(X_test) == y[test]), seconds))
        found[name] = {
            key: {"rate": float(rate), "seconds": float(seconds)}
            for key, (rate, seconds) in ((key, np.mean(run, axis=0)) for key, run in runs.items())
        }
    return found


def memory(name):
    """MiB that fitting `POINTS` points of 20 features and predicting as many takes beyond them, in a new process."""
    code = f"from bench.choose.measure import beyond; print(beyond({name!r}))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(run.stdout)


def beyond(name):
    X, y = make_twonorm(2 * POINTS, random_state=0)
    make = classifiers()[name]
    fitted(make, X[:60], y[:60]).predict(X[:60])  # threads and libraries are there before anything is measured
    return 1024 * gib_beyond(lambda: fitted(make, X[:POINTS], y[:POINTS]).predict(X[POINTS:]))[1]
