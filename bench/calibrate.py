"""``python -m bench.calibrate`` measures what steps cost on this machine and writes them into cpp/base/costs.hpp.

Every variant that runs here is measured in a separate process, by CPU time on one thread; a step's cost is the slope
between two calls that differ in it alone. Build again afterwards: the table is part of the build, so that equal calls
return equal bits.
"""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

TABLE = Path(__file__).resolve().parents[1] / "cpp" / "base" / "costs.hpp"


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


def approximate(X, columns=1, bandwidth=1.0, rtol=1e-6, strategy="pairs"):
    from spectralcls._tolerance import approximate_sums

    W = np.ones((len(X), columns))
    return nanoseconds(
        lambda: approximate_sums(X, X, weights=W, bandwidth=bandwidth, rtol=rtol, strategy=strategy, n_jobs=1)
    )


def near_pair(d, columns):
    """All points within each other's radius: nothing but pairs."""
    X = points(2000, d)
    return approximate(X, columns, bandwidth=10.0) / len(X) ** 2


def lattice_row(d, rtol):
    """A source and a target on the lattice. Many in few tiles, so that the lattice itself costs little."""
    few, many = points(40_000, d), points(120_000, d)
    return (approximate(many, bandwidth=1.0, rtol=rtol, strategy="lattice")
            - approximate(few, bandwidth=1.0, rtol=rtol, strategy="lattice")) / 80_000  # fmt: skip


def group():
    """Points so far apart that each is a cell, and its neighborhood empty."""
    X = points(20_000, 3, side=1e4)
    return approximate(X, bandwidth=1e-2) / len(X)


def measured():
    """The fields of ``Costs``, in their order."""
    costs = {}
    for bits in (32, 64):
        low, high = (brute_pair(d, f"float{bits}") for d in (4, 36))
        costs[f"feature_{bits}"] = (high - low) / 32
        costs[f"pair_{bits}"] = low - 4 * costs[f"feature_{bits}"]
    base, wide, deep = near_pair(2, 1), near_pair(2, 9), near_pair(10, 1)
    costs["near_column"], costs["near_feature"] = (wide - base) / 8, (deep - base) / 8
    costs["near_pair"] = base - costs["near_column"] - 2 * costs["near_feature"]
    # A stencil costs as many vectors of the innermost axis as the others have lattice points: one in 1-D, and its width
    # in 2-D. Source and target each have one.
    from spectralcls._core import compiled

    lanes, width = compiled.lanes(np.dtype(np.float64)), 16  # of rtol = 1e-6
    line, plane = lattice_row(1, 1e-6) / 2, lattice_row(2, 1e-6) / 2
    vectors = width / lanes
    costs["lattice_vector"] = max(plane - 2 * line, 0) / ((width - 2) * vectors)
    costs["stencil"] = line - vectors * costs["lattice_vector"]
    costs["group"], costs["row"] = group(), 60.0
    return {name: max(costs[name], 1e-3) for name in FIELDS}


FIELDS = ("pair_32", "feature_32", "pair_64", "feature_64", "near_pair", "near_feature", "near_column", "group",
          "stencil", "lattice_vector", "row")  # fmt: skip


def main():
    if "--worker" in sys.argv:
        return print(json.dumps(measured()))
    from spectralcls._core import available_variants

    text = TABLE.read_text(encoding="utf-8")
    for variant in available_variants():
        environment = os.environ | {"SPECTRALCLS_ISA": variant, "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "bench.calibrate", "--worker"]
        run = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)  # fmt: skip
        values = ", ".join(f"{json.loads(run.stdout)[name]:.3g}" for name in FIELDS)
        print(variant, values, flush=True)
        text = re.sub(rf"(Costs {variant})\{{.*?\}}", rf"\1{{{values}}}", text)
    TABLE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
