"""How everything here is measured: side by side, interleaved, against the machine's own limit."""

import gc
import re
import resource
import time
import tracemalloc
from functools import cache
from pathlib import Path

import numpy as np

from spectralcls._core import compiled

SETTLE = 0.1  # seconds: the threads of whoever ran before (OpenBLAS, OpenMP) wait busily for more work
EXPONENTIAL_SLOTS = {"float32": 12, "float64": 18}


@cache
def multiply_add_rate(dtype, threads):
    """Vector multiply-adds a second that this machine reaches with the variant in use."""
    return compiled.multiply_add_rate(np.dtype(dtype), 0.5, threads)


def slots(d, dtype, *, exponentials=1, squarings=0, columns=1):
    """Multiply-add slots that a pair needs: the distance, the exponentials, squarings, and a further slot for each
    column beyond the first (the first is in the exponential's count)."""
    return d + EXPONENTIAL_SLOTS[np.dtype(dtype).name] * exponentials + squarings + columns - 1


def limit(pair_slots, dtype, threads):
    """Pairs a second at the machine's limit."""
    dtype = np.dtype(dtype).name
    return multiply_add_rate(dtype, threads) * compiled.lanes(np.dtype(dtype)) / pair_slots


def side_by_side(functions, repeats=5, budget=60.0):
    """Median and least seconds of each function, run in turns so that all see the same machine.

    Parameters
    ----------
    functions : dict of callables without arguments
    repeats : int
        Turns at most.
    budget : float
        No further turn once this many seconds have gone by; each function runs at least once.

    Returns
    -------
    times : dict of name to (median, least)
    results : dict of name to the last result
    """
    samples, results = {name: [] for name in functions}, {}
    start = time.perf_counter()
    for turn in range(repeats):
        if turn and time.perf_counter() - start > budget:
            break
        for name, function in functions.items():
            time.sleep(SETTLE)
            begin = time.perf_counter()
            results[name] = function()
            samples[name].append(time.perf_counter() - begin)
    return {name: (float(np.median(taken)), min(taken)) for name, taken in samples.items()}, results


def processor_seconds(function, *args, repeats=1, **kwargs):
    """The last result of some calls, and the median of their processor seconds over all threads."""
    taken = []
    for _ in range(repeats):
        start = time.process_time()
        result = function(*args, **kwargs)
        taken.append(time.process_time() - start)
    return result, float(np.median(taken))


def timed(function, *args, repeats=1, **kwargs):
    """The last result of some calls, and the least of their seconds."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        result = function(*args, **kwargs)
        best = min(best, time.perf_counter() - start)
    return result, best


def peak_bytes(function, *args, **kwargs):
    """Memory that NumPy arrays take at the peak of a call, beyond what there was."""
    tracemalloc.start()
    function(*args, **kwargs)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def peak_gib():
    """Largest resident size that this process has had, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def gib_beyond(function):
    """Result of a call, and by how much the resident size rose above that before it, in GiB (Linux)."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # the largest size so far starts anew
    before = _resident("VmRSS")
    result = function()
    return result, (_resident("VmHWM") - before) / 2**20


def _resident(field):
    return int(re.search(rf"{field}:\s*(\d+) kB", Path("/proc/self/status").read_text())[1])
