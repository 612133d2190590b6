"""The arm64 wheel, made here and tried under emulation: ``python -m release.emulated``.

Debian has the interpreter (its packages are unpacked, not installed) and the emulator, the package index has the arm64
wheels of NumPy, SciPy and scikit-learn. Needs the host to run the same minor version of Python as Debian 12, 3.11.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from .debian import unpack
from .platforms import PLATFORMS
from .wheels import CORE_TESTS, LARGEST, ROOT, build, counts, record, run

NAME = "manylinux arm64"
PYTHON = "3.11"
SOABI = "cpython-311-aarch64-linux-gnu"
PACKAGES = [
    "python3.11-minimal",
    "libpython3.11-minimal",
    "libpython3.11-stdlib",
    "libpython3.11-dev",
    "libc6",
    "libexpat1",
    "zlib1g",
    "libssl3",
    "libffi8",
    "libbz2-1.0",
    "liblzma5",
    "libstdc++6",
    "libgcc-s1",
    "libsqlite3-0",
    "libuuid1",
]
TEST_TOOLS = ["numpy", "scipy", "scikit-learn", "pytest", "hypothesis", "mpmath", "pandas"]


class Arm64:
    """Debian's Python for arm64 in a folder, under qemu."""

    def __init__(self, folder):
        unpack(folder, "bookworm", ["qemu-user-static:amd64", *(f"{name}:arm64" for name in PACKAGES)])
        self.root, self.qemu = folder / "arm64", folder / "amd64" / "usr" / "bin" / "qemu-aarch64-static"
        self.packages = folder / "site-packages"
        if not self.packages.exists():
            tags = [f"--platform=manylinux_2_{glibc}_aarch64" for glibc in (17, 24, 26, 27, 28)]
            run(
                sys.executable,
                "-m",
                "pip",
                "install",
                "-q",
                "--target",
                self.packages,
                "--only-binary=:all:",
                f"--python-version={PYTHON}",
                *tags,
                "--platform=manylinux2014_aarch64",
                *TEST_TOOLS,
            )

    def __call__(self, *arguments, **options):
        command = [self.qemu, "-L", self.root, self.root / "usr/bin" / f"python{PYTHON}", *arguments]
        # NumPy's OpenBLAS multiplies wrongly with what it takes for the best instructions of the emulated processor.
        plain = {"OPENBLAS_NUM_THREADS": "1", "OPENBLAS_CORETYPE": "ARMV8"}
        return subprocess.run(
            [str(part) for part in command],
            cwd=ROOT,
            check=False,
            env={"PYTHONPATH": str(self.packages), "HOME": "/tmp"} | plain,
            **options,
        )


def main():
    platform = PLATFORMS[NAME]
    arm64 = Arm64(ROOT / "build" / "arm64")
    headers = arm64.root / "usr" / "include" / f"python{PYTHON}"
    os.environ["SETUPTOOLS_EXT_SUFFIX"] = f".{SOABI}.so"
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        built = build(NAME, scratch / "built", Python_INCLUDE_DIR=headers)
        # The symbols of glibc 2.28 are all that the compiler offers; auditwheel has no libraries of arm64 to look into.
        run(sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", platform.repaired, built)
        (wheel,) = (scratch / "built").glob("*.whl")
        assert wheel.stat().st_size < LARGEST
        run(
            sys.executable,
            "-m",
            "pip",
            "install",
            "-q",
            "--no-deps",
            "--upgrade",
            "--target",
            arm64.packages,
            "--only-binary=:all:",
            f"--python-version={PYTHON}",
            f"--platform={platform.repaired}",
            wheel,
        )
        report = scratch / "report.xml"
        arm64("-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", "-k", "not check_", *CORE_TESTS)
        outcome = counts(report)
        record(
            NAME,
            PYTHON,
            outcome="run under qemu",
            file=wheel.name,
            bytes=wheel.stat().st_size,
            tests={"baseline": outcome},
        )
    if outcome["failed"]:
        raise SystemExit(f"Tests fail: {outcome}")


if __name__ == "__main__":
    main()
