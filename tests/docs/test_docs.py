"""The Python blocks of the documents run, page by page and in order."""

import math
import re
import shutil
import tomllib
from pathlib import Path

import numpy as np
import pytest
from reference import OF_EXPONENT, OF_GAUSSIAN, OF_LAPLACE, OF_LAPLACE_ON_GRID

from spectralcls._expansion.certified_labels import ROUNDINGS
from spectralcls._utils.validation import LARGEST_WEIGHT, LEAST_SHARE
from spectralcls.ensemble._members import LARGE
from spectralcls.perturbo._explained import _MANY
from spectralcls.spectral._kernel_classifier import TOLERANCE

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
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
    for table in (DOCS / "start").glob("*.csv"):
        shutil.copy(table, tmp_path)
    code = "\n".join(PAGES[page])
    for package in ("dask", "pandas"):
        if package in code:
            pytest.importorskip(package)
    if "plotting" not in code:
        exec(compile(code, page, "exec"), {"__name__": page})
        return
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    with matplotlib.rc_context():  # a style that a page uses is not one for the tests that follow
        exec(compile(code, page, "exec"), {"__name__": page})


def test_code_fits_its_box():
    """88 columns; examples have them by ruff."""
    written = [page for page in DOCS.rglob("*.md") if page.parent.name not in ("measured", "results")]
    blocks = [FENCE.findall(page.read_text(encoding="utf-8")) for page in written]
    lines = [line for found in blocks for info, code in found if "{" not in info for line in code.split("\n")]
    assert len(lines) > 300 and [line for line in lines if len(line) > 88] == []


def test_the_user_guide_has_code():
    assert {"start/tutorial.md", "guide/kernel_mean.md", "guide/perturbo.md", "guide/text.md"} <= set(PAGES)


def test_the_messages_that_the_faq_explains_exist():
    table = (DOCS / "about" / "faq.md").read_text(encoding="utf-8").split("| message |")[1].split("\n\n")[0]
    messages = [line.split("|")[1].strip() for line in table.split("\n")[2:]]
    code = "".join(path.read_text(encoding="utf-8") for path in (DOCS.parent / "src").rglob("*.py"))
    assert len(messages) > 5 and [message for message in messages if message not in code] == []


NUMERICS = " ".join((DOCS / "guide" / "numerics.md").read_text(encoding="utf-8").split()) if DOCS.exists() else ""


@pytest.mark.parametrize(
    "sentence, constants",
    [
        (r"is at most \$10\^\{-(\d+)\} \+ (\d+)", [-math.log10(OF_GAUSSIAN[np.float64]), OF_EXPONENT]),
        (r"float64 and \$10\^\{-(\d+)\} \+ (\d+)", [-math.log10(OF_GAUSSIAN[np.float32]), OF_EXPONENT]),
        (r"is at most \$\((\d+) \+ (\d+)\\,a\)", [OF_LAPLACE, OF_EXPONENT]),
        (
            r"in float64 the (\d+) in the bound for the Laplace kernel then becomes (\d+)",
            [OF_LAPLACE, OF_LAPLACE_ON_GRID],
        ),
        (r"\+ (\d+)\\,\\varepsilon a\$ in float64", [ROUNDINGS]),
        (r"`AutoClassifier` up to (\d+) points compute in float64", [LARGE]),
        (r"eigenpairs with a relative residual of (\S+)\. ", [TOLERANCE]),
        (r"labels of PerTurbo with `alpha`, (\d+) queries or more", [_MANY]),
    ],
)
def test_numbers_of_the_page_on_numerics_are_those_of_the_code(sentence, constants):
    """Of the tests' own references, where the tests hold the promise, otherwise of the package."""
    found = re.search(sentence, NUMERICS)
    assert found, sentence
    assert [float(number) for number in found.groups()] == pytest.approx(constants)


def test_the_limits_of_weights_are_those_of_the_package():
    page = NUMERICS
    least, most = (int(n) for n in re.search(r"weight has to lie between 2\^(-\d+) and 2\^(\d+)\.", page).groups())
    share = int(re.search(r"Weights below 2\^(-\d+) times the largest count as zero", page).group(1))
    assert (2.0**least, 2.0**most, 2.0**share) == (1 / LARGEST_WEIGHT, LARGEST_WEIGHT, LEAST_SHARE)


def test_the_lowest_versions_are_those_of_the_package():
    """The table of docs/about/versions.md and pyproject.toml, from which `nox -s oldest` resolves them."""
    page = (DOCS / "about" / "versions.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| (\S+) \| (\d[\d.]*) \|", page, re.MULTILINE))
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lowest = dict(line.split(">=") for line in project["dependencies"])
    assert listed == lowest | {"Python": project["requires-python"].removeprefix(">=")}


def test_the_files_that_the_page_on_architecture_names_exist():
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:\w+/)+\w+(?:\.\w+)?)`", text)
    assert len(named) > 50
    lost = {
        name for name in named if not any((DOCS.parent / top / name).exists() for top in ("", "src/spectralcls", "cpp"))
    }
    assert not lost
