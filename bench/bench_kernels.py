"""kernel_sums and kernel_matrix against their peers and the machine's limit.

``extra_info`` holds pairs a second, the percentage of the limit (bench/measure.py), the ratio to each peer in the
same run and the peak memory. SPECTRALCLS_BENCH_N sets the number of points (10000).
"""

import os

import numpy as np
import pytest

from bench.measure import limit, peak_gib, side_by_side, slots
from bench.peers import available_peers, direct_sums, sklearn_kernel_density
from spectralcls._core.threads import effective_n_threads
from spectralcls.kernels import kernel_matrix, kernel_sums

N = int(os.environ.get("SPECTRALCLS_BENCH_N", 10_000))
DIMENSIONS = [2, 8, 16, 64, 256, 784]


def problem(d, dtype, n=N):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)).astype(dtype)
    return X, 0.35 * np.sqrt(d), rng.integers(0, 3, n)


def record(benchmark, pairs, pair_slots, dtype, **more):
    threads = effective_n_threads()
    rate = pairs / benchmark.stats.stats.min
    benchmark.extra_info.update(
        pairs_per_second=rate,
        percent_of_limit=100 * rate / limit(pair_slots, dtype, threads),
        threads=threads,
        peak_gib=peak_gib(),
        **more,
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("d", DIMENSIONS)
def test_class_sums(benchmark, d, dtype):
    X, h, labels = problem(d, dtype)
    sums = benchmark(kernel_sums, X, X, labels=labels, bandwidth=h)
    truth = direct_sums(X[:200], X, h, np.eye(3)[labels])
    np.testing.assert_allclose(sums[:200], truth, rtol=1e-5 if dtype == "float32" else 1e-12)
    record(benchmark, len(X) ** 2, slots(d, dtype), dtype)


@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_weighted_sums_against_peers(benchmark, d, dtype):
    X, h, _ = problem(d, dtype, min(N, 10_000))
    W = np.random.default_rng(1).uniform(size=(len(X), 1)).astype(dtype)
    ours = lambda: kernel_sums(X, X, weights=W, bandwidth=h)  # noqa: E731
    functions = {"spectralcls": ours}
    functions |= {name: lambda f=peer: f(X, X, h, W) for name, peer in available_peers().items()}
    times, results = side_by_side(functions, repeats=3, budget=40)
    truth = direct_sums(X[:200], X, h, W)
    for name, result in results.items():
        np.testing.assert_allclose(result[:200], truth, rtol=3e-3 if dtype == "float32" else 1e-9, err_msg=name)
    benchmark.pedantic(ours, rounds=3)
    ratios = {f"times {name}": times[name][0] / times["spectralcls"][0] for name in times if name != "spectralcls"}
    record(benchmark, len(X) ** 2, slots(d, dtype), dtype, **ratios)


@pytest.mark.parametrize("d", [2, 16])
def test_log_sums_against_kernel_density(benchmark, d):
    X, h, _ = problem(d, "float64", min(N, 5000))
    times, results = side_by_side(
        {
            "spectralcls": lambda: kernel_sums(X, X, bandwidth=h, log=True),
            "KernelDensity": lambda: np.log(sklearn_kernel_density(X, X, h, None))[:, 0],
        },
        repeats=3,
    )
    np.testing.assert_allclose(results["spectralcls"], results["KernelDensity"], atol=1e-9)
    benchmark.pedantic(kernel_sums, (X, X), {"bandwidth": h, "log": True}, rounds=3)
    record(
        benchmark,
        len(X) ** 2,
        slots(d, "float64"),
        "float64",
        **{"times KernelDensity": times["KernelDensity"][0] / times["spectralcls"][0]},
    )


@pytest.mark.parametrize("columns", [1, 4, 16, 32])
def test_columns(benchmark, columns):
    X, h, _ = problem(16, "float32")
    W = np.random.default_rng(1).normal(size=(len(X), columns)).astype(np.float32)
    times, _ = side_by_side(
        {
            "one": lambda: kernel_sums(X, X, weights=W[:, 0], bandwidth=h),
            "all": lambda: kernel_sums(X, X, weights=W, bandwidth=h),
        }
    )
    benchmark.pedantic(kernel_sums, (X, X), {"weights": W, "bandwidth": h}, rounds=3)
    record(
        benchmark,
        len(X) ** 2,
        slots(16, "float32", columns=columns),
        "float32",
        **{"times one column": times["all"][0] / times["one"][0]},
    )


@pytest.mark.parametrize("bandwidths", [16, 50])
def test_held_out_folds_of_a_grid(benchmark, bandwidths):
    """16 or 50 bandwidths, 5 folds and 10 classes in one call, against one plain pass and against refitting."""
    X, h, _ = problem(16, "float32")
    rng = np.random.default_rng(1)
    labels, folds = rng.integers(0, 10, len(X)), rng.integers(0, 5, len(X))
    ratio = 2.0 if bandwidths == 16 else 2.0 ** (1 / 3)
    grid = 2 * h * ratio ** (-np.arange(bandwidths) / 2)

    def one_pass():
        return kernel_sums(X, X, labels=labels, exclude_groups=(folds, folds), bandwidth=grid, log=True)

    def refits():
        out = np.empty((len(X), bandwidths, 10), dtype=np.float32)
        for fold in range(5):
            test = folds == fold
            for b, width in enumerate(grid):
                out[test, b] = kernel_sums(X[test], X[~test], labels=labels[~test], bandwidth=width, log=True)
        return out

    times, results = side_by_side(
        {
            "plain": lambda: kernel_sums(X, X, labels=labels, bandwidth=h),
            "one pass": one_pass,
            "refits": refits,
        },
        repeats=3,
    )
    np.testing.assert_allclose(results["one pass"], results["refits"], rtol=2e-5, atol=1e-3)
    benchmark.pedantic(one_pass, rounds=3)
    exponentials = -(-bandwidths // 5)
    record(
        benchmark,
        len(X) ** 2 * 4 / 5,
        slots(16, "float32", exponentials=exponentials, squarings=bandwidths - exponentials, columns=bandwidths),
        "float32",
        **{
            "times one plain pass": times["one pass"][0] / times["plain"][0],
            "refits take times": times["refits"][0] / times["one pass"][0],
        },
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("symmetric", [False, True])
def test_kernel_matrix(benchmark, symmetric, dtype):
    """Beside a copy of as many bytes: the limit is whichever binds, the copy or the exponential."""
    X, h, _ = problem(16, dtype, min(N, 8000))
    out, source = np.zeros((len(X), len(X)), dtype=dtype), np.ones((len(X), len(X)), dtype=dtype)
    compute = lambda: kernel_matrix(X, None if symmetric else X, bandwidth=h, out=out)  # noqa: E731
    times, _ = side_by_side({"matrix": compute, "copy": lambda: np.copyto(out, source)})
    benchmark.pedantic(compute, rounds=3)
    np.testing.assert_allclose(out[:50], direct_sums(X[:50], X, h, np.eye(len(X))), rtol=1e-5)
    record(
        benchmark,
        len(X) ** 2,
        slots(16, dtype) / (2 if symmetric else 1),
        dtype,
        **{"times a copy": times["matrix"][0] / times["copy"][0]},
    )


@pytest.mark.parametrize("n", [50, 200, 1000])
def test_small_problems_against_numpy(benchmark, n):
    X, h, _ = problem(8, "float64", n)
    W = np.ones((n, 1))
    peer = available_peers()["blocked NumPy"]
    times, results = side_by_side(
        {"spectralcls": lambda: kernel_sums(X, X, weights=W, bandwidth=h), "NumPy": lambda: peer(X, X, h, W)},
        repeats=200,
    )
    np.testing.assert_allclose(results["spectralcls"], results["NumPy"], rtol=1e-9)
    benchmark(kernel_sums, X, X, weights=W, bandwidth=h)
    ratio = times["NumPy"][0] / times["spectralcls"][0]
    record(benchmark, n * n, slots(8, "float64"), "float64", **{"times NumPy": ratio})
