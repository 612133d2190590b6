"""``python -m bench.calibrate`` measures the cost of steps on this machine and writes it into the core.

Every variant that runs here is measured in a separate process, by CPU time on one thread; a step's cost is the slope
between two calls that differ only in this step. Build again afterwards: the table is part of the build, so that
identical calls return the same bits. Costs that no two calls isolate (the last four fields, of pruning and the grid)
stay as they are; ``--check`` compares the methods chosen by the table with the best ones, for the current variant.
``--neighbors`` does the same for trees and tiles, between which the rule in cpp/neighbors/tree_or_tiles.hpp chooses.
``--steps`` lets the work of kernel sums grow by a tenth at a time and prints by how much their cost falls at worst.
"""

import json
import os
import re
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

import numpy as np

TABLE = Path(__file__).resolve().parents[1] / "cpp" / "infrastructure" / "costs.hpp"


def nanoseconds(call, turns=5):
    """The least CPU time of a call."""
    taken = []
    for _ in range(turns):
        begin = time.process_time_ns()
        call()
        taken.append(time.process_time_ns() - begin)
    return min(taken)


def points(n, d, dtype="float64", side=1.0):
    return (side * np.random.default_rng(d).uniform(size=(n, d))).astype(dtype)


def brute_pair(d, dtype):
    from spectralcls.kernels import kernel_sums

    X = points(3000, d, dtype)
    return nanoseconds(lambda: kernel_sums(X, X, bandwidth=np.sqrt(d), n_jobs=1)) / len(X) ** 2


def measured():
    """The fields of ``Costs``, in their order."""
    costs = {}
    for bits in (32, 64):
        low, high = (brute_pair(d, f"float{bits}") for d in (4, 36))
        costs[f"feature_{bits}"] = (high - low) / 32
        costs[f"pair_{bits}"] = low - 4 * costs[f"feature_{bits}"]
    return {name: max(costs[name], 1e-3) for name in FIELDS}


FIELDS = ("pair_32", "feature_32", "pair_64", "feature_64")


def chosen_over_best(d, n, bandwidth, rtol):
    """CPU time of sums within a tolerance by the chosen method relative to the best one, and the name of the best."""
    from bench.measure import pruning
    from spectralcls.kernels import kernel_sums

    X = np.random.default_rng(d).normal(size=(n, d))
    ways = {}
    for way, choice in {"exact sums": "never", "the grid": "always", "chosen": "sampled"}.items():
        with pruning(choice):
            ways[way] = nanoseconds(lambda: kernel_sums(X, X, bandwidth=bandwidth, rtol=rtol, n_jobs=1), 2)
    chosen, best = ways.pop("chosen"), min(ways, key=ways.get)
    return chosen / ways[best], best


def check():
    for d, n, bandwidth, rtol in product((1, 2, 3), (3000, 30_000), (0.003, 0.02, 0.1, 0.5), (1e-3, 0)):
        ratio, best = chosen_over_best(d, n, bandwidth, rtol)
        print(f"{d=} {n=} {bandwidth=} {rtol=}: {ratio:.2f} of {best}", flush=True)


def walks():
    """Names of walks, each with the sizes (m, n, d, labels) along it."""
    sizes = [int(200 * 1.1**i) for i in range(37)]  # to 6 000
    for d, labels in product((1, 2, 3, 5, 10, 30), (1, 5, 20)):
        yield f"m = n, {d=}, {labels=}", [(n, n, d, labels) for n in sizes]
    for d in (1, 2, 5):
        yield f"m = 1000, n, {d=}", [(1000, n, d, 1) for n in sizes]
        yield f"m, n = 5000, {d=}", [(m, 5000, d, 1) for m in sizes]
        yield f"m = n = 3000, {d=}, labels", [(3000, 3000, d, labels) for labels in range(1, 31)]
    yield "m = n = 3000, d", [(3000, 3000, d, 1) for d in range(1, 31)]


def falls(name, path, dtype):
    """Of each step along a walk: cost before relative to the cost after, and what it is."""
    from spectralcls.kernels import kernel_sums

    calls = []
    for m, n, d, labels in dict.fromkeys(path):
        X = np.random.default_rng(d).normal(size=(n + m, d)).astype(dtype)
        options = {"bandwidth": 0.3 * np.sqrt(d), "labels": np.arange(n) % labels, "n_jobs": 1}
        calls.append(((m, n, d, labels), lambda Q=X[n:], X=X[:n], options=options: kernel_sums(Q, X, **options)))
    costs = [nanoseconds(call, 3) for _, call in calls]
    for (here, call), (there, next_call), before, after in zip(calls, calls[1:], costs, costs[1:], strict=False):
        if before > 1.1 * after:  # measured again, in turns
            before, after = np.min([(nanoseconds(call), nanoseconds(next_call)) for _ in range(5)], axis=0)
        yield before / after, f"{name}, {dtype}: {here} to {there}"


def check_steps():
    falling = [fall for dtype in ("float32", "float64") for walk in walks() for fall in falls(*walk, dtype)]
    for fall, step in sorted(falling, reverse=True)[:8]:
        print(f"{fall:.2f} {step}", flush=True)


def neighbor_points(kind, n, d):
    """Points, and half as many queries, in float32."""
    rng = np.random.default_rng(d)
    draws = rng.uniform(size=(n + n // 2, d)) if kind == "uniform" else rng.normal(size=(n + n // 2, d))
    if kind == "clusters":
        draws = 0.1 * draws + rng.uniform(size=(100, d))[rng.integers(100, size=len(draws))]
    return np.split(draws.astype(np.float32), [n])


def check_neighbors():
    for n, d, kind in product((300, 5000, 100_000), (2, 4, 8, 10, 16, 32), ("uniform", "normal", "clusters")):
        X, Q = neighbor_points(kind, n, d)
        for m, k in product((n // 500 + 1, n // 30, n // 2), (1, 20)):
            ways = {way: search_time(Q[:m], X, k, way) for way in ("brute", "kd_tree", "auto")}
            chosen = ways.pop("auto")
            best = min(ways, key=ways.get)
            print(f"{n=} {d=} {kind} {m=} {k=}: {chosen / ways[best]:.2f} of {best}", flush=True)


def search_time(Q, X, k, algorithm):
    from spectralcls.neighbors import knn

    return nanoseconds(lambda: knn(Q, X, k, algorithm=algorithm, n_jobs=1), 3)


def main():
    if "--neighbors" in sys.argv:
        return check_neighbors()
    if "--check" in sys.argv:
        return check()
    if "--steps" in sys.argv:
        return check_steps()
    if "--worker" in sys.argv:
        return print(json.dumps(measured()))
    from spectralcls._core import available_variants

    text = TABLE.read_text(encoding="utf-8")
    for variant in available_variants():
        environment = os.environ | {"SPECTRALCLS_ISA": variant, "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "bench.calibrate", "--worker"]
        run = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
        values = ", ".join(f"{json.loads(run.stdout)[name]:.3g}" for name in FIELDS)
        print(variant, values, flush=True)
        text = re.sub(rf"(Costs {variant}\{{)([^,}}]+, ){{{len(FIELDS)}}}", rf"\g<1>{values}, ", text)
    TABLE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
