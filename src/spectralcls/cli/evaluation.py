"""Fit and score classifiers or regressors on the same repeated splits."""

import time
import warnings
from contextlib import closing
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sklearn.metrics import (
    balanced_accuracy_score,
    log_loss,
    mean_absolute_error,
    r2_score,
    roc_auc_score,
    root_mean_squared_error,
)
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit
from threadpoolctl import threadpool_limits

from .._core.threads import cpu_count
from .._estimator import mapped, within
from .parallel import imap_unordered
from .registry import Setting, prepared
from .significance import OF_TASK

SMALL = 5000  # up to this many samples, classifiers run in parallel, each on one thread
_MAX_FOLDS = 5
COVERAGE = 0.9  # coverage of the intervals of a regression


class Outcome(NamedTuple):
    """Result of one classifier on one split."""

    scores: dict = {}  # metric: value, NaN if the classifier lacks this score
    bandwidth: object = None
    fit_seconds: float = np.nan
    predict_seconds: float = np.nan
    predicted: np.ndarray | None = None  # predictions for the test samples
    notes: tuple = ()  # warnings
    error: str | None = None  # the exception, if it failed


@dataclass
class Result:
    """Results of one classifier on all splits."""

    name: str
    baseline: bool
    n_train: int
    n_test: int
    outcomes: dict  # number of the split -> Outcome

    @property
    def error(self):
        """The first exception, or None; a classifier with an error is excluded."""
        return next((outcome.error for outcome in self.ordered if outcome.error), None)

    @property
    def notes(self):
        """Distinct warnings."""
        return list(dict.fromkeys(note for outcome in self.ordered for note in outcome.notes))

    @property
    def ordered(self):
        """Outcomes in the order of the splits."""
        return [self.outcomes[number] for number in sorted(self.outcomes)]

    def scores(self, metric):
        """Scores of all splits, (n_splits,)."""
        return np.array([outcome.scores.get(metric, np.nan) for outcome in self.ordered])

    def mean(self, metric):
        """Mean over the splits; NaN if the classifier failed."""
        return float(np.mean(self.scores(metric))) if self.error is None else np.nan

    def deviation(self, metric):
        """Standard deviation over the splits, NaN for a single split."""
        return float(np.std(self.scores(metric), ddof=1)) if len(self.outcomes) > 1 else np.nan

    def seconds(self, what):
        """Median seconds of ``"fit"`` or ``"predict"``."""
        return float(np.median([getattr(outcome, f"{what}_seconds") for outcome in self.ordered]))

    def record(self, metrics):
        """Means, deviations and medians as a dict for JSON, None for missing values."""
        record = {"regressor" if "rmse" in metrics else "classifier": self.name}
        for metric in metrics:
            record |= {f"{metric}_mean": _known(self.mean(metric)), f"{metric}_std": None}
            if self.error is None:
                record[f"{metric}_std"] = _known(self.deviation(metric))
        bandwidths = [outcome.bandwidth for outcome in self.ordered]
        is_there = self.error is None and all(value is not None for value in bandwidths)
        record["bandwidth"] = np.median(np.asarray(bandwidths, float), axis=0).tolist() if is_there else None
        for what in ("fit", "predict"):
            record[f"{what}_seconds"] = self.seconds(what) if self.error is None else None
        return record | {"n_train": self.n_train, "n_test": self.n_test, "error": self.error}


def _known(value):
    return None if np.isnan(value) else value


def evaluate(data, entries, arguments, step):
    """Evaluate all entries on the same splits.

    Up to `SMALL` samples, and without `n_jobs`, the classifiers run in parallel, one per processor with one thread
    each; otherwise they run one after the other. The results are the same.

    Parameters
    ----------
    data : Data
    entries : sequence of Entry
    arguments : Namespace
        Arguments of ``compare``.
    step : callable
        Called with a description, once per classifier and split.

    Returns
    -------
    results : list of Result

    Raises
    ------
    ValueError
        If the classes or groups cannot be split; see `splits_of`.
    """
    splits, n_jobs = splits_of(data, arguments.repeats, arguments.test_size, arguments.seed), arguments.n_jobs
    n_train, n_test = map(len, splits[0])
    results = [Result(entry.name, entry.baseline, n_train, n_test, {}) for entry in entries]
    alone = n_jobs is not None or len(data.y) > SMALL
    options = {"seed": arguments.seed, "n_jobs": n_jobs if alone else 1}

    def tasks():
        for number, split in enumerate(splits):
            for position, (entry, result) in enumerate(zip(entries, results, strict=True)):
                if result.error is None:
                    yield (position, number), (entry, data, split, arguments.metric, arguments.scale, options)

    def told(name):
        position, number = name
        step(f"{entries[position].name}, split {number + 1} of {arguments.repeats}")

    with threadpool_limits(None if alone else 1):
        with closing(imap_unordered(_fit_and_score, tasks(), 1 if alone else cpu_count(), told)) as outcomes:
            for (position, number), outcome in outcomes:
                results[position].outcomes[number] = outcome
    return results


