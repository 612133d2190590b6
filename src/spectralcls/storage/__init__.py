"""Fitted estimators in files that run no code when they are read, and as ONNX graphs that need no Python."""

from ._onnx import to_onnx
from ._skops import load, save
from ._skops import skops_io as skops_io  # for the command line

__all__ = ["load", "save", "to_onnx"]
