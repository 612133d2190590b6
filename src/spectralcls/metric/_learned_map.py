"""The parameter `metric` of other estimators: a map of coordinates, learned before the model."""

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from ._kernel_metric import KernelMetric
from ._linear_map import LinearMap

KINDS = ("whiten", "diagonal", "full")


class LearnedMap:
    """A transformer of coordinates, learned from training data unless it is already fitted.

    Parameters
    ----------
    metric : str or transformer
        A kind of `KernelMetric`, or any transformer.
    learn_kind : callable
        ``learn_kind(kind, data)`` returns a transformer fitted to `TrainingData`.

    Attributes
    ----------
    transformer : transformer
        The fitted map. Only present after `fit`.
    """

    def __init__(self, metric, learn_kind):
        self.metric = metric
        self.learn_kind = learn_kind

    @classmethod
    def of(cls, estimator, learn_kind=None):
        """The map for an estimator's parameter `metric`; None if that is None or absent.

        Raises
        ------
        ValueError
            If the parameter is neither a kind nor a transformer.
        """
        metric = getattr(estimator, "metric", None)
        if metric is None:
            return None
        if not (metric in KINDS if isinstance(metric, str) else hasattr(metric, "transform")):
            raise ValueError(f"metric must be None, one of {KINDS} or a transformer, got {metric!r}.")
        return cls(metric, learn_kind or _Kernel(estimator.random_state, estimator.n_jobs))

    def fit(self, data):
        """Learn the map from coordinates."""
        if isinstance(self.metric, str):
            self.transformer = self.learn_kind(self.metric, data)
        elif is_fitted(self.metric):
            self.transformer = self.metric
        else:
            given = {"sample_weight": data.weights, "groups": data.groups}
            given = {
                name: own for name, own in given.items() if own is not None and has_fit_parameter(self.metric, name)
            }
            with config_context(skip_parameter_validation=False):  # for the user's own object
                self.transformer = clone(self.metric).fit(data.X, answers(data), **given)

    @property
    def learned(self):
        """Whether the map comes from the training data."""
        return self.transformer is not self.metric

    def affine(self):
        """Mean (d,) and components of the map ``(X - mean) @ components.T``; a ValueError if it is not affine."""
        if not isinstance(self.transformer, LinearMap):
            raise ValueError(f"The metric {type(self.transformer).__name__} is not a linear map of this package.")
        return self.transformer.mean_, self.transformer.components_

    def __call__(self, X):
        """Mapped points in the precision of X."""
        Z = check_array(self.transformer.transform(X), dtype=[np.float64, np.float32], input_name="output of metric")
        if len(Z) != len(X):
            raise ValueError(f"metric turned {len(X)} points into {len(Z)}.")
        return Z.astype(X.dtype, copy=False)


def _fitted_map(estimator):
    """The fitted transformer of the parameter `metric`; None if there is none."""
    if "_inputs" not in vars(estimator):
        raise AttributeError(f"{type(estimator).__name__!r} object has no attribute 'metric_'")
    step = vars(estimator)["_inputs"].step
    return None if step is None else step.transformer


class _Kernel:
    """Learns a `KernelMetric` of the given kind."""

    def __init__(self, random_state, n_jobs):
        self.random_state, self.n_jobs = random_state, n_jobs

    def __call__(self, kind, data):
        metric = KernelMetric(kind, random_state=self.random_state, n_jobs=self.n_jobs)
        return metric.fit(data.X, data.codes, sample_weight=data.weights, groups=data.groups)


def answers(data):
    """Targets of a transformer: codes of classes, or numbers."""
    if data.targets is None:
        return data.codes
    return data.targets[:, 0] if data.targets.shape[1] == 1 else data.targets


def is_fitted(transformer):
    try:
        check_is_fitted(transformer)
    except NotFittedError:
        return False
    return True


fitted_map: property = property(_fitted_map)
