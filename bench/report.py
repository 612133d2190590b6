"""The performance page: ``python -m bench.report [--quick] [--out docs]`` measures, draws and writes it.

Everything on the page comes from the run that wrote it; each table is side by side, in turns (bench/measure.py).
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from bench.measure import limit, multiply_add_rate, side_by_side, slots
from bench.page import machine, table
from bench.peers import available_peers
from spectralcls._core import ISA_VARIABLE, available_variants
from spectralcls._core.threads import effective_n_threads
from spectralcls.kernels import kernel_matrix, kernel_sums

DIMENSIONS = (2, 8, 16, 64, 256, 784)
DTYPES = ("float32", "float64")
DOCS = Path(__file__).parents[1] / "docs"


def points(n, d, dtype):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)).astype(dtype), 0.35 * np.sqrt(d), rng.integers(0, 3, n)


def class_sums(n):
    """Pairs a second and percent of the limit over d and dtype."""
    rows = []
    threads = effective_n_threads()
    for dtype in DTYPES:
        for d in DIMENSIONS:
            X, h, labels = points(n if d <= 64 else n // 2, d, dtype)
            times, _ = side_by_side(
                {
                    "plain": lambda: kernel_sums(X, X, labels=labels, bandwidth=h),  # noqa: B023
                    "log": lambda: kernel_sums(X, X, labels=labels, bandwidth=h, log=True),  # noqa: B023
                    "product": lambda: [X[rows : rows + 500] @ X.T for rows in range(0, len(X), 500)] and None,  # noqa: B023
                },
                repeats=7,
            )
            product = len(X) ** 2 / times["product"][1] / limit(d, dtype, threads)
            rate = len(X) ** 2 / times["plain"][1]
            rows.append(
                {
                    "dtype": dtype,
                    "d": d,
                    "pairs/s": rate,
                    "% of limit": 100 * rate / limit(slots(d, dtype), dtype, threads),
                    "log sums take": times["log"][0] / times["plain"][0],
                    "BLAS product alone, % of its limit": 100 * product,
                }
            )
    return rows


def against_peers(n):
    """Median times of the peers over ours, one weight column; and over the time that the machine's limit allows."""
    rows, bounds, peers = [], [], available_peers()
    for dtype in DTYPES:
        for d in DIMENSIONS:
            X, h, _ = points(n if d <= 64 else n // 2, d, dtype)
            W = np.random.default_rng(1).uniform(size=(len(X), 1)).astype(dtype)
            functions = {"ours": lambda: kernel_sums(X, X, weights=W, bandwidth=h)}  # noqa: B023
            functions |= {name: lambda f=peer: f(X, X, h, W) for name, peer in peers.items()}  # noqa: B023
            times, results = side_by_side(functions, repeats=3, budget=6)
            for name, result in results.items():
                tolerance = 5e-3 if dtype == "float32" else 1e-9
                np.testing.assert_allclose(result, results["ours"], rtol=tolerance, err_msg=name)
            least = len(X) ** 2 / limit(slots(d, dtype), dtype, effective_n_threads())
            for kept, ours in ((rows, times["ours"][0]), (bounds, least)):
                kept.append({"dtype": dtype, "d": d} | {name: times[name][0] / ours for name in peers})
    return rows, bounds


def shared_work(n):
    """What a further column, bandwidth or fold costs, relative to one plain pass; d = 16, float32."""
    X, h, _ = points(n, 16, "float32")
    rng = np.random.default_rng(1)
    labels, folds = rng.integers(0, 10, n), rng.integers(0, 5, n)
    W = rng.normal(size=(n, 16)).astype(np.float32)
    grid = lambda count, ratio: 2 * h * ratio ** (-np.arange(count) / 2)  # noqa: E731
    few, many = grid(16, 2.0), grid(50, 2 ** (1 / 3))
    options = dict(labels=labels, exclude_groups=(folds, folds), log=True)

    def refits():
        for fold in range(5):
            out = folds == fold
            for bandwidth in few:
                kernel_sums(X[out], X[~out], labels=labels[~out], n_labels=10, bandwidth=bandwidth, log=True)

    times, _ = side_by_side(
        {
            "one plain pass": lambda: kernel_sums(X, X, labels=labels, bandwidth=h),
            "one weight column": lambda: kernel_sums(X, X, weights=W[:, 0], bandwidth=h),
            "16 weight columns": lambda: kernel_sums(X, X, weights=W, bandwidth=h),
            "16 bandwidths, 5 folds, 10 classes, logs": lambda: kernel_sums(X, X, bandwidth=few, **options),
            "50 bandwidths, 5 folds, 10 classes, logs": lambda: kernel_sums(X, X, bandwidth=many, **options),
            "16 bandwidths by a refit for each fold and bandwidth": refits,
        },
        repeats=7,
    )
    plain = times["one plain pass"][0]
    return [{"work": name, "times one plain pass": took[0] / plain} for name, took in times.items()]


def matrix(n):
    """kernel_matrix into a warm buffer, and a copy of as many bytes; d = 16."""
    rows = []
    for dtype in DTYPES:
        X, h, _ = points(n, 16, dtype)
        other, out, source = X.copy(), np.zeros((n, n), dtype), np.ones((n, n), dtype)
        times, _ = side_by_side(
            {
                "full": lambda: kernel_matrix(X, other, bandwidth=h, out=out),  # noqa: B023
                "symmetric": lambda: kernel_matrix(X, bandwidth=h, out=out),  # noqa: B023
                "copy": lambda: np.copyto(out, source),  # noqa: B023
            },
            repeats=7,
        )
        rows.append({"dtype": dtype} | {f"{name}, entries/s": n * n / took[1] for name, took in times.items()})
    return rows


def growth(sizes):
    """Seconds of n x n sums over n (d = 10, float32), and the exponent fitted to the upper half."""
    rows = []
    for n in sizes:
        X, h, _ = points(n, 10, "float32")
        times, _ = side_by_side({"sums": lambda: kernel_sums(X, X, bandwidth=h)}, repeats=3 if n < 1e5 else 1)  # noqa: B023
        rows.append({"n": n, "seconds": times["sums"][1], "pairs/s": n * n / times["sums"][1]})
    upper = rows[len(rows) // 2 :]
    exponent = np.polyfit(np.log([r["n"] for r in upper]), np.log([r["seconds"] for r in upper]), 1)[0]
    return rows, float(exponent)


def threads(n):
    X, h, _ = points(n, 16, "float32")
    counts = sorted({1, effective_n_threads()})
    times, _ = side_by_side({c: lambda c=c: kernel_sums(X, X, bandwidth=h, n_jobs=c) for c in counts}, repeats=7)
    return [{"threads": c, "times one thread": times[1][0] / times[c][0]} for c in counts]


def variants(n):
    """The limit, and how much of their own limit the other instruction sets reach."""
    code = f"import json; from bench.report import variant_row; print(json.dumps(variant_row({n})))"
    rows = []
    for name in available_variants():
        run = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, ISA_VARIABLE: name},
            capture_output=True,
            text=True,
            check=True,
        )
        rows.append({"variant": name} | json.loads(run.stdout))
    return rows


