"""Fit and score classifiers on the same repeated stratified splits."""

import time
import warnings
from dataclasses import dataclass, field

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

from . import columns
from .registry import Setting

_MAX_FOLDS = 5


@dataclass
class Result:
    """What one classifier did, split by split."""

    name: str
    baseline: bool
    n_train: int
    n_test: int
    accuracy: list = field(default_factory=list)
    bandwidth: list = field(default_factory=list)
    fit_seconds: list = field(default_factory=list)
    predict_seconds: list = field(default_factory=list)
    notes: list = field(default_factory=list)  # warnings, each once
    error: str | None = None  # the first exception; the classifier is left out from then on

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
            record["bandwidth"] = _median_bandwidth(self.bandwidth)
            record["fit_seconds"] = float(np.median(self.fit_seconds))
            record["predict_seconds"] = float(np.median(self.predict_seconds))
        return record


def _median_bandwidth(bandwidths):
    """Median over the splits, class by class where there is one per class."""
    if any(value is None for value in bandwidths):
        return None
    return np.median(np.asarray(bandwidths, dtype=np.float64), axis=0).tolist()


def evaluate(X, y, entries, *, repeats, test_size, seed, scale, n_jobs, step):
    """Results of all entries, on the same splits.

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
        Told what begins, once per classifier and split.

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
    results = [Result(entry.name, entry.baseline, n_train, n_test) for entry in entries]
    for number, (train, test) in enumerate(splits, start=1):
        X_train, X_test = X[train], X[test]
        plain = X.dtype != object and not np.isnan(X).any()
        if scale and plain:
            scaler = StandardScaler().fit(X_train)
            X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
        n_folds = int(np.clip(np.unique(y[train], return_counts=True)[1].min(), 2, _MAX_FOLDS))
        setting = Setting(n_train, n_folds, float(X_train.var()) if plain else 1.0, X.shape[1], seed, n_jobs)
        for entry, result in zip(entries, results, strict=True):
            step(f"{entry.name}, split {number} of {repeats}")
            if result.error is None:
                _fit_and_score(
                    entry, result, setting, X_train, y[train], X_test, y[test], scale and not plain
                )
    return results


def _fit_and_score(entry, result, setting, X_train, y_train, X_test, y_test, scale):
    """`scale` says whether features have yet to be scaled."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # Folds for tuning are as many as the smallest class can fill, but at least two.
        warnings.filterwarnings("ignore", message="The least populated class")
        try:
            estimator = entry.make(setting)
            whole = columns.prepared(estimator, X_train, scale)
            start = time.perf_counter()
            whole.fit(X_train, y_train)
            fitted = time.perf_counter()
            predicted = whole.predict(X_test)
            end = time.perf_counter()
        except (
            Exception
        ) as error:  # one classifier that cannot handle the data must not lose the others' results
            result.error = f"{type(error).__name__}: {error}"
            return
    result.notes += [
        note for note in dict.fromkeys(str(w.message) for w in caught) if note not in result.notes
    ]
    result.accuracy.append(float(np.mean(predicted == y_test)))
    result.bandwidth.append(entry.bandwidth_of(estimator))
    result.fit_seconds.append(fitted - start)
    result.predict_seconds.append(end - fitted)
