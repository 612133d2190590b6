"""Kernel ridge regression as a classifier."""

from ._classifier import KernelRidgeClassifier

__all__ = ["KernelRidgeClassifier"]
