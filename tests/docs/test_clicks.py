"""The commonest tasks are two clicks from Home: a card or a tab, then a link there."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
if not DOCS.exists():
    pytest.skip("the tests run without the source folder", allow_module_level=True)
LINK = re.compile(r"\]\((?!https?://|#)([^)#\s]+)")
CARD = re.compile(r"^:link: (\S+)$", re.MULTILINE)
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.MULTILINE | re.DOTALL)

CLICKS = {  # of the task's page from Home
    "start/tutorial": 1,  # classify a table
    "guide/tables": 1,  # categories, dates and gaps
    "guide/doubt": 1,  # sets of classes, wrong labels
    "guide/explain": 1,  # why this prediction
    "guide/numbers": 1,  # predict a number
    "guide/density": 1,  # densities and novelty
    "guide/large_data": 1,  # a million rows
    "about/alternatives": 1,  # coming from scikit-learn
    "guide/methods": 1,  # the papers' methods
    "guide/deploy": 2,  # save, serve, watch, ONNX
    "guide/command_line": 2,  # no program
    "guide/classify": 2,  # how the vote works
    "guide/information": 2,  # do two samples differ
    "guide/labels": 2,  # most rows have no label; which to label next
    "guide/dask": 2,  # more than memory
    "guide/text": 2,  # documents
}


def pages_after(page):
    """Pages that a page links to, by words, cards, or the menu below it."""
    path = DOCS / f"{page}.md"
    if not path.exists():  # made by the build
        return set()
    text = path.read_text(encoding="utf-8")
    entries = [line.strip() for block in TOCTREE.findall(text) for line in block.splitlines()]
    entries = [re.sub(r".*<(.*)>", r"\1", entry) for entry in entries if entry and not entry.startswith(":")]
    found = {*LINK.findall(text), *CARD.findall(text), *entries}
    resolved = [(path.parent / target).resolve() for target in found]
    return {each.relative_to(DOCS).with_suffix("").as_posix() for each in resolved if each.is_relative_to(DOCS)}


def test_clicks_from_home():
    first = pages_after("index")
    second = set().union(*map(pages_after, first))
    found = {page: 1 if page in first else 2 if page in second else 3 for page in CLICKS}
    assert found == CLICKS
