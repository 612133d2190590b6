"""The Python blocks of the documents run, page by page and in order."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
PAGES = {
    page.relative_to(DOCS).as_posix(): blocks
    for page in sorted(DOCS.rglob("*.md"))
    if page.relative_to(DOCS).parts[0] not in ("gallery", "reference")
    and (blocks := BLOCK.findall(page.read_text(encoding="utf-8")))
}
pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="the tests run without the source folder")


@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = "\n".join(PAGES[page])
    if "plotting" in code:
        pytest.importorskip("matplotlib").use("agg")
    if "spectralcls.dask" in code:
        pytest.importorskip("dask")
    exec(compile(code, page, "exec"), {"__name__": page})


def test_the_user_guide_has_code():
    assert {"start/tutorial.md", "guide/kernel_mean.md", "guide/perturbo.md", "guide/text.md"} <= set(PAGES)
