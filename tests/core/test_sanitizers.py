"""The sanitizers' quick part, seconds to compile: the threads of the core.

`nox -s sanitize` has the rest: the core's tests under all of them.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMPILER = shutil.which("c++")
# Without randomized addresses, which the thread sanitizer of older compilers does not cope with.
FIXED = ["setarch", "-R"] if shutil.which("setarch") else []


@pytest.mark.any_variant
@pytest.mark.skipif(COMPILER is None or not (ROOT / "cpp").exists(), reason="needs a compiler and sources")
@pytest.mark.parametrize("sanitizer", ["thread", "address,undefined"])
def test_the_threads_of_the_core_neither_race_nor_touch_foreign_memory(sanitizer, tmp_path):
    program = tmp_path / "race"
    sources = [ROOT / "tests" / "core" / "race.cpp", ROOT / "cpp" / "base" / "parallel.cpp"]
    options = ["-std=c++17", "-O1", "-g", "-pthread", f"-fsanitize={sanitizer}", "-I", ROOT / "cpp"]
    if subprocess.run([COMPILER, *options, *sources, "-o", program]).returncode:
        pytest.skip(f"this compiler has no {sanitizer} sanitizer")
    environment = os.environ | {"TSAN_OPTIONS": "halt_on_error=0"}
    result = subprocess.run([*FIXED, program], capture_output=True, text=True, env=environment)
    assert result.returncode == 0 and not result.stderr, result.stderr
