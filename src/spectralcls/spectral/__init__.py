"""Classifiers, embeddings and kernels in the space of leading eigenvectors."""

from ._kernel_classifier import SpectralKernelClassifier
from ._kernel_map import KernelMap
from ._laplacian_spectral import LaplacianSpectralClassifier
from ._linear_svm import linear_svm
from ._spectral_ise import SpectralISEClassifier, SpectralLaplacianISEClassifier
from ._spectral_kernel import SpectralKernel

__all__ = [
    "KernelMap",
    "LaplacianSpectralClassifier",
    "SpectralISEClassifier",
    "SpectralKernel",
    "SpectralKernelClassifier",
    "SpectralLaplacianISEClassifier",
    "linear_svm",
]
