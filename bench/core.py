"""The core before and after, in one run: ``python -m bench.core BEFORE`` measures, and writes docs/measured/core.md.

BEFORE is a checkout of the older commit whose core has been built in place. Each call of bench/core_cases.py runs in
turns in a process of either checkout, on one thread, and is timed by that process's CPU clock, so that others on the
machine disturb both alike; the figure is the median of the turns' ratios. Numbers are kept in docs/measured/core.json;
``--only`` measures one part anew, ``--page`` writes the page from what is there.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.page import table

HERE = Path(__file__).resolve().parent
STORED = HERE.parent / "docs" / "measured" / "core.json"
PARTS = ("primitives", "loop", "threads")
LEVEL = 0.97
# Why a primitive takes longer than it did, by words of its name. The table shows whether it does.
REASONS = {
    "d = 4": "the boxes of few features gave way to the filter, which is not tried on so few points; the default "
    "there is the k-d tree",
    "held-out": "a cost by the call, not by the point",
}


def load():
    return json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}


def save(data):
    STORED.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


class Worker:
    """A process of one checkout and variant."""

    def __init__(self, checkout, variant):
        environment = os.environ | {
            "PYTHONPATH": str(checkout / "src"),
            "SPECTRALCLS_ISA": variant,
            "OPENBLAS_NUM_THREADS": "1",
        }
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "core_cases.py")],
            env=environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=1,
        )

    def seconds(self, clock, name):
        self.process.stdin.write(f"{clock}|{name}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def in_turns(calls, turns, clock="cpu"):
    """Seconds of calls (worker, name), a list for each, taken in turns; the order changes from turn to turn."""
    taken = [[] for _ in calls]
    for turn in range(turns):
        for i in range(len(calls))[:: 1 if turn % 2 else -1]:
            worker, name = calls[i]
            taken[i].append(worker.seconds(clock, name))
    return taken


def ratio(first, second):
    """The median of the turns' ratios."""
    return statistics.median(a / b for a, b in zip(first, second, strict=True))


def primitives(before, after, variants, turns, names):
    """Every primitive before and after."""
    rows = []
    for variant in variants:
        workers = [Worker(before, variant), Worker(after, variant)]
        for name in names:
            old, new = in_turns([(worker, name) for worker in workers], turns)
            rows.append(
                {
                    "case": name,
                    "variant": variant,
                    "before": statistics.median(old),
                    "after": statistics.median(new),
                    "ratio": ratio(old, new),
                    "best": min(old) / min(new),
                }
            )
            print(rows[-1], flush=True)
        for worker in workers:
            worker.close()
    return rows


def loop(after, turns):
    """Few features on AVX2 relative to a plain fused loop."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        library = f"{folder}/fused_loop.so"
        subprocess.run(
            [
                "c++",
                "-std=c++17",
                "-O3",
                "-mavx2",
                "-mfma",
                "-ffp-contract=fast",
                "-fno-math-errno",
                "-fno-trapping-math",
                "-Wno-psabi",
                "-shared",
                "-fPIC",
                str(HERE / "fused_loop.cpp"),
                "-o",
                library,
            ],
            check=True,
        )
        worker = Worker(after, "avx2")
        for d in (2, 3, 4):
            plain, ours = in_turns([(worker, f"fused|{library}|{d}"), (worker, f"plain|{d}")], turns)
            rows.append(
                {
                    "features": d,
                    "plain loop": statistics.median(plain),
                    "core": statistics.median(ours),
                    "times the loop's speed": ratio(plain, ours),
                    "best": min(plain) / min(ours),
                }
            )
            print(rows[-1], flush=True)
        worker.close()
    return rows


def threads(after, turns):
    """64 threads asked for, on the processors that there are."""
    worker = Worker(after, "avx512" if "avx512" in machine_variants() else "avx2")
    all_of_them, many = in_turns([(worker, f"threads|{os.cpu_count()}"), (worker, "threads|64")], turns, "wall")
    worker.close()
    return [
        {
            "processors": os.cpu_count(),
            "as many threads": statistics.median(all_of_them),
            "64 threads": statistics.median(many),
            "times as long": ratio(many, all_of_them),
        }
    ]


def machine_variants():
    from spectralcls._core import available_variants

    return available_variants()


def slower(rows):
    """A list of what both ratios find below LEVEL, with the reasons that are known."""
    below = [row for row in rows if max(row["ratio"], row["best"]) < LEVEL]
    if not below:
        return [f"Nothing is below {LEVEL} by both ratios."]
    why = lambda case: next((f": {reason}" for words, reason in REASONS.items() if words in case), "")  # noqa: E731
    return [f"Below {LEVEL} by both ratios:", ""] + [
        f"- {row['case']}, {row['variant']}: {row['ratio']:.2f}{why(row['case'])}." for row in below
    ]


def page(data):
    """The Markdown page."""
    lines = [
        "# Measured: the core before and after",
        "",
        "Written by `python -m bench.core` from runs of either commit in turns, on one thread if nothing else is said,",
        "in CPU seconds. A ratio above 1 says that the core is faster now. Ratios are medians of the turns'; *best*",
        "compares the least of all turns, which other processes on the machine disturb less.",
    ]
    titles = {
        "primitives": "Every primitive, older commit over this one",
        "loop": "Few features on AVX2, relative to a plain fused loop (bench/fused_loop.cpp)",
        "threads": "More threads than processors (wall clock)",
        "build": "A cold build of all variants",
    }
    for part, title in titles.items():
        if part in data:
            lines += ["", f"## {title}", "", table(data[part]["rows"]), "", data[part]["machine"] + "."]
        if part == "primitives" and part in data:
            lines += ["", *slower(data[part]["rows"])]
    return "\n".join(lines) + "\n"


def main():
    from bench.core_cases import CASES
    from bench.page import machine

    parser = argparse.ArgumentParser(prog="python -m bench.core", description=__doc__.splitlines()[0])
    parser.add_argument("before", nargs="?", type=Path)
    parser.add_argument("--after", type=Path, default=HERE.parent)
    parser.add_argument("--variants", nargs="+", default=[v for v in machine_variants() if v != "baseline"])
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--only", choices=PARTS, nargs="+", default=PARTS)
    parser.add_argument("--case", default="", help="measure the primitives anew whose names hold this")
    parser.add_argument("--page", action="store_true")
    arguments = parser.parse_args()
    data = load()
    if not arguments.page:
        measured = {}
        if "primitives" in arguments.only:
            names = [name for name in CASES if arguments.case in name]
            measured["primitives"] = primitives(
                arguments.before.resolve(), arguments.after.resolve(), arguments.variants, arguments.turns, names
            )
        if "loop" in arguments.only:
            measured["loop"] = loop(arguments.after.resolve(), arguments.turns)
        if "threads" in arguments.only:
            measured["threads"] = threads(arguments.after.resolve(), arguments.turns)
        for part, rows in measured.items():
            if part == "primitives" and part in data:  # those that were measured anew, in their places
                kept = {(row["case"], row["variant"]): row for row in data[part]["rows"]}
                rows = list((kept | {(row["case"], row["variant"]): row for row in rows}).values())
            data[part] = {"machine": machine(), "rows": rows}
        save(data)
    STORED.with_suffix(".md").write_text(page(data), encoding="utf-8")


if __name__ == "__main__":
    main()
