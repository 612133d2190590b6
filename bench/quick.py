"""Seconds, not minutes: did something become half as slow again? ``pytest bench/quick.py`` runs for every change.

Every case is timed in turns with the machine's own rate of multiply-adds on one thread, and compared by the share of it
that it reaches. Shares hardly depend on the machine's clock or load. Those that are expected are in ``quick.json``, for
each model of processor and each instruction set, and ``python -m bench.quick`` adds those of a machine. On a
processor that was not measured a case fails only if it is far off all that were.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from bench.record import processor
from spectralcls._core import compiled
from spectralcls.kernels import kernel_matrix, kernel_sums
from spectralcls.neighbors import knn

EXPECTED = Path(__file__).with_name("quick.json")
SLOWER, SLOWER_ELSEWHERE = 1.5, 4.0
ATTEMPTS = 6  # a busy machine gets more chances before a slow case counts
TURNS = 7


def points(n, d, dtype):
    return np.random.default_rng(0).normal(size=(n, d)).astype(dtype)


def sums(n, d, dtype, **more):
    X = points(n, d, dtype)
    return dtype, n * n * d, lambda: kernel_sums(X, X, bandwidth=0.35 * np.sqrt(d), n_jobs=1, **more)


def matrix(n, d, dtype):
    X = points(n, d, dtype)
    return dtype, n * n * d, lambda: kernel_matrix(X, X, bandwidth=1.0, n_jobs=1)


def neighbors(n, d, dtype):
    X = points(n, d, dtype)
    return dtype, n * n * d, lambda: knn(X, X, 10, n_jobs=1)


LABELS = np.random.default_rng(1).integers(0, 3, 2000)
CASES = {
    "class sums, float32, d = 2": lambda: sums(2000, 2, "float32", labels=LABELS),
    "class sums, float32, d = 16": lambda: sums(2000, 16, "float32", labels=LABELS),
    "class sums, float32, d = 200": lambda: sums(1000, 200, "float32", labels=LABELS[:1000]),
    "class sums, float64, d = 16": lambda: sums(2000, 16, "float64", labels=LABELS),
    "log sums, float64, d = 4": lambda: sums(1500, 4, "float64", log=True),
    "weighted sums, 16 columns": lambda: sums(1500, 8, "float32", weights=np.ones((1500, 16), dtype="float32")),
    "kernel matrix, float64, d = 16": lambda: matrix(400, 16, "float64"),
    "neighbors, float32, d = 32": lambda: neighbors(2000, 32, "float32"),
}


def share(case):
    """Multiply-adds of the distances alone, over those that the machine does in the time the case takes."""
    dtype, multiply_adds, function = CASES[case]()
    rates, seconds = [], []
    function()
    for _ in range(TURNS):
        rates.append(compiled.multiply_add_rate(np.dtype(dtype), 0.005, 1) * compiled.lanes(np.dtype(dtype)))
        begin = time.thread_time()  # others may take the processor in between
        function()
        seconds.append(time.thread_time() - begin)
    return multiply_adds / min(seconds) / max(rates)


@pytest.mark.parametrize("case", CASES)
def test_no_case_is_slower_than_expected(case):
    stored, variant = json.loads(EXPECTED.read_text(encoding="utf-8")), compiled.build_info()["variant"]
    if variant in stored.get(processor(), {}):
        expected = stored[processor()][variant][case] / SLOWER
    else:
        expected = min(shares[case] for machine in stored.values() for shares in machine.values()) / SLOWER_ELSEWHERE
    best = 0.0
    for _ in range(ATTEMPTS):
        best = max(best, share(case))
        if best >= expected:
            return
    pytest.fail(f"{case}: reaches {best:.3f} of the machine's multiply-adds; {expected:.3f} is the least allowed.")


def main():
    stored = json.loads(EXPECTED.read_text(encoding="utf-8")) if EXPECTED.exists() else {}
    shares = {case: round(max(share(case) for _ in range(ATTEMPTS)), 4) for case in CASES}
    stored.setdefault(processor(), {})[compiled.build_info()["variant"]] = shares
    EXPECTED.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
