"""The models of all classes: fitted to training data, and evaluated at queries."""

from functools import partial, singledispatch
from typing import Any, NamedTuple

import numpy as np

from .._inputs.completion import Completion, completed
from .._utils.blocks import as_blocks, by_rows, in_blocks, in_memory
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


def fit_classes(data, bandwidths, regularization, *, n_jobs, **options):
    """Fit a model to each class with its entry of `bandwidths` (C,); `options` are those of `fit_class`."""
    X, given, completion = data.X, None, None
    if data.incomplete:
        (X, completion), given = completed(data, n_jobs), data
    fits = [
        partial(fit_class, bandwidth=float(h), regularization=regularization, name=name, **options)
        for h, name in zip(bandwidths, data.classes, strict=True)
    ]
    return FittedClasses(
        of_classes(X, data.codes, data.weights, fits, n_jobs), in_memory(data.codes), given, completion
    )


@singledispatch
def of_classes(X, codes, weights, fits, n_jobs):
    """The result of the function of each class for its rows of X, with their weights."""
    own = [codes == c for c in range(len(fits))]
    pairs = zip(fits, own, strict=True)
    return [fit(X[rows], weights=None if weights is None else weights[rows], n_jobs=n_jobs) for fit, rows in pairs]


def asked(models, function, Q, completion, features, n_jobs, *options):
    """Evaluate ``function(models, queries, n_jobs, *options)`` at the queries completed by each class: (m, C)."""
    if not in_blocks(models[0]):
        return function(models, seen_by_classes(Q, models, completion, features, n_jobs), n_jobs, *options)
    if not in_blocks(Q):
        return asked(models, function, as_blocks(Q), completion, features, n_jobs, *options).compute()
    ask = partial(_asked, function, completion, features, n_jobs or 1, options)
    return by_rows(Q, ask, *models, shape=(len(models),))


def _asked(function, completion, features, n_jobs, options, Q, *models):
    return asked(models, function, Q, completion, features, n_jobs, *options)
