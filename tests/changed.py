"""``pytest --changed``: the tests of the modules that differ from the main branch, in about a minute.

The tests of a file are those of the module that it is named by or imports alone; a test of a file of many modules is
one of those whose names it says.
What builds upon a changed module is left to the whole suite.
"""

import ast
import inspect
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

import spectralcls

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "spectralcls"
# The modules that call each part of the core, whose tests in tests/core are chosen; every one if it has no row.
CALLERS = {"sums": {"kernels", "_kernel_points"}, "neighbors": {"neighbors", "graph"}, "krylov": {"eigen", "lowrank"}}

ALL_ESTIMATORS = re.compile(r"^from estimators import", re.MULTILINE)
CHOICE = pytest.StashKey()


def changed_files(base):
    """Paths within the project that differ from where this branch left `base`, those of no commit included."""

    def git(*arguments):
        return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()

    (left,) = git("merge-base", "HEAD", base)
    return [Path(name) for name in git("diff", "--name-only", left) + git("ls-files", "--others", "--exclude-standard")]


@cache
def imported(file):
    """Modules of the package, by the first part of their names, from which a file imports."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "spectralcls":
            found |= {home_of(alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("spectralcls."):
            found.add(node.module.split(".")[1])
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "spectralcls":
            found.add(home_of(node.attr))
    return found


def home_of(name):
    """The module that a public name comes from; the name itself if it is a module."""
    home = getattr(getattr(spectralcls, name, None), "__module__", None)
    return home.split(".")[1] if home and home.count(".") else name


class Choice:
    """Which tests are those of some files."""

    def __init__(self, files):
        self.tests = {file for file in files if file.parts[0] == "tests"}
        inside = [(ROOT / file).relative_to(PACKAGE) for file in files if (ROOT / file).is_relative_to(PACKAGE)]
        self.modules = {file.parts[0].removesuffix(".pyi").removesuffix(".py") for file in inside}
        parts = {file.parts[1] for file in files if file.parts[0] == "cpp" and len(file.parts) > 2}
        self.whole_core = bool(parts - CALLERS.keys())
        self.callers = set().union(*(CALLERS.get(part, ()) for part in parts))
        names = [name for name in spectralcls.__all__ if home_of(name) in self.modules]
        self.names = re.compile(rf"\b({'|'.join(names)})\b" if names else "$.")

    def of_file(self, file):
        """True: all tests of a file; False: none; None: some."""
        if file in self.tests:
            return True
        modules = imported(ROOT / file)
        if file.is_relative_to("tests/core") and (self.whole_core or modules & self.callers):
            return True
        if changed := modules & self.modules:
            named = any(file.stem.startswith(f"test_{module}") for module in changed)
            alone = not {module for module in modules - changed if module[0] != "_"}
            return True if named or alone or any(module[0] == "_" for module in changed) else None
        return None if ALL_ESTIMATORS.search((ROOT / file).read_text(encoding="utf-8")) else False

    def of_test(self, item):
        """Whether a test of a file of many modules names what is changed, in its identifier or its lines."""
        return bool(self.names.search(item.name) or self.names.search(inspect.getsource(item.function)))


def pytest_addoption(parser):
    parser.addoption("--changed", nargs="?", const="main", metavar="BRANCH",
                     help="only the tests of what differs from BRANCH (main)")  # fmt: skip


def pytest_configure(config):
    base = config.getoption("--changed")
    config.stash[CHOICE] = Choice(changed_files(base)) if base else None


def pytest_ignore_collect(collection_path, config):
    choice = config.stash[CHOICE]
    if choice is None or not collection_path.name.startswith("test_"):
        return None
    return True if choice.of_file(collection_path.relative_to(ROOT)) is False else None


def pytest_collection_modifyitems(config, items):
    choice = config.stash[CHOICE]
    if choice is None:
        return
    whole = {path for path in {item.path for item in items} if choice.of_file(path.relative_to(ROOT))}
    chosen = [item for item in items if item.path in whole or choice.of_test(item)]
    kept = set(chosen)
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = chosen
