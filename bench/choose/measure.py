"""Every public classifier with its defaults on the papers' data sets: accuracy, time, memory; and what it can do."""

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
from spectralcls.cli.registry import Setting, select
from spectralcls.datasets import make_twonorm

PEER = "RBF-SVM"  # tuned by grid search
POINTS = 2000  # of the run that measures memory


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


def accuracy(source, trials, step):
    """{data set: {classifier: {"rate": per cent, "seconds": of tuning and training}}}, one thread."""
    found = {}
    for name in TITLES:
        try:
            X, y, splits = parts(source, name, trials)
        except MissingData:
            continue
        step(name)
        runs = {key: [] for key in classifiers()}
        for train, test in splits:
            scaler = StandardScaler().fit(X[train])
            X_train, X_test = scaler.transform(X[train]), scaler.transform(X[test])
            for key, make in classifiers().items():
                start = time.process_time()
                model = fitted(make, X_train, y[train])
                seconds = time.process_time() - start
                runs[key].append((100 * np.mean(model.predict(X_test) == y[test]), seconds))
        found[name] = {
            key: {"rate": float(rate), "seconds": float(seconds)}
            for key, (rate, seconds) in ((key, np.mean(run, axis=0)) for key, run in runs.items())
        }
    return found


def memory():
    """{classifier: MiB that fitting and predicting `POINTS` points of 20 features takes beyond them}."""
    X, y = make_twonorm(2 * POINTS, random_state=0)

    def run(make):
        return fitted(make, X[:POINTS], y[:POINTS]).predict(X[POINTS:])

    for make in classifiers().values():
        fitted(make, X[:60], y[:60])  # threads and libraries are there before the first is measured
    return {key: 1024 * max(gib_beyond(lambda make=make: run(make))[1], 0.0) for key, make in classifiers().items()}


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
