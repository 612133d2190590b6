"""The command ``spectralcls``."""

from .main import main

__all__ = ["main"]
