"""The files that packagers read agree."""

import re
import runpy
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not (ROOT / "conda").exists(), reason="the tests run without the source folder")


def spaced(requirement):
    """Returns ``name >=1`` for ``name>=1``, as conda writes it."""
    return re.sub(r"(\w)([<>=])", r"\1 \2", requirement)


def test_the_conda_recipe_agrees_with_the_project():
    yaml = pytest.importorskip("yaml")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    recipe = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text())
    python = f"python {project['project']['requires-python']}"
    assert recipe["context"]["version"] == project["project"]["version"]
    assert recipe["about"]["license"] == project["project"]["license"]
    assert recipe["about"]["summary"] == project["project"]["description"]
    assert set(recipe["requirements"]["run"]) == {python, *map(spaced, project["project"]["dependencies"])}
    needed = {spaced(each).replace("cmeel-eigen", "eigen") for each in project["build-system"]["requires"]}
    assert needed <= set(recipe["requirements"]["host"])


def test_extras_name_only_extras_that_exist():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    named = {
        extra
        for group in extras.values()
        for each in group
        if (found := re.fullmatch(r"spectralcls\[(.*)\]", each))
        for extra in found[1].split(",")
    }
    assert named <= set(extras)


def test_pyinstaller_finds_the_hook_that_names_modules_which_are_imported_late():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    module, _, function = project["entry-points"]["pyinstaller40"]["hook-dirs"].partition(":")
    (folder,) = getattr(import_module(module), function)()
    hook = Path(folder) / "hook-spectralcls.py"
    pytest.importorskip("PyInstaller")
    found = runpy.run_path(str(hook))
    assert {"spectralcls.ensemble", "spectralcls.storage._onnx"} <= set(found["hiddenimports"])
    assert any("_core" in source for source, _ in found["binaries"])
