"""Measurement of functions in turns in one process, on equal numbers of threads, with fixed costs separated and results
compared.

A *turn* calls every function once, in an order that is reversed from turn to turn. A figure is the median over the
turns, and a ratio is the median of the turns' ratios; the spread is half the distance between the quartiles. On one
thread, seconds are processor seconds, added over all threads of the process, which other work on the machine disturbs
little. On more threads they are seconds on the clock.
"""

import gc
import os
import re
import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats
from threadpoolctl import threadpool_info, threadpool_limits

from spectralcls._core import compiled
from spectralcls._core.threads import effective_n_threads

QUICK = bool(os.environ.get("SPECTRALCLS_BENCH_QUICK"))  # checks that everything runs; figures are not kept
SETTLE = 0.1  # seconds, because threads of the previous function (OpenBLAS, OpenMP) wait busily for more work
SHORTEST = 2e-3  # seconds: a faster call is repeated within its turn
WARM = 1.0  # seconds: a first call that takes less is not counted
FULL = 4e9  # pairs; smaller problems are measured in full
LEAST = 5000  # queries; smaller problems are measured in full, too


def peer(name):
    """An installed peer; the bench is skipped without it."""
    return pytest.importorskip(name, exc_type=ImportError)


class Timing(NamedTuple):
    """Seconds of one function over the turns."""

    median: float
    least: float
    turns: tuple
    fixed: float = 0.0  # seconds that do not depend on the number of queries
    sampled: str = "in full"


