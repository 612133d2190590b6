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
from ..regression import KernelRegressor as KernelRegressor
from ..spectral import LaplacianSpectralClassifier as LaplacianSpectralClassifier
from ..spectral import SpectralISEClassifier as SpectralISEClassifier
from ..spectral import SpectralLaplacianISEClassifier as SpectralLaplacianISEClassifier
from . import _regression  # noqa: F401  # registers
from ._memmap import from_memmap
from ._sums import kernel_sums
from .neighbors import knn, knn_graph
from .operators import KernelOperator
from .perturbo import PerTurboClassifier

__all__ = [
    "KernelOperator",
    "PerTurboClassifier",
    "from_memmap",
    "kernel_sums",
    "knn",
    "knn_graph",
]
