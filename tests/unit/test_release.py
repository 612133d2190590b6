import json
import subprocess
import zipfile
from pathlib import Path

import pytest

from release import notes, sbom

ROOT = Path(__file__).parents[2]
SOURCES = {  # what the repository, and so the source distribution, is made of
    ".py", ".pyi", ".pyx", ".cpp", ".hpp", ".c", ".cmake", ".md", ".rst", ".txt", ".json", ".toml", ".yml", ".yaml",
    ".png", ".css", ".cff", ".mplstyle", ".typed", "",
}
STORED = {".npz", ".pkl", ".skops"}  # in tests/models only
METADATA = """\
Metadata-Version: 2.4
Name: thing
Version: 1.0
License-Expression: MIT
Requires-Dist: numpy>=1.26
Requires-Dist: rich; extra == 'x'
"""


def test_notes_are_the_section_of_a_version():
    text = "# Changes\n\n## Unreleased\n\n- new\n\n## 1.2.0 (2026-01-02)\n\n### Added\n\n- old\n"
    assert notes.notes(text) == "- new"
    assert notes.notes(text, "1.2.0") == "### Added\n\n- old"
    with pytest.raises(SystemExit, match="no section '3.0'"):
        notes.notes(text, "3.0")


def test_the_bill_of_materials_names_the_wheel_what_is_compiled_in_and_what_is_required(tmp_path):
    wheel = tmp_path / "thing-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as content:
        content.writestr("thing-1.0.dist-info/METADATA", METADATA)
    bill = json.loads(sbom.write(wheel).read_text())
    assert bill["metadata"]["component"]["purl"] == "pkg:pypi/thing@1.0"
    names = [component["name"] for component in bill["components"]]
    assert "numpy" in names and "rich" not in names
    assert set(names) <= {*sbom.COMPILED_IN, "numpy"}


def test_what_is_compiled_in_is_among_the_licenses():
    text = (ROOT / "LICENSES" / "compiled_in.md").read_text(encoding="utf-8")
    assert all(license in text for _, license in sbom.COMPILED_IN.values())


def test_the_changelog_has_notes():
    assert "### Added" in notes.notes(notes.CHANGELOG.read_text(encoding="utf-8"))


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")
def test_nothing_that_was_built_is_tracked():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for file in listed.splitlines():
        kinds = SOURCES | (STORED if file.startswith("tests/models/") else set())
        assert Path(file).suffix in kinds, f"{file} is no source: it would be part of the source distribution"
