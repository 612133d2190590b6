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
    program, empty = tmp_path / "race", tmp_path / "empty.cpp"
    empty.write_text("int main() {}", encoding="utf-8")
    sources = [ROOT / "tests" / "core" / "race.cpp", ROOT / "cpp" / "infrastructure" / "parallel.cpp"]
    options = ["-std=c++17", "-O1", "-g", "-pthread", f"-fsanitize={sanitizer}", "-I", ROOT / "cpp", "-o", program]
    if subprocess.run([COMPILER, *options, empty]).returncode:
        pytest.skip(f"this compiler has no {sanitizer} sanitizer")
    subprocess.run([COMPILER, *options, *sources], check=True)
    environment = os.environ | {"TSAN_OPTIONS": "halt_on_error=0"}
    result = subprocess.run([*FIXED, program], capture_output=True, text=True, env=environment)
    assert result.returncode == 0 and not result.stderr, result.stderr
