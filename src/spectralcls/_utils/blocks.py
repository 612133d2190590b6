"""Arrays in blocks of rows: an array in memory is one block, a Dask array has many.

NumPy's functions of Dask arrays stay lazy. For the functions here that NumPy does not have, `spectralcls.dask`
registers what they do with Dask arrays.
"""

from dataclasses import fields, is_dataclass, replace
from functools import singledispatch


def in_blocks(value):
    """Whether a value is a Dask array, data frame, or another one that Dask computes."""
    return any(kind.__module__.partition(".")[0] == "dask" for kind in type(value).__mro__)


def as_blocks(array, rows=100_000):
    """An array in memory as a Dask array."""
    from dask.array import from_array

    return from_array(array, chunks=(rows, *array.shape[1:]))


@singledispatch
def by_rows(array, function, *others, shape=None, dtype=None):
    """``function(array, *others)`` for a function that treats each row separately. `shape` and `dtype` are those of a
    row of the result, if they differ from the array's."""
    return function(array, *others)


@singledispatch
def kept(X, *arrays, large=False):
    """Arrays with a row for each row of X, kept in memory: by workers if X is there, if `large` only if they fit."""
    return arrays


def computed(*values):
    """The values, computed if Dask does so."""
    return [value.compute() if in_blocks(value) else value for value in values]


@singledispatch
def in_memory(value):
    """The value, with the arrays of lists, tuples and frozen dataclasses in this process."""
    if in_blocks(value):
        return value.compute()
    if hasattr(value, "to_local"):
        return value.to_local()
    if isinstance(value, list | tuple):
        parts = [in_memory(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if is_dataclass(value) and value.__dataclass_params__.frozen:
        return replace(value, **{field.name: in_memory(getattr(value, field.name)) for field in fields(value)})
    return value
