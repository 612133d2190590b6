"""The first call with PackedPoints packs them. Whatever stops or disturbs it, the next call answers."""

import json
import os
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.any_variant,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs forks, timers and limits of memory"),
]

# Points that `layout` packs in their first call, which takes a while, and a call whose answer is that of fresh points.
SETUP = """
import json, os, resource, signal, sys, threading, time, warnings
import numpy as np
from spectralcls.kernels import PackedPoints, kernel_sums
warnings.simplefilter("ignore")
layout = sys.argv[1]
rng = np.random.default_rng(0)
n, d, h = {"pairs": (50_000, 40, 3.0), "pruning": (100_000, 6, 0.05)}[layout]
X = rng.normal(size=(n, d))
Q = X[:300].copy()
near = dict(bandwidth=h, rtol=1e-3 if layout == "pruning" else 0.0)
def answer(points, n_jobs=2):
    return kernel_sums(Q, points, n_jobs=n_jobs, **near)
began = time.perf_counter()
expected = answer(PackedPoints(X))
took = time.perf_counter() - began
"""


# Whether each of 8 interrupts came, how each of 6 forked children ended, and how many of 12 calls lacked memory.
CALLS = """
signal.signal(signal.SIGALRM, signal.default_int_handler)
interrupted = []
for share in np.linspace(0.02, 0.9, 8):
    points = PackedPoints(X)
    try:
        signal.setitimer(signal.ITIMER_REAL, share * took)
        answer(points)
        time.sleep(took)
    except KeyboardInterrupt:
        interrupted.append(share)
    signal.setitimer(signal.ITIMER_REAL, 0)
    np.testing.assert_array_equal(answer(points), expected)
signal.signal(signal.SIGALRM, signal.SIG_DFL)

states = []
for share in np.linspace(0.02, 0.9, 6):
    points = PackedPoints(X)
    points.core()
    thread = threading.Thread(target=answer, args=(points,))
    thread.start()
    time.sleep(share * took)
    child = os.fork()
    if not child:
        signal.alarm(60)
        os._exit(0 if np.array_equal(answer(points), expected) else 1)
    states.append(os.waitpid(child, 0)[1])
    thread.join()
    np.testing.assert_array_equal(answer(points), expected)

failed = 0
for share in (0.02, 0.1, 0.3, 0.6, 0.9, 1.2):
    points = PackedPoints(X)
    for attempt in range(2):
        in_use = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (in_use + int(share * X.nbytes), resource.RLIM_INFINITY))
        try:
            answer(points, n_jobs=1)
        except MemoryError:
            failed += 1
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    np.testing.assert_array_equal(answer(points), expected)
print(json.dumps([len(interrupted), states, failed]))
"""


@pytest.mark.parametrize("layout", ["pairs", "pruning"])
def test_interrupted_forked_and_out_of_memory_at_any_time(layout):
    """A forked child has points that are half packed, and no thread that would finish."""
    command = [sys.executable, "-c", SETUP + CALLS, layout]
    # Without arenas for threads, and memory returned when it is freed, what a call asks for is counted at once.
    environment = {**os.environ, "MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "100000"}
    run = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert run.returncode == 0, run.stderr
    interrupted, states, failed = json.loads(run.stdout)
    assert interrupted == 8
    assert states == [0] * 6
    assert failed >= 4  # both attempts of the smaller limits at least
