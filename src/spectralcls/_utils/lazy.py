"""Functions of values that may be lazy, and what they are in memory; `spectralcls.dask` registers its types."""

from functools import singledispatch

from sklearn.metrics import accuracy_score, r2_score


@singledispatch
def by_rows(array, function, dtype=None):
    """``function(array)`` for a function that looks at one row at a time; `dtype` of the result, if it is another."""
    return function(array)


@singledispatch
def in_memory(value):
    """The value with all that it holds in this process."""
    return value


@singledispatch
def accuracy(predicted, y, sample_weight=None):
    """Share of right labels."""
    return float(accuracy_score(y, predicted, sample_weight=sample_weight))


@singledispatch
def determination(predicted, y, sample_weight=None):
    """R^2, averaged over the outputs."""
    return r2_score(y, predicted, sample_weight=sample_weight)
