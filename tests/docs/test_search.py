"""Words that newcomers search for are index entries of the page that answers: the search lists it first."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
ENTRIES = re.compile(r"^```\{index\} (.*)$", re.MULTILINE)
ANSWERS = {
    "guide/doubt": ["conformal", "prediction interval", "label errors"],
    "guide/information": ["mmd", "mutual information", "compare two samples"],
    "guide/deploy": ["deploy", "drift"],
    "guide/density": ["novelty detection", "anomaly", "kde"],
    "guide/numbers": ["regression"],
    "guide/explain": ["shap", "feature importance", "explain"],
    "guide/tables": ["missing values", "categorical"],
    "guide/spectral": ["clustering"],
    "guide/labels": ["active learning", "unlabeled rows"],
    "guide/large_data": ["large data"],
    "guide/dask": ["dask", "out of core"],
    "guide/classify": ["automl"],
    "about/alternatives": ["xgboost"],
    "about/faq": ["calibration", "r"],
    "choose": ["imbalanced"],
}


@pytest.mark.parametrize("page", ANSWERS)
def test_words_lead_to_the_page_that_answers(page):
    entries = ",".join(ENTRIES.findall((DOCS / f"{page}.md").read_text(encoding="utf-8"))).lower().split(",")
    assert {f"! {word}" for word in ANSWERS[page]} <= {entry.strip() for entry in entries}


def test_all_entries_are_main_entries():
    """Sphinx lists the others after all further results."""
    for path in DOCS.rglob("*.md"):
        for line in ENTRIES.findall(path.read_text(encoding="utf-8")):
            assert all(entry.strip().startswith("! ") for entry in line.split(",")), path
