"""How many threads a call of the core uses."""

import os

from joblib import cpu_count
from joblib.parallel import get_active_backend

from ._core import compiled


def effective_n_threads(n_jobs=None):
    """Threads for ``n_jobs`` in scikit-learn's convention, never more than the process may use.

    ``None`` means all cores that the affinity mask and the container allow, unless ``OMP_NUM_THREADS`` or
    ``threadpoolctl.threadpool_limits`` says less, or an active ``joblib`` context has given the cores to its
    own workers. Negative counts are read as in joblib: -1 is all cores, -2 all but one.
    """
    cores = cpu_count()
    if n_jobs is not None:
        if not isinstance(n_jobs, (int,)) or isinstance(n_jobs, bool) or n_jobs == 0:
            raise ValueError(f"n_jobs must be None or a non-zero integer, got {n_jobs!r}.")
        return max(1, cores + 1 + n_jobs) if n_jobs < 0 else n_jobs
    limit = compiled.thread_limit() or cores
    environment = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    if environment.isdigit() and int(environment) > 0:
        limit = min(limit, int(environment))
    backend, workers = get_active_backend()
    if getattr(backend, "nesting_level", 0) or 0:
        # Inside a joblib worker thread: its siblings use the other cores.
        return max(1, min(limit, cores // max(1, _siblings(backend, workers))))
    return max(1, min(limit, cores))


def _siblings(backend, workers):
    return cpu_count() if backend.supports_sharedmem else max(workers or 1, 1)
