"""Makes the wheel of this machine's platform and Python, checks it, tries it where there is no compiler.

    python -m release.wheels            # what `nox -s wheels` runs for every Python that it finds

The wheel goes to ``dist/``, what happened to ``docs/measured/wheels.json``, which ``release.page`` makes a page of.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from pathlib import Path

from .platforms import PLATFORMS

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
MEASURED = ROOT / "docs" / "measured" / "wheels.json"
HERE = "manylinux x86-64"
LARGEST = 3_000_000  # bytes
FIRST_RESULT = 20.0  # seconds from `pip install` to the table of `spectralcls compare wine`, without downloads
OTHERS = 0.1  # processors that other work may take of a timed run
CORE_TESTS = [
    "tests/core/test_doors.py",
    "tests/core/test_kernels.py",
    "tests/core/test_kernel_points.py",
    "tests/core/test_neighbors.py",
    "tests/core/test_eigen.py",
    "tests/core/test_lowrank.py",
    "tests/core/test_tolerance.py",
]
TESTS = [
    *CORE_TESTS,
    "tests/unit/test_kernel_mean.py",
    "tests/unit/test_spectral.py",
    "tests/unit/test_perturbo.py",
    "tests/house/test_models.py",
]
TEST_TOOLS = ["pytest", "hypothesis", "mpmath", "pandas", "skops"]


def run(*command, **options):
    print("+", *command, flush=True)
    return subprocess.run([str(part) for part in command], check=True, **options)


def zig():
    import ziglang

    return str(Path(ziglang.__path__[0]) / "zig")


def definitions(platform):
    """What CMake is told about a platform."""
    return {"CMAKE_TOOLCHAIN_FILE": str(ROOT / "release" / "zig.cmake"), "ZIG_TARGET": platform.zig}


def build(name, folder, **more):
    """The wheel of a platform for the Python that runs this. Objects of the core are kept for the next Python."""
    platform = PLATFORMS[name]
    options = [f"-Ccmake.define.{key}={value}" for key, value in {**definitions(platform), **more}.items()]
    options.append(f"-Cbuild-dir=build/zig-{platform.zig}")
    run(
        sys.executable,
        "-m",
        "pip",
        "wheel",
        ROOT,
        "--no-deps",
        "--no-build-isolation",
        "-w",
        folder,
        *options,
        env=os.environ | {"ZIG": zig(), "_PYTHON_HOST_PLATFORM": platform.tag},
    )
    (wheel,) = folder.glob("*.whl")
    return wheel


def audited(wheel, tag, folder):
    """The wheel under the name that auditwheel grants it; fails if it needs more than `tag` promises."""
    auditwheel = [sys.executable, "-m", "auditwheel"]
    run(*auditwheel, "repair", "--plat", tag, "-w", folder, wheel)
    (repaired,) = folder.glob("*.whl")
    run(*auditwheel, "show", repaired)
    if (size := repaired.stat().st_size) > LARGEST:
        raise SystemExit(f"{repaired.name} has {size} bytes; at most {LARGEST} are allowed.")
    return repaired


class Bare:
    """An environment whose PATH holds nothing but its own programs."""

    def __init__(self, folder):
        run(sys.executable, "-m", "virtualenv", "-q", folder)
        self.bin = folder / "bin"
        kept = {name: os.environ[name] for name in ("HOME", "PIP_FIND_LINKS", "PIP_CERT") if name in os.environ}
        self.env = kept | {"PATH": str(self.bin)}
        for tool in ("cc", "c++", "gcc", "g++", "clang", "cmake", "ninja"):
            assert shutil.which(tool, path=str(self.bin)) is None

    def __call__(self, program, *arguments, check=True, **options):
        print("+", program, *arguments, flush=True)
        command = [str(self.bin / program), *map(str, arguments)]
        return subprocess.run(command, env=self.env | options.pop("env", {}), check=check, **options)


def time_to_first_result(wheel, folder):
    """From `pip install` of downloaded files to the end of `spectralcls compare wine`: seconds, processor seconds."""
    run(sys.executable, "-m", "pip", "download", "-q", "-d", folder / "downloads", wheel)
    bare = Bare(folder / "first")
    begin, used, all_used = time.perf_counter(), processor_seconds(), busy_seconds()
    bare("pip", "install", "-q", "--no-index", "--find-links", folder / "downloads", "spectralcls")
    installed = time.perf_counter() - begin
    bare("spectralcls", "compare", "wine")
    seconds, used = time.perf_counter() - begin, processor_seconds() - used
    others = busy_seconds() - all_used - used
    if seconds > FIRST_RESULT:
        print(f"{seconds:.1f} s to the first result: more than {FIRST_RESULT}.")
    if others > OTHERS * seconds:
        print(f"{seconds:.1f} s to the first result are not kept: {others:.1f} processor seconds went to other work.")
        return bare, {}
    return bare, {
        "seconds_to_first_result": round(seconds, 1),
        "seconds_of_pip": round(installed, 1),
        "processor_seconds": round(used, 1),
    }


def processor_seconds():
    """Of all child processes that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def busy_seconds():
    """Of all processors, in any process."""
    user, nice, system = map(int, Path("/proc/stat").read_text().split()[1:4])
    return (user + nice + system) / os.sysconf("SC_CLK_TCK")


def tried(bare, folder, files):
    """Counts of the tests of `files`, run against the installed wheel, once with each of its variants."""
    bare("pip", "install", "-q", *TEST_TOOLS)
    listed = bare(
        "python",
        "-c",
        "from spectralcls._core import available_variants as v; print(*v())",
        capture_output=True,
        text=True,
        cwd=folder,
    ).stdout.split()
    outcomes = {}
    for k, variant in enumerate(listed):
        report = folder / f"{variant}.xml"
        bare(
            "python",
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            f"--junitxml={report}",
            "-k",
            "not check_",
            *(files if k == 0 else CORE_TESTS),
            cwd=ROOT,
            check=False,
            env={"SPECTRALCLS_ISA": variant, "OPENBLAS_NUM_THREADS": "1"},
        )
        outcomes[variant] = counts(report)
    return outcomes


def counts(report):
    suite = ET.parse(report).getroot().find("testsuite")
    failed = int(suite.get("failures")) + int(suite.get("errors"))
    skipped = int(suite.get("skipped"))
    return {"passed": int(suite.get("tests")) - failed - skipped, "failed": failed, "skipped": skipped}


def record(name, python, **row):
    """Adds what happened to a platform and a Python, in place of what was known of them; None: to no Python's wheel."""
    rows = json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.exists() else {}
    rows[f"{name}, {python}"] = {"platform": name, "python": python} | row
    MEASURED.write_text(json.dumps(dict(sorted(rows.items())), indent=1) + "\n", encoding="utf-8")


def main():
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        wheel = audited(build(HERE, scratch / "built"), PLATFORMS[HERE].repaired, scratch / "audited")
        DIST.mkdir(exist_ok=True)
        kept = shutil.copy(wheel, DIST)
        bare, times = time_to_first_result(kept, scratch)
        outcomes = tried(bare, scratch, TESTS)
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    record(HERE, python, outcome="run", file=Path(kept).name, bytes=Path(kept).stat().st_size, tests=outcomes, **times)
    if any(outcome["failed"] for outcome in outcomes.values()):
        raise SystemExit(f"Tests fail: {outcomes}")


if __name__ == "__main__":
    main()
