"""Fitted estimators as files that can be read without running code, and as ONNX graphs that run without Python."""

from ._onnx import to_onnx
from ._skops import load, save
from ._skops import skops_io as skops_io  # for the command line

__all__ = ["load", "save", "to_onnx"]
