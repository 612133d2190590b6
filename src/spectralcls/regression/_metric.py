"""Metrics that a regression learns."""

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .._tuning import check_folds, draw_sample
from .._utils.quantile import weighted_quantile
from .._utils.validation import TrainingData
from ..metric import GradientMetric, KernelMetric, MetricMixin

SLICES = 8  # of y, that stand for classes


class RegressionMetricMixin(MetricMixin):
    """`MetricMixin` of an estimator whose y holds numbers.

    "diagonal" and "full" are a `GradientMetric` of standardized features, "whiten" the covariance within slices of y.
    """

    def _answers(self, data):
        return data.targets[:, 0] if data.targets.shape[1] == 1 else data.targets

    def _learned_kind(self, kind, data):
        options = {"random_state": self.random_state, "n_jobs": self.n_jobs}
        codes = sliced(data.targets, data.weights)
        if kind == "whiten" and codes.any():
            return KernelMetric(kind, **options).fit(data.X, codes, sample_weight=data.weights)
        # One by one: what a pipeline passes on depends on the user's metadata routing.
        scaler = StandardScaler().fit(data.X, sample_weight=data.weights)
        learned = GradientMetric("diagonal" if kind == "whiten" else kind, task="regression", **options)
        return make_pipeline(
            scaler, learned.fit(scaler.transform(data.X), self._answers(data), sample_weight=data.weights)
        )

    def _compared_sample(self, data, y, cv):
        return validation_sample(self, data, cv)

    def _judged(self, trial, sample, train, queries, weights):
        """1 less the squared error of each query relative to the variance, whose mean is R^2."""
        trial.fit(sample.X[train], sample.targets[train], sample_weight=weights)
        errors = (trial.predict(sample.X[queries]) - sample.targets[queries]) ** 2
        return 1 - (errors / variances(sample.targets, sample.weights)).mean(axis=1)


def of_one_class(data):
    """The points of a regression as training data without labels."""
    return TrainingData(data.X, np.zeros(len(data.X), dtype=np.intp), np.zeros(1), data.weights, data.kept)


def validation_sample(estimator, data, cv):
    """The points of a regression that are held out in turn, each against all others of its split."""
    n_given = len(data.X) if data.kept is None else len(data.kept)
    return draw_sample(
        of_one_class(data),
        check_folds(cv, np.zeros(n_given), data.kept),
        cv=cv,
        max_samples=estimator.max_tuning_samples,
        random_state=estimator.random_state,
        against_all=True,
        targets=data.targets,
    )


def variances(targets, weights):
    """Variance of each output, (k,); 1 for a constant one."""
    found = np.average((targets - np.average(targets, axis=0, weights=weights)) ** 2, axis=0, weights=weights)
    return np.where(found > 0, found, 1.0)


def sliced(targets, weights):
    """Slice of each point, (n,): eighths by y, or by the leading principal component of standardized outputs."""
    centered = (targets - np.average(targets, axis=0, weights=weights)) / np.sqrt(variances(targets, weights))
    rows = centered if weights is None else centered * np.sqrt(weights)[:, None]
    component = centered @ np.linalg.eigh(rows.T @ rows)[1][:, -1]
    edges = [weighted_quantile(component, share, weights) for share in np.arange(1, SLICES) / SLICES]
    return np.searchsorted(np.unique(edges), component)
