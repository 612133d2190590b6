"""Calls of the core that bench/core.py compares between two checkouts.

``python core_cases.py`` reads names and prints seconds. It runs against whichever spectralcls is on the path, so
it uses only what both sides have.
"""

import ctypes
import sys
import time
from functools import partial

import numpy as np
import scipy.sparse as sp

from spectralcls.kernels import kernel_matrix, kernel_sums
from spectralcls.linalg import KernelOperator, top_eigenpairs
from spectralcls.neighbors import knn, reverse_knn

CASES = {}


def case(name, *arguments):
    def register(make):
        CASES[name.format(*arguments)] = partial(make, *arguments)
        return make

    return register


def normal(n, d, dtype="float32", seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)).astype(dtype)


def classes(n, count=3):
    return np.random.default_rng(1).integers(0, count, n)


def class_sums(d, dtype, n=3000, **options):
    X = normal(n, d, dtype)
    options = dict(bandwidth=0.35 * np.sqrt(d), n_jobs=1) | options
    return lambda: kernel_sums(X, X, labels=classes(n), **options)


for dtype in ("float32", "float64"):
    for d in (2, 3, 4, 8, 16, 64, 256):
        case("class sums, {1}, d = {0}", d, dtype)(class_sums)
    case("logarithms of class sums, {1}, d = {0}", 16, dtype)(partial(class_sums, log=True))
    case("class sums of a compact kernel, {1}, d = {0}", 8, dtype)(partial(class_sums, kernel="epanechnikov"))
    case("16 bandwidths, {1}, d = {0}", 16, dtype)(
        partial(class_sums, bandwidth=2.0 ** (np.arange(16) / 2 - 3), log=True)
    )


@case("weights in {} columns, {}", 1, "float32")
@case("weights in {} columns, {}", 4, "float32")
@case("weights in {} columns, {}", 32, "float32")
@case("weights in {} columns, {}", 32, "float64")
def weighted_sums(columns, dtype):
    X, W = normal(2500, 16, dtype), normal(2500, columns, dtype, 1)
    return lambda: kernel_sums(X, X, weights=W, bandwidth=1.4, n_jobs=1)


@case("held-out folds of {} points, 16 bandwidths, {}", 1500, "float32")
@case("held-out folds of {} points, 16 bandwidths, {}", 1500, "float64")
@case("held-out folds of {} points, 16 bandwidths, {}", 4500, "float32")
def folds(n, dtype):
    X, groups = normal(n, 16, dtype), np.random.default_rng(2).integers(0, 5, n)
    grid = 2.0 ** (np.arange(16) / 3 - 2)
    return lambda: kernel_sums(
        X, X, labels=classes(n), exclude_groups=(groups, groups), bandwidth=grid, log=True, n_jobs=1
    )


@case("sums within 1e-6, d = 2")
def tolerance_sums():
    X = normal(30_000, 2, "float64")
    return lambda: kernel_sums(X, X, bandwidth=0.2, rtol=1e-6, n_jobs=1)


@case("kernel matrix, {}, {}", "float32", "symmetric")
@case("kernel matrix, {}, {}", "float32", "rectangular")
@case("kernel matrix, {}, {}", "float64", "symmetric")
@case("kernel matrix, {}, {}", "float64", "rectangular")
def matrix(dtype, form):
    X = normal(2500, 16, dtype)
    out = np.zeros((2500, 2500), dtype)
    return lambda: kernel_matrix(X, None if form == "symmetric" else X.copy(), bandwidth=1.4, out=out, n_jobs=1)


for dtype in ("float32", "float64"):
    for d in (4, 16, 64):

        @case("10 nearest neighbors, {1}, d = {0}", d, dtype)
        def nearest(d, dtype, n=4000):
            X = normal(n, d, dtype)
            return lambda: knn(X, X, 10, algorithm="brute", n_jobs=1)


case("10 nearest neighbors of 12000 points, {1}, d = {0}", 4, "float64")(partial(nearest, n=12_000))


