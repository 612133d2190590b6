"""Every room is on a floor and imports only from lower floors."""

import ast
import sys
from functools import cache
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

DOCS = Path(__file__).parents[2] / "docs"
if not DOCS.exists():
    pytest.skip("the tests run without the source folder", allow_module_level=True)
sys.path.insert(0, str(DOCS / "_ext"))
import house  # noqa: E402

MODULES = [parts for parts in house.sources() if house.room_of(parts) is not None]


def test_rooms_import_only_from_lower_floors():
    """By the contract in pyproject.toml, for which a room on no floor is an error, too."""
    assert lint_imports(config_filename=str(DOCS.parent / "pyproject.toml"), no_cache=True) == 0


def test_the_core_includes_only_from_lower_floors():
    floor = {room: number for number, rooms in enumerate(house.CORE_FLOORS) for room in rooms}
    assert sorted(floor) == sorted({path.parent.name for path in house.includes()})
    for path, rooms in house.includes().items():
        for room in rooms:
            assert room == path.parent.name or floor[room] < floor[path.parent.name], f"{path} includes {room}"


def test_no_module_imports_a_private_module_of_another_room():
    foreign = [
        (parts, target)
        for parts in MODULES
        for target in house.imports(parts)
        if target.split(".")[0] not in (house.room_of(parts), "__version__")
        and any(name.startswith("_") for name in target.split(".")[1:])
    ]
    assert not foreign


def private_names(tree):
    """Returns the private attributes and methods that a module defines or sets."""
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    own |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}
    own |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return {name for name in own if name.startswith("_") and not name.startswith("__")}


@cache
def private_names_of(room):
    return set().union(
        *(private_names(tree) for parts, tree in house.sources().items() if house.room_of(parts) == room)
    )


def test_no_module_uses_a_private_attribute_of_another_room():
    """An attribute of `self` may come from a base class; all others are public or belong to the same room."""
    foreign = {
        (parts, node.attr)
        for parts in MODULES
        for node in ast.walk(house.sources()[parts])
        if isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.startswith("__")
        and not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls", "trial"))
        and not isinstance(node.value, ast.Call | ast.Subscript)
        and node.attr not in private_names_of(house.room_of(parts)) | NOT_OURS
    }
    assert not foreign


# Defined by named tuples, scikit-learn and Dask.
NOT_OURS = {
    *("_replace", "_asdict", "_fields", "_get_param_names", "_meta"),
    *("_predictors", "_baseline_prediction"),  # only in _utils/from_sklearn.py
}


def repeated(names):
    """Returns {name: places} of the names that occur more than once."""
    found = {}
    for name, parts in names:
        found.setdefault(name, []).append("/".join(parts))
    return {name: places for name, places in found.items() if len(places) > 1}


# A module of `dask` has the name of the module that it distributes; `neighbors` and `operators` are public there.
MIRRORED = {"inputs", "neighbors", "operators", "points"}


def test_a_name_of_a_module_is_taken_once():
    names = [(parts[-1].removesuffix(".py").lstrip("_"), parts) for parts in MODULES if parts[-1][:2] != "__"]
    twice = repeated(names)
    assert set(twice) == MIRRORED, twice
    assert all(any(place.startswith("dask/") for place in places) for places in twice.values())


def test_a_name_of_a_class_is_taken_once():
    names = [
        (node.name, parts)
        for parts in MODULES
        for node in ast.walk(house.sources()[parts])
        if isinstance(node, ast.ClassDef)
    ]
    assert set(repeated(names)) == {"KernelOperator"}, "that of dask derives from the same class"


def test_every_line_is_of_one_kind():
    kinds = house.lines(("_core", "interrupt.py"))
    text = (house.PACKAGE / "_core" / "interrupt.py").read_text()
    assert kinds.total() == len(text.splitlines())
    assert house.lines_of_rooms()["_core"]["code"] > kinds["code"] > kinds["docstring"] > kinds["comment"]


def test_the_walk_sees_what_is_there():
    assert "_expansion.class_means" in house.imports(("kernel_mean", "_kernel_mean_classifier.py"))
    assert house.arrows()["kernel_mean", "_expansion"] > 1
