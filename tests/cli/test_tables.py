"""Files with categories and missing values: CSV and Parquet alike."""

import csv

import numpy as np
import pytest

from spectralcls.cli import main
from spectralcls.cli.columns import category_positions, has_missing
from spectralcls.cli.tables import read_csv, read_parquet

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("skops")

NAMES = ["length", "color", "member", "code", "species"]


@pytest.fixture
def files(tmp_path):
    """The same table as CSV and as Parquet, with a tenth of the values missing."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    columns = {
        "length": (rng.normal(size=200) + y).round(3).tolist(),
        "color": np.array(["red", "green", "blue"])[np.where(rng.random(200) < 0.3, 2, y)].tolist(),
        "member": (rng.random(200) < 0.5).tolist(),
        "code": rng.integers(1, 4, 200).tolist(),
    }
    for values in columns.values():
        for row in np.flatnonzero(rng.random(200) < 0.1):
            values[row] = None
    columns["species"] = [f"kind {label}" for label in y]
    pq.write_table(pa.table(columns), tmp_path / "table.parquet")
    with open(tmp_path / "table.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        rows = zip(*columns.values(), strict=True)
        writer.writerows(["?" if value is None else value for value in row] for row in rows)
    return {kind: tmp_path / f"table.{kind}" for kind in ("csv", "parquet")}


def test_csv_and_parquet_are_read_alike(files):
    for categories in ((), ("code",)):
        text, labels, names = read_csv(files["csv"], "species", categories=categories)
        binary, other, _ = read_parquet(files["parquet"], "species", categories=categories)
        assert names == NAMES[:-1] and np.array_equal(labels, other)
        assert category_positions(text) == category_positions(binary) == [1, 2, *([3] if categories else [])]
        assert has_missing(text) and has_missing(binary)
        for mine, its in zip(text.ravel(), binary.ravel(), strict=True):
            assert mine == its or mine is its or (np.isnan(mine) and np.isnan(its))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_compare_fit_and_predict_take_the_file_as_it_is(files, kind, tmp_path, capsys):
    path = str(files[kind])
    some = ["--classifiers", "parzen,perturbo,knn", "--repeats", "1", "--quiet"]
    assert main(["compare", path, "--target", "species", *some]) == 0
    out = capsys.readouterr().out
    assert "columns: 2 numbers; 2 categories: color, member;" in out and "% missing" in out
    assert main(["compare", path, "--target", "species", "--categories", "code", *some]) == 0
    assert "3 categories: color, member, code;" in capsys.readouterr().out
    model, predictions = str(tmp_path / "model.skops"), str(tmp_path / f"out.{kind}")
    fit = ["fit", path, "--target", "species", "--set", "bandwidth=0.5", "--out", model, "--quiet"]
    assert main(fit) == 0
    assert "2 categories: color, member" in capsys.readouterr().out
    assert main(["predict", model, path, "--out", predictions, "--quiet"]) == 0
    if kind == "csv":
        with open(predictions, newline="") as file:
            found = [row["prediction"] for row in csv.DictReader(file)]
    else:
        found = pq.read_table(predictions).column("prediction").to_pylist()
    labels = read_csv(files["csv"], "species")[1]
    assert np.mean(np.array(found) == labels) > 0.8


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_model_of_one_kind_of_file_predicts_the_other(files, kind, tmp_path):
    """The kinds of columns are the model's, not those that the new file suggests."""
    model = str(tmp_path / "model.skops")
    fit = ["fit", str(files[kind]), "--target", "species", "--set", "bandwidth=0.5", "--out", model, "--quiet"]
    assert main([*fit, "--categories", "code"]) == 0
    for other in ("csv", "parquet"):
        assert main(["predict", model, str(files[other]), "--out", str(tmp_path / f"out.{other}"), "--quiet"]) == 0
    with open(tmp_path / "out.csv", newline="") as file:
        text = [row["prediction"] for row in csv.DictReader(file)]
    assert text == pq.read_table(tmp_path / "out.parquet").column("prediction").to_pylist()


def test_a_column_of_numbers_and_words_is_neither_until_the_user_says_so(tmp_path, capsys):
    rows = "\n".join(f"{i % 7},{'odd' if i == 3 else i},{'xy'[i % 2]}" for i in range(40))
    (tmp_path / "mixed.csv").write_text(f"a,b,c\n{rows}\n")
    command = ["compare", str(tmp_path / "mixed.csv"), "--target", "c", "--classifiers", "parzen", "--repeats", "1"]
    assert main([*command, "--quiet"]) == 2
    assert "line 5, column 'b': 'odd' is not a number, as others of the column are" in capsys.readouterr().err
    assert main([*command, "--quiet", "--categories", "b"]) == 0
    assert "1 category: b" in capsys.readouterr().out