def variant_row(n):
    count, row = effective_n_threads(), {}
    for dtype in DTYPES:
        X, h, labels = points(n, 16, dtype)
        times, _ = side_by_side({"sums": lambda: kernel_sums(X, X, labels=labels, bandwidth=h)}, repeats=5)  # noqa: B023
        share = len(X) ** 2 / times["sums"][1] / limit(slots(16, dtype), dtype, count)
        row[f"{dtype} vector multiply-adds/s"] = multiply_add_rate(dtype, count)
        row[f"{dtype} % of limit, d = 16"] = 100 * share
    return row


def draw(results, path):
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    with plt.style.context("spectralcls.plotting.spectralcls"):
        _draw(results, path, *plt.subplots(1, 2, figsize=(11, 4.2)))


def _draw(results, path, figure, axes):
    left, right = axes
    for dtype, marker in zip(DTYPES, "os", strict=True):
        rows = [row for row in results["class_sums"] if row["dtype"] == dtype]
        left.plot([r["d"] for r in rows], [r["% of limit"] for r in rows], marker=marker, label=dtype)
    highest = max(row["% of limit"] for row in results["class_sums"])
    left.set(xscale="log", xlabel="features d", ylabel="% of the machine's limit")
    left.set_title("Class sums reach most of the machine's limit")
    left.set_ylim(0, max(100, 1.1 * highest))
    left.set_xticks(DIMENSIONS, [str(d) for d in DIMENSIONS])
    left.minorticks_off()
    left.legend(loc="lower left")
    rows = [row for row in results["against_peers"] if row["dtype"] == "float32"]
    names = [key for key in rows[0] if key not in ("dtype", "d")]
    for name, marker in zip(names, "o^sDvP", strict=False):
        right.plot([r["d"] for r in rows], [r[name] for r in rows], marker=marker, label=name)
    right.axhline(1, color="grey", linewidth=0.8)
    right.set(xscale="log", yscale="log", xlabel="features d", ylabel="time of the peer / ours")
    right.set_title("How many times longer the peers take, float32")
    right.set_xticks(DIMENSIONS, [str(d) for d in DIMENSIONS])
    right.minorticks_off()
    right.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path, dpi=110)


