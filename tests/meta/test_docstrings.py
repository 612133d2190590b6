"""Docstrings are complete in the source, defaults match the constructor, and shared sentences are the same."""

import ast
import importlib
import inspect
import re
from collections import defaultdict
from os.path import commonprefix
from pathlib import Path

import pytest
from numpydoc.docscrape import ClassDoc

import spectralcls
from spectralcls._estimator import CONSTRAINTS, Estimator

SOURCE = Path(spectralcls.__file__).parent
WORDS = 24  # descriptions that share their first words are compared
ROOMS = ["spectralcls", *(f"spectralcls.{path.stem}" for path in SOURCE.iterdir() if path.stem[:1] not in "._")]


def estimators():
    found = {}
    for room in ROOMS:
        if room in ("spectralcls.cli", "spectralcls.py"):
            continue
        module = importlib.import_module(room)
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if inspect.isclass(value) and issubclass(value, Estimator):
                found[value] = name
    return sorted(found, key=lambda cls: (cls.__name__, cls.__module__))


def sections(cls):
    doc = ClassDoc(cls, config={"show_class_members": False})
    return {entry.name: entry for part in ("Parameters", "Attributes") for entry in doc[part]}


@pytest.mark.parametrize("cls", estimators(), ids=lambda cls: f"{cls.__module__.split('.')[1]}-{cls.__name__}")
def test_every_parameter_is_described_with_its_default(cls):
    described, signature = sections(cls), inspect.signature(cls.__init__).parameters
    for name, parameter in list(signature.items())[1:]:
        assert name in described, f"{name} is not described"
        assert parameter.annotation is not inspect.Parameter.empty, f"{name} has no type hint"
        if parameter.default is not inspect.Parameter.empty:
            shown = described[name].type.partition("default=")[2]
            assert shown and ast.literal_eval(shown) == parameter.default, f"{name} : {described[name].type}"
    assert list(signature)[1:] == [name for name in described if name in signature], "not in the constructor's order"


def test_no_docstring_is_a_template():
    templates = [path for path in SOURCE.rglob("*.py") if re.search(r"%\(\w+\)s", path.read_text(encoding="utf-8"))]
    assert templates == []


@pytest.mark.parametrize("name", [*CONSTRAINTS, "classes_", "cv_results_", "best_score_", "n_tuning_samples_"])
def test_shared_sentences_are_the_same(name):
    """Descriptions that begin alike are the same, except that a class may add sentences."""
    alike = defaultdict(set)
    for cls in estimators():
        if name in (described := sections(cls)):
            text = " ".join(described[name].desc)
            alike[" ".join(text.split()[:WORDS])].add(text)
    assert alike
    for texts in alike.values():
        assert commonprefix([f"{text} " for text in texts]).rstrip(' `"').endswith(".")


def test_every_reference_that_a_docstring_cites_is_in_it():
    """Each docstring has a page of its own on the site, which fails to build otherwise."""
    lost = []
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                text = ast.get_docstring(node) or ""
                listed = set(re.findall(r"^\s*\.\. \[(\w+)\]", text, flags=re.M))
                lost += [(node.name, mark) for mark in set(re.findall(r"\[(\w+)\]_", text)) - listed]
    assert not lost
