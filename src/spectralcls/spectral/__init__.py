"""Classifiers and embeddings in the space of leading eigenvectors."""

from ._kernel_map import KernelMap
from ._laplacian_spectral import LaplacianSpectralClassifier
from ._spectral_ise import SpectralISEClassifier, SpectralLaplacianISEClassifier

__all__ = [
    "KernelMap",
    "LaplacianSpectralClassifier",
    "SpectralISEClassifier",
    "SpectralLaplacianISEClassifier",
]
