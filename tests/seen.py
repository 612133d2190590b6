"""Where the suite was last seen green: `pytest -p seen` writes a row of `seen.json`; README and CONTRIBUTING show it.

Only a run without failures writes, in the end, and only about itself. `python -m tests.seen` prints the BLAS kernels of
OpenBLAS that this processor can run besides the one in use, for runs under `OPENBLAS_CORETYPE`.
"""

import json
import os
import platform
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import scipy
import threadpoolctl

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "tests" / "seen.json"
_BEGIN, _END = "<!-- seen green -->\n", "<!-- end of seen -->\n"
_KERNELS = "Sapphirerapids Cooperlake SkylakeX Zen Haswell Sandybridge Nehalem".split()  # of OpenBLAS, newest first
_ASK = "import numpy, scipy.linalg, seen; print(seen._blas().get('architecture', ''))"
_HEAD = "| tests | system | processor, variant | Python | NumPy, SciPy | BLAS kernel, threads | passed | day |"
_ROW = "| {tests} | {system} | {processor} | {python} | {libraries} | {blas} | {passed} | {day} |"


def _maker():
    """Maker of the processor; empty where the system does not tell."""
    try:
        found = re.search(r"^vendor_id\s*: (.*)$", Path("/proc/cpuinfo").read_text(), flags=re.M)
    except OSError:
        return ""
    return {"AuthenticAMD": "AMD", "GenuineIntel": "Intel"}.get(found[1], "") if found else ""


def _blas():
    return next((pool for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"), {})


def further_kernels(n=2):
    """The `n` newest kernels, besides the one in use, that this build of OpenBLAS has and this processor runs: what it
    does not have, or cannot run, it replaces by another one, whose name it tells.
    """
    found = [_blas().get("architecture", "")]
    for name in _KERNELS:
        asked = {**os.environ, "OPENBLAS_CORETYPE": name, "PYTHONPATH": str(ROOT / "tests")}
        told = subprocess.run([sys.executable, "-c", _ASK], env=asked, capture_output=True, text=True).stdout.strip()
        if told and told not in found:
            found.append(told)
    return found[1 : n + 1]


def _row(tests, passed):
    from spectralcls._core import variant

    blas, maker = _blas(), _maker()
    try:
        system = platform.freedesktop_os_release()["PRETTY_NAME"].split(" (")[0]
    except OSError:
        system = f"{platform.system()} {platform.release()}"
    return {
        "tests": tests,
        "system": system,
        "processor": ", ".join(filter(None, (maker, platform.machine(), variant))),
        "python": ".".join(map(str, sys.version_info[:2])),
        "libraries": f"{np.__version__}, {scipy.__version__}",
        "blas": f"{blas.get('architecture', blas.get('internal_api', '?'))}, {blas.get('num_threads', '?')}",
        "passed": passed,
        "day": datetime.now(UTC).date().isoformat(),
    }


def text_of(rows, full):
    """What the pages say of the rows: a sentence, or a table."""
    versions = lambda names: ", ".join(sorted(names, key=lambda name: [*map(int, name.split("."))]))  # noqa: E731
    whole = [row for row in rows if row["tests"] == "all"]
    what, shown = ("The whole suite was", whole) if whole else ("Only its tests of numbers were", rows)
    seen = {row["python"] for row in shown}
    promised = set(re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text()))
    where = " and ".join(sorted({f"{row['system']} ({row['processor']})" for row in shown}))
    sentence = f"{what} last seen green on {where}, with Python {versions(seen)}" if shown else "No run is recorded yet"
    if unseen := promised - seen:
        sentence += f"; not yet with Python {versions(unseen)}, nor on other systems"
    if not full:
        return f"{sentence}.\n"
    lines = [_HEAD, "|---" * 8 + "|", *(_ROW.format(**row) for row in rows)]
    return "\n".join([f"{sentence}.", "", *lines, ""])


def write_pages(rows):
    for name, full in (("README.md", False), ("CONTRIBUTING.md", True)):
        text = (ROOT / name).read_text(encoding="utf-8")
        before, rest = text.split(_BEGIN)
        new = before + _BEGIN + text_of(rows, full) + _END + rest.split(_END)[1]
        (ROOT / name).write_text(new, encoding="utf-8")


def pytest_sessionfinish(session, exitstatus):
    """Record a green run; workers of pytest-xdist leave that to their parent."""
    if exitstatus != 0 or hasattr(session.config, "workerinput"):
        return
    passed = len(session.config.pluginmanager.get_plugin("terminalreporter").stats.get("passed", ()))
    is_whole = [Path(place).resolve() for place in session.config.args] in ([ROOT / "tests"], [ROOT])
    chosen = session.config.option.keyword or session.config.option.markexpr
    row = _row("all" if is_whole and not chosen else os.environ.get("SEEN_AS", "some"), passed)
    rows = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else []
    key = ("tests", "system", "processor", "python", "libraries", "blas")
    rows = [other for other in rows if any(other[name] != row[name] for name in key)] + [row]
    rows.sort(key=lambda row: [row[name] for name in key])
    RECORD.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    write_pages(rows)


if __name__ == "__main__":
    print(*further_kernels())
