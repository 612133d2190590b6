"""Kernel sums and kernel matrices against their peers on the CPU, and against the limit of the machine

A pair of points takes d multiply-adds for its distance, 12 for a float32 exponential or 18 for a float64 exponential,
and one for each further bandwidth or column. *% of limit* is the rate of these multiply-adds as a percentage of the
rate measured for the processor. With AVX-512 the exponential takes 7 or 12 multiply-adds instead of 12 or 18, so more
than 100 % is possible. Data are normal; the bandwidth is 0.35 sqrt(d).
"""

import numpy as np
import pytest

from bench.measure import QUICK, compare, ratio, side_by_side, spread
from bench.pages import view
from bench.peers import direct_sums, fastest, numpy_in_cache, peers
from bench.plots import Lines
from bench.roofline import limit, multiply_add_rate, slots
from spectralcls.kernels import kernel_matrix, kernel_sums

DIMENSIONS = [2, 16] if QUICK else [2, 8, 16, 64, 256, 784]
DTYPES = ["float32", "float64"]
N = 1000 if QUICK else 16_000
each_dtype = pytest.mark.parametrize("dtype", DTYPES)
each_d = pytest.mark.parametrize("d", DIMENSIONS)
each_count_of_threads = pytest.mark.parametrize("threads", [1, 2])


