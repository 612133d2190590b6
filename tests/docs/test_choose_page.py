"""The chooser's tables say what its command prints from the kept measurements, about every public classifier."""

import json
import re

import pytest

import spectralcls

choose = pytest.importorskip("bench.choose.__main__")
pytestmark = pytest.mark.skipif(not choose.KEPT.exists(), reason="the tests run without the source folder")


def place(path, name):
    text = (choose.ROOT / path).read_text(encoding="utf-8")
    return re.search(rf"<!-- choose {name} -->\n(.*?)\n<!-- end -->", text, re.DOTALL)[1]


def test_the_pages_hold_what_the_command_prints():
    found = json.loads(choose.KEPT.read_text(encoding="utf-8"))
    rows = choose.summary(found)
    assert place("docs/choose.md", "which") == choose.which(rows, "guide/")
    assert place("docs/choose.md", "how") == choose.explanation(found)
    assert place("README.md", "which") == choose.short(rows)


def test_every_public_classifier_is_measured_and_has_words():
    found = json.loads(choose.KEPT.read_text(encoding="utf-8"))
    names = {name for name in spectralcls.__all__ if name.endswith("Classifier")} | {choose.PEER}
    assert all(set(row) == names for row in found["data"].values()) and set(found["mebibytes"]) == names
    assert set(choose.WORDS) == names - {choose.PEER}


def test_the_summary_is_the_mean_distance_from_the_best_of_each_set():
    rates = {"a": {"x": (90.0, 1.0), "y": (80.0, 2.0)}, "b": {"x": (70.0, 3.0), "y": (76.0, 4.0)}}
    data = {
        name: {key: {"rate": rate, "seconds": seconds} for key, (rate, seconds) in row.items()}
        for name, row in rates.items()
    }
    rows = choose.summary({"data": data, "mebibytes": {"x": 5.0}})
    assert rows["x"] == {"behind": 3.0, "seconds": 4.0, "mebibytes": 5.0}
    assert rows["y"] == {"behind": 5.0, "seconds": 6.0, "mebibytes": None}
    assert choose.ordered(rows) == ["x", "y"]
