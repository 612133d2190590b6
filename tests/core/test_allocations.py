"""No allocation in the hot loops: a call allocates for chunks and at most for queries, never for pairs.

A library that counts (``count_allocations.c``) is loaded ahead of the C library, in a child process.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

COMPILER = shutil.which("cc")
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="needs LD_PRELOAD and glibc"),
    pytest.mark.skipif(COMPILER is None, reason="needs a C compiler"),
]
CHILD = """
import ctypes, sys
import numpy as np
from spectralcls.kernels import kernel_matrix, kernel_sums
from spectralcls.neighbors import knn

so_far = ctypes.CDLL(None).allocations_so_far
so_far.restype = ctypes.c_size_t

def calls(n, d):
    X = np.random.default_rng(0).normal(size=(n, d))
    labels, weights, out = np.arange(n) % 3, np.ones((n, 4)), np.empty((n, n))
    yield lambda: kernel_sums(X, X, labels=labels, bandwidth=1.0, n_jobs=1)
    yield lambda: kernel_sums(X, X, weights=weights, bandwidth=[0.5, 1.0, 2.0], log=False, n_jobs=1)
    yield lambda: kernel_sums(X, X, bandwidth=1.0, log=True, n_jobs=1)
    yield lambda: kernel_matrix(X, X, bandwidth=1.0, out=out, n_jobs=1)
    yield lambda: knn(X, X, 5, algorithm="brute", n_jobs=1)

def count(call):
    call()
    before = so_far()
    call()
    return so_far() - before

for d in (2, 20):
    print(*map(count, calls(500, d)), *map(count, calls(3000, d)))
"""


@pytest.fixture(scope="module")
def counter(tmp_path_factory):
    library = tmp_path_factory.mktemp("counter") / "count_allocations.so"
    source = Path(__file__).with_name("count_allocations.c")
    subprocess.run([COMPILER, "-O1", "-fPIC", "-shared", source, "-o", library], check=True)
    return library


def test_36_times_the_pairs_are_not_36_times_the_allocations(counter):
    run = subprocess.run(
        [sys.executable, "-c", CHILD],
        env=os.environ | {"LD_PRELOAD": str(counter)},
        check=True,
        capture_output=True,
        text=True,
    )
    for line in run.stdout.splitlines():
        counts = [int(word) for word in line.split()]
        few, many = counts[:5], counts[5:]
        assert min(few) > 0  # the library counts
        assert all(b <= 15 * a for a, b in zip(few, many, strict=True)), (few, many)
