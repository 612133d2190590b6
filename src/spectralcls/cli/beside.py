"""Calls of one function on all processors: some in this process, the others in processes beside it."""

import signal
import threading
import time
from collections import deque
from contextlib import contextmanager, suppress
from functools import partial
from queue import SimpleQueue

from joblib.externals.loky import get_reusable_executor
from joblib.externals.loky.process_executor import BrokenProcessPool

from .errors import CommandError

_PATIENCE = 0.25  # seconds of work after which it pays to start processes, which import for a second
_AHEAD = 2  # tasks that a process has been given: the next is there when one ends
_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)


def as_they_come(function, tasks, processes, step):
    """Pairs of a task's name and what ``function`` returns for its arguments, in no certain order.

    A process that is started has one thread for BLAS, OpenMP and the core. Work that is soon done starts none.

    Parameters
    ----------
    function : callable
    tasks : iterable of (name, arguments)
        Taken one by one as long as this process is alone.
    processes : int
        How many work at a time, this one included.
    step : callable
        Told each task's name: when it begins, if this process does it, and when it has ended otherwise.

    Yields
    ------
    name, result

    Raises
    ------
    CommandError
        If a process was killed.
    """
    tasks, start = iter(tasks), time.perf_counter()
    for name, arguments in tasks:
        step(name)
        yield name, function(*arguments)
        if processes > 1 and time.perf_counter() - start > _PATIENCE:
            break
    left, ended = deque(tasks), SimpleQueue()
    n_left = len(left)
    if not left:
        return
    executor = get_reusable_executor(processes - 1, env=_ONE_THREAD)

    def next_task():
        with suppress(IndexError):
            return left.popleft()

    def hand_over():
        if task := next_task():
            name, arguments = task
            executor.submit(function, *arguments).add_done_callback(partial(handed_back, name))

    def handed_back(name, future):
        if future.exception() is None:
            hand_over()
        ended.put((name, future))

    try:
        with _no_interrupts():
            for _ in range(_AHEAD * (processes - 1)):
                hand_over()
        while n_left:
            if own := next_task():
                name, arguments = own
                step(name)
                yield name, function(*arguments)
                n_left -= 1
            while n_left and not (own and ended.empty()):
                name, future = ended.get()
                step(name)
                yield name, future.result()
                n_left -= 1
    except BrokenProcessPool:
        raise CommandError(
            "a process that fitted classifiers was killed, perhaps for want of memory: "
            "--n-jobs 1 runs all in one process, one after the other"
        ) from None
    finally:
        left.clear()
        executor.shutdown(kill_workers=True)  # nothing is running but after Ctrl-C, or another's failure


@contextmanager
def _no_interrupts():
    """Processes that are started in it do not hear Ctrl-C: this one does, and ends them."""
    if threading.current_thread() is not threading.main_thread():  # which has no say in signals
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
