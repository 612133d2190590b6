"""Collections whose rows are on the workers of a cluster or on disk, and errors if these are not supported."""

from importlib import import_module

from .._utils.blocks import in_blocks


def inputs_for(X, inputs):
    """`inputs` converted to the class that reads X; unchanged if X is in memory."""
    return import_module("spectralcls.dask").DaskInputs.like(inputs) if in_blocks(X) else inputs


def refuse_collection(X, name):
    """Raise for a collection, because the estimator `name` learns only from data in memory."""
    if in_blocks(X):
        raise TypeError(
            f"{name} learns from data in memory, not from a Dask collection: pass X.compute(), or a "
            "part of it that fits into memory. ParzenClassifier and the other kernel-mean classifiers, "
            "PerTurboClassifier, SpectralISEClassifier and KernelRegressor learn from collections."
        )
