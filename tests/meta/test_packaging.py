"""The files that packagers read agree."""

import json
import re
import runpy
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
import seen

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not (ROOT / "docs").exists(), reason="the tests run without the source folder")


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


@pytest.mark.parametrize(("page", "full"), [("README.md", False), ("CONTRIBUTING.md", True)])
def test_where_the_suite_was_green_is_what_runs_recorded(page, full):
    rows = json.loads(seen.RECORD.read_text()) if seen.RECORD.exists() else []
    assert seen.text_of(rows, full) in (ROOT / page).read_text(encoding="utf-8")


def test_kernels_of_blas_are_those_that_the_processor_runs():
    own, others = seen._blas().get("architecture", ""), seen.further_kernels()
    assert own not in others and len(others) <= 2 and set(others) <= set(seen._KERNELS)
