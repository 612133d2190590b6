"""The README: its code runs, its paths exist, and what PyPI shows of it has none."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"
if not README.exists():
    pytest.skip("the tests run without the source folder", allow_module_level=True)
sys.path.insert(0, str(README.parent / "docs" / "_ext"))
import pypi_readme  # noqa: E402


def test_the_python_code_of_the_readme_runs(capsys):
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    exec(compile("\n".join(blocks), "README.md", "exec"), {})
    assert float(capsys.readouterr().out.split()[0]) > 0.9


def targets(text):
    return re.findall(r"!?\[[^\]]*\]\(([^)\s]+)\)", text)


def test_paths_in_the_readme_exist():
    paths = [target for target in targets(README.read_text(encoding="utf-8")) if "://" not in target]
    assert len(paths) > 20
    assert [path for path in paths if not (README.parent / path).exists()] == []


def test_the_readme_of_the_distribution_has_no_paths():
    """On PyPI a path leads nowhere, and a picture at one is broken."""
    text = README.read_text(encoding="utf-8")
    at_address = pypi_readme.absolute(text, "https://example.org/spectralcls", "v0.1.0")
    assert len(targets(at_address)) == len(targets(text))
    assert all(re.match(r"https?://", target) for target in targets(at_address))
    assert "(https://example.org/spectralcls/raw/v0.1.0/docs/measured/plots/auto_in_short.svg)" in at_address
    assert "(https://example.org/spectralcls/blob/v0.1.0/docs/choose.md)" in at_address
    without = pypi_readme.absolute(text, None, "v0.1.0")
    assert all(re.match(r"https?://", target) for target in targets(without)) and "![" not in without
    assert "A bar is" in text and "A bar is" not in without  # the caption of a picture


def test_a_build_takes_that_readme():
    project = tomllib.loads((README.parent / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["tool"]["scikit-build"]["metadata"]["readme"]["provider"] == pypi_readme.__name__
    assert pypi_readme.dynamic_metadata("readme", {})["text"].startswith("# spectralcls")
