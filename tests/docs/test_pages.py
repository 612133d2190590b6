"""What the site's own extensions make of names and pages."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="the tests run without the source folder")


def extension(name, monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    loaded = import_module(name)
    sys.modules.pop(name)
    return loaded


def test_names_that_users_import_link_to_the_module_that_documents_them(monkeypatch):
    documented_as = extension("reference_pages", monkeypatch).documented_as
    assert documented_as("spectralcls.ParzenClassifier") == "spectralcls.kernel_mean.ParzenClassifier"
    assert documented_as("ParzenClassifier.fit") == "spectralcls.kernel_mean.ParzenClassifier.fit"
    assert documented_as("spectralcls.kernels.bandwidth_grid") is None and documented_as("numpy.ndarray") is None


def test_the_cost_of_a_class_leaves_its_notes_and_no_other_section(monkeypatch):
    lines = ["Notes", "-----", "Cost: O(n).", "", "References", "----------", ""]
    assert extension("reference_pages", monkeypatch).cost(lines) == ["**Cost:** O(n).", ""]
    assert lines == ["Notes", "-----", "", "References", "----------", ""]


def test_an_inherited_method_has_its_source_with_its_class(monkeypatch):
    source_of = extension("reference_pages", monkeypatch).source_of
    for name in ("ISEClassifier", "ISEClassifier.decision_function"):
        assert source_of(None, "spectralcls.kernel_mean", name) == "spectralcls.kernel_mean._ise"
    assert source_of(None, "spectralcls.kernels", "KERNELS") is None


def test_a_note_above_the_text_does_not_describe_a_page(monkeypatch):
    nodes = pytest.importorskip("docutils.nodes")
    pytest.importorskip("sphinx")
    page = nodes.section()
    page += nodes.note("", nodes.paragraph(text="Go to the end to download the full example code."))
    page += nodes.paragraph(text="Each protein of a cell has a place, and a classifier finds it.")
    assert extension("pages", monkeypatch).description(page).startswith("Each protein")


def test_the_source_of_every_module_has_a_page():
    """Sphinx cannot read some decorators, such as one with ``{**...}``, and then lists a page that does not exist."""
    pycode = pytest.importorskip("sphinx.pycode")
    for path in (DOCS.parent / "src").rglob("*.py"):
        pycode.ModuleAnalyzer.for_string(path.read_text(encoding="utf-8"), path.name).find_tags()
