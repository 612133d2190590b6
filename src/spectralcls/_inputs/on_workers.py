"""Collections with rows on the workers of a cluster or on disk: readers, and errors where they are not supported.

`spectralcls.dask` registers its `Inputs` here, and is imported when the first collection of its library is seen.
"""

from importlib import import_module

_MODULES = {"dask": "spectralcls.dask"}  # library of a collection: module that registers its inputs
_KINDS: dict[str, type] = {}


def register_inputs(library, kind):
    """Let `kind`, a class of inputs, read the collections of a library."""
    _KINDS[library] = kind


def library_of(X):
    """Name of the library whose collection X is; None if X is in memory."""
    roots = (kind.__module__.partition(".")[0] for kind in type(X).__mro__)
    return next((root for root in roots if root in _MODULES), None)


def inputs_for(X, inputs):
    """`inputs` as the kind that reads X; unchanged for X in memory."""
    library = library_of(X)
    if library is None:
        return inputs
    import_module(_MODULES[library])
    return _KINDS[library].like(inputs)


def refuse_collection(X, name):
    """Raise for a collection if an estimator learns only in memory; the message names it."""
    library = library_of(X)
    if library is not None:
        raise TypeError(
            f"{name} learns from data in memory, not from a {library.capitalize()} collection: pass X.compute(), or a "
            "part of it that fits into memory. ParzenClassifier and the other classifiers of kernel means, "
            "PerTurboClassifier, SpectralISEClassifier and KernelRegressor learn from collections."
        )
