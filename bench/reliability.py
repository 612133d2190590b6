"""What the package was put through, and what came of it: writes ``docs/reliability.md``.

    python -m bench.reliability --calls 20000 --seed 1           # runs everything, some twenty minutes
    python -m bench.reliability --only page                      # the table of findings anew, the rest as measured
    python -m bench.reliability --add FUZZ.json ...              # reports of `python -m tests.fuzz --json`, added up
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

from tests.findings import FINDINGS

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
SESSIONS = {  # what is looked for: session of nox
    "wrong addresses and undefined behavior in the core": "sanitize(sanitizer='asan')",
    "races among the core's threads": "sanitize(sanitizer='tsan')",
    "tests of the core and the estimators, each in four threads at once": "threads",
}
TEXT = """\
# Reliability

What the package was put through. Nothing on this page is typed by hand: `python -m bench.reliability` runs the commands
below and writes it. Machine: {machine}.

## Random calls against slow truth

`python -m tests.fuzz --calls N --seed S` draws calls of the public functions and estimators: shapes, memory layouts,
byte orders, dtypes, labels of all integer types, weights, bandwidths, units, odd data, tables, files, and arguments
of the wrong kind. They run in child processes, so that a crash or a hang is seen. An answer is compared with float64
NumPy straight from the formulas, or checked for what must hold; an error must be one that the package raises, in words.

{calls} calls in {seconds}, {seeds}: **{findings}**. What a run finds gets a test, in the table below, and is judged
once more (`--again`); what runs of earlier versions found stands there too.

{targets}

## Found and mended

Each finding of the random calls and of other attempts to break the package, with the tests that fail if it comes back.
The list is `tests/findings.py`; `tests/house/test_findings.py` checks that these tests exist.

{mended}

## Checks

Each line is `pytest` with the files named.

{groups}

## Sanitizers and threads

The core, compiled with sanitizers that end the process at their first finding, under the core's tests:
`nox -s sanitize`. That a race would be reported is tested by one put there (`tests/core/test_sanitizers.py`).
`nox -s threads` is what Python without its lock asks for: pytest-run-parallel runs every test in several threads at
once.

{sessions}

## How to repeat a finding

A call is drawn from its seed, target and number: `python -m tests.fuzz --only knn --call 123 --seed 1` makes one again,
in this process.
"""


def run_tests(*command):
    """Counts of a command that runs pytest."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.DEVNULL,
                       env=os.environ | {"PYTEST_ADDOPTS": f"--junitxml={report}"})  # fmt: skip
        suite = ET.parse(report).getroot().find("testsuite")
        counts = {key: int(suite.get(key)) for key in ("tests", "failures", "errors", "skipped")}
        return counts | {"seconds": float(suite.get("time"))}


def run_group(files):
    return run_tests(sys.executable, "-m", "pytest", "-q", *files)


def outcome(counts):
    failed = counts["failures"] + counts["errors"]
    return {
        "passed": counts["tests"] - failed - counts["skipped"], "failed": failed, "skipped": counts["skipped"],
        "seconds": round(counts["seconds"]),
    }  # fmt: skip


def run_calls(calls, seed):
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "fuzz.json"
        command = [sys.executable, "-m", "tests.fuzz", "--calls", str(calls), "--seed", str(seed), "--json", report]
        subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.DEVNULL)
        return json.loads(report.read_text())


def added(reports):
    """One report of several runs of `tests.fuzz`."""
    targets, findings, mended_since = {}, [], 0
    for report in reports:
        left = [finding for finding in report["findings"] if not finding.get("mended")]
        mended_since += len(report["findings"]) - len(left)
        findings += [{key: finding[key] for key in ("target", "call", "seed")} for finding in left]
        for target, counts in report["targets"].items():
            known = targets.setdefault(target, dict.fromkeys(counts, 0))
            for what, count in counts.items():
                known[what] += count
    return {
        "calls": sum(report["calls"] for report in reports), "seconds": sum(report["seconds"] for report in reports),
        "seeds": sorted({seed for report in reports for seed in report.get("seeds", [report.get("seed")])}),
        "targets": targets, "findings": findings, "mended": mended_since,
    }  # fmt: skip


def mended():
    rows = []
    for finding, tests in FINDINGS.items():
        named = "<br>".join(f"`{test.removeprefix('tests/')}`" for test in tests)
        rows.append({"what was wrong": finding, "tests": named})
    return page.table(rows)


def duration(seconds):
    return f"{seconds / 3600:.1f} hours" if seconds > 5400 else f"{seconds / 60:.0f} minutes"


def write(measured):
    fuzz = measured["fuzz"]
    named = ["a finding by `{target}`, call {call}, seed {seed}".format(**finding) for finding in fuzz["findings"]]
    if fuzz["mended"]:
        named.insert(0, f"{fuzz['mended']} findings, right or refused in words by now")
    groups = [
        {"what": what, "files": " ".join(f"`{name}`" for name in GROUPS[what])} | outcome(counts)
        for what, counts in measured["groups"].items()
    ]
    sessions = [{"what": what} | outcome(counts) for what, counts in measured["sessions"].items()]
    PAGE.write_text(
        TEXT.format(
            machine=measured["machine"], seeds=seeds(fuzz["seeds"]), calls=f"{fuzz['calls']:,}".replace(",", " "),
            seconds=duration(fuzz["seconds"]), groups=page.table(groups), mended=mended(),
            sessions=page.table(sessions),
            targets=page.table([{"target": t, **c} for t, c in fuzz["targets"].items()]),
            findings="; ".join(named) or "no finding",
        ),
        encoding="utf-8",
    )  # fmt: skip


def seeds(numbers):
    return f"seeds {', '.join(map(str, numbers))}" if len(numbers) < 4 else f"{len(numbers)} seeds"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=["checks", "calls", "sessions", "page"], help="the rest as before")
    parser.add_argument("--add", type=Path, nargs="+", default=[], metavar="FUZZ.json", help="reports of runs")
    options = parser.parse_args()
    measured = json.loads(MEASURED.read_text()) if options.only or options.add else {}
    if options.only in (None, "checks") and not options.add:
        measured |= {"machine": page.machine(), "groups": {what: run_group(files) for what, files in GROUPS.items()}}
    if options.only in (None, "sessions") and not options.add:
        measured["sessions"] = {
            what: run_tests(sys.executable, "-m", "nox", "-R", "-s", session) for what, session in SESSIONS.items()
        }
    if options.only in (None, "calls") and not options.add:
        measured["fuzz"] = added([run_calls(options.calls, options.seed)])
    if options.add:
        measured["fuzz"] = added([json.loads(file.read_text()) for file in options.add])
    MEASURED.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    write(measured)


if __name__ == "__main__":
    main()
