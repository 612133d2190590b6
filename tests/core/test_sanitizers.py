"""The sanitizers' quick part, seconds to compile: the threads of the core, and whether a race would be noticed.

`nox -s sanitize` has the rest: the core's tests under all of them.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMPILER = shutil.which("c++")
pytestmark = [
    pytest.mark.any_variant,
    pytest.mark.skipif(COMPILER is None or not (ROOT / "cpp").exists(), reason="needs a compiler and sources"),
]


def compiled(sanitizer, folder):
    program = folder / sanitizer.replace(",", "_")
    sources = [ROOT / "tests" / "core" / "race.cpp", ROOT / "cpp" / "base" / "parallel.cpp"]
    options = ["-std=c++17", "-O1", "-g", "-pthread", f"-fsanitize={sanitizer}", "-I", ROOT / "cpp"]
    subprocess.run([COMPILER, *options, *sources, "-o", program], check=True)
    return program


def run(program, *arguments):
    # Without randomized addresses, which the thread sanitizer of older compilers does not cope with.
    fixed = [shutil.which("setarch"), "-R"] if shutil.which("setarch") else []
    return subprocess.run(
        [*fixed, program, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"TSAN_OPTIONS": "halt_on_error=0"},
    )


@pytest.fixture(scope="module")
def thread_sanitized(tmp_path_factory):
    try:
        return compiled("thread", tmp_path_factory.mktemp("tsan"))
    except subprocess.CalledProcessError:
        pytest.skip("this compiler has no thread sanitizer")


def test_the_threads_of_the_core_do_not_race(thread_sanitized):
    result = run(thread_sanitized)
    assert result.returncode == 0 and "ThreadSanitizer" not in result.stderr, result.stderr


def test_a_race_would_be_reported(thread_sanitized):
    result = run(thread_sanitized, "race")
    assert "WARNING: ThreadSanitizer: data race" in result.stderr and result.returncode != 0


def test_the_threads_of_the_core_touch_no_foreign_memory(tmp_path):
    result = run(compiled("address,undefined", tmp_path))
    assert result.returncode == 0 and not result.stderr, result.stderr
