"""What a comparison concludes: significance, advice, the HTML page, and the list of names."""

import numpy as np
import pytest

from spectralcls import datasets
from spectralcls.cli import main, registry, report
from spectralcls.cli.evaluation import Outcome, Result
from spectralcls.cli.significance import LEVEL, indistinguishable


def result(name, accuracy, seconds=1.0, n_train=100, n_test=50):
    outcomes = {k: Outcome(accuracy[k], None, seconds, 0.1) for k in range(len(accuracy))}
    return Result(name, False, n_train, n_test, outcomes)


def failed(name):
    return Result(name, False, 100, 50, {0: Outcome(error="ValueError: no")})


def test_the_variance_of_a_mean_difference_counts_shared_training_samples():
    rng = np.random.default_rng(0)
    best, n = 0.9 + 0.01 * rng.normal(size=10), 10
    difference = 0.01 + 0.008 * rng.normal(size=n)
    t = difference.mean() / np.sqrt((1 / n + 50 / 100) * difference.var(ddof=1))
    plain = difference.mean() / np.sqrt(difference.var(ddof=1) / n)
    assert abs(t) < 2.262 < plain  # the quantile of nine degrees of freedom: only the plain test tells them apart
    assert indistinguishable([result("best", best), result("near", best - difference)]) == {"best", "near"}
    far = best - 0.2 + 0.001 * rng.normal(size=n)
    assert indistinguishable([result("best", best), result("far", far)]) == {"best"}
    assert LEVEL == 0.05


def test_equal_accuracies_and_single_splits():
    assert indistinguishable([result("a", [0.9, 0.8]), result("b", [0.9, 0.8])]) == {"a", "b"}
    assert indistinguishable([result("a", [0.9, 0.8]), result("b", [0.8, 0.7])]) == {"a"}  # always worse by the same
    assert indistinguishable([result("a", [0.9]), result("b", [0.8]), result("c", [0.9])]) == {"a", "c"}
    broken = failed("c")
    assert indistinguishable([broken]) == set()
    assert report.advice([broken.record()], [broken]) == "No classifier could be fitted."


def test_the_fastest_of_the_best_is_advised_and_failures_come_last():
    results = [result("slow", [0.9, 0.8], 2.0), result("quick", [0.9, 0.8], 0.5), result("poor", [0.3, 0.2], 0.1)]
    results.append(failed("broken"))
    records = [one.record() for one in results]
    assert report.advice(records, results) == (
        "Most accurate: slow, 85.0 % in 2 s. "
        "Fastest of the 2 that cannot be told apart on these splits: quick, 85.0 % in 500 ms."
    )
    assert report.advice(records[2:], results[2:]) == "Most accurate: poor, 25.0 % in 100 ms."
    lines = report.table(records, results).splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["slow", "quick", "poor", "broken"]
    assert [" = " in f"{line} " for line in lines[2:]] == [True, True, False, False]


def test_the_report_holds_table_picture_and_advice(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    out = tmp_path / "report.html"
    command = f"compare iris --classifiers parzen,ise --repeats 3 --quiet --html {out}"
    assert main(command.split()) == 0
    page = out.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and page.count("<tr") == 1 + 2
    assert "data:image/png;base64,iVBOR" in page
    assert "://" not in page  # nothing is fetched; four letters alone may stand in the picture's base64, a colon never
    advice = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("Most accurate: "))
    assert advice in page and page.index("Classifier</td>") > page.index(advice)


def test_the_report_says_what_the_columns_were_taken_for(tmp_path):
    pytest.importorskip("matplotlib")
    rows = [f"{i % 2 + i / 40},{'xy'[i // 3 % 2]},{'pq'[i % 2]}" for i in range(40)]
    table, out = tmp_path / "table.csv", tmp_path / "report.html"
    table.write_text("\n".join(["size,kind,class", *rows]))
    assert main(f"compare {table} --target class --classifiers parzen --repeats 2 --quiet --html {out}".split()) == 0
    assert "<p>columns: 1 number; 1 category: kind;" in out.read_text(encoding="utf-8")


def test_list_names_all_classifiers_and_data_sets(capsys):
    assert main(["list"]) == 0
    printed = capsys.readouterr().out
    assert all(f"  {entry.name} " in printed for entry in registry.ENTRIES)
    assert all(f"\n  {name}\n" in printed for name in datasets.available(None))
