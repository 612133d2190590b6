"""Thread counts for calls to the core, and limits set through threadpoolctl."""

import multiprocessing
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from numbers import Integral
from typing import Any

import joblib
import numpy as np
import threadpoolctl
from joblib.parallel import get_active_backend

from . import compiled

_MOST_THREADS = 1024  # upper limit of n_jobs, because libraries start as many threads as requested
_WORTH_A_THREAD = 1e6  # operations, as in the core (cpp/infrastructure/parallel.cpp)

cpu_count = cache(joblib.cpu_count)  # reading the affinity mask and the container's quota takes 0.1 ms


class _OneThread:
    """Limits some libraries to one thread from the first entry to the last exit."""

    def __init__(self, libraries: list[Any]) -> None:
        self.libraries, self.entered = libraries, 0
        self._before: list[int] = []

    def enter(self) -> None:
        if not self.entered:
            self._before = [library.get_num_threads() for library in self.libraries]
            try:
                self._set([1] * len(self.libraries))
            except BaseException:  # Ctrl-C before all limits are set
                self._set(self._before)
                raise
        self.entered += 1

    def restore(self) -> None:
        """Restore the previous limit when the last thread has left."""
        if not self.entered:
            self._set(self._before)

    def _set(self, counts: Sequence[int]) -> None:
        # threadpoolctl 3.8 lets one thread control OpenBLAS and ignores the others. Here the first thread
        # to enter sets the limit and the last to leave restores it, so no thread keeps control.
        clear = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", lambda force: None)
        clear(force=True)
        try:
            for library, count in zip(self.libraries, counts, strict=True):
                library.set_num_threads(count)
        finally:
            clear(force=True)


class _SerialBlas:
    """Limits BLAS to one thread while any thread is inside the context.

    Most libraries have one limit per process. If threads save and restore it independently, as ``threadpool_limits``
    does, one may restore the limit set by another. Therefore the threads inside are counted. With OpenMP, each calling
    thread has a separate limit.
    """

    def __init__(self) -> None:
        self.lock, self._here = threading.RLock(), threading.local()
        self._shared: Any = None

    @property
    def _own(self) -> _OneThread:
        if not hasattr(self._here, "limit"):
            self._here.limit = _OneThread([*filter(_is_per_thread, _blas())])
        return self._here.limit

    @contextmanager
    def inside(self) -> Iterator[None]:
        own = self._own
        with self.lock:
            self._shared = self._shared or _OneThread([library for library in _blas() if not _is_per_thread(library)])
            self._shared.enter()
        try:
            own.enter()
            try:
                yield
            finally:  # decrement first, before any call or property: Ctrl-C could interrupt it
                own.entered -= 1
                try:
                    own.restore()
                except BaseException:  # Ctrl-C during the call above
                    own.restore()
                    raise
        finally:
            with self.lock:
                self._shared.entered -= 1
                try:
                    self._shared.restore()
                except BaseException:
                    self._shared.restore()
                    raise

    def forget_other_threads(self) -> None:
        """In a forked child, drop the other threads: they no longer exist and cannot exit the context."""
        if self._shared is not None and self._shared.entered > self._own.entered:
            self._shared.entered = self._own.entered
            self._shared.restore()
        self.lock.release()


@cache
def _blas() -> list[Any]:
    """The loaded BLAS libraries, cached because the search takes milliseconds."""
    return threadpoolctl.ThreadpoolController().select(user_api="blas").lib_controllers


def _is_per_thread(library: Any) -> bool:
    """Whether a limit applies only to the calling thread, as do those that threadpoolctl sets for OpenMP and MKL."""
    return library.internal_api == "mkl" or getattr(library, "threading_layer", None) == "openmp"


_serial_blas = _SerialBlas()
if hasattr(os, "register_at_fork"):  # no thread may be setting limits during a fork
    _lock = _serial_blas.lock
    os.register_at_fork(
        before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_serial_blas.forget_other_threads
    )


def serial_blas() -> AbstractContextManager[None]:
    """A context in which BLAS uses only the calling thread; contexts may be nested or concurrent.

    Every fit runs in one. Threads of BLAS spin while they wait for each other and for the next call, on processors that
    the core's threads or other programs need: on two busy processors, the factor of 6000 rows took eight times the
    processor seconds with two threads.
    """
    return _serial_blas.inside()


def effective_n_threads(n_jobs: int | None = None, operations: float = np.inf) -> int:
    """Number of threads for ``n_jobs`` in scikit-learn's convention, for a call of so many operations.

    ``None`` means all cores that the affinity mask and the container allow, unless ``OMP_NUM_THREADS`` (which
    joblib sets in its worker processes) or ``threadpoolctl.threadpool_limits`` sets a lower limit. Inside a worker
    thread of joblib it means one, because the other workers use the other cores. Negative numbers count as in joblib:
    -1 means all cores, -2 all but one.
    """
    if n_jobs is not None:
        if not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0:
            raise ValueError(f"n_jobs must be None or a non-zero integer, got {n_jobs!r}.")
        return max(1, cpu_count() + 1 + int(n_jobs)) if n_jobs < 0 else min(int(n_jobs), _MOST_THREADS)
    if operations < _WORTH_A_THREAD or _is_joblib_worker_thread():
        return 1
    cores = cpu_count()
    limits = [cores, compiled.thread_limit() or cores]
    environment = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if environment.isdigit():
        limits.append(int(environment))
    return max(1, min(limits))


def _is_joblib_worker_thread() -> bool:
    backend, _ = get_active_backend()
    nested = (getattr(backend, "nesting_level", 0) or 0) > 0
    return nested and multiprocessing.parent_process() is None


class _CoreController(threadpoolctl.LibController):
    """Lets ``threadpoolctl`` read and set the thread limit of the compiled core."""

    user_api = "spectralcls"
    internal_api = "spectralcls"
    filename_prefixes = ("_bindings.",)
    check_symbols = ("spectralcls_get_num_threads", "spectralcls_set_num_threads")

    def get_num_threads(self) -> int:
        return self.dynlib.spectralcls_get_num_threads()

    def set_num_threads(self, num_threads: int) -> None:
        self.dynlib.spectralcls_set_num_threads(num_threads)

    def get_version(self) -> None:
        return None


threadpoolctl.register(_CoreController)