@dataclass(frozen=True)
class Queries:
    """A function of the number of queries, to be timed for `m` queries against `n` points.

    `prepare` makes a second argument outside the timing. Up to `full` pairs, all queries run. Otherwise every turn runs
    two smaller numbers of queries; the time of all queries is extrapolated linearly, with the fixed time counted
    once."""

    call: object
    m: int
    n: int
    full: float = FULL
    prepare: object = None

    @property
    def sizes(self):
        large = max(LEAST, int(self.full / self.n))
        return (self.m,) if large >= self.m else (large // 8, large)

    def timing(self, seconds):
        """`seconds` : a tuple for each turn, one number for each size."""
        if len(self.sizes) == 1:
            return _timing([taken[0] for taken in seconds])
        (few, many), (first, second) = self.sizes, np.transpose(seconds)
        slope = np.maximum((second - first) / (many - few), 0)
        fixed = np.maximum(first - slope * few, 0)
        words = f"from {few} and {many} queries"
        return _timing(np.maximum(second, fixed + slope * self.m), float(np.median(fixed)), words)


def _timing(turns, *more):
    turns = tuple(map(float, turns))
    return Timing(float(np.median(turns)), min(turns), turns, *more)


@contextmanager
def pruning(way):
    """Let sums and neighbors prune "never", "always" or, as by default, if samples favor it ("sampled"). The grid
    counts as pruning.
    """
    compiled.set_pruning(way)
    try:
        yield
    finally:
        compiled.set_pruning("sampled")


@contextmanager
def limited_threads(count):
    """Limit all loaded libraries to `count` threads."""
    torch, numba, faiss = (sys.modules.get(name) for name in ("torch", "numba", "faiss"))
    if torch:
        torch.set_num_threads(count)
    if numba:
        numba.set_num_threads(min(count, numba.config.NUMBA_NUM_THREADS))
    if faiss:
        faiss.omp_set_num_threads(count)
    with threadpool_limits(count):
        assert effective_n_threads() == count, f"{count} threads are wanted, {effective_n_threads()} are there"
        too_many = [pool["prefix"] for pool in threadpool_info() if pool["num_threads"] > count]
        assert not too_many, f"{too_many} use more than {count} threads"
        yield


def side_by_side(functions, repeats=7, budget=60.0, threads=None):
    """Timings of functions that run in turns, and the last result of each.

    Parameters
    ----------
    functions : dict of callables without arguments, or of `Queries`
    repeats : int
        Maximum number of turns.
    budget : float
        Seconds. A function that has used up its equal share runs no further turn, but each function runs at least once.
    threads : int, default=None
        Threads of all libraries; 1 measures processor time. None changes nothing and measures time on the clock.

    Returns
    -------
    timings : dict of name to Timing
    results : dict of name to result
    """
    if QUICK:
        repeats, budget = min(repeats, 2), min(budget, 5.0)
    work = {name: f if isinstance(f, Queries) else Queries(lambda _, f=f: f(), 1, 1) for name, f in functions.items()}
    now = time.process_time if threads == 1 else time.perf_counter
    seconds, results, times, spent = {name: [] for name in work}, {}, dict.fromkeys(work), dict.fromkeys(work, 0.0)
    with limited_threads(threads or effective_n_threads()):
        for turn in range(repeats + 1):  # the first turn warms up fast functions
            most = {name: 1 if spent[name] > budget / len(work) else repeats for name in work}
            due = [name for name in work if len(seconds[name]) < most[name]]
            for name in due[:: 1 if turn % 2 else -1]:
                begun = time.perf_counter()
                taken, results[name], times[name] = _turn(work[name], times[name], now, 0 if threads == 1 else SETTLE)
                spent[name] += time.perf_counter() - begun
                if turn or sum(taken) > WARM:
                    seconds[name].append(taken)
    return {name: work[name].timing(seconds[name]) for name in work}, {name: results[name] for name in work}


def _turn(work, times, now, settle):
    """Seconds of a call for each of its sizes, the last result, and the number of repetitions in the next turn."""
    taken = []
    for size in work.sizes:
        time.sleep(settle)
        spent = 0.0
        for _ in range(times or 1):
            arguments = (size,) if work.prepare is None else (size, work.prepare())
            begin = now()
            result = work.call(*arguments)
            spent += now() - begin
        taken.append(spent / (times or 1))
    return tuple(taken), result, times or int(np.clip(SHORTEST / max(taken[0], 1e-9), 1, 10_000))


def compare(functions, *, threads=1, repeats=7, budget=60.0, rtol=None, atol=0.0, answer=np.asarray):
    """A row of a table: seconds of the first function, and how many times as long the others take.

    With `rtol`, every ``answer(result)`` must agree with the first one, over their common length. Returns the row and
    the results.
    """
    timings, results = side_by_side(functions, repeats, budget, threads)
    ours, *others = functions
    row = {"threads": threads, "turns": min(len(timing.turns) for timing in timings.values())}
    row |= {f"{ours}, s": spread(timings[ours].turns)}
    row |= {f"x {name}": ratio(timings[name], timings[ours]) for name in others}
    if sampled := {timing.sampled for timing in timings.values()} - {"in full"}:
        row["extrapolated"] = ", ".join(sorted(sampled))
    if rtol is not None:
        expected = answer(results[ours])
        for name in others:
            found = answer(results[name])
            shared = min(len(found), len(expected))
            np.testing.assert_allclose(found[:shared], expected[:shared], rtol=rtol, atol=atol, err_msg=name)
        row["answers agree to"] = rtol or atol
    return row, results


def spread(values):
    """The median, and half the distance between the quartiles."""
    low, median, high = np.percentile(values, (25, 50, 75))
    return {"median": float(median), "spread": float(high - low) / 2}


def ratio(theirs, ours):
    """The ratio of two timings, turn by turn."""
    count = min(len(theirs.turns), len(ours.turns))
    return spread(np.divide(theirs.turns[-count:], ours.turns[-count:]))


def half_interval(differences, level=0.95):
    """Half the width of the interval of the mean of differences."""
    count = len(differences)
    return stats.t.ppf((1 + level) / 2, count - 1) * stats.sem(differences) if count > 1 else np.inf


def paired(differences, level=0.95):
    """Mean of paired differences over data sets with its interval, their median, and Wilcoxon's p-value."""
    differences = np.asarray(differences, dtype=float)
    count = len(differences)
    p = stats.wilcoxon(differences).pvalue if np.any(differences) else 1.0
    return {
        "sets": count,
        "mean": float(differences.mean()),
        f"{100 * level:.0f} % interval": f"± {half_interval(differences, level):.1f}",
        "median": float(np.median(differences)),
        "p (Wilcoxon)": float(p),
    }


def by_method(rows, key):
    """Names of the tables on which all methods were run, and {method: values on these tables}."""
    methods = list(dict.fromkeys(row["method"] for row in rows))
    found = {(row["method"], row["name"]): row.get(key, np.nan) for row in rows}
    names = [name for name in dict.fromkeys(row["name"] for row in rows) if all((m, name) in found for m in methods)]
    return names, {method: np.array([found[method, name] for name in names]) for method in methods}


def processor_seconds(function, *args, **kwargs):
    """The result of one call, and its processor seconds over all threads and child processes."""

    def now():
        used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return sum(u.ru_utime + u.ru_stime for u in used)

    start = now()
    result = function(*args, **kwargs)
    return result, now() - start


def within(seconds, gib, function, *args):
    """The result of a call in a child process of one thread, or the limit that it exceeded, of processor time or
    memory.
    """
    with ProcessPoolExecutor(1, get_context("spawn"), _limit, (seconds, gib)) as child:
        try:
            return child.submit(_alone, function, *args).result()
        except BrokenProcessPool:
            return f"> {seconds} s"
        except (MemoryError, RuntimeError) as error:  # of NumPy, of PyTorch
            if "memory" not in repr(error).lower():
                raise
            return f"> {gib} GiB"


def _limit(seconds, gib):
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time() + seconds + 1),) * 2)
    resource.setrlimit(resource.RLIMIT_DATA, (int(gib * 2**30),) * 2)


def _alone(function, *args):
    with limited_threads(1):
        return function(*args)


def peak_gib():
    """Largest resident size that this process has had, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def gib_beyond(function):
    """Result of a call, and the largest increase of the resident size during it, in GiB (Linux)."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # resets the largest size so far
    before = _resident("VmRSS")
    result = function()
    return result, (_resident("VmHWM") - before) / 2**20


def _resident(field):
    return int(re.search(rf"{field}:\s*(\d+) kB", Path("/proc/self/status").read_text())[1])
