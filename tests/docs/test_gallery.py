"""Every example stands in one section of the gallery, and names the data and packages that may be absent."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not (ROOT / "docs").exists(), reason="the tests run without the source folder")


@pytest.fixture
def gallery(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    import gallery

    yield gallery
    sys.modules.pop("gallery")


def test_every_example_has_a_section(gallery):
    names = {path.stem for path in (ROOT / "examples").glob("*.py")}
    found = gallery.sections(names)
    assert "More" not in found, f"name {found['More']} in docs/_ext/gallery.py"
    listed = [name for section in found.values() for name in section]
    assert sorted(listed) == sorted(names)


def test_an_example_without_its_needs_is_not_run_and_named(gallery, tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("SPECTRALCLS_REQUIRE_DATA", raising=False)
    monkeypatch.setenv("SPECTRALCLS_DATA", str(tmp_path))
    (tmp_path / "here.npz").touch()
    (tmp_path / "plot_fine.py").write_text('# sphinx_gallery_needs = ["here.npz", "numpy"]\n')
    (tmp_path / "plot_free.py").write_text("print(1)\n")
    lacking = tmp_path / "plot_lacking.py"
    lacking.write_text('"""Title"""\n# sphinx_gallery_needs = ["gone.npz", "no_such_package", "here.npz"]\n')
    pattern = gallery.can_run(tmp_path)
    assert {path.stem for path in tmp_path.glob("*.py") if re.search(pattern, str(path))} == {"plot_fine", "plot_free"}
    assert "plot_lacking.py needs gone.npz, no_such_package\n" in capsys.readouterr().err
    monkeypatch.setenv("SPECTRALCLS_REQUIRE_DATA", "1")
    assert gallery.absent(lacking) == ["no_such_package"]
    monkeypatch.delenv("SPECTRALCLS_REQUIRE_DATA")
    monkeypatch.delenv("SPECTRALCLS_DATA")
    assert gallery.absent(tmp_path / "plot_fine.py") == ["here.npz"]
