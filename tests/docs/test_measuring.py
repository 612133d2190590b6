"""How benches measure, record and show: fixed costs, mixed records, places of the pages."""

import json
import time

import numpy as np
import pytest

pytest.importorskip("threadpoolctl")
measure, pages, record = (pytest.importorskip(f"bench.{name}") for name in ("measure", "pages", "record"))


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


def test_an_interval_over_sets():
    found = measure.paired([1.0, 2.0, 3.0, 2.0])
    assert found["mean"] == 2.0 and found["sets"] == 4
    assert found["95 % interval"] == f"± {3.182446 * np.std([1, 2, 3, 2], ddof=1) / 2:.1f}"


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


def test_a_slow_peer_does_not_use_up_the_turns_of_the_others():
    functions = {"fast": lambda: time.sleep(1e-3), "slow": lambda: time.sleep(0.6)}
    timings, _ = measure.side_by_side(functions, repeats=4, budget=1.0)
    assert len(timings["fast"].turns) == 4 > len(timings["slow"].turns)


def test_what_is_equal_in_all_rows_stands_above_the_table():
    rows = [{"d": d, "n": 5, "s": {"median": 1.5 * d, "spread": 0.25}} for d in (1, 2)]
    assert pages.table(rows).split("\n") == [
        "In all rows: n 5.",
        "",
        "| d | s |",
        "|---|---|",
        "| 1 | 1.50 ± 0.25 |",
        "| 2 | 3.00 ± 0.25 |",
    ]
    once = [{"d": d, "s": {"median": 0.5 * d, "spread": 0.0}} for d in (1, 2)]
    assert pages.table(once).split("\n")[2:] == ["| 1 | 0.500 |", "| 2 | 1.00 |"]  # one turn has no spread
    with pytest.raises(ValueError, match="too wide"):
        pages.table([{f"column {i}": str(k) * 20 for i in range(10)} for k in range(9)])


PLACED = {
    path: pages.PLACE.findall(path.read_text(encoding="utf-8"))
    for path in [pages.ROOT / "README.md", *pages.DOCS.rglob("*.md")]
}


def test_every_place_of_a_page_names_a_section_or_a_view():
    places = [(topic, name) for found in PLACED.values() for _, topic, name, _ in found]
    assert ("choose", "which_in_short") in places
    for topic, name in places:
        if topic != "neighbors":
            assert name in pages.functions(topic), (topic, name)


def test_every_classifier_has_words():
    choose = pytest.importorskip("bench.bench_choose")
    assert set(choose.WORDS) == set(choose.OURS)


def test_a_ranking_is_that_of_the_real_sets():
    choose = pytest.importorskip("bench.bench_choose")
    rates = {
        "ParzenClassifier": {"wine": 90.0, "iris": 80.0, "simdata_1": 10.0},
        "SVM": {"wine": 88.0, "iris": 82.0, "simdata_1": 60.0},
    }
    rates["ISEClassifier"] = {"wine": 70.0, "iris": 70.0, "simdata_1": 90.0}
    rows = [
        {"name": n, "data": d, "accuracy": a, "seconds": 1.0} for n, found in rates.items() for d, a in found.items()
    ]
    table = choose.ranking(rows, [{"name": "SVM", "MiB": 2.4}])
    assert [row["behind"] for row in table] == ["1.0", "1.0", "16.0"]
    assert table[-1]["classifier"] == "`ISEClassifier`" and table[-1]["behind, with SimData"] == "10.7"
    assert {row["name"]: row["MiB"] for row in table}["SVM"] == 2
