"""Functions of possibly lazy values, implemented here for values in memory; `spectralcls.dask` registers its types."""

from functools import singledispatch

import numpy as np
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
    """R^2, averaged over the outputs; targets are divided by a power of two, so that their squares are in range."""
    y = np.asarray(y)
    if y.dtype.kind in "iuf" and y.size:
        y = y.astype(np.float64)
        exponent = -int(np.frexp(np.abs(y).max())[1])
        y, predicted = np.ldexp(y, exponent), np.ldexp(predicted, exponent)
    return r2_score(y, predicted, sample_weight=sample_weight)
