"""Fill the tables of docs/guide/large_data.md: ``python -m bench.scaling BENCHMARK.json ...``

The files are what ``pytest bench/bench_tolerance.py bench/bench_lowrank.py bench/bench_memory.py bench/bench_pairs.py
bench/bench_reduction.py --benchmark-json=BENCHMARK.json`` wrote, in one run or several (``SPECTRALCLS_BENCH_N=1e6`` for
the numbers of a million points). Each table stands between the comments ``<!-- scaling NAME -->`` and ``<!-- end -->``;
one whose benches are in none of the files stays as it is. Below a table stands the machine that filled it.
"""

import json
import re
import sys
from pathlib import Path

from bench.page import machine, table

PAGE = Path(__file__).parents[1] / "docs" / "guide" / "large_data.md"
WORKERS, BLOCK, FEATURES, CLASSES, BILLION = 1000, 10**6, 16, 3, 10**9


def billion(benches):
    """What a prediction of 1e9 rows from 1e9 takes on 1 000 workers, at the rate measured here."""
    (info,) = (info for name, info in benches if name.startswith("test_pairs"))
    rate, n = info["pairs_per_second"], BILLION
    seconds = n * n / (WORKERS * rate)
    moved = n * (4 * FEATURES + 8) + n // BLOCK * n * 8 * CLASSES / WORKERS
    return [
        {"quantity": name, "formula": formula, "value": value}
        for name, formula, value in (
            ("pairs", "n^2", f"{n * n:.0e}"),
            ("multiply-adds", "(d + 12) n^2", f"{(FEATURES + 12) * n * n:.1e}"),
            ("tasks", "(n / rows)^2", f"{(n // BLOCK) ** 2:.0e}"),
            (f"time of a task, at {rate:.2g} pairs/s", "rows^2 / rate", f"{BLOCK**2 / rate:.0f} s"),
            ("time in all", "n^2 / (workers rate)", f"{seconds / 3600:.0f} hours"),
            (
                "points and class codes held by a worker",
                "n (4 d + 8) / workers",
                f"{n * (4 * FEATURES + 8) / WORKERS / 1e6:.0f} MB",
            ),
            ("points that a worker receives, at most", "n (4 d + 8)", f"{n * (4 * FEATURES + 8) / 1e9:.0f} GB"),
            (
                "partial sums that leave a worker, at most",
                "(n / rows) n 8 C / workers",
                f"{n // BLOCK * n * 8 * CLASSES / WORKERS / 1e9:.0f} GB",
            ),
            ("traffic of a worker", "the sum, over the time", f"{moved / seconds / 1e6:.2g} MB/s"),
            (
                "the same with a million representative rows",
                "n rows / (workers rate)",
                f"{n * BLOCK / (WORKERS * rate) / 60:.1g} minutes",
            ),
        )
    ]


def tolerance(benches):
    rows = []
    for name, info in benches:
        if name.startswith("test_tolerance"):
            rows.append(
                {
                    "n = m": f"{info['n']:.0e}",
                    "d": info["d"],
                    "bandwidth by": info["rule"],
                    "seconds": info["n"] ** 2 / info["pairs_per_second"],
                    "largest relative error": info["relative_error"],
                    "all pairs take times": info["all_pairs_ratio"],
                    "KernelDensity(rtol=1e-3) takes times": info["kernel_density_ratio"],
                    "FFTKDE takes times": info.get("fftkde_ratio", "-"),
                    "its error": info.get("fftkde_relative_error", "-"),
                }
            )
    return rows


def classifier(benches):
    return [
        {
            "n = m": f"{info['n']:.0e}",
            "d": info["d"],
            "seconds": info["seconds"],
            "exact prediction takes times": info["all_pairs_ratio"],
            "largest error of a posterior": info["largest_error_of_a_posterior"],
            "other labels": info["other_labels"],
        }
        for name, info in benches
        if name.startswith("test_classifier[")
    ]


def low_rank(benches):
    return [
        {
            "n": f"{info['n']:.0e}",
            "rank": info["rank"],
            "d": info["d"],
            "dtype": info["dtype"],
            "threads": info["threads"],
            "seconds": info["seconds"],
            "Nystroem takes times": info["speedup"],
            "trace residual": info["residual"],
            "of Nystroem": info["nystroem_residual"],
        }
        for name, info in benches
        if name.startswith("test_rpcholesky")
    ]


def low_rank_classifier(benches):
    return [
        {
            "n": f"{info['n']:.0e}",
            "rank": info["rank"],
            "fit and predict all, seconds": info["seconds"],
            "peak GiB": info["peak_gib"],
            "trace residual": info["trace_residual"],
        }
        for name, info in benches
        if name.startswith("test_classifier_of_low_rank")
    ]


def memory(benches):
    return [
        {
            "work": info["work"],
            "rows": f"{info['rows']:.1e}",
            "file, GiB": info["file_gib"],
            "private memory allowed, GiB": info["limit_gib"],
            "largest resident size, GiB": info["peak_gib"],
            "pairs": f"{info['pairs']:.1e}",
            "seconds": info["seconds"],
        }
        for name, info in benches
        if name.startswith("test_bounded_memory")
    ]


def reduction(benches):
    rows = [
        {
            "data": info["data"],
            "method": info["method"],
            "points": info["n"],
            "kept": info["size"],
            "accuracy": info["accuracy"],
            "of a random subset": info["random_accuracy"],
            "of all points": info["whole_accuracy"],
            "all points take times": info["prediction_speedup"],
        }
        for name, info in benches
        if name.startswith("test_reduction")
    ]
    return sorted(rows, key=lambda row: (row["data"], row["method"], row["kept"]))


TABLES = {
    "billion": billion,
    "tolerance": tolerance,
    "classifier": classifier,
    "low rank": low_rank,
    "low rank classifier": low_rank_classifier,
    "memory": memory,
    "reduction": reduction,
}


def main(files):
    benches = []
    for file in files:
        for bench in json.loads(Path(file).read_text(encoding="utf-8"))["benchmarks"]:
            benches.append((bench["name"], {"seconds": bench["stats"]["min"]} | bench["extra_info"]))
    if not benches:
        sys.exit(__doc__)
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), benches), encoding="utf-8")


def filled(text, benches):
    """The page with the tables that these benches give."""

    def replace(place):
        try:
            rows = TABLES[place[2]](benches)
        except ValueError:  # the bench of a single row is not there
            rows = []
        return f"{place[1]}{table(rows)}\n\n{machine()}.\n{place[3]}" if rows else place[0]

    return re.sub(r"(<!-- scaling ([a-z ]+) -->\n).*?(<!-- end -->)", replace, text, flags=re.DOTALL)


if __name__ == "__main__":
    main(sys.argv[1:])
