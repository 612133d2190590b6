"""Functions of possibly lazy values, implemented here for values in memory; `spectralcls.dask` registers its types."""

from functools import singledispatch

from sklearn.metrics import accuracy_score, r2_score


@singledispatch
def by_rows(array, function, dtype=None):
    """``function(array)`` for a function that treats each row separately; `dtype` is that of the result, if it
    differs."""
    return function(array)


@singledispatch
def in_memory(value):
    """The value, loaded into this process."""
    return value


@singledispatch
def accuracy(predicted, y, sample_weight=None):
    """Fraction of correct labels."""
    return float(accuracy_score(y, predicted, sample_weight=sample_weight))


@singledispatch
def determination(predicted, y, sample_weight=None):
    """R^2, averaged over the outputs."""
    return r2_score(y, predicted, sample_weight=sample_weight)
