"""Readers of collections whose rows are on the workers of a cluster or on disk, and errors if these are not supported.

`spectralcls.dask` registers its `Inputs` here. That package is imported when the first Dask collection is read.
"""

from importlib import import_module

_MODULES = {"dask": "spectralcls.dask"}  # for each library of collections, the module that registers its reader
_KINDS: dict[str, type] = {}


def register_inputs(library, kind):
    """Register `kind`, a subclass of `Inputs`, as the reader of a library's collections."""
    _KINDS[library] = kind


def library_of(X):
    """Name of the library of the collection X; None if X is in memory."""
    roots = (kind.__module__.partition(".")[0] for kind in type(X).__mro__)
    return next((root for root in roots if root in _MODULES), None)


def inputs_for(X, inputs):
    """`inputs` converted to the class that reads X; unchanged if X is in memory."""
    library = library_of(X)
    if library is None:
        return inputs
    import_module(_MODULES[library])
    return _KINDS[library].like(inputs)


def refuse_collection(X, name):
    """Raise for a collection, because the estimator `name` learns only from data in memory."""
    library = library_of(X)
    if library is not None:
        raise TypeError(
            f"{name} learns from data in memory, not from a {library.capitalize()} collection: pass X.compute(), or a "
            "part of it that fits into memory. ParzenClassifier and the other kernel-mean classifiers, "
            "PerTurboClassifier, SpectralISEClassifier and KernelRegressor learn from collections."
        )
