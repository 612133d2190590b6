"""Information-theoretic and spectral classifiers over four compiled primitives.

Kernel sums, kernel matrices, nearest neighbours and leading eigenpairs are computed by a C++ core; every
estimator is a page of Python over them.
"""

from ._config import show_config
from .ccdr import CCDR, CCDRClassifier
from .eigen import top_eigenpairs
from .kernel_mean import CauchySchwarzClassifier, ISEClassifier, LaplacianISEClassifier, ParzenClassifier
from .kernels import kernel_matrix, kernel_sums
from .lowrank import LowRankFactor, rpcholesky
from .neighbors import KNNTransformer, knn, knn_graph
from .perturbo import PerTurboClassifier
from .reduction import reduce_training_set
from .spectral import (
    KernelMap,
    LaplacianSpectralClassifier,
    SpectralISEClassifier,
    SpectralLaplacianISEClassifier,
)
from .spectral_kernel import SpectralKernel, SpectralKernelClassifier

__version__ = "0.1.0"

__all__ = [
    "CCDR",
    "CCDRClassifier",
    "CauchySchwarzClassifier",
    "ISEClassifier",
    "KNNTransformer",
    "KernelMap",
    "LaplacianISEClassifier",
    "LaplacianSpectralClassifier",
    "LowRankFactor",
    "ParzenClassifier",
    "PerTurboClassifier",
    "SpectralISEClassifier",
    "SpectralKernel",
    "SpectralKernelClassifier",
    "SpectralLaplacianISEClassifier",
    "kernel_matrix",
    "kernel_sums",
    "knn",
    "knn_graph",
    "reduce_training_set",
    "rpcholesky",
    "show_config",
    "top_eigenpairs",
]
