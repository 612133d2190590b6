"""`spectralcls fit` and `predict` on CSV files."""

import csv

import numpy as np
import pytest

from spectralcls.cli import main

pytest.importorskip("skops")
FIT = ["--target", "tree", "--classifier", "parzen", "--set", "bandwidth=0.7", "--quiet"]


@pytest.fixture
def points():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    return rng.normal(size=(80, 2)) + 6 * y[:, None], np.array(["ash", "beech"])[y]


def write(path, X, y=None, header=("height", "girth"), delimiter=","):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        if header:
            writer.writerow([*header, *([] if y is None else ["tree"])])
        writer.writerows(X if y is None else ([*row, label] for row, label in zip(X, y, strict=True)))
    return str(path)


def fails_with(capsys, *arguments):
    assert main(list(arguments)) == 2
    return capsys.readouterr().err


def test_a_csv_file_is_learned_and_classified_by_the_names_of_its_columns(tmp_path, points, capsys):
    X, y = points
    model, out = str(tmp_path / "model.skops"), tmp_path / "predictions.csv"
    assert main(["fit", write(tmp_path / "data.csv", X[::2], y[::2]), *FIT, "--out", model]) == 0
    assert "40 rows, 2 features, 2 classes" in capsys.readouterr().out
    # columns in another order, and one more than the model takes
    new = write(
        tmp_path / "new.tsv",
        np.c_[X[1::2, 1], np.zeros(40), X[1::2, 0]],
        header=("girth", "id", "height"),
        delimiter="\t",
    )
    assert main(["predict", model, new, "--out", str(out), "--quiet"]) == 0
    with open(out, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["row"]) for row in rows] == list(range(40))
    assert np.mean([row["prediction"] for row in rows] == y[1::2]) == 1


def test_a_file_without_a_header_is_taken_by_position(tmp_path, points):
    X, y = points
    model, out = str(tmp_path / "model.skops"), tmp_path / "predictions.csv"
    data = write(tmp_path / "data.csv", X, y, header=None)
    assert main(["fit", data, "--target", "-1", "--quiet", "--out", model]) == 0
    assert main(["predict", model, write(tmp_path / "new.csv", X, header=None), "--out", str(out)]) == 0
    assert out.read_text(encoding="utf-8").count("ash") == 40


def test_a_sample_of_a_csv_file_is_drawn(tmp_path, points, capsys):
    data = write(tmp_path / "data.csv", *points)
    assert main(["fit", data, *FIT, "--max-points", "30", "--out", str(tmp_path / "model.skops")]) == 0
    assert "a random sample of 30 of 80 rows" in capsys.readouterr().out


def test_what_is_wrong_with_a_csv_file_is_said(tmp_path, points, capsys):
    X, y = points
    model, out = str(tmp_path / "model.skops"), str(tmp_path / "predictions.csv")
    assert main(["fit", write(tmp_path / "data.csv", X, y), *FIT, "--out", model]) == 0
    capsys.readouterr()
    missing = str(tmp_path / "missing.csv")
    assert "missing.csv: no such file" in fails_with(capsys, "fit", missing, *FIT, "--out", model)
    assert "missing.csv: no such file" in fails_with(capsys, "predict", model, missing, "--out", out)
    other = write(tmp_path / "other.csv", X, header=("height", "width"))
    assert "no column 'girth'" in fails_with(capsys, "predict", model, other, "--out", out)
    headless = tmp_path / "headless.csv"
    headless.write_text("height,girth\n", encoding="utf-8")
    assert "no rows below the header" in fails_with(capsys, "predict", model, str(headless), "--out", out)
    gap = tmp_path / "gap.csv"
    gap.write_text("height,girth\n1,2\n3,thick\n", encoding="utf-8")
    error = fails_with(capsys, "predict", model, str(gap), "--out", out)
    assert "column 'girth': 'thick' in line 3" in error
    gap.write_text("height,girth\n,NA\n-,\n-,?\n", encoding="utf-8")
    assert "all values are missing" in fails_with(capsys, "predict", model, str(gap), "--out", out)
    assert not (tmp_path / "predictions.csv").exists()
    assert "exists; go on with" in fails_with(capsys, "predict", model, other, "--out", str(tmp_path))


def test_a_gap_in_a_query_is_filled(tmp_path):
    rows = [f"{i % 2 + i / 40},{i / 40},{'pq'[i % 2]}" for i in range(40)]
    data, model, queries = tmp_path / "data.csv", tmp_path / "model.skops", tmp_path / "queries.csv"
    data.write_text("\n".join(["a,b,class", *rows]))
    queries.write_text("a,b\n1.0,\n")
    assert main(f"fit {data} --target class --classifier kernelridge --out {model} --quiet".split()) == 0
    assert main(f"predict {model} {queries} --out {tmp_path / 'out.csv'} --quiet".split()) == 0
    assert (tmp_path / "out.csv").exists()


def test_numbers_with_decimal_commas_are_no_classes(tmp_path, capsys):
    data = tmp_path / "data.csv"
    data.write_text("a;b\n" + "\n".join(f"{i % 3};{i},5" for i in range(40)), encoding="utf-8")
    error = fails_with(capsys, "fit", str(data), "--target", "b", "--out", str(tmp_path / "m.skops"))
    assert "numbers, not classes" in error
