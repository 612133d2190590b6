"""The Python blocks of the documents run, page by page and in order."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
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
    if "spectralcls.dask" in code:
        pytest.importorskip("dask")
    if "plotting" not in code:
        exec(compile(code, page, "exec"), {"__name__": page})
        return
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    with matplotlib.rc_context():  # a style that a page uses is not one for the tests that follow
        exec(compile(code, page, "exec"), {"__name__": page})


def test_the_user_guide_has_code():
    assert {"start/tutorial.md", "guide/kernel_mean.md", "guide/perturbo.md", "guide/text.md"} <= set(PAGES)
