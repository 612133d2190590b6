"""Calls of one function on all processors."""

import time

from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky.process_executor import TerminatedWorkerError

from .errors import CommandError

_PATIENCE = 0.25  # seconds of work after which it pays to start processes, which import for a second


def as_they_come(function, tasks, processes, step):
    """Pairs of a task's name and what ``function`` returns for its arguments, in no certain order.

    Processes beside this one have one thread for BLAS, OpenMP and the core. Work that is soon done starts none.

    Parameters
    ----------
    function : callable
    tasks : iterable of (name, arguments)
        Taken a few at a time.
    processes : int
        How many work at a time.
    step : callable
        Told each task's name: when it begins in this process, when it has ended in another.

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
    calls = (delayed(_named)(name, function, arguments) for name, arguments in tasks)
    try:
        with parallel_config("loky", inner_max_num_threads=1):
            for name, result in Parallel(processes, return_as="generator_unordered", batch_size=1)(calls):
                step(name)
                yield name, result
    except TerminatedWorkerError:
        raise CommandError(
            "a process that fitted classifiers was killed, perhaps for want of memory: "
            "--n-jobs 1 runs all in one process, one after the other"
        ) from None


def _named(name, function, arguments):
    return name, function(*arguments)
