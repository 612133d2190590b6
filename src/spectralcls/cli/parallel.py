"""Parallel calls of one function on all processors."""

import time

from .errors import CommandError

_PATIENCE = 2  # seconds of work before processes are started, whose imports take as long


def imap_unordered(function, tasks, processes, step):
    """Yield pairs of a task's name and the result of ``function`` for its arguments, in any order.

    Child processes use one thread for BLAS, OpenMP and the core, and end with the generator. Short work starts no
    processes.

    Parameters
    ----------
    function : callable
    tasks : iterable of (name, arguments)
        Consumed a few at a time.
    processes : int
        Number of processes at a time.
    step : callable
        Called with each task's name, before a task in this process and after a task in another.

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
    else:
        return
    from joblib import Parallel, delayed, parallel_config
    from joblib.externals.loky import get_reusable_executor
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    calls = (delayed(_named)(name, function, arguments) for name, arguments in tasks)
    ended = False
    try:
        with parallel_config("loky", inner_max_num_threads=1):
            for name, result in Parallel(processes, return_as="generator_unordered", batch_size=1)(calls):
                step(name)
                yield name, result
        ended = True
    except TerminatedWorkerError:
        raise CommandError(
            "a process that fitted classifiers was killed, perhaps for lack of memory: "
            "--n-jobs 1 runs all in one process, one after the other"
        ) from None
    finally:
        if not ended:
            get_reusable_executor().shutdown(wait=False, kill_workers=True)


def _named(name, function, arguments):
    return name, function(*arguments)
