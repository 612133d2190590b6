"""Metrics that regressors learn."""

import numpy as np

from .._utils.quantile import weighted_quantile
from ..metric import GradientMetric, KernelMetric, answers

SLICES = 8  # slices of y, used as classes


class RegressionKinds:
    """Learns a map of a given kind from numeric targets.

    "diagonal" and "full" mean a `GradientMetric` of scaled features, "whiten" a `KernelMetric` of this kind for slices
    of y.
    """

    def __init__(self, random_state, n_jobs):
        self.options = {"random_state": random_state, "n_jobs": n_jobs}

    def __call__(self, kind, data):
        codes, given = sliced(data.targets, data.weights), {"sample_weight": data.weights, "groups": data.groups}
        if kind == "whiten" and codes.any():
            return KernelMetric(kind, **self.options).fit(data.X, codes, **given)
        metric = GradientMetric("diagonal" if kind == "whiten" else kind, task="regression", **self.options)
        return metric.fit(data.X, answers(data), **given)


def variances(targets, weights):
    """Variance of each output, (k,); 1 for a constant output."""
    found = np.average((targets - np.average(targets, axis=0, weights=weights)) ** 2, axis=0, weights=weights)
    return np.where(found > 0, found, 1.0)


def sliced(targets, weights):
    """Slice of each point, (n,): one of eight equal parts of the sorted y, or of the leading principal component of
    several standardized outputs.
    """
    centered = (targets - np.average(targets, axis=0, weights=weights)) / np.sqrt(variances(targets, weights))
    rows = centered if weights is None else centered * np.sqrt(weights)[:, None]
    component = centered @ np.linalg.eigh(rows.T @ rows)[1][:, -1]
    edges = [weighted_quantile(component, share, weights) for share in np.arange(1, SLICES) / SLICES]
    return np.searchsorted(np.unique(edges), component)
