"""The models of all classes: fitted to training data, and evaluated at queries."""

from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from .._inputs.completion import Completion
from .._inputs.missing import is_incomplete
from ._class_model import fit_class
from ._explained import seen_by_classes


class FittedClasses(NamedTuple):
    """Models of the classes, and other results of a fit.

    Attributes
    ----------
    models : list of C models
    codes : (n,) class of each training point
    given : training data before missing values were completed; None if none were missing
    completion : Completion or None
        Completion of queries. If None, it is learned from the models once a query has missing values.
    """

    models: list
    codes: np.ndarray
    given: Any = None
    completion: Completion | None = None


@singledispatch
def fit_classes(data, bandwidths, regularization, *, n_jobs, **options):
    """Fit a model to each class with its entry of `bandwidths` (C,); `options` are those of `fit_class`."""
    X, given, completion = data.X, None, None
    if is_incomplete(X):
        given, completion = data, Completion.learned(X, data.codes, data.weights, data.features)
        (X,) = completion.of_own_class(X, data.codes, n_jobs)
    models = []
    for c, h in enumerate(bandwidths):
        own = data.codes == c
        weights = None if data.weights is None else data.weights[own]
        models.append(
            fit_class(X[own], float(h), regularization, weights, n_jobs=n_jobs, name=data.classes[c], **options)
        )
    return FittedClasses(models, data.codes, given, completion)


@singledispatch
def asked(models, function, Q, completion, features, n_jobs, *options):
    """Evaluate ``function(models, queries, n_jobs, *options)`` at the queries completed by each class: (m, C)."""
    return function(models, seen_by_classes(Q, models, completion, features, n_jobs), n_jobs, *options)


@singledispatch
def summaries(models):
    """Number of samples, rank and trace residual of each model."""
    return [summary(model) for model in models]


def summary(model):
    return len(model.samples), model.rank, model.trace_residual
