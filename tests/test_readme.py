import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.skipif(not (ROOT / "README.md").exists(), reason="tests run without the source folder")
def test_the_python_code_of_the_readme_runs(capsys):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    exec(compile("\n".join(blocks), "README.md", "exec"), {})
    assert float(capsys.readouterr().out.split()[0]) > 0.9
