"""Fit and score classifiers or regressors on the same repeated splits."""

import time
import warnings
from contextlib import closing
from dataclasses import dataclass, field

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
from sklearn.utils.validation import has_fit_parameter
from threadpoolctl import threadpool_limits

from .._core.threads import cpu_count
from .._estimator import mapped, within
from .._utils.copies import hashes
from .arguments import COVERAGE
from .parallel import imap_unordered
from .registry import Setting, prepared
from .significance import OF_TASK

SMALL = 5000  # up to this many samples, classifiers run in parallel, each on one thread
_MAX_FOLDS = 5
SHARES = (np.arange(20) + 0.5) / 20  # probabilities of the quantiles whose losses approximate the CRPS


@dataclass
class Result:
    """Results of one estimator on all splits."""

    name: str
    n_train: int
    n_test: int
    outcomes: dict  # number of the split -> metrics, "bandwidth" and seconds of "fit" and "predict"
    notes: dict = field(default_factory=dict)  # distinct warnings, as keys
    error: str | None = None  # the first exception; the estimator is then excluded

    def scores(self, metric):
        """Scores of all splits in their order, (n_splits,)."""
        return np.array([self.outcomes[number].get(metric, np.nan) for number in sorted(self.outcomes)])

    def mean(self, metric):
        """Mean over the splits; NaN if the classifier failed."""
        return float(np.mean(self.scores(metric))) if self.error is None else np.nan

    def deviation(self, metric):
        """Standard deviation over the splits, NaN for a single split."""
        return float(np.std(self.scores(metric), ddof=1)) if len(self.outcomes) > 1 else np.nan

    def seconds(self, what):
        """Median seconds of ``"fit"`` or ``"predict"``."""
        return float(np.median(self.scores(what)))

    def record(self, metrics):
        """Means, deviations and medians as a dict for JSON, None for missing values."""
        record, good = {"regressor" if "rmse" in metrics else "classifier": self.name}, self.error is None
        for metric in metrics:
            record[f"{metric}_mean"] = _known(self.mean(metric))
            record[f"{metric}_std"] = _known(self.deviation(metric)) if good else None
        bandwidths = [outcome.get("bandwidth") for outcome in self.outcomes.values()]
        is_there = good and all(value is not None for value in bandwidths)
        record["bandwidth"] = np.median(np.asarray(bandwidths, float), axis=0).tolist() if is_there else None
        record |= {f"{what}_seconds": self.seconds(what) if good else None for what in ("fit", "predict")}
        return record | {"n_train": self.n_train, "n_test": self.n_test, "error": self.error}


def _known(value):
    return None if np.isnan(value) else value


def evaluate(data, entries, arguments, step):
    """Results of all entries on the same splits.

    Up to `SMALL` samples, and without `n_jobs`, the classifiers run in parallel, one per processor with one thread
    each; otherwise they run one after the other. The results are the same. `step` is called with a description, once
    per classifier and split. `splits_of` says what is refused.
    """
    splits, n_jobs = splits_of(data, arguments.repeats, arguments.test_size, arguments.seed), arguments.n_jobs
    n_train, n_test = map(len, splits[0])
    results = [Result(entry.name, n_train, n_test, {}) for entry in entries]
    alone = n_jobs is not None or len(data.y) > SMALL
    workers = 1 if alone else cpu_count()
    options = {"seed": arguments.seed, "n_jobs": n_jobs if alone else 1}

    def tasks():
        for number, split in enumerate(splits):
            for position, (entry, result) in enumerate(zip(entries, results, strict=True)):
                if result.error is None:
                    yield (position, number), (entry, data, split, arguments.metric, arguments.scale, options)

    def told(name):
        position, number = name
        left = _seconds_left(results, arguments.repeats, workers)
        step(f"{entries[position].name}, split {number + 1} of {arguments.repeats}", left=left)

    with threadpool_limits(None if alone else 1):
        with closing(imap_unordered(_fit_and_score, tasks(), workers, told)) as outcomes:
            for (position, number), (outcome, notes, error) in outcomes:
                result = results[position]
                result.outcomes[number], result.error = outcome, result.error or error
                result.notes |= dict.fromkeys(notes)
    return results


def copies_between(data, train, test):
    """Number of the test rows that equal a training row in all features."""
    keys = hashes(data.X)
    return int(np.isin(keys[test], keys[train]).sum())


