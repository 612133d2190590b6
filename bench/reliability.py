"""What the package was put through, and what came of it: writes ``docs/reliability.md``.

    python -m bench.reliability --calls 20000 --seed 1     # runs everything, some twenty minutes
    python -m bench.reliability --only calls --seed 2      # only the random calls, the rest as measured before
"""

import argparse
import json
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

from . import page

ROOT = Path(__file__).parents[1]
MEASURED = ROOT / "docs" / "measured" / "reliability.json"
PAGE = ROOT / "docs" / "reliability.md"
GROUPS = {  # what is tested: files
    "answers of every estimator do not depend on layout, threads, order, names, place, unit, copies": (
        "tests/invariance/test_estimators.py",
    ),
    "primitives against float64 and 100-digit truth, and their invariances": ("tests/invariance/test_primitives.py",),
    "a failed refit leaves every estimator as it was": ("tests/properties/test_failed_refit.py",),
    "Ctrl-C is answered within half a second of processor time": ("tests/core/test_interrupt.py",),
    "BLAS and core keep their thread limits": ("tests/core/test_thread_limits.py",),
    "64 threads predict while a clone is refitted; fork, spawn, loky; exceptions of callables": (
        "tests/core/test_faults.py",
    ),
    "unaligned arrays and foreign byte order": ("tests/core/test_alignment.py",),
    "full disks, devices, foreign numbers on the command line": (
        "tests/doors/test_cli_outputs.py", "tests/doors/test_cli_fit_predict.py",
    ),
}
TEXT = """\
# Reliability

What the package was put through. Nothing on this page is typed by hand: `python -m bench.reliability` runs the commands
below and writes it. Machine: {machine}.

## Random calls against slow truth

`python -m tests.fuzz --calls {asked} --seed {seed}` draws calls of the public functions and estimators: shapes, memory
layouts, byte orders, dtypes, labels of all integer types, weights, bandwidths, units, odd data, and arguments of the
wrong kind. They run in child processes, so that a crash or a hang is seen. An answer is compared with float64 NumPy
straight from the formulas; an error has to be one of ours, in words.

{calls} calls in {seconds:.0f} s: **{findings}**.

{targets}

## Checks

Each line is `pytest` with the files named.

{groups}

## How to repeat a finding

A call is drawn from its seed, target and number: `python -m tests.fuzz --only knn --call 123 --seed 1` makes one again,
in this process. Each finding that was mended has a test of its own.
"""


def run_group(files):
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        subprocess.run([sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", *files], cwd=ROOT, check=False,
                       stdout=subprocess.DEVNULL)  # fmt: skip
        suite = ET.parse(report).getroot().find("testsuite")
        counts = {key: int(suite.get(key)) for key in ("tests", "failures", "errors", "skipped")}
        return counts | {"seconds": float(suite.get("time"))}


def run_calls(calls, seed):
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "fuzz.json"
        command = [sys.executable, "-m", "tests.fuzz", "--calls", str(calls), "--seed", str(seed), "--json", report]
        subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.DEVNULL)
        return {"asked": calls} | json.loads(report.read_text())


def write(measured):
    fuzz = measured["fuzz"]
    n_findings = len(fuzz["findings"])
    groups = [
        {
            "what": what, "files": " ".join(f"`{name}`" for name in GROUPS[what]),
            "passed": counts["tests"] - counts["failures"] - counts["errors"] - counts["skipped"],
            "failed": counts["failures"] + counts["errors"], "skipped": counts["skipped"],
            "seconds": round(counts["seconds"]),
        }
        for what, counts in measured["groups"].items()
    ]  # fmt: skip
    PAGE.write_text(
        TEXT.format(
            machine=measured["machine"], asked=fuzz["asked"], seed=fuzz["seed"], calls=fuzz["calls"],
            seconds=fuzz["seconds"], targets=page.table([{"target": t, **c} for t, c in fuzz["targets"].items()]),
            findings="no finding" if not n_findings else f"{n_findings} findings", groups=page.table(groups),
        ),
        encoding="utf-8",
    )  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=["checks", "calls", "page"], help="the rest as it was measured before")
    options = parser.parse_args()
    measured = json.loads(MEASURED.read_text()) if options.only else {}
    if options.only in (None, "checks"):
        measured |= {"machine": page.machine(), "groups": {what: run_group(files) for what, files in GROUPS.items()}}
    if options.only in (None, "calls"):
        measured["fuzz"] = run_calls(options.calls, options.seed)
    MEASURED.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    write(measured)


if __name__ == "__main__":
    main()
