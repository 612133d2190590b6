import re
from pathlib import Path

import pytest

import spectralcls
from spectralcls.cli.registry import ENTRIES

README = Path(__file__).parents[2] / "README.md"
pytestmark = pytest.mark.skipif(not README.exists(), reason="the tests run without the source folder")


def test_every_classifier_is_in_the_table():
    text = README.read_text(encoding="utf-8")
    classifiers = [name for name in spectralcls.__all__ if name.endswith("Classifier")]
    assert [name for name in classifiers if f"| `{name}` |" not in text] == []
    ours = [entry.name for entry in ENTRIES if not entry.baseline]
    assert [name for name in classifiers if not any(entry.startswith(name[:4]) for entry in ours)] == []


def test_the_python_code_of_the_readme_runs(capsys):
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    exec(compile("\n".join(blocks), "README.md", "exec"), {})
    assert float(capsys.readouterr().out.split()[0]) > 0.9