@case("reverse neighbors, {}", "float32")
@case("reverse neighbors, {}", "float64")
def reverse(dtype):
    X = normal(4000, 8, dtype)
    return lambda: reverse_knn(X, X, np.full(4000, 1.0, dtype), n_jobs=1)


@case("eigenpairs, dense, {}", "float32")
@case("eigenpairs, dense, {}", "float64")
def dense_pairs(dtype):
    K = kernel_matrix(normal(1500, 8, dtype), bandwidth=2.0, n_jobs=1)
    return lambda: top_eigenpairs(K, 10, solver="lanczos", n_jobs=1)


@case("eigenpairs, sparse, {}", "float64")
def sparse_pairs(dtype):
    rng = np.random.default_rng(0)
    A = sp.random_array((20_000, 20_000), density=5e-4, rng=rng, format="csr", dtype=dtype)
    A = sp.csr_array(A + A.T)
    return lambda: top_eigenpairs(A, 6, tol=1e-4, n_jobs=1)


@case("eigenpairs, kernel of {} points, {}", 1200, "float32")
@case("eigenpairs, kernel of {} points, {}", 5000, "float32")
@case("eigenpairs, kernel of {} points, {}", 5000, "float64")
def kernel_pairs(n, dtype):
    X = normal(n, 16, dtype)
    return lambda: top_eigenpairs(
        KernelOperator(X, bandwidth=2.5, normalization="sum", n_jobs=1), 10, tol=1e-4, n_jobs=1
    )


@case("one row against {} points", 10_000)
@case("one row against {} points", 100_000)
def one_row(n):
    from spectralcls.kernel_mean import ParzenClassifier

    raw = {"scale": None} if "scale" in ParzenClassifier().get_params() else {}  # older commits do not know it
    model = ParzenClassifier(bandwidth=1.4, n_jobs=1, **raw).fit(normal(n, 16), classes(n))
    row = normal(1, 16, seed=3)
    return lambda: model.predict(row)


def fused_loop(library, d, n=6400):
    """A plain loop over queries and points that keeps everything in registers (bench/fused_loop.cpp)."""
    loop = ctypes.CDLL(library).fused_loop
    X = normal(n, d)
    features, sums = np.ascontiguousarray(X.T), np.empty(n, np.float32)
    floats = np.ctypeslib.ndpointer(np.float32, flags="C")
    loop.argtypes = [ctypes.c_int, floats, ctypes.c_size_t, floats, ctypes.c_size_t, ctypes.c_float, floats]
    bandwidth = 0.35 * np.sqrt(d)

    def run():
        loop(d, X, n, features, n, np.log2(np.e) / (2 * bandwidth**2), sums)
        return sums

    np.testing.assert_allclose(run(), kernel_sums(X, X, bandwidth=bandwidth), rtol=1e-4)
    return run


def plain_sums(d, n=6400):
    X = normal(n, d)
    return lambda: kernel_sums(X, X, bandwidth=0.35 * np.sqrt(d), n_jobs=1)


def many_threads(n_jobs):
    X = normal(6000, 16)
    return lambda: kernel_sums(X, X, labels=classes(6000), bandwidth=1.4, n_jobs=n_jobs)


def prepared(name):
    kind, *rest = name.split("|")
    if kind == "fused":
        return fused_loop(rest[0], int(rest[1]))
    if kind == "plain":
        return plain_sums(int(rest[0]))
    if kind == "threads":
        return many_threads(int(rest[0]))
    return CASES[name]()


def main():
    """For every line on standard input, a clock and a case, the seconds of one call after one that does not count."""
    calls = {}
    for line in sys.stdin:
        clock, name = line.rstrip("\n").split("|", 1)
        now = {"cpu": time.process_time, "wall": time.perf_counter}[clock]
        if name not in calls:
            calls[name] = prepared(name)
            calls[name]()
        begin, count = now(), 0
        while count == 0 or now() - begin < 0.02:
            calls[name]()
            count += 1
        print((now() - begin) / count, flush=True)


if __name__ == "__main__":
    main()
