"""Examples whose data or packages may be absent."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def gallery_needs():
    path = ROOT / "docs" / "_ext" / "gallery_needs.py"
    if not path.exists():
        pytest.skip("no checkout")
    spec = importlib.util.spec_from_file_location("gallery_needs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_example_without_its_needs_is_excused_and_named(gallery_needs, tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("SPECTRALCLS_REQUIRE_DATA", raising=False)
    monkeypatch.setenv("SPECTRALCLS_DATA", str(tmp_path))
    (tmp_path / "here.npz").touch()
    (tmp_path / "plot_fine.py").write_text('# sphinx_gallery_needs = ["here.npz", "numpy"]\n')
    (tmp_path / "plot_free.py").write_text("print(1)\n")
    lacking = tmp_path / "plot_lacking.py"
    lacking.write_text('"""Title"""\n# sphinx_gallery_needs = ["gone.npz", "no_such_package", "here.npz"]\n')
    assert gallery_needs.cannot_run(tmp_path) == [str(lacking)]
    assert "plot_lacking.py needs gone.npz, no_such_package\n" in capsys.readouterr().err
    monkeypatch.setenv("SPECTRALCLS_REQUIRE_DATA", "1")
    assert gallery_needs.absent(lacking) == ["no_such_package"]
    monkeypatch.delenv("SPECTRALCLS_REQUIRE_DATA")
    monkeypatch.delenv("SPECTRALCLS_DATA")
    assert gallery_needs.absent(tmp_path / "plot_fine.py") == ["here.npz"]


def test_the_needs_of_the_gallery_are_lists_of_names(gallery_needs):
    for path in (ROOT / "examples").glob("*.py"):
        assert all(isinstance(name, str) and name for name in gallery_needs.needs(path)), path
