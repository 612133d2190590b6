"""Each finding has a test that exists, runs, and is not skipped or expected to fail."""

import ast
from pathlib import Path

import pytest
from findings import FINDINGS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("finding", FINDINGS)
def test_it_has_a_test(finding):
    assert FINDINGS[finding]
    for test in FINDINGS[finding]:
        file, name = test.split("::")
        functions = [
            node for node in ast.parse((ROOT / file).read_text(encoding="utf-8")).body
            if isinstance(node, ast.FunctionDef) and node.name == name
        ]  # fmt: skip
        assert len(functions) == 1, test
        marks = [ast.unparse(mark) for mark in functions[0].decorator_list]
        assert not any("xfail" in mark or mark.startswith("pytest.mark.skip(") for mark in marks), test


def test_the_page_has_all_of_them():
    page = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    for finding, tests in FINDINGS.items():
        assert f"| {finding} |" in page and all(test.removeprefix("tests/") in page for test in tests), finding
