"""Dask arrays and data frames: kernel sums, neighbors and eigenpairs, and the fitting of estimators.

The kernel-mean and spectral classifiers, PerTurbo, `KernelMap` and `KernelRegressor` accept Dask collections in `fit`.
This module registers the functions that do so. It is imported with the first collection, and needs the extra: ``pip
install "spectralcls[dask]"``. Work runs on the active ``dask.distributed`` client. Without one it runs on the threads
of this process, and collections that do not fit into its memory stay lazy.
"""

try:
    import dask.array  # noqa: F401
    import distributed  # noqa: F401
except ImportError as error:
    raise ImportError('spectralcls.dask needs Dask: pip install "spectralcls[dask]"') from error

from . import _points, _tuning  # noqa: F401  # they register their functions
from ._inputs import DaskInputs as DaskInputs
from ._memmap import from_memmap
from ._sums import kernel_sums
from .neighbors import knn, knn_graph
from .operators import KernelOperator

__all__ = [
    "KernelOperator",
    "from_memmap",
    "kernel_sums",
    "knn",
    "knn_graph",
]
