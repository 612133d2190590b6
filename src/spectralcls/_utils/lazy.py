"""Functions of possibly lazy values, implemented here for values in memory; `spectralcls.dask` adds its own types."""

from functools import singledispatch

import numpy as np
from sklearn.metrics import accuracy_score, r2_score


@singledispatch
def by_rows(array, function, dtype=None):
    """``function(array)`` for a function that treats each row separately; `dtype` is the result's, if it differs from
    the array's."""
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
    """R^2, averaged over the outputs; targets are divided by a power of two so that their squares do not overflow."""
    y = np.asarray(y)
    if y.dtype.kind in "iuf" and y.size:
        y = y.astype(np.float64)
        exponent = -int(np.frexp(np.abs(y).max())[1])
        y, predicted = np.ldexp(y, exponent), np.ldexp(predicted, exponent)
    return r2_score(y, predicted, sample_weight=sample_weight)
