"""Every example stands in one section of the gallery."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not (ROOT / "docs").exists(), reason="the tests run without the source folder")


@pytest.fixture
def gallery(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    import gallery_index

    yield gallery_index
    sys.modules.pop("gallery_index")


def test_every_example_has_a_section(gallery):
    names = {path.stem for path in (ROOT / "examples").glob("*.py")}
    found = gallery.sections(names)
    assert "More" not in found, f"name {found['More']} in docs/_ext/gallery_index.py"
    listed = [name for section in found.values() for name in section]
    assert sorted(listed) == sorted(names)


def test_an_unknown_example_comes_last(gallery):
    assert list(gallery.sections({"plot_first_steps", "plot_new"})) == ["Classify", "More"]
    assert gallery.order("plot_new.py") > gallery.order("examples/plot_first_steps.py") >= 0
