"""PerTurbo's models on the workers, one independent task per class."""

import dask
import numpy as np

from .._inputs.completion import Completion
from .._inputs.training_data import stack
from .._utils.lazy import in_memory
from ..perturbo import FittedClasses, asked, fit_class, fit_classes, seen_by_classes, summaries, summary
from ._incomplete import MAX_COMPLETING, without_gaps
from ._rows import DistributedData, blocks, column_blocks, from_blocks, in_chunks, sizes
from ._tuning import gather


class ModelsOnWorkers(list):
    """Models of the classes, each a Delayed object."""


@fit_classes.register(DistributedData)
def _(data, bandwidths, regularization, *, n_jobs, **options):
    X, given = data.X, None
    if data.incomplete:
        (X, completion), given = without_gaps(data), data
    else:
        sample = gather(data, MAX_COMPLETING, np.random.RandomState(0))
        completion = Completion.learned(sample.X, sample.codes, sample.weights, sample.features)
    options = options | {"n_jobs": n_jobs or 1}
    take, make = dask.delayed(_rows_of_class), dask.delayed(_fit_class)
    parts = list(zip(blocks(X), blocks(data.codes), column_blocks(data.weights_as_given, X), strict=True))
    models = [
        make(float(h), regularization, data.classes[c], options, *[take(*part, c) for part in parts])
        for c, h in enumerate(bandwidths)
    ]
    models = ModelsOnWorkers(dask.persist(*models))
    return FittedClasses(models, data.codes.compute(), given, completion)


@asked.register(ModelsOnWorkers)
def _(models, function, Q, completion, features, n_jobs, *options):
    """Return an array for queries in memory, and a Dask array in their chunks for lazy queries."""
    if isinstance(Q, np.ndarray):
        return asked(models, function, in_chunks(Q), completion, features, n_jobs, *options).compute()
    task, arguments = dask.delayed(_of_models), (function, completion, features, (n_jobs or 1, *options))
    return from_blocks(
        [task(queries, *arguments, *models) for queries in blocks(Q)], sizes(Q), (len(models),), np.float64
    )


@summaries.register(ModelsOnWorkers)
def _(models):
    task = dask.delayed(summary)
    return dask.compute(*[task(model) for model in models])


@in_memory.register(ModelsOnWorkers)
def _(models):
    return list(dask.compute(*models))


def _rows_of_class(X, codes, weights, c):
    own = codes == c
    return X[own], None if weights is None else weights[own]


def _fit_class(bandwidth, regularization, name, options, *parts):
    X, weights = stack(*parts)
    return fit_class(X, bandwidth, regularization, weights, name=name, **options)


def _of_models(Q, function, completion, features, options, *models):
    return function(models, seen_by_classes(Q, models, completion, features), *options)
