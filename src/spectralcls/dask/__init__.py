"""The estimators and the kernel sums on Dask collections.

Import it as ``import spectralcls.dask``; it needs the extra: ``pip install "spectralcls[dask]"``. Work runs
on the active ``dask.distributed`` client. Where there is none it runs on Dask's threads and reads a block
whenever it needs one, so that arrays on disk may be larger than memory.
"""

try:
    import dask.array  # noqa: F401
except ImportError as error:
    raise ImportError('spectralcls.dask needs Dask: pip install "spectralcls[dask]"') from error

from ..kernel_mean import CauchySchwarzClassifier as CauchySchwarzClassifier
from ..kernel_mean import ISEClassifier as ISEClassifier
from ..kernel_mean import LaplacianISEClassifier as LaplacianISEClassifier
from ..kernel_mean import ParzenClassifier as ParzenClassifier
from ._memmap import from_memmap
from ._sums import kernel_sums
from .neighbors import knn, knn_graph
from .perturbo import PerTurboClassifier
from .regression import KernelRegressor
from .spectral import (
    KernelOperator,
    LaplacianSpectralClassifier,
    SpectralISEClassifier,
    SpectralLaplacianISEClassifier,
)

__all__ = [
    "KernelOperator",
    "KernelRegressor",
    "LaplacianSpectralClassifier",
    "PerTurboClassifier",
    "SpectralISEClassifier",
    "SpectralLaplacianISEClassifier",
    "from_memmap",
    "kernel_sums",
    "knn",
    "knn_graph",
]
