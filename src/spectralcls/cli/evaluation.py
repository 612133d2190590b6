"""Fit and score classifiers on the same repeated stratified splits."""

import time
import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from .._core.threads import cpu_count
from . import columns
from .beside import as_they_come
from .registry import Setting

SMALL = 5000  # samples up to which classifiers have one thread and run side by side
_MAX_FOLDS = 5


class Outcome(NamedTuple):
    """What one classifier did on one split."""

    accuracy: float = np.nan
    bandwidth: object = None
    fit_seconds: float = np.nan
    predict_seconds: float = np.nan
    notes: tuple = ()  # warnings
    error: str | None = None  # the exception, if it failed


@dataclass
class Result:
    """What one classifier did, split by split."""

    name: str
    baseline: bool
    n_train: int
    n_test: int
    outcomes: dict  # number of the split -> Outcome

    @property
    def error(self):
        """The first exception; the classifier is left out if there is one."""
        return next((outcome.error for outcome in self._ordered if outcome.error), None)

    @property
    def notes(self):
        """Warnings, each once."""
        return list(dict.fromkeys(note for outcome in self._ordered for note in outcome.notes))

    @property
    def accuracy(self):
        """Of each split."""
        return [outcome.accuracy for outcome in self._ordered]

    @property
    def _ordered(self):
        return [self.outcomes[number] for number in sorted(self.outcomes)]

    def record(self):
        """Mean and standard deviation of the accuracy, medians of the rest; null where it failed, and the deviation of
        a single split."""
        record = {
            "classifier": self.name,
            "accuracy_mean": None,
            "accuracy_std": None,
            "bandwidth": None,
            "fit_seconds": None,
            "predict_seconds": None,
            "n_train": self.n_train,
            "n_test": self.n_test,
        }
        if self.error is None:
            record["accuracy_mean"] = float(np.mean(self.accuracy))
            record["accuracy_std"] = float(np.std(self.accuracy, ddof=1)) if len(self.accuracy) > 1 else None
            record["bandwidth"] = _median_bandwidth([outcome.bandwidth for outcome in self._ordered])
            record["fit_seconds"] = float(np.median([outcome.fit_seconds for outcome in self._ordered]))
            record["predict_seconds"] = float(np.median([outcome.predict_seconds for outcome in self._ordered]))
        return record


def _median_bandwidth(bandwidths):
    """Median over the splits, class by class where there is one per class."""
    if any(value is None for value in bandwidths):
        return None
    return np.median(np.asarray(bandwidths, dtype=np.float64), axis=0).tolist()


def evaluate(X, y, entries, *, repeats, test_size, seed, scale, n_jobs, step):
    """Results of all entries, on the same splits.

    Up to `SMALL` samples, and without `n_jobs`, as many classifiers run side by side as there are processors, each
    on one thread; else one after the other. What they learn and predict is the same.

    Parameters
    ----------
    X, y : ndarray
        Features and labels.
    entries : sequence of Entry
    repeats : int
        Number of random stratified splits.
    test_size : float or int
        Share or number of test samples.
    seed : int
        Seed of the splits and of every estimator that draws.
    scale : bool
        Bring each feature of numbers to mean 0 and variance 1 on the training part.
    n_jobs : int or None
        Passed to every estimator.
    step : callable
        Told what is done, once per classifier and split.

    Returns
    -------
    results : list of Result

    Raises
    ------
    ValueError
        If the classes are too small to be split.
    """
    splits = list(StratifiedShuffleSplit(repeats, test_size=test_size, random_state=seed).split(X, y))
    n_train, n_test = map(len, splits[0])
    results = [Result(entry.name, entry.baseline, n_train, n_test, {}) for entry in entries]
    alone = n_jobs is not None or len(y) > SMALL
    options = {"seed": seed, "n_jobs": n_jobs if alone else 1}

    def tasks():
        for number, (train, test) in enumerate(splits):
            for position, (entry, result) in enumerate(zip(entries, results, strict=True)):
                if result.error is None:
                    yield (position, number), (entry, X, y, train, test, scale, options)

    def told(name):
        position, number = name
        step(f"{entries[position].name}, split {number + 1} of {repeats}")

    with threadpool_limits(None if alone else 1):
        for (position, number), outcome in as_they_come(_fit_and_score, tasks(), 1 if alone else cpu_count(), told):
            results[position].outcomes[number] = outcome
    return results


def _fit_and_score(entry, X, y, train, test, scale, options):
    """Outcome of an entry on a split; `options` of its setting do not depend on the data."""
    X_train, X_test = X[train], X[test]
    plain = X.dtype != object and not np.isnan(X).any()
    if scale and plain:
        scaler = StandardScaler().fit(X_train)
        X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
    n_folds = int(np.clip(np.unique(y[train], return_counts=True)[1].min(), 2, _MAX_FOLDS))
    setting = Setting(len(train), n_folds, float(X_train.var()) if plain else 1.0, X.shape[1], **options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # Folds for tuning are as many as the smallest class can fill, but at least two.
        warnings.filterwarnings("ignore", message="The least populated class")
        try:
            estimator = entry.make(setting)
            whole = columns.prepared(estimator, X_train, scale and not plain)
            start = time.perf_counter()
            whole.fit(X_train, y[train])
            fitted = time.perf_counter()
            predicted = whole.predict(X_test)
            end = time.perf_counter()
        except Exception as error:  # one classifier that cannot handle the data must not lose the others' results
            return Outcome(error=f"{type(error).__name__}: {error}")
    accuracy = float(np.mean(predicted == y[test]))
    notes = tuple(str(warning.message) for warning in caught)
    return Outcome(accuracy, entry.bandwidth_of(estimator), fitted - start, end - fitted, notes)