def _seconds_left(results, repeats, workers):
    """Time for the remaining splits at each estimator's own pace, None until all have shown it.

    The first split of several is not counted: it imports libraries.
    """
    total = 0.0
    for result in results:
        if result.error is not None:
            continue
        paces = [result.outcomes[n]["fit"] + result.outcomes[n]["predict"] for n in sorted(result.outcomes)]
        if len(paces) < min(2, repeats - 1):
            return None
        total += np.mean(paces[1:] or paces or 0.0) * (repeats - len(paces))
    return total / workers


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
    groups = None if data.groups is None else data.groups[rows]
    if groups is not None:
        smallest = min(smallest, len(np.unique(groups)))
    n_folds = int(np.clip(smallest, 2, _MAX_FOLDS))
    variance = 1.0 if scale else float(np.nanvar(data.X[rows], dtype=np.float64))
    setting = Setting(len(rows), n_folds, variance, data.X.shape[1], seed, n_jobs, groups is not None)
    classifier, options = entry.make(setting), {}
    classifier.set_params(**dict(parameters))
    whole = prepared(classifier, data.X, data.categorical, scale)
    search = getattr(classifier, "regressor", classifier)
    if groups is not None and (hasattr(search, "param_grid") or has_fit_parameter(classifier, "groups")):
        options["groups" if whole is classifier else f"{whole.steps[-1][0]}__groups"] = groups
    return classifier, whole.fit(data.X[rows], y, **options)


def _fit_and_score(entry, data, split, metrics, scale, options):
    """Scores and seconds of an entry on a split, its warnings, and its error or None."""
    train, test = split
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # There are at least two folds for tuning, even if the smallest class has one sample.
        warnings.filterwarnings("ignore", message="The least populated class")
        try:
            start = time.perf_counter()
            estimator, whole = fitted(entry, data, train, scale, **options)
            middle = time.perf_counter()
            predicted = whole.predict(data.X[test])
            seconds = {"fit": middle - start, "predict": time.perf_counter() - middle}
            outcome = scores_of(whole, data.X[test], data.y[test], predicted, (OF_TASK[data.task][0], *metrics))
            outcome |= seconds | {"bandwidth": entry.bandwidth_of(estimator)}
        except Exception as error:  # one failure must not discard the other classifiers' results
            return {}, (), f"{type(error).__name__}: {error}"
    return outcome, tuple(str(warning.message) for warning in caught), None


def scores_of(model, X, y, predicted, metrics):
    """{metric: value} of a fitted estimator, NaN if it lacks the probabilities, scores or intervals for a metric."""
    return {metric: float(_SCORES[metric](model, X, y, predicted)) for metric in metrics}


def _log_loss(model, X, y, predicted):
    return log_loss(y, model.predict_proba(X), labels=model.classes_) if hasattr(model, "predict_proba") else np.nan


def _area(model, X, y, predicted):
    """Area under the ROC curve of each class against the others, on average."""
    answer = getattr(model, "predict_proba", getattr(model, "decision_function", None))
    if answer is None:
        return np.nan
    p = answer(X)
    p = np.column_stack([-p, p]) if p.ndim == 1 else p
    return np.mean([roc_auc_score(y == c, p[:, k]) for k, c in enumerate(model.classes_)])


def _covered(model, X, y, predicted):
    inner, steps = within(model)
    if not hasattr(inner, "predict_interval"):
        return np.nan
    low, high = inner.predict_interval(mapped(steps, X), coverage=COVERAGE).T
    return np.mean((low <= y) & (y <= high))


def _crps(model, X, y, predicted):
    """Continuous ranked probability score: twice the mean pinball loss of quantiles; of numbers, the absolute error."""
    inner, steps = within(model)
    quantiles = predicted[:, None]
    if hasattr(inner, "predict_quantile"):
        quantiles = inner.predict_quantile(mapped(steps, X), SHARES)
    excess = y[:, None] - quantiles
    found = 2 * np.mean(np.maximum(SHARES * excess, (SHARES - 1) * excess))
    return found if np.isfinite(found) else np.nan  # too few samples


_SCORES = {
    "accuracy": lambda model, X, y, predicted: np.mean(predicted == y),
    "balanced_accuracy": lambda model, X, y, predicted: balanced_accuracy_score(y, predicted),
    "log_loss": _log_loss,
    "roc_auc": _area,
    "rmse": lambda model, X, y, predicted: root_mean_squared_error(y, predicted),
    "mae": lambda model, X, y, predicted: mean_absolute_error(y, predicted),
    "r2": lambda model, X, y, predicted: r2_score(y, predicted) if len(y) > 1 else np.nan,
    "crps": _crps,
    "coverage": _covered,
}