def problem(d, dtype, n=N):
    """Points, bandwidth, three classes and one column of weights; half as many points in many dimensions."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n if d <= 64 else n // 2, d)).astype(dtype)
    return X, 0.35 * np.sqrt(d), rng.integers(0, 3, len(X)), rng.uniform(size=(len(X), 1)).astype(dtype)


def rates(timing, pairs, pair_slots, dtype, threads):
    """Pairs a second, and their share of the limit."""
    most = limit(pair_slots, dtype, threads)
    return {"pairs/s": pairs / timing.median, "% of limit": 100 * pairs / timing.median / most}


@each_dtype
@each_d
@each_count_of_threads
def test_weighted_sums(record, threads, d, dtype):
    """Time of other libraries relative to ours: all pairs, one column of weights."""
    X, h, _, W = problem(d, dtype)
    others, missing = peers(X, X, h, W)
    functions = {"ours": lambda: kernel_sums(X, X, weights=W, bandwidth=h)} | others
    row, results = compare(functions, threads=threads, budget=40, rtol=5e-3 if dtype == "float32" else 1e-9)
    np.testing.assert_allclose(
        results["ours"][:100], direct_sums(X[:100], X, h, W), rtol=1e-5 if dtype == "float32" else 1e-12
    )
    share = 100 * len(X) ** 2 / row["ours, s"]["median"] / limit(slots(d, dtype), dtype, threads)
    record({"n": len(X)} | row | {"% of limit": share, "not installed": ", ".join(missing) or "none"})


@view("weighted_sums")
def peers_in_all_dimensions(rows):
    """The picture shows the time of other libraries for the same sums, relative to ours."""
    return [Lines(rows, "d", panels=("dtype", "threads"))]


@view("weighted_sums", page=False)
def peers_in_short(rows):
    """For the README: one thread, float32."""
    kept = ("threads", "dtype", "d", "n", "% of limit")
    chosen = [row for row in rows if row["threads"] == 1 and row["dtype"] == "float32"]
    return [[{k: v for k, v in row.items() if k in kept or k.startswith("x ")} for row in chosen]]


@pytest.mark.every_isa
@each_dtype
@each_d
def test_class_sums(record, d, dtype):
    """Sums of three classes are computed on one thread, directly and as logarithms. The last column gives the rate of
    multiply-adds of the product X X^T alone, computed by NumPy's BLAS into a buffer of 128 rows, as a percentage of the
    limit.
    """
    X, h, labels, _ = problem(d, dtype)
    buffer = np.empty((128, len(X)), dtype)

    def multiply():
        for first in range(0, len(X) - 127, 128):
            np.matmul(X[first : first + 128], X.T, out=buffer)

    functions = {
        "plain": lambda: kernel_sums(X, X, labels=labels, bandwidth=h),
        "log": lambda: kernel_sums(X, X, labels=labels, bandwidth=h, log=True),
        "product": multiply,
    }
    times, _ = side_by_side(functions, budget=20, threads=1)
    pairs = len(X) ** 2
    record(
        {"n": len(X)}
        | rates(times["plain"], pairs, slots(d, dtype), dtype, 1)
        | {"log sums take": ratio(times["log"], times["plain"])}
        | {"BLAS product, % of its limit": rates(times["product"], pairs, d, dtype, 1)["% of limit"]}
    )


@pytest.mark.every_isa
@each_dtype
def test_threads(record, dtype):
    """The table gives the speed of class sums on two threads relative to one thread, for d = 16."""
    X, h, labels, _ = problem(16, dtype)
    functions = {count: lambda c=count: kernel_sums(X, X, labels=labels, bandwidth=h, n_jobs=c) for count in (1, 2)}
    times, _ = side_by_side(functions, threads=2)
    rate = {f"vector multiply-adds/s, {count} threads": multiply_add_rate(dtype, count) for count in (1, 2)}
    record({"n": len(X), "times one thread": ratio(times[1], times[2])} | rate)


@each_dtype
@pytest.mark.parametrize("n", [50, 200, 1000])
def test_small_problems(record, n, dtype):
    """Calls that take about a millisecond or less are compared with cache-blocked NumPy, for d = 8, on one thread."""
    X, h, _, W = problem(8, dtype, n)
    functions = {
        "ours": lambda: kernel_sums(X, X, weights=W, bandwidth=h),
        "NumPy, cache-blocked": fastest(numpy_in_cache, X, X, h, W),
    }
    row, _ = compare(functions, repeats=200, rtol=5e-3 if dtype == "float32" else 1e-9)
    record(row)


def test_what_is_shared(record):
    """The table gives the time with further columns, bandwidths and folds, in units of one plain pass over all pairs,
    for d = 16 and float32, on one thread. The last value is the time of a refit for each of five folds and each
    bandwidth.
    """
    X, h, _, _ = problem(16, "float32", N // 2)
    rng = np.random.default_rng(1)
    labels, folds, W = rng.integers(0, 10, len(X)), rng.integers(0, 5, len(X)), rng.normal(size=(len(X), 16))
    grids = {16: 2 * h * 2 ** (-np.arange(16) / 2), 50: 2 * h * 2 ** (-np.arange(50) / 6)}

    def held_out(count):
        groups = (folds, folds)
        return kernel_sums(X, X, labels=labels, exclude_groups=groups, bandwidth=grids[count], log=True)

    def refits():
        out = np.empty((len(X), 16, 10), dtype=np.float32)
        for fold in range(5):
            test = folds == fold
            for b, width in enumerate(grids[16]):
                out[test, b] = kernel_sums(X[test], X[~test], labels=labels[~test], bandwidth=width, log=True)
        return out

    functions = {
        "one pass": lambda: kernel_sums(X, X, labels=labels, bandwidth=h),
        "16 columns": lambda: kernel_sums(X, X, weights=W.astype(np.float32), bandwidth=h),
        "16 bandwidths, 5 folds, logs": lambda: held_out(16),
        "50 bandwidths, 5 folds, logs": lambda: held_out(50),
        "16 bandwidths by refits": refits,
    }
    row, results = compare(functions)
    np.testing.assert_allclose(results["16 bandwidths, 5 folds, logs"], results["16 bandwidths by refits"], 2e-5, 1e-3)
    record(row)


@each_dtype
@pytest.mark.parametrize("symmetric", [False, True])
def test_kernel_matrix(record, symmetric, dtype):
    """The table gives the time of copying as many bytes, relative to that of writing a kernel matrix into a buffer, for
    d = 16. Either the exponential or the memory limits the speed.
    """
    X, h, _, _ = problem(16, dtype, N // 2)
    out, source = np.zeros((len(X), len(X)), dtype=dtype), np.ones((len(X), len(X)), dtype=dtype)
    other = None if symmetric else X.copy()
    functions = {"ours": lambda: kernel_matrix(X, other, bandwidth=h, out=out), "copy": lambda: np.copyto(out, source)}
    times, _ = side_by_side(functions, threads=1)
    kernel_matrix(X, other, bandwidth=h, out=out)
    np.testing.assert_allclose(out[:50], direct_sums(X[:50], X, h, np.eye(len(X))), rtol=1e-5)
    ours = {"entries/s": spread(len(X) ** 2 / np.array(times["ours"].turns))}
    record({"n": len(X)} | ours | {"x copy": ratio(times["copy"], times["ours"])})


def test_pairs(record):
    """The table gives the rate of exact class sums in logarithms for 30 000 float32 points with 16 features and three
    classes, on two threads."""
    X, h, labels, _ = problem(16, "float32", N)
    times, _ = side_by_side(
        {"ours": lambda: kernel_sums(X, X, labels=labels, bandwidth=h, log=True)}, threads=2, budget=20
    )
    record({"pairs/s": len(X) ** 2 / times["ours"].median})
