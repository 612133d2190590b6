"""CPU seconds of a cold build of all variants, and the size of the wheel, for several checkouts in one run.

``python -m bench.core_build LABEL=CHECKOUT ...`` configures each in an empty folder with CMake's release flags and
nothing that remembers (no ccache), compiles, and counts what the processes have taken; the modules, stripped, and the
Python files are then zipped as a wheel is. ``python -m bench.core`` shows the figures on docs/measured/core.md.
``--keep`` copies the modules into the checkouts, where they can be imported.
"""

import argparse
import io
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import pybind11

from bench.core import load, save
from bench.page import machine


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def build(checkout, jobs, keep):
    """The figures of one checkout."""
    with tempfile.TemporaryDirectory() as folder:
        run = lambda *command: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: E731
        environment = os.environ.copy()
        os.environ["CCACHE_DISABLE"] = "1"
        before, start = cpu_seconds(), time.perf_counter()
        run(
            "cmake",
            "-S",
            str(checkout),
            "-B",
            folder,
            "-G",
            "Ninja",
            "-DCMAKE_BUILD_TYPE=Release",
            f"-DPython_EXECUTABLE={sys.executable}",
            f"-Dpybind11_DIR={pybind11.get_cmake_dir()}",
            f"-DCMAKE_PREFIX_PATH={Path(pybind11.__file__).parents[1]}",
        )
        run("cmake", "--build", folder, "-j", str(jobs))
        seconds = {"CPU seconds": cpu_seconds() - before, "wall seconds": time.perf_counter() - start, "jobs": jobs}
        os.environ.clear()
        os.environ.update(environment)
        run("cmake", "--install", folder, "--strip", "--prefix", f"{folder}/installed")
        modules = sorted(Path(folder, "installed").rglob("*.so"))
        if keep:
            for module in modules:
                target = checkout / "src/spectralcls/_core" / module.name
                target.unlink(missing_ok=True)  # this process may have loaded it: written over, it would crash
                shutil.copy(module, target)
        sizes = {f"{module.name.split('.')[0]}, KiB": module.stat().st_size // 1024 for module in modules}
        return seconds | {"wheel, KiB": wheel_size(checkout, modules) // 1024} | sizes


def wheel_size(checkout, modules):
    """Bytes of the package with its modules, deflated."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path in [*(checkout / "src").rglob("*.py*"), *modules]:
            if path.suffix != ".pyc" and path.is_file():
                wheel.write(path, path.relative_to(path.anchor))
    return len(archive.getvalue())


def main():
    parser = argparse.ArgumentParser(prog="python -m bench.core_build", description=__doc__.splitlines()[0])
    parser.add_argument("checkouts", nargs="+", metavar="LABEL=CHECKOUT")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", action="store_true")
    arguments = parser.parse_args()
    rows = []
    for label, _, checkout in (argument.partition("=") for argument in arguments.checkouts):
        rows.append({"build": label} | build(Path(checkout).resolve(), arguments.jobs, arguments.keep))
        print(rows[-1], flush=True)
    save(load() | {"build": {"machine": machine(), "rows": rows}})


if __name__ == "__main__":
    main()
