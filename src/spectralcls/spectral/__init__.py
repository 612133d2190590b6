"""Classifiers and embeddings in the space of leading eigenvectors."""

from .kernel_map import KernelMap
from .laplacian_spectral import LaplacianSpectralClassifier
from .spectral_ise import SpectralISEClassifier, SpectralLaplacianISEClassifier
from .spectral_kernel import SpectralKernel
from .spectral_kernel_classifier import SpectralKernelClassifier

__all__ = [
    "KernelMap",
    "LaplacianSpectralClassifier",
    "SpectralISEClassifier",
    "SpectralKernel",
    "SpectralKernelClassifier",
    "SpectralLaplacianISEClassifier",
]
