"""Arrays on disk as Dask arrays, whose tasks open the file on their worker."""

import mmap
from numbers import Integral
from typing import Any

import dask
import numpy as np

from ._rows import from_blocks


def from_memmap(array: Any, rows: int = 100_000) -> Any:
    """Make a Dask array of an array on disk; no data pass through this process.

    ``dask.array.from_array`` copies a memory map into memory. Here each task maps its own rows; the operating system
    reads them on use and drops them when memory is short.

    Parameters
    ----------
    array : numpy.memmap of one or two dimensions
        Memory map in C order and not sliced, as ``numpy.load(path, mmap_mode="r")`` returns it. On a cluster the path
        must name the same file on every worker.
    rows : int, default=100_000
        Rows per block. A kernel sum takes one task per pair of blocks.

    Returns
    -------
    blocks : Dask array
        The array in chunks of rows, not read yet.

    Raises
    ------
    TypeError
        If the array is not a memory map.
    ValueError
        For a slice or another view of a memory map, Fortran order, no dimension, or a number of rows below 1.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from spectralcls.dask import from_memmap
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/X.npy", np.zeros((1000, 3), np.float32))
    ...     from_memmap(np.load(f"{folder}/X.npy", mmap_mode="r")).shape
    (1000, 3)
    """
    if not isinstance(array, np.memmap):
        raise TypeError(f"array must be a numpy.memmap, got {type(array).__name__}.")
    if not isinstance(array.base, mmap.mmap) or not array.flags.c_contiguous or not array.ndim:
        raise ValueError("array must be a whole memory map in C order, not a view of one.")
    if not isinstance(rows, Integral) or isinstance(rows, bool) or rows < 1:
        raise ValueError(f"rows must be an integer of at least 1, got {rows!r}.")
    shape = array.shape
    starts = range(0, shape[0], rows)
    lengths = [min(rows, shape[0] - start) for start in starts]
    row_bytes = array.dtype.itemsize * int(np.prod(shape[1:]))
    read = dask.delayed(_read, pure=True)
    blocks = [
        read(str(array.filename), array.dtype, array.offset + start * row_bytes, (length, *shape[1:]))
        for start, length in zip(starts, lengths, strict=True)
    ]
    return from_blocks(blocks, lengths, shape[1:], array.dtype)


def _read(path, dtype, offset, shape):
    return np.memmap(path, dtype=dtype, mode="r", offset=offset, shape=shape).view(np.ndarray)
