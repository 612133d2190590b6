"""Classifiers and embeddings in the space of leading eigenvectors."""

from .kernel_map import KernelMap
from .laplacian_spectral import LaplacianSpectralClassifier
from .spectral_ise import SpectralISEClassifier, SpectralLaplacianISEClassifier

__all__ = [
    "KernelMap",
    "LaplacianSpectralClassifier",
    "SpectralISEClassifier",
    "SpectralLaplacianISEClassifier",
]
