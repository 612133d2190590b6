"""The tables of docs/guide/large_data.md come from benches and from nowhere else."""

import re

from bench.scaling import PAGE, TABLES, filled

PAIRS = ("test_pairs", {"pairs_per_second": 5e9, "seconds": 0.2})


def test_the_arithmetic_of_a_billion_rows():
    text = filled("<!-- scaling billion -->\nold\n<!-- end -->", [PAIRS])
    assert "| pairs | n^2 | 1e+18 |" in text and "old" not in text
    assert "| time of a task, at 5e+09 pairs/s | rows^2 / rate | 200 s |" in text
    assert "| time in all | n^2 / (workers rate) | 56 hours |" in text
    assert "| points that a worker receives, at most | n (4 d + 8) | 72 GB |" in text


def test_a_table_without_its_benches_stays():
    page = "<!-- scaling billion -->\nold\n<!-- end --> <!-- scaling memory -->\nold\n<!-- end -->"
    assert filled(page, []) == page


def test_every_place_of_the_page_has_a_table_and_is_filled():
    text = PAGE.read_text(encoding="utf-8")
    places = re.findall(r"<!-- scaling ([a-z ]+) -->\n(.*?)<!-- end -->", text, re.DOTALL)
    assert {name for name, _ in places} == set(TABLES)
    assert all(rows.count("\n") >= 3 for _, rows in places)
