"""How many threads a call of the core uses, and how threadpoolctl limits them."""

import multiprocessing
import os
from functools import cache
from numbers import Integral

import joblib
import threadpoolctl
from joblib.parallel import get_active_backend

from ._core import compiled

cpu_count = cache(joblib.cpu_count)  # reads the affinity mask and the container's quota: a tenth of a millisecond
_controller = cache(threadpoolctl.ThreadpoolController)  # looks through all libraries: milliseconds


def serial_blas():
    """A context in which BLAS uses the calling thread alone.

    For small products between calls of the core: the threads of BLAS go on waiting busily for more work, on the
    processors that the core's threads need next.
    """
    return _controller().limit(limits=1, user_api="blas")


def effective_n_threads(n_jobs=None):
    """Threads for ``n_jobs`` in scikit-learn's convention.

    ``None`` means all cores that the affinity mask and the container allow, unless ``OMP_NUM_THREADS`` (which
    joblib sets in its worker processes) or ``threadpoolctl.threadpool_limits`` says less; inside a worker thread of
    joblib it means one, because its siblings use the other cores. Negative counts are joblib's: -1 is all cores,
    -2 all but one.
    """
    cores = cpu_count()
    if n_jobs is not None:
        if not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0:
            raise ValueError(f"n_jobs must be None or a non-zero integer, got {n_jobs!r}.")
        return max(1, cores + 1 + int(n_jobs)) if n_jobs < 0 else int(n_jobs)
    if _is_joblib_worker_thread():
        return 1
    limits = [cores, compiled.thread_limit() or cores]
    environment = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if environment.isdigit():
        limits.append(int(environment))
    return max(1, min(limits))


def _is_joblib_worker_thread():
    backend, _ = get_active_backend()
    nested = (getattr(backend, "nesting_level", 0) or 0) > 0
    return nested and multiprocessing.parent_process() is None


class _CoreController(threadpoolctl.LibController):
    """Makes ``threadpoolctl`` see the compiled core as a library with a thread pool of its own."""

    user_api = "spectralcls"
    internal_api = "spectralcls"
    filename_prefixes = ("_baseline.", "_avx2.", "_avx512.")
    check_symbols = ("spectralcls_get_num_threads", "spectralcls_set_num_threads")

    def get_num_threads(self):
        return self.dynlib.spectralcls_get_num_threads()

    def set_num_threads(self, num_threads):
        self.dynlib.spectralcls_set_num_threads(num_threads)

    def get_version(self):
        return None


threadpoolctl.register(_CoreController)
