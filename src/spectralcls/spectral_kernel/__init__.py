"""Spectral kernels of a similarity graph: an embedding, the kernel it defines, and a classifier on it."""

from ._classifier import SpectralKernelClassifier
from ._machines import linear_svm
from ._spectral_kernel import SpectralKernel

__all__ = ["SpectralKernel", "SpectralKernelClassifier", "linear_svm"]
