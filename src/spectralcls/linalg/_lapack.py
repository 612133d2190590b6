"""LAPACK routines that work in place and release the GIL, so that several threads can factor matrices at once.

SciPy's wrappers hold the GIL. These functions call the same routines at the addresses that SciPy exports for Cython.
"""

import ctypes
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy.linalg import cython_lapack

from .._utils.typing import Array

_LETTERS = {np.dtype(np.float32): "s", np.dtype(np.float64): "d"}
_capsule_name = ctypes.pythonapi.PyCapsule_GetName
_capsule_name.argtypes, _capsule_name.restype = [ctypes.py_object], ctypes.c_char_p
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.argtypes, _capsule_pointer.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p


def potrf(A: Array) -> int:
    """Overwrite the upper triangle of the Fortran-ordered A with its Cholesky factor. Return 0, or the order of the
    leading minor that is not positive definite."""
    return _call("potrf", A.dtype, b"U", len(A), A, _leading(A))


def potrs(U: Array, B: Array) -> int:
    """Overwrite the Fortran-ordered B with ``(U^T U)^-1 B``."""
    return _call("potrs", U.dtype, b"U", len(U), B.shape[1], U, _leading(U), B, _leading(B))


def trtri(U: Array) -> int:
    """Overwrite an upper triangle with its inverse."""
    return _call("trtri", U.dtype, b"U", b"N", len(U), U, _leading(U))


def _leading(A: Array) -> int:
    return max(1, A.strides[1] // A.itemsize)


def _call(routine: str, dtype: DTypeLike, *arguments: Any) -> int:
    """Call a LAPACK routine with letters, integers and arrays; return its `info`."""
    info = ctypes.c_int(0)
    pointers = [_pointer(argument) for argument in arguments] + [ctypes.byref(info)]
    _function(_LETTERS[dtype] + routine, len(pointers))(*pointers)
    return info.value


def _pointer(argument: Any) -> Any:
    if isinstance(argument, np.ndarray):
        return ctypes.c_void_p(argument.ctypes.data)
    return ctypes.byref(ctypes.c_char(argument) if isinstance(argument, bytes) else ctypes.c_int(argument))


@cache
def _function(name: str, n_arguments: int) -> Any:
    capsule = cython_lapack.__pyx_capi__[name]
    address = _capsule_pointer(capsule, _capsule_name(capsule))
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * n_arguments)(address)
