"""Ctrl-C during long calls of libraries that do not check signals.

Python handles Ctrl-C between two bytecode instructions of the main thread. Therefore another thread makes the long
call, and the main thread waits. If the main thread is interrupted, it returns, and the result of the call is discarded.
The call must release the GIL, as NumPy's do; SciPy's wrappers of BLAS and LAPACK do not.
"""

import contextvars
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
import scipy.linalg

R = TypeVar("R")

_SHORT = 500  # decompositions up to this order end so soon that they need not be interruptible
_OPERATIONS = 2e9  # multiply-adds per block of a matrix product, which takes about a tenth of a second


@contextmanager
def interruptible_pool(n_threads: int) -> Iterator[ThreadPoolExecutor]:
    """A thread pool. An exception cancels the calls that have not begun; those that run are not waited for."""
    pool = ThreadPoolExecutor(n_threads)
    try:
        yield pool
        pool.shutdown()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise


def run_interruptibly(call: Callable[..., R], *arguments: Any, **options: Any) -> R:
    """Call a function in another thread, so that Ctrl-C can interrupt the main thread, and return the result.

    The function must release the GIL. Do not use the arguments after an interruption: the call may still write to them.
    """
    if threading.current_thread() is not threading.main_thread():
        return call(*arguments, **options)  # Python delivers signals only to the main thread
    with interruptible_pool(1) as pool:
        return pool.submit(contextvars.copy_context().run, call, *arguments, **options).result()


def eigh(A: np.ndarray) -> Any:
    """`numpy.linalg.eigh` that can be interrupted and decomposes every finite matrix.

    NumPy's divide-and-conquer algorithm fails to converge on some matrices with nearly equal rows and values near
    1e-60; QR iteration converges.
    """
    try:
        return np.linalg.eigh(A) if len(A) <= _SHORT else run_interruptibly(np.linalg.eigh, A)
    except np.linalg.LinAlgError:
        return scipy.linalg.eigh(A, driver="ev")


def matmul(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """``A @ B``; a long product is computed in blocks of rows of A, between which Ctrl-C is handled."""
    rows = 1 + int(_OPERATIONS / max(A.shape[1] * B.shape[1], 1))
    if rows >= len(A):
        return A @ B
    out = np.empty((len(A), B.shape[1]), np.result_type(A, B))
    for start in range(0, len(A), rows):
        np.matmul(A[start : start + rows], B, out=out[start : start + rows])
    return out


def slices(n: int, size: int = 1024, seconds: float = 0.05) -> Iterator[slice]:
    """Slices of the rows 0 ... n - 1 for a loop over uninterruptible calls of about `seconds` each.

    The sizes depend on measured times, so the results of the loop must not depend on the slices.
    """
    start = 0
    while start < n:
        begun = time.perf_counter()
        yield slice(start, min(n, start + size))
        start += size
        size = max(1, int(size * min(4.0, seconds / max(time.perf_counter() - begun, 1e-9))))
