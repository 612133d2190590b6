"""The public names: every public module and everything in its `__all__`."""

import ast
import doctest
import importlib
import inspect
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import spectralcls


def public_modules():
    """Returns the package and its modules without an underscore, except the command line."""
    names = [module.name for module in pkgutil.iter_modules(spectralcls.__path__) if module.name != "cli"]
    return ["spectralcls", *(f"spectralcls.{name}" for name in names if not name.startswith("_"))]


MODULES = public_modules()


def run(code, **variables):
    environment = {**os.environ, **variables}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env=environment)


def test_a_module_is_an_attribute_of_the_package_before_anyone_imports_it():
    names = [name.removeprefix("spectralcls.") for name in MODULES[1:]]
    result = run(
        f"import spectralcls; assert {set(names)} <= set(dir(spectralcls)); "
        f"print(*(getattr(spectralcls, name).__name__ for name in {names}))"
    )
    assert result.stdout.split() == MODULES[1:], result.stderr


@pytest.mark.parametrize("name", MODULES)
def test_all_lists_what_exists_in_order(name):
    module = importlib.import_module(name)
    assert module.__doc__
    assert list(module.__all__) == sorted(module.__all__)
    assert not [public for public in module.__all__ if not hasattr(module, public)]


def test_importing_the_package_imports_no_estimator_and_no_core():
    result = run("import sys, spectralcls; print([m for m in sys.modules if m.startswith('spectralcls.')])")
    assert result.stdout.strip() == "[]", result.stderr


def test_type_checkers_see_the_names_that_the_package_has():
    stub = ast.parse(Path(spectralcls.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    listed = {alias.name: node.module for node in imports for alias in node.names}
    homes = {name: None if inspect.ismodule(value) else value.__module__ for name, value in public_names().items()}
    assert {name for name, home in listed.items() if home is None} == {name for name in homes if homes[name] is None}
    assert {name for name, home in listed.items() if home is not None} == set(spectralcls.__all__)
    assert all(home is None or homes[name].startswith(f"spectralcls.{home}") for name, home in listed.items())


def public_names():
    """Returns the modules and the names at the top of the package."""
    modules = [name.removeprefix("spectralcls.") for name in MODULES[1:]]
    return {name: getattr(spectralcls, name) for name in [*modules, *spectralcls.__all__]}


def copied_to(folder):
    """Copies the package to a new folder, with its compiled core but no stubs; returns the `PYTHONPATH`."""
    ignored = shutil.ignore_patterns("*.pyi", "__pycache__")
    shutil.copytree(Path(spectralcls.__file__).parent, folder / "spectralcls", ignore=ignored)
    return str(folder)


def test_the_package_runs_without_stubs_which_frozen_programs_leave_out(tmp_path):
    result = run("import spectralcls; print(spectralcls.knn.__name__)", PYTHONPATH=copied_to(tmp_path / "frozen"))
    assert result.stdout.strip() == "knn", result.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="on other systems, paths are always text")
@pytest.mark.skipif(sys.version_info >= (3, 13), reason="Python loads no extension module from such a folder")
def test_the_package_runs_in_a_folder_whose_name_the_locale_cannot_decode(tmp_path):
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    folder = copied_to(tmp_path / "K\u00f6ln")
    result = run("import spectralcls; print(spectralcls.knn.__name__)", PYTHONPATH=folder, **locale)
    assert result.stdout.strip() == "knn", result.stderr


def test_the_package_is_imported_again_after_its_modules_were_forgotten():
    """As the reloaders of notebooks and servers do; the compiled core stays loaded."""
    result = run(
        "import sys, spectralcls\n"
        "for _ in range(2):\n"
        "    model = spectralcls.ParzenClassifier(bandwidth=1.0).fit([[0.0], [1.0]], [0, 1])\n"
        "    points = spectralcls.kernels.PackedPoints([[0.0], [1.0]])\n"
        "    print(model.predict([[0.9]]), spectralcls.knn([[0.9]], points, 1)[1])\n"
        "    for name in [name for name in sys.modules if name.startswith('spectralcls')]: del sys.modules[name]\n"
        "    import spectralcls\n"
    )
    assert result.stdout.split() == ["[1]", "[[1]]"] * 2, result.stderr


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'ParzenClasifier'"):
        spectralcls.ParzenClasifier  # noqa: B018


def test_the_names_at_the_top_are_public_in_their_modules():
    modules = [importlib.import_module(name) for name in MODULES[1:]]
    homes = {id(getattr(m, public)) for m in modules for public in m.__all__}
    strangers = [n for n in spectralcls.__all__ if id(getattr(spectralcls, n)) not in homes]
    assert strangers == ["show_config"]


def public_objects():
    """Returns every public class and function once, as a test parameter with its shortest name."""
    seen = {}
    for name in MODULES:
        module = importlib.import_module(name)
        for public in module.__all__:
            value = getattr(module, public)
            if inspect.isclass(value) or inspect.isfunction(value):
                seen.setdefault(id(value), pytest.param(value, id=f"{name}.{public}"))
    return list(seen.values())


def docstrings(value):
    """Yields the docstrings of an object and of the public methods of a class."""
    yield value.__doc__ or ""
    if inspect.isclass(value):
        for name, member in vars(value).items():
            if not name.startswith("_") and inspect.isroutine(member):
                yield inspect.getdoc(member) or ""


@pytest.mark.parametrize("value", public_objects())
def test_a_public_name_has_a_docstring_whose_example_runs(value):
    assert "Examples\n" in (value.__doc__ or ""), "no example"
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner(verbose=False)
    for example in finder.find(value, value.__name__):
        output = []
        result = runner.run(example, out=output.append)
        assert result.attempted and not result.failed, "".join(output)


@pytest.mark.parametrize("value", public_objects())
def test_docstrings_cite_what_help_can_resolve(value):
    for text in docstrings(value):
        assert not re.search(r"(?<!Master's )[Tt]hesis|[Pp]aper 00\d|MATH\b|See the module", text), text


def test_public_functions_have_type_hints():
    functions = [param.values[0] for param in public_objects() if inspect.isfunction(param.values[0])]
    local = [f for f in functions if not f.__module__.startswith("spectralcls.dask")]
    bare = [f.__qualname__ for f in local if not f.__annotations__]
    assert bare == []
