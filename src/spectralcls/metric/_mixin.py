"""Estimators that map points by a learned metric before anything else sees them."""

import warnings
from collections.abc import Sequence
from numbers import Integral

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from .._tuning import check_folds, draw_sample, search
from .._utils.validation import unit_scale
from ._kernel_metric import KernelMetric

KINDS = ("whiten", "diagonal", "full")
_FOLDS = 5  # in place of leaving out one point at a time: each split learns a metric


class MetricMixin:
    """Gives an estimator the parameter `metric` and its attribute `metric_`.

    `_prepared` learns the map from checked training data, and maps them; `_mapped` maps queries. What is here of
    classes, a regression has of numbers: `_answers`, `_learned_kind`, `_compared_sample`, `_judged`.
    """

    metric_ = None

    def _prepared(self, data, y):
        metrics = self._candidate_metrics()
        if metrics == [None]:
            self.metric_ = None
            return data
        sample = self._gathered(data)
        metric = metrics[0]
        if len(metrics) > 1:
            found = self._compared(metrics, sample, y if sample is data else self._answers(sample))
            metric, self.metric_cv_results_ = found.params["metric"], found.cv_results
        self.metric_ = None if metric is None else self._learned(metric, sample)
        return data._replace(X=self._mapped(data.X))

    def _mapped(self, X):
        return X if self.metric_ is None else apply(self.metric_, X)

    def _gathered(self, data):
        """The training data in this process, or a sample of them."""
        return data

    def _trial(self, metric):
        """An unfitted estimator for a part of the data in this process, with one metric."""
        splits_of_all = not (self.cv is None or isinstance(self.cv, Integral | str) or hasattr(self.cv, "split"))
        trial = clone(self).set_params(metric=metric, **({"cv": _FOLDS} if splits_of_all else {}))
        trial.scale = trial.categorical_features = None  # the points are coordinates already
        return trial

    def _candidate_metrics(self):
        metrics = list(self.metric) if isinstance(self.metric, list | tuple) else [self.metric]
        if not metrics:
            raise ValueError("metric is an empty list: there is nothing to choose from.")
        for entry in metrics:
            if isinstance(entry, Sequence) and entry not in KINDS:
                raise ValueError(f"metric must be None, one of {KINDS} or a transformer, or a list of these: {entry!r}")
            if not (entry is None or isinstance(entry, str) or hasattr(entry, "transform")):
                raise ValueError(f"metric={entry!r} has no method transform.")
        return metrics

    def _learned(self, metric, data):
        """A fitted transformer: a given one that is fitted already as it is."""
        if isinstance(metric, str):
            return self._learned_kind(metric, data)
        if is_fitted(metric):
            return metric
        weights = {}
        if data.weights is not None and has_fit_parameter(metric, "sample_weight"):
            weights["sample_weight"] = data.weights
        with config_context(skip_parameter_validation=False):  # of what a user hands in
            return clone(metric).fit(data.X, self._answers(data), **weights)

    def _learned_kind(self, kind, data):
        metric = KernelMetric(kind, random_state=self.random_state, n_jobs=self.n_jobs)
        return metric.fit(data.X, data.codes, sample_weight=data.weights)

    def _answers(self, data):
        """The y of training data or of a sample of them."""
        return data.codes

    def _compared(self, metrics, data, y):
        """Cross-validate the whole fit with each of the metrics, all else being chosen within the training parts."""
        sample = self._compared_sample(data, y, _FOLDS if self.cv in (None, "loo") else self.cv)
        weights = None
        if data.weights is not None or not np.all(sample.weights == 1):
            unit = 1.0 if data.weights is None else (data.weights / unit_scale(data.weights))[0]
            weights = sample.weights * unit

        def score(sample, metric):
            scores = np.zeros((sample.n_samples, len(metric)))
            validated = np.zeros(len(sample.X), dtype=bool)
            validated[sample.rows] = True
            for train, test in sample.splits():
                queries = test & validated
                if not queries.any():
                    continue
                for k, candidate in enumerate(metric):
                    trial = self._trial(candidate)
                    own = None if weights is None else weights[train]
                    scores[queries[sample.rows], k] = self._judged(trial, sample, train, queries, own)
            return sample.accuracies(scores)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # said of what is chosen
            return search(sample, {"metric": _as_objects(metrics)}, score)

    def _compared_sample(self, data, y, cv):
        return draw_sample(
            data,
            check_folds(cv, y, data.kept),
            cv=cv,
            max_samples=self.max_tuning_samples,
            random_state=self.random_state,
            against_all=True,
        )

    def _judged(self, trial, sample, train, queries, weights):
        """Which of the queries the estimator gets right, fitted to the training part."""
        codes = sample.codes[train]
        if not np.ptp(codes):
            return sample.codes[queries] == codes[0]
        return trial.fit(sample.X[train], codes, weights).predict(sample.X[queries]) == sample.codes[queries]


def apply(metric, X):
    """Mapped points in the precision of X."""
    Z = check_array(metric.transform(X), dtype=[np.float64, np.float32], input_name="the output of metric")
    if len(Z) != len(X):
        raise ValueError(f"metric turned {len(X)} points into {len(Z)}.")
    return Z.astype(X.dtype, copy=False)


def is_fitted(transformer):
    try:
        check_is_fitted(transformer)
    except NotFittedError:
        return False
    return True


def _as_objects(values):
    out = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        out[i] = value
    return out
