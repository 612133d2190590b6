"""The machine's limit in multiply-adds, for the instruction set in use. `roofline.cpp` is compiled with the core's
flags on its first use in a process."""

import ctypes
import os
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from spectralcls._core import compiled

EXPONENTIAL_SLOTS = {"float32": 12, "float64": 18}
SOURCE = Path(__file__).with_suffix(".cpp")


@cache
def library():
    """Functions of `roofline.cpp`. A call releases the interpreter's lock."""
    flags = ["-std=c++17", "-shared", "-fPIC", "-Wno-psabi", *shlex.split(compiled.build_info()["flags"])]
    with TemporaryDirectory() as folder:  # a library that is loaded needs no file
        target = Path(folder) / "roofline.so"
        compiler = shlex.split(os.environ.get("CXX", "c++"))
        headers = SOURCE.parents[1] / "cpp"
        subprocess.run([*compiler, *flags, "-I", str(headers), str(SOURCE), "-o", str(target)], check=True)
        loaded = ctypes.CDLL(str(target))
    for function in (loaded.rate_of_float32, loaded.rate_of_float64):
        function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double]
    return loaded


@cache
def multiply_add_rate(dtype, threads, seconds=0.5):
    """Vector multiply-adds per second of all threads together."""
    rate = getattr(library(), f"rate_of_{np.dtype(dtype).name}")
    with ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(rate, [seconds] * threads))


def lanes(dtype):
    """Numbers in a vector."""
    return library().bytes_of_vector() // np.dtype(dtype).itemsize


def slots(d, dtype, *, exponentials=1, squarings=0, columns=1):
    """Multiply-adds that a pair needs: for its distance, the exponentials and the squarings, and one for each column
    beyond the first, which the exponential includes.
    """
    return d + EXPONENTIAL_SLOTS[np.dtype(dtype).name] * exponentials + squarings + columns - 1


def limit(pair_slots, dtype, threads):
    """Pairs per second at the limit of the machine."""
    return multiply_add_rate(np.dtype(dtype).name, threads) * lanes(dtype) / pair_slots