PAGE = """# Performance

Written by `python -m bench.report` on this machine: {machine}.
The limit of a sum is the multiply-adds that a pair needs (d for its distance, 12 for a float32 and 18 for a float64
exponential, one for each further bandwidth or column) over the measured rate of multiply-adds. With AVX-512 the
exponential takes 7 and 12, so that more than 100 % is possible.

![Percentage of the limit, and peers](performance.png)

## The machine's limit

{variants}

## Class sums

All pairs of {n_sums} points (half of it for d > 64), 3 classes, {threads} threads. The last column is the product
X X^T alone, by NumPy's BLAS in blocks of 500 rows: it is what a GEMM would bring for large d, and says how much of
the multiply-adds a well-tuned kernel reaches on this machine when the points come from the second-level cache.

{class_sums}

## Compared with other libraries

How many times as long each library takes: {n_peers} points (half of it for d > 64), one weight column, medians
in turns, answers checked.

{against_peers}

If the sums ran at the machine's limit, the ratios would be the following. Nothing that computes all pairs can be
faster: the rate of multiply-adds binds.

{peers_at_limit}

The same for {n_small} points (half of it for d > 64), for which starting threads and the call from Python take most of
our time.

{against_peers_small}

## What is shared

{shared_work}

## Matrices

{matrix}

## Growth

d = 10, float32; the fitted exponent of n is {exponent:.2f}.

{growth}

## Threads

{thread_rows}
"""


def quote_in_readme(results, readme):
    """The few numbers that the README quotes, between its comments ``<!-- performance -->`` and ``<!-- end -->``."""
    speed = {(row["dtype"], row["d"]): row for row in results["class_sums"]}
    rows = [
        {
            "features": row["d"],
            "pairs/s": speed[row["dtype"], row["d"]]["pairs/s"],
            "% of the machine's limit": speed[row["dtype"], row["d"]]["% of limit"],
        }
        | {f"{name} takes times": value for name, value in row.items() if name not in ("dtype", "d")}
        for row in results["against_peers"]
        if row["dtype"] == "float32"
    ]
    text = readme.read_text(encoding="utf-8")
    start, end = "<!-- performance -->\n", "<!-- end -->"
    before, rest = text.split(start)
    after = rest.split(end, 1)[1]
    readme.write_text(f"{before}{start}{table(rows)}\n\n{machine()}.\n{end}{after}", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(prog="python -m bench.report", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes: a minute instead of several")
    parser.add_argument("--out", type=Path, default=DOCS)
    arguments = parser.parse_args()
    n_sums, n_peers = (6000, 2000) if arguments.quick else (20_000, 16_000)
    n_small = 1000
    sizes = [1000, 3000, 10_000, 30_000] + ([] if arguments.quick else [100_000, 200_000])
    results = {
        "variants": variants(n_sums),
        "class_sums": class_sums(n_sums),
        "shared_work": shared_work(n_sums // 2),
        "matrix": matrix(n_peers // 2),
        "thread_rows": threads(n_sums),
    }
    results["against_peers"], results["peers_at_limit"] = against_peers(n_peers)
    results["against_peers_small"], _ = against_peers(n_small)
    results["growth"], exponent = growth(sizes)
    arguments.out.mkdir(parents=True, exist_ok=True)
    draw(results, arguments.out / "performance.png")
    tables = {name: table(rows) for name, rows in results.items()}
    counts = {"n_sums": n_sums, "n_peers": n_peers, "n_small": n_small, "threads": effective_n_threads()}
    text = PAGE.format(machine=machine(), exponent=exponent, **counts, **tables)
    (arguments.out / "performance.md").write_text(text, encoding="utf-8")
    if arguments.out == DOCS:
        quote_in_readme(results, DOCS.parent / "README.md")
    stored = json.dumps(results | {"exponent": exponent}, indent=1)
    (arguments.out / "performance.json").write_text(stored, encoding="utf-8")


if __name__ == "__main__":
    main()
