"""How benches measure, record and show: fixed costs, mixed records, places of the pages."""

import json
import os
import subprocess
import sys
from shutil import which
from types import SimpleNamespace

import numpy as np
import pytest

from spectralcls._core import compiled

pytest.importorskip("threadpoolctl")
measure, pages, record, roofline = (
    pytest.importorskip(f"bench.{name}") for name in ("measure", "pages", "record", "roofline")
)


def test_a_line_separates_fixed_seconds_from_those_of_queries():
    work = measure.Queries(None, m=1_000_000, n=100_000)
    few, many = work.sizes
    assert many == 40_000
    timing = work.timing([(3 + 1e-3 * few, 3 + 1e-3 * many)] * 5)
    assert timing.median == pytest.approx(1003) and timing.fixed == pytest.approx(3)
    assert measure.Queries(None, m=20_000, n=100_000).sizes == (20_000,)


def test_functions_run_in_turns_and_their_answers_are_compared():
    calls, A = [], np.arange(3.0)
    functions = {name: lambda name=name: calls.append(name) or A for name in "ab"}
    row, _ = measure.compare(functions, repeats=3, rtol=1e-9)
    assert row["turns"] == 3 and row["threads"] == 1 and set(row) >= {"a, s", "x b"}
    order = "".join(dict.fromkeys(calls))
    assert set(order) == {"a", "b"}
    with pytest.raises(AssertionError, match="b"):
        measure.compare({"a": lambda: A, "b": lambda: A + 1}, repeats=1, rtol=1e-9)


def test_seconds_of_child_processes_count_and_are_limited():
    _, seconds = measure.processor_seconds(subprocess.run, [sys.executable, "-c", "sum(range(10**7))"], check=True)
    assert seconds > 0.05
    assert measure.within(60, 8, sum, [3, 4]) == 7
    assert measure.within(1, 8, sum, range(10**12)) == "> 1 s"
    assert measure.within(60, 8, bytearray, 2**33) == "> 8 GiB"


def test_tables_count_on_which_all_methods_were_run():
    cases = [("a", "x", 1.0), ("b", "x", 2.0), ("a", "y", 3.0), ("b", "z", 4.0), ("b", "y", 5.0)]
    rows = [{"method": method, "name": name, "s": value} for method, name, value in cases]
    names, found = measure.by_method(rows, "s")
    assert names == ["x", "y"] and found["a"].tolist() == [1.0, 3.0] and found["b"].tolist() == [2.0, 5.0]


def test_a_section_never_mixes_commits(tmp_path):
    runs = [{"commit": commit, "versions": {}} for commit in ("a", "b")]
    kept = record.Record("topic", tmp_path)
    kept.begin("section", runs[0])
    kept.keep("section", {"n": 1}, {"s": 1.0}, 0.1)
    again = record.Record("topic", tmp_path)
    with pytest.raises(record.Mixed, match="rows of another commit"):
        again.begin("section", runs[1])
    again.begin("section", runs[1], fresh=True)
    again.keep("section", {"n": 2}, {"s": 2.0}, 0.1)
    found = json.loads((tmp_path / "topic.json").read_text())
    assert [row["case"] for row in found["section"]["rows"]] == [{"n": 2}]


def test_every_place_of_a_page_names_a_section_or_a_view():
    named = [(topic, name) for found in pages.places().values() for _, topic, name, _ in found]
    assert ("choose", "which_in_short") in named
    for topic, name in named:
        assert name in pages.functions(topic), (topic, name)


@pytest.mark.parametrize("topic", pages.topics())
def test_a_page_is_written_from_what_is_kept(topic):
    text = pages.path_of(topic).read_text(encoding="utf-8")
    assert pages.page(topic) == text, "python -m bench report"


def test_marked_places_and_the_index_are_written_from_what_is_kept():
    for path in pages.places():
        text = path.read_text(encoding="utf-8")
        assert pages.filled(path) == text, f"{path.name}: python -m bench report"
    assert (pages.MEASURED / "index.md").read_text(encoding="utf-8") == pages.index()


def test_a_report_keeps_what_the_sections_and_views_show(tmp_path, monkeypatch):
    """Rows of splits stay where they were measured; what was not measured again stays on the page."""
    topic = SimpleNamespace(
        test_first=lambda record, n: None,
        test_second=lambda record, n: None,
        mean=pages.view("first")(lambda rows: [f"The mean is {np.mean([row['s'] for row in rows])}."]),
    )
    monkeypatch.setattr(pages, "MEASURED", tmp_path / "docs")
    monkeypatch.setattr(pages, "module_of", lambda name: topic)
    monkeypatch.setattr(record, "FOLDER", tmp_path / "rows")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "topic.json").write_text('{"runs": {}, "shown": {"second": [[{"n": 9}]]}}')
    measured = record.Record("topic")
    measured.begin("first", {"commit": "a", "versions": {}})
    for n in (1, 2):
        measured.keep("first", {"n": n}, {"s": 1.0 * n}, 0.1)
    pages.summarize("topic")
    assert pages.kept("topic")["shown"] == {"second": [[{"n": 9}]], "mean": ["The mean is 1.5."]}
    assert pages.kept("topic")["runs"]["first"]["seconds"] == 0.2


@pytest.mark.skipif(which(os.environ.get("CXX", "c++")) is None, reason="needs a compiler")
def test_the_limit_of_the_machine_is_measured_beside_the_core():
    assert not {"multiply_add_rate", "lanes"} & set(dir(compiled))
    assert roofline.lanes("float32") == 2 * roofline.lanes("float64") >= 4
    alone = roofline.multiply_add_rate("float64", 1, 0.01)
    assert 1e7 < alone < 1e12
    assert roofline.limit(10, "float32", 1) == pytest.approx(
        roofline.multiply_add_rate("float32", 1) * roofline.lanes("float32") / 10
    )
