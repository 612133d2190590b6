"""The page of capabilities is what the estimators say today."""

import pytest

pytest.importorskip("dask")
from bench import capabilities  # noqa: E402


def test_the_page_is_current():
    if not capabilities.PAGE.exists():
        pytest.skip("the tests run without the source folder")
    assert capabilities.PAGE.read_text(encoding="utf-8") == capabilities.page(), "run python -m bench.capabilities"


def test_rows_say_what_the_estimators_do():
    rows = {line.split("`")[1]: line for line in capabilities.page().splitlines() if line.startswith("| `")}
    columns = ["", *capabilities.COLUMNS]

    def says(name, column):
        return rows[name].split("|")[1 + columns.index(column)].strip()

    assert says("ParzenClassifier", "probabilities") == "yes" and says("ISEClassifier", "probabilities") == ""
    assert says("SpectralKernel", "sparse") == "yes" and says("KernelMap", "sparse") == ""
    assert says("PerTurboClassifier", "tunes") == "`alpha`, `bandwidth`"