def splits_of(data, repeats, test_size, seed):
    """Pairs of training and test rows. The splits keep groups of rows whole, if there are groups; otherwise classes are
    stratified, and numbers are split at random.

    Raises
    ------
    ValueError
        If a class has a single sample, or lies in so few groups that a training part lacks it.
    """
    if data.groups is not None:
        splitter = GroupShuffleSplit(repeats, test_size=test_size, random_state=seed)
        splits = list(splitter.split(data.X, data.y, data.groups))
        if data.classes is not None and any(len(np.unique(data.y[train])) < len(data.classes) for train, _ in splits):
            raise ValueError("a class is in so few groups that a training part lacks it: use a smaller --test-size")
        return splits
    if data.classes is None:
        return list(ShuffleSplit(repeats, test_size=test_size, random_state=seed).split(data.X))
    counts = np.bincount(data.y)
    if counts.min() < 2:
        lone = str(data.classes[np.argmin(counts)])
        raise ValueError(f"class {lone!r} has one sample; a stratified split needs two of every class")
    splitter = StratifiedShuffleSplit(repeats, test_size=test_size, random_state=seed)
    return list(splitter.split(data.X, data.y))


def fitted(entry, data, rows, scale, *, seed, n_jobs, parameters=()):
    """Fit the classifier of an entry to some rows; returns it and its pipeline with preprocessing."""
    y = data.y[rows]
    smallest = len(y) if data.classes is None else np.unique(y, return_counts=True)[1].min()
    n_folds = int(np.clip(smallest, 2, _MAX_FOLDS))
    variance = 1.0 if scale else float(np.nanvar(data.X[rows], dtype=np.float64))
    classifier = entry.make(Setting(len(rows), n_folds, variance, data.X.shape[1], seed, n_jobs))
    classifier.set_params(**dict(parameters))
    whole = prepared(classifier, data.X, data.categorical, scale)
    return classifier, whole.fit(data.X[rows], y)


def _fit_and_score(entry, data, split, metrics, scale, options):
    """Outcome of an entry on a split; `options` do not depend on the data."""
    train, test = split
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # There are at least two folds for tuning, even if the smallest class has one sample.
        warnings.filterwarnings("ignore", message="The least populated class")
        try:
            start = time.perf_counter()
            classifier, whole = fitted(entry, data, train, scale, **options)
            end = time.perf_counter()
            predicted = whole.predict(data.X[test])
            predict_seconds = time.perf_counter() - end
            scores = scores_of(whole, data.X[test], data.y[test], predicted, metrics)
        except Exception as error:  # one failure must not discard the other classifiers' results
            return Outcome(error=f"{type(error).__name__}: {error}")
    notes = tuple(str(warning.message) for warning in caught)
    return Outcome(scores, entry.bandwidth_of(classifier), end - start, predict_seconds, predicted, notes)


def scores_of(model, X, y, predicted, metrics):
    """{metric: value} of a fitted estimator, NaN if it lacks the probabilities, scores or intervals for a metric."""
    if set(metrics) & set(OF_TASK["regression"]):
        return _scores_of_numbers(model, X, y, predicted, metrics)
    scores = {"accuracy": float(np.mean(predicted == y))}
    if "balanced_accuracy" in metrics:
        scores["balanced_accuracy"] = float(balanced_accuracy_score(y, predicted))
    if {"log_loss", "roc_auc"} & set(metrics):
        p = model.predict_proba(X) if hasattr(model, "predict_proba") else None
        scores["log_loss"] = np.nan if p is None else float(log_loss(y, p, labels=model.classes_))
        if p is None and "roc_auc" in metrics and hasattr(model, "decision_function"):
            p = model.decision_function(X)
            p = np.column_stack([-p, p]) if p.ndim == 1 else p
        areas = [] if p is None else [roc_auc_score(y == c, p[:, k]) for k, c in enumerate(model.classes_)]
        scores["roc_auc"] = float(np.mean(areas)) if areas else np.nan
    return scores


def _scores_of_numbers(model, X, y, predicted, metrics):
    scores = {"rmse": float(root_mean_squared_error(y, predicted)), "mae": float(mean_absolute_error(y, predicted))}
    scores |= {"r2": float(r2_score(y, predicted)) if len(y) > 1 else np.nan, "coverage": np.nan}
    inner, steps = within(model) if "coverage" in metrics else (None, [])
    if hasattr(inner, "predict_interval"):
        low, high = inner.predict_interval(mapped(steps, X), coverage=COVERAGE).T
        scores["coverage"] = float(np.mean((low <= y) & (y <= high)))
    return scores
