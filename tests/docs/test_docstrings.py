"""numpydoc finds nothing to mend in the docstring of any public class, method, property or function.

The codes that are not asked for stand in ``docs/conf.py``: the site checks the same.
"""

import ast
import functools
import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import spectralcls
from spectralcls._estimator import base

validation = pytest.importorskip("numpydoc.validate", reason="no docstring was checked: numpydoc is missing")

CONF = Path(__file__).parents[2] / "docs" / "conf.py"
pytestmark = pytest.mark.skipif(not CONF.exists(), reason="the tests run without the source folder")


@functools.cache
def site_checks():
    """Codes that the site checks everywhere, methods included."""
    nodes = [node for node in ast.parse(CONF.read_text(encoding="utf-8")).body if isinstance(node, ast.Assign)]
    (value,) = [node.value for node in nodes if ast.unparse(node.targets[0]) == "numpydoc_validation_checks"]
    return validation.get_validation_checks(ast.literal_eval(value))


def public_modules():
    """The modules without an underscore, and last the package, which repeats their names; the command line is none."""
    names = [module.name for module in pkgutil.iter_modules(spectralcls.__path__)]
    return [importlib.import_module(f"spectralcls.{name}") for name in names if name[0] != "_" and name != "cli"] + [
        spectralcls
    ]


def own_members(cls):
    """Names of public methods and properties; what scikit-learn, SciPy and Python define, they document."""
    for name, member in inspect.getmembers_static(cls):
        if isinstance(member, classmethod | staticmethod | property) or inspect.isfunction(member):
            home = getattr(member, "fget", None) or inspect.unwrap(member)
            if not name.startswith("_") and home.__module__.startswith("spectralcls"):
                yield name


def public_names():
    """Qualified names of all public classes and functions, each once, and of the members of the classes."""
    found = {}
    for module in public_modules():
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value):
                found.setdefault(value, f"{module.__name__}.{name}")
    for value, name in found.items():
        yield pytest.param(name, "EX01", id=name)
        if inspect.isclass(value):
            yield from (pytest.param(f"{name}.{member}", None, id=f"{name}.{member}") for member in own_members(value))


@pytest.mark.parametrize(("name", "code_of_examples"), list(public_names()))
def test_numpydoc_finds_nothing_to_mend(name, code_of_examples):
    wanted = site_checks() | {code_of_examples}
    assert [error for error in validation.validate(name)["errors"] if error[0] in wanted] == []


def test_the_html_of_an_estimator_links_to_its_page(monkeypatch):
    estimators = [
        (f"{module.__name__}.{name}", value)
        for module in public_modules()[:-1]
        for name in module.__all__
        if inspect.isclass(value := getattr(module, name)) and issubclass(value, base.Estimator)
    ]
    for _, estimator in estimators:
        assert estimator._get_doc_link(object.__new__(estimator)) == ""  # no address is known
    monkeypatch.setattr(base, "documents", lambda: "https://docs.test")
    for name, estimator in estimators:
        link = estimator._get_doc_link(object.__new__(estimator))
        assert link == f"https://docs.test/reference/generated/{name}.html"
