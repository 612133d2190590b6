import re
from pathlib import Path

import pytest

from spectralcls.cli.registry import ENTRIES

README = Path(__file__).parents[1] / "README.md"
pytestmark = pytest.mark.skipif(not README.exists(), reason="the tests run without the source folder")


def test_every_classifier_of_the_command_line_is_in_the_table():
    text = README.read_text(encoding="utf-8")
    assert [entry.name for entry in ENTRIES if not entry.baseline and f"| `{entry.name}` |" not in text] == []


def test_the_python_code_of_the_readme_runs(capsys):
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    exec(compile("\n".join(blocks), "README.md", "exec"), {})
    assert float(capsys.readouterr().out.split()[0]) > 0.9
