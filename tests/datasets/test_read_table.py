"""Tables as offices export them, read by `spectralcls.datasets.read_table`."""

import bz2
import datetime
import gzip
import re
import warnings
import zipfile
from functools import partial

import numpy as np
import office
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from spectralcls import ParzenClassifier, load  # noqa: E402
from spectralcls.cli import main  # noqa: E402
from spectralcls.datasets import read_table  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:.*is read as cp1252")  # of files that are
KINDS = {
    "PLZ": "category",
    "Vertragsbeginn": "date",
    "Jahreseinkommen (€)": "number",
    "Rabatt %": "number",
    "Tarif": "category",
    "Region": "category",
    "Anrufe": "number",
    "Lastschrift": "boolean",
}
CATEGORIES = [name for name, kind in KINDS.items() if kind in ("category", "boolean")]


def written(tmp_path, text, name="table.csv", encoding="utf-8"):
    path = tmp_path / name
    path.write_bytes(text.encode(encoding) if isinstance(text, str) else text)
    return path


def column(table, name):
    return table.data[:, table.feature_names.index(name)]


def kinds(table):
    return {c.name: c.kind for c in table.schema.columns}


# The customer table


@pytest.fixture(scope="module")
def truth():
    return office.customers()


@pytest.mark.parametrize("dialect", office.DIALECTS)
def test_the_customer_table_is_read_alike_in_every_dialect(tmp_path, truth, dialect):
    table = read_table(office.export(tmp_path / "t.csv", truth, dialect), target=office.TARGET)
    left_out = {c.name: c.note for c in table.schema.columns if c.kind == "left out"}
    assert left_out == office.LEFT_OUT
    assert {c.name: c.kind for c in table.schema.used} == KINDS
    for name in ("Jahreseinkommen (€)", "Rabatt %", "Anrufe", "Lastschrift"):
        assert_array_equal(column(table, name), truth[name].astype(float))
    days = truth["Vertragsbeginn"].astype("datetime64[D]")
    assert_array_equal(column(table, "Vertragsbeginn"), days.astype(int))
    assert_array_equal(column(table, "Vertragsbeginn (month)"), [day.month for day in days.tolist()])
    assert_array_equal(column(table, "Vertragsbeginn (weekday)"), [day.weekday() for day in days.tolist()])
    assert_array_equal(np.array(["Basis", "Komfort", "Premium"])[column(table, "Tarif").astype(int)], truth["Tarif"])
    assert_array_equal(column(table, "PLZ").astype(int), [int(code[0]) for code in truth["PLZ"]])
    assert_array_equal(table.target, truth[office.TARGET])
    assert table.categorical_features == [table.feature_names.index(name) for name in CATEGORIES]


def test_a_schema_reads_another_dialect_only_if_its_rules_fit(tmp_path, truth):
    german = read_table(office.export(tmp_path / "a.csv", truth, "german excel"), target=office.TARGET)
    few = {name: values[:30] for name, values in truth.items() if name not in office.LEFT_OUT}
    again = read_table(office.export(tmp_path / "b.csv", few, "german utf-8"), schema=german.schema)
    assert_array_equal(again.data, german.data[:30])
    english = office.export(tmp_path / "c.csv", few, "english")
    with pytest.raises(ValueError, match="'Vertragsbeginn': '20"):
        read_table(english, schema=german.schema)
    options = dict(target=office.TARGET, drop=["Vertragsbeginn"])
    german = read_table(tmp_path / "a.csv", **options)  # decimal signs are told by the cells
    assert_array_equal(read_table(english, schema=german.schema).data, german.data[:30])


def test_the_customer_table_as_parquet_and_as_a_spreadsheet(tmp_path, truth):
    expected = read_table(office.export(tmp_path / "t.csv", truth, "english"), target=office.TARGET)
    arrays = {name: pa.array(values, from_pandas=True) for name, values in truth.items()}
    pq.write_table(pa.table(arrays), tmp_path / "t.parquet", row_group_size=500)
    files = [tmp_path / "t.parquet"]
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    book = openpyxl.Workbook()
    book.active.append(list(truth))
    for row in pa.table(arrays).to_pylist():
        book.active.append(list(row.values()))
    book.save(tmp_path / "t.xlsx")
    for path in (*files, tmp_path / "t.xlsx"):
        table = read_table(path, target=office.TARGET)
        assert table.feature_names == expected.feature_names
        assert_array_equal(table.data, expected.data)
        again = read_table(tmp_path / "t.csv", schema=table.schema)  # learned from types, applied to text
        assert_array_equal(again.data, expected.data)


@pytest.fixture
def book(tmp_path):
    """A function that writes a spreadsheet with sheets of the given rows."""
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")

    def write(hidden=(), merged=(), **sheets):
        book = openpyxl.Workbook()
        book.remove(book.active)
        for name, rows in sheets.items():
            sheet = book.create_sheet(name)
            sheet.sheet_state = "hidden" if name in hidden else "visible"
            for row in rows:
                sheet.append(row)
            for cells in merged:
                sheet.merge_cells(cells)
        book.save(tmp_path / "t.xlsx")
        return tmp_path / "t.xlsx"

    return write


SMALL = [["a", "c"], [1.5, "x"], [2.5, "y"]]


def test_other_sheets_are_named_and_can_be_chosen(book, tmp_path):
    path = book(Cover=[], Old=SMALL, New=[["a", "c"], [3.5, "x"], [4.5, "y"]], Lists=[["x"]], hidden=["Lists"])
    with pytest.warns(UserWarning, match="reading the sheet 'Old', but not 'New': choose one with sheet= \\(--sh"):
        table = read_table(path, target="c")
    assert table.data.tolist() == [[1.5], [2.5]] and "sheet 'Old'" in table.DESCR
    for sheet in ("New", 2, "2"):
        assert read_table(path, target="c", sheet=sheet).data.tolist() == [[3.5], [4.5]]
    model, out = tmp_path / "m.skops", tmp_path / "out.csv"
    fit = ["fit", path, "--target", "c", "--classifier", "parzen", "--out", model, "--sheet", "Old"]
    assert main(list(map(str, fit))) == 0
    assert main(list(map(str, ["predict", model, path, "--out", out, "--sheet", "New", "--keep", "a"]))) == 0
    assert [line.split(",")[1] for line in out.read_text("utf-8").split()] == ["a", "3.5", "4.5"]
    with pytest.raises(ValueError, match="no sheet 'Next'; there are 4 sheets: 'Cover', 'Old', 'New', 'Lists'"):
        read_table(path, sheet="Next")
    for sheets in (dict(sheet="Cover"), {}):
        with pytest.raises(ValueError, match="sheet is empty"):
            read_table(book(Cover=[], Lists=SMALL, hidden=["Lists"]), **sheets)
    with pytest.raises(ValueError, match="sheet is empty"):
        read_table(book(Blanks=[[], [" "]]))


def test_rows_of_a_sheet_are_counted_from_its_top(book):
    path = book(A=[[], [], *SMALL, ["z", "y"], [3.5, "x"]])
    with pytest.raises(ValueError, match="column 'a': 'z' in row 6"):
        read_table(path, target="c")


@pytest.mark.parametrize(
    ("rows", "merged"),
    [
        ([["of customers", None], *SMALL], ["A1:B1"]),
        ([["who", None, "what", None], ["n", "a", "c", "d"], [1, 2.5, "x", 3]], ["A1:B1", "C1:D1"]),
        ([["Customers 2022", None], [None, None], *SMALL], []),
    ],
)
def test_a_header_of_merged_cells_or_a_title_is_refused(book, rows, merged):
    with pytest.raises(ValueError, match="row 1 does not name each column .* give all names in one row"):
        read_table(book(A=rows, merged=merged))


def test_times_of_a_spreadsheet_are_those_of_a_text_file(book, tmp_path):
    times = [datetime.time(8, 15), datetime.time(23, 59, 30), datetime.time(12)]
    found = read_table(book(A=[["at", "b"], *([time, k + 0.5] for k, time in enumerate(times))]))
    text = written(tmp_path, "at,b\n" + "".join(f"{time},{k + 0.5}\n" for k, time in enumerate(times)))
    assert found.feature_names == read_table(text).feature_names == ["at", "b"]
    assert_allclose(found.data, read_table(text).data, rtol=1e-14)


def test_types_learned_from_parquet_read_dates_of_texts(tmp_path):
    days = np.array(["2022-09-28", "2022-10-03", "2023-01-15"], "datetime64[D]")
    pq.write_table(pa.table({"a": days, "b": [1.5, 2.5, 3.5]}), tmp_path / "t.parquet")
    schema = read_table(tmp_path / "t.parquet").schema
    german = written(tmp_path, "a;b\n28.09.2022;1,5\n03.10.2022;2,5\n15.01.2023;3,5\n")
    assert_array_equal(read_table(german, schema=schema).data[:, 0], days.astype(int))


def test_moments_of_parquet_are_those_on_the_wall(tmp_path):
    moments = np.array(["2022-07-01T00:30", "2022-12-31T23:30"], "datetime64[us]")
    there = pa.compute.assume_timezone(pa.array(moments), "Europe/Berlin")
    pq.write_table(pa.table({"a": there, "b": [1.5, 2.5]}), tmp_path / "t.parquet")
    assert_allclose(column(read_table(tmp_path / "t.parquet"), "a"), moments.astype(float) / 86_400e6, rtol=1e-15)


def test_a_frame_has_the_names_of_categories(tmp_path, truth):
    pytest.importorskip("pandas")
    table = read_table(office.export(tmp_path / "t.csv", truth), target=office.TARGET, as_frame=True)
    assert_array_equal(table.data["Region"].astype(str), truth["Region"])
    assert table.data["Region"].dtype == "category"
    assert_array_equal(table.data["Rabatt %"].isna(), np.isnan(truth["Rabatt %"]))


# Encodings, delimiters, headers


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-8", "cp1252"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_text_of_any_kind(tmp_path, encoding, newline, delimiter):
    rows = ["größe,label,b", "1.5, x ,2", "-3e2,y,4", "", "5,x,6", ""]
    path = written(tmp_path, newline.join(rows).replace(",", delimiter), "file.txt", encoding)
    table = read_table(path, target="label")
    assert_array_equal(table.data, [[1.5, 2], [-300, 4], [5, 6]])
    assert table.target.tolist() == ["x", "y", "x"] and table.feature_names == ["größe", "b"]


@pytest.mark.parametrize(("name", "pack"), [("t.csv.gz", gzip.compress), ("t.CSV.BZ2", bz2.compress)])
def test_text_that_is_packed(tmp_path, name, pack):
    text = "größe;label\n1,5;x\n-300;y\n".encode("cp1252")
    table = read_table(written(tmp_path, pack(text), name), target="label")
    assert_array_equal(table.data, [[1.5], [-300]])
    assert table.feature_names == ["größe"]
    for damaged in (pack(text)[:-12], b"a,label\n1,x\n"):
        with pytest.raises(ValueError, match=f"{name}: not a readable .*file"):
            read_table(written(tmp_path, damaged, name), target="label")


def test_a_named_encoding_may_have_a_mark(tmp_path):
    for encoding in ("utf-8", "utf-16-le"):
        path = written(tmp_path, "\ufeffsep=;\na;b\n1,5;x\n2,5;y\n", encoding=encoding)
        assert read_table(path, encoding=encoding).feature_names == ["a", "b"]


def test_no_header_quotes_and_dropped_columns(tmp_path):
    path = written(tmp_path, '1,2.0,"setosa, the first",x\n3,4.0,"oth\ner",y\n')
    table = read_table(path, target="2", drop=["-1"])
    assert_array_equal(table.data, [[1, 2], [3, 4]])
    assert table.target.tolist() == ["setosa, the first", "oth\ner"] and table.feature_names == ["0", "1"]
    path = written(tmp_path, '"a\r\nb","c;d"\r\n1.5,x\r\n2.5,y\r\n')
    table = read_table(path, target="c;d")
    assert table.data.tolist() == [[1.5], [2.5]] and table.feature_names == ["a\r\nb"]
    path = written(tmp_path, "0,1,label\n5,6,7\n8,9,7\n")  # numbers as names: the target tells that it is a header
    assert_array_equal(read_table(path, target="label").data, [[5, 6], [8, 9]])


def test_rows_without_content_at_the_end_and_columns_without_names(tmp_path):
    table = read_table(written(tmp_path, "a;b;\n1;x;\n2;y;\n3;x;\n;;\n;;\n"))
    assert table.data.shape == (3, 2) and kinds(table) == {"a": "number", "b": "category", "column 3": "left out"}


# Numbers


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1.234,5", "2,5", "-7"], [1234.5, 2.5, -7]),
        (["1,234.5", "2.5", "-7"], [1234.5, 2.5, -7]),
        (["1'234.50", "12.5", "3"], [1234.5, 12.5, 3]),
        (["1 234,5", "2,25", "3"], [1234.5, 2.25, 3]),
        (["12,5 %", "3 %", "100 %"], [0.125, 0.03, 1]),  # as a spreadsheet holds them
        (["€ 1.200,50", "€ 3,00", "-1,00 €"], [1200.5, 3, -1]),
        (["1e3", "2.5E-1", "+4"], [1000, 0.25, 4]),
        (["1.234.567", "2.000", "12,5"], [1234567, 2000, 12.5]),
        (["0.125", "0.250", "0.5"], [0.125, 0.25, 0.5]),
    ],
)
def test_numbers_as_they_are_written(tmp_path, cells, values):
    table = read_table(written(tmp_path, "a\tb\n" + "".join(f"{cell}\tx\n" for cell in cells)), drop=["b"])
    assert_allclose(table.data[:, 0], values, rtol=1e-15)


def test_a_column_that_reads_both_ways_follows_the_others(tmp_path):
    """1.234 is a thousand beside a decimal comma, and one and a quarter beside a decimal point."""
    rows = "".join(f"1.{k}34{{0}}{k}{{1}}5\n" for k in range(1, 9))
    german = read_table(written(tmp_path, "a;b\n" + rows.format(";", ",")))
    assert_array_equal(german.data[0], [1134, 1.5])
    english = read_table(written(tmp_path, "a,b\n" + rows.format(",", ".")))
    assert_array_equal(english.data[0], [1.134, 1.5])
    assert_array_equal(
        read_table(written(tmp_path, "a;b\n" + rows.format(";", ".")), decimal=",").data[:, 0][:1], [1134]
    )


@pytest.mark.parametrize("delimiter, sign, other", ["\t.,", ";,."])
def test_thousands_that_might_be_fractions_are_asked_for(tmp_path, delimiter, sign, other):
    """900 and 1.200: who wrote 1.2 with three digits would not write 900 without any."""
    path = written(tmp_path, "".join(f"{a}{delimiter}{b}\n" for a, b in ("ab", ("900", "x"), (f"1{sign}200", "y"))))
    with pytest.raises(ValueError, match=f"'a' has numbers such as '1{sign}200' in line 3, .* --decimal"):
        read_table(path)
    assert column(read_table(path, decimal=sign), "a").tolist() == [900, 1.2]
    assert column(read_table(path, decimal=other), "a").tolist() == [900, 1200]


@pytest.mark.parametrize(
    ("cells", "odd"),
    [("5 %|12,5 %|0 %|0|7", "'7' in line 6"), ("5|7|12 %", "'12 %' in line 4"), ("5 €|7|3 $|2 EUR", "'3 \\$'")],
)
def test_a_cell_in_another_unit_than_its_column_cannot_be_read(tmp_path, cells, odd):
    path = written(tmp_path, "a;b\n" + "".join(f"{cell};x{k}\n" for k, cell in enumerate(cells.split("|"))))
    with pytest.raises(ValueError, match=f"column 'a': {odd}"):
        read_table(path)


@pytest.mark.parametrize("cell", ["1_000", "١٢٣", "１２", "inf", "1e999", "0x10"])
def test_foreign_numbers_are_cells_that_cannot_be_read(tmp_path, cell):
    path = written(tmp_path, f"a,c\n1,x\n2,x\n{cell},y\n4,y\n")
    with pytest.raises(ValueError, match=f"column 'a': {cell!r} in line 4"):
        read_table(path, target="c")


@pytest.mark.filterwarnings("ignore:.*as far from the column")
def test_a_large_file_is_read_like_a_small_one(tmp_path):
    """Columns of plain numbers are parsed at once; others cell by cell."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90_000, 3)).round(9)
    lines = [f"{a!r};{b!r};{c!r};{'xyz'[k % 3]};2020-01-{1 + k % 28:02d}" for k, (a, b, c) in enumerate(X.tolist())]
    lines = [line.replace(".", ",") for line in lines]
    path = written(tmp_path, "a;b;c;d;e\n" + "\n".join(lines))
    table = read_table(path)
    assert_array_equal(table.data[:, :3], X)
    assert kinds(table) == dict(a="number", b="number", c="number", d="category", e="date")
    lines[50_000] = "k.A.;1.234,5;-;x;2020-01-01"
    changed = read_table(written(tmp_path, "a;b;c;d;e\n" + "\n".join(lines)))
    X[50_000] = np.nan, 1234.5, np.nan
    assert_array_equal(changed.data[:, :3], X)


def test_what_the_first_cells_do_not_show_decides_too(tmp_path):
    """Groups of three digits are fractions or thousands; a zero before digits makes codes of all of them."""
    lines = [f"{1 + k % 9}.{k * 37 % 1000:03d};{98765 - k % 100 if k < 700 else f'{k % 300:05d}'}" for k in range(1000)]
    path = written(tmp_path, "a;b\n" + "\n".join(lines))
    with pytest.raises(ValueError, match="'a' has numbers such as '1.000' in line 2, .* say --decimal"):
        read_table(path)
    table = read_table(path, decimal=",")
    assert_array_equal(table.data[:, 0], [1000 * (1 + k % 9) + k * 37 % 1000 for k in range(1000)])
    assert kinds(table) == dict(a="number", b="category")


@pytest.mark.parametrize(
    "cells",
    ["-1.234,50|2,5", "-  1.234,50|2,5", "1.234,50-|2,5", "1.234,50 -|2,5", "(1.234,50)|2,5", "\u22121.234,50|2,5"],
)
@pytest.mark.parametrize("money", ["{}", "{} €", "{}\u00a0€", "EUR {}", "{} CHF"])
def test_signs_around_numbers(tmp_path, cells, money):
    rows = [f"{money.format(cell)};0" for cell in cells.split("|")]
    table = read_table(written(tmp_path, "\n".join(["a;b", *rows])))
    assert_array_equal(table.data[:, 0], [-1234.5, 2.5])


def test_cells_that_the_standard_library_refuses(tmp_path):
    """Very long ones, and letters after a closing quote: lines of bad cells are counted all the same."""
    rows = [f'{k},5;{"x" * 200_000 if k == 3 else "k"};"a"b' for k in range(30)]
    assert len(read_table(written(tmp_path, "a;b;c\n" + "\n".join(rows))).data) == 30
    with pytest.raises(ValueError, match="column 'a': 'zzz' in line 32"):
        read_table(written(tmp_path, "a;b;c\n" + "\n".join([*rows, "zzz;k;a"])))


def test_a_table_of_many_columns(tmp_path):
    X = np.arange(4 * 5000).reshape(4, 5000) % 97 / 8
    rows = [",".join(f"c{j}" for j in range(5000))] + [",".join(map(str, row)) for row in X.tolist()]
    assert_array_equal(read_table(written(tmp_path, "\n".join(rows)), decimal=".").data.shape[0], 4)


def test_a_model_of_many_columns_is_a_file_of_few_objects(tmp_path):
    rows = [[f"c{j}" for j in range(2000)], *([str((i * j) % 97 / 8) for j in range(2000)] for i in range(1, 5))]
    lines = [",".join([*row, end]) for row, end in zip(rows, ["kind", "a", "b", "a", "b"], strict=True)]
    path, model = written(tmp_path, "\n".join(lines)), tmp_path / "model.skops"
    assert main(["fit", str(path), "--target", "kind", "--classifier", "parzen", "--out", str(model)]) == 0
    with zipfile.ZipFile(model) as file:
        assert len(file.read("schema.json")) < 1_000_000
    again = load(model)
    schema = read_table(path, target="kind").schema
    assert again.table_schema_ == schema
    assert_array_equal(again.predict(read_table(path, schema=schema).data), ["a", "b", "a", "b"])


# Words


def test_words_for_missing_values(tmp_path):
    words = ["-", "NA", "n/a", "k.A.", "null", "?", "", "NaN", "#N/A", " ", "None"]
    path = written(tmp_path, "a;b\n" + "".join(f"{word};x\n1,5;y\n" for word in words))
    assert np.isnan(column(read_table(path), "a")).sum() == len(words)
    path = written(tmp_path, "a,b\nweg,x\n1.5,y\n2.5,weg\n")
    assert_array_equal(column(read_table(path, missing=["Weg"]), "a"), [np.nan, 1.5, 2.5])


@pytest.mark.parametrize("no, yes", [("no", "yes"), ("nein", "ja"), ("FALSE", "TRUE"), ("non", "oui"), ("N", "J")])
def test_words_of_truth(tmp_path, no, yes):
    table = read_table(written(tmp_path, f"a,b\n{yes},1.5\n{no},2.5\n,3\n{yes},4\n"))
    assert kinds(table)["a"] == "boolean" and table.categorical_features == [0]
    assert_array_equal(column(table, "a"), [1, 0, np.nan, 1])


def test_true_is_true_in_every_language_that_a_schema_meets(tmp_path):
    schema = read_table(written(tmp_path, "a,b\nja,1.5\nnein,2.5\nja,4\n")).schema
    pq.write_table(pa.table({"a": [True, False, None], "b": [1.5, 2.5, 4.0]}), tmp_path / "t.parquet")
    assert_array_equal(column(read_table(tmp_path / "t.parquet", schema=schema), "a"), [1, 0, np.nan])
    english = written(tmp_path, "a,b\nno,1.5\nYes,2.5\nVRAI,4\n")
    assert_array_equal(column(read_table(english, schema=schema), "a"), [0, 1, 1])


def test_a_mark_or_nothing(tmp_path):
    assert_array_equal(column(read_table(written(tmp_path, "a,b\nx,1\n,2\nx,3\n")), "a"), [1, 0, 1])


# Dates


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["28.09.2022", "1.2.2023"], ["2022-09-28", "2023-02-01"]),
        (["28.09.22", "01.02.99", "31.12.55"], ["2022-09-28", "1999-02-01", "1955-12-31"]),
        (["28-Sep-2022", "1-Mar-23", "5-May-2023"], ["2022-09-28", "2023-03-01", "2023-05-05"]),
        (["28. September 2022", "1. März 2023 10:00 Uhr"], ["2022-09-28", "2023-03-01T10:00"]),
        (["September 28, 2022", "Feb. 1, 2023"], ["2022-09-28", "2023-02-01"]),
        (["2022-09-28", "2023-02-01"], ["2022-09-28", "2023-02-01"]),
        (["28/09/2022", "01/02/2023"], ["2022-09-28", "2023-02-01"]),
        (["09/28/2022", "02/01/2023"], ["2022-09-28", "2023-02-01"]),
        (["9/28/2022 3:30 PM", "2/1/2023 12:00 AM"], ["2022-09-28T15:30", "2023-02-01T00:00"]),
        (["2022-09-28T06:00:00Z", "2023-02-01 13:00+01:00"], ["2022-09-28T06:00", "2023-02-01T12:00"]),
        (["08:15", "23:59:30"], ["1970-01-01T08:15", "1970-01-01T23:59:30"]),
        (["2022-09", "2023/2"], ["2022-09-01", "2023-02-01"]),
        (["Mi, 28.09.2022", "Mi. 01.02.2023 08:15", "Mi.,1.3.2023"], ["2022-09-28", "2023-02-01T08:15", "2023-03-01"]),
        (["Mittwoch, 28. September 2022", "Mittwoch 1. Februar 2023"], ["2022-09-28", "2023-02-01"]),
        (["Wed, 28 Sep 2022", "Wednesday 1 February 2023"], ["2022-09-28", "2023-02-01"]),
        (["Wednesday, September 28, 2022", "Wed Feb 1 2023"], ["2022-09-28", "2023-02-01"]),
    ],
)
def test_dates_and_times(tmp_path, cells, expected):
    table = read_table(written(tmp_path, "a;b\n" + "".join(f"{cell};{k}\n" for k, cell in enumerate(cells))))
    days = np.array(expected, "datetime64[s]").astype(float) / 86_400
    assert_allclose(column(table, "a"), days, rtol=1e-14)


def test_months_have_no_weekday(tmp_path):
    path = written(tmp_path, "a;b\n2022-09;1,5\n2022-10;2,5\n2023-01;2,5\n")
    assert read_table(path).feature_names == ["a", "a (month)", "b"]


def test_an_ambiguous_order_of_dates_is_asked_for(tmp_path):
    path = written(tmp_path, "a,b\n01/02/2022,1\n03/04/2022,2\n")
    with pytest.raises(ValueError, match="'a' .*'01/02/2022'.* --dates dmy or --dates mdy"):
        read_table(path)
    assert column(read_table(path, dates="dmy"), "a (month)").tolist() == [2, 4]
    assert column(read_table(path, dates="mdy"), "a (month)").tolist() == [1, 3]
    other = written(tmp_path, "a,b\n01/02/2022,28/03/2022\n03/04/2022,02/01/2021\n")  # another column tells
    assert column(read_table(other), "a (month)").tolist() == [2, 4]
    dots = written(tmp_path, "a,b\n01.02.2022,1\n03.04.2022,2\n")  # nobody writes the month first with points
    assert column(read_table(dots), "a (month)").tolist() == [2, 4]


def test_days_that_do_not_exist_are_cells_that_cannot_be_read(tmp_path):
    path = written(tmp_path, "a;b\n28.02.2022;1\n31.02.2022;2\n01.03.2022;3\n29.02.2023;4\n30.03.2022;5\n")
    with pytest.raises(ValueError, match="'a': '31.02.2022' in line 3, '29.02.2023' in line 5"):
        read_table(path)


# What is left out, and how to keep it


def test_identifiers_constants_sentences_and_empty_columns_are_left_out_by_a_line(tmp_path):
    rng = np.random.default_rng(0)
    rows = [
        f"{k + 17},u{k:x}z,{rng.integers(10)},same,,it was the day number {k} of all"
        for k in rng.permutation(200).tolist()
    ]
    path = written(tmp_path, "row,code,a,b,c,d\n" + "\n".join(rows))
    table = read_table(path)
    left_out = {c.name: c.note for c in table.schema.columns if c.kind == "left out"}
    assert left_out == {
        "row": "identifier",
        "code": "identifier",
        "b": "always the same",
        "c": "empty",
        "d": "free text",
    }
    for name, note in left_out.items():
        assert f"{name} ({note})" in table.schema.summary()
    kept = read_table(path, numbers=["row"], categories=["b", "1"])
    assert kept.feature_names == ["row", "code", "a", "b"] and kept.categorical_features == [1, 3]


def test_measurements_are_no_identifiers(tmp_path):
    rng = np.random.default_rng(0)
    X = np.c_[rng.normal(size=300).round(4), rng.permutation(10**6)[:300], rng.integers(0, 50, 300)]
    path = written(tmp_path, "a,income,c\n" + "\n".join(f"{a},{int(b)},{int(c)}" for a, b, c in X))
    assert read_table(path).feature_names == ["a", "income", "c"]


@pytest.mark.parametrize("few", [["01067", "99423", "01109"], ["01067"] * 3])
def test_postal_codes_that_a_spreadsheet_took_for_numbers_have_their_zeros(tmp_path, few):
    codes = [f"{code:05d}" for code in range(1000, 100_000, 997)]
    lines = "".join(f"{code},{k / 8}\n" for k, code in enumerate(codes))
    expected = read_table(written(tmp_path, "PLZ,b\n" + lines))
    pq.write_table(pa.table({"PLZ": list(map(int, codes)), "b": np.arange(100) / 8}), tmp_path / "t.parquet")
    (tmp_path / "lost.csv").write_text("PLZ,b\n" + lines.replace("\n0", "\n").removeprefix("0"))
    for path in (tmp_path / "t.parquet", tmp_path / "lost.csv"):
        table = read_table(path)
        assert table.schema.columns[0].levels == tuple("0123456789")
        assert_array_equal(table.data, expected.data)
    pq.write_table(pa.table({"PLZ": list(map(int, few)), "b": np.arange(3.0)}), tmp_path / "few.parquet")
    found = read_table(tmp_path / "few.parquet", schema=expected.schema)
    assert_array_equal(found.data[:, 0], [int(code[0]) for code in few])


def test_codes_with_leading_zeros_are_categories_and_many_levels_are_joined(tmp_path):
    rng = np.random.default_rng(0)
    path = written(tmp_path, "Filiale,n\n" + "\n".join(f"{k:04d},{k}.5" for k in rng.integers(0, 90, 2000)))
    table = read_table(path)
    (branch, _) = table.schema.columns
    assert branch.kind == "category" and branch.joined and len(branch.levels) == 90 and branch.levels[0][0] == "0"
    new = written(tmp_path, "Filiale,n\n0003,1.5\n0999,2.5\n", "new.csv")
    assert column(read_table(new, schema=table.schema), "Filiale").tolist() == [3, 90]


@pytest.mark.parametrize("blank", ["\n", " \n", "\t \r\n"])
@pytest.mark.parametrize("n_blank", [1, 60, 100_000])
@pytest.mark.parametrize("mark", ["", "sep=;\n"])
def test_blank_lines_above_the_header_are_skipped(tmp_path, blank, n_blank, mark):
    text = blank * n_blank + mark + "a;b;c\n1,5;x;2\n2,5;y;3\n4,5;x;5\n"
    table = read_table(written(tmp_path, text), target="b")
    assert table.feature_names == ["a", "c"]
    assert_array_equal(table.data, [[1.5, 2], [2.5, 3], [4.5, 5]])
    line = n_blank + 4 + bool(mark)
    with pytest.raises(ValueError, match=f"line {line} has 2$"):
        read_table(written(tmp_path, text.replace("4,5;x;5", "4,5;x")))


# Bad input: one message each


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        (" \n\n", "the file is empty"),
        ("\x1c", "the file is empty"),
        ("\xa0\n", "the file is empty"),
        ("a,b,c\n", "no rows below the header"),
        ("a,b\n1,2\n3\n4,5\n6,7,8\n", "the first row has 2 cells, but line 3 has 1, line 5 has 3"),
        ("a,b\n1,x,z\n1,y,z\n", "the first row has 2 cells, most others have 3"),
        ('a,b\n1,"x\n2,y\n3,z\n', "begins with a quote in or after line 2 never ends"),
        ('a,b\n"1,x\n2,y\n3,z\n', "begins with a quote in or after line 2 never ends"),
        (b"a,b\n1,2\n3\0,4\n", "line 3 holds a NUL byte"),
        ('a,b\n1,x\n2,"y\n3,z\n4,"y\n5,z\n', "begins with a quote in or after line 3 continues after the next quote"),
        ("a,b\n1,ä\n2,ö\n3,".encode() + b"\xfc\n", "line 4 is not UTF-8, unlike the rest"),
        ("a,b\n1,x\n2,y\na,b\n3,x\n", "line 4 repeats the header"),
        ("a,a\n1,2\n3,4\n", "more than one column 'a'"),
        (
            "a,b\n-,NA\n?,\n",
            "no column is left to learn from; columns: none; 100.0 % missing.*a \\(empty\\), b \\(empty\\)",
        ),
        ("a,b\n1,x\n2,x\n3,x\n4,x\nfive,x\nsix,y\n7,y\n", "column 'a': 'five' in line 6, 'six' in line 7"),
    ],
)
def test_bad_files_are_one_message(tmp_path, text, message):
    with pytest.raises(ValueError, match=f"(?s)table.csv: .*{message}"):
        read_table(written(tmp_path, text))


def test_all_bad_cells_are_in_one_message_with_columns_and_lines(tmp_path):
    rows = [f"{k},{k}.5,2020-01-{k:02d},t" for k in range(1, 29)]
    rows[2], rows[7], rows[8] = "3,zwei,2020-01-03,t", '"acht\n",8.5,gestern,t', "acht,9.5,2020-01-09,u"
    with pytest.raises(ValueError) as refused:
        read_table(written(tmp_path, "a,b,c,d\n" + "\n".join(rows)), target="d")
    message = str(refused.value)
    for part in ("'a': 'acht' in lines 9, 11", "'b': 'zwei' in line 4", "'c': 'gestern' in line 9", "--missing"):
        assert part in message


def test_an_unknown_level_is_an_error_until_it_may_be_missing(tmp_path):
    schema = read_table(written(tmp_path, "a,b\nred,1\nblue,2\nred,3\n")).schema
    new = written(tmp_path, "b,a\n5,green\n6,red\n", "new.csv")
    with pytest.raises(ValueError, match="(?s)levels that the model does not know.*'a': 'green' in line 2.*--unknown"):
        read_table(new, schema=schema)
    with pytest.warns(UserWarning, match="unknown cells count as missing; their number by column: 'a \\(1\\)'"):
        assert_array_equal(read_table(new, schema=schema, unknown="missing").data, [[np.nan, 5], [1, 6]])
    with pytest.raises(ValueError, match="no column 'a'; there are 'b'"):
        read_table(written(tmp_path, "b\n1\n", "few.csv"), schema=schema)


def test_a_table_of_nothing_but_its_target(tmp_path):
    with pytest.raises(ValueError, match="no column is left to learn from$"):
        read_table(written(tmp_path, "c\nx\ny\n"), target="c")


def test_rows_without_a_class_are_left_out_with_a_line_or_refused(tmp_path):
    path = written(tmp_path, "a,c\n1,x\n2,-\n3,y\n4,\n5,x\n")
    with pytest.warns(UserWarning, match="2 of 5 rows are left out for lack of a class in 'c': lines 3, 5"):
        table = read_table(path, target="c")
    assert table.data[:, 0].tolist() == [1, 3, 5] and table.target.tolist() == ["x", "y", "x"] and table.n_rows == 5
    with pytest.raises(ValueError, match="target 'c' is missing in lines 3, 5"):
        read_table(path, target="c", unlabeled="error")
    with pytest.raises(ValueError, match="target 'c' is missing in lines 2, 3: fill it in"):
        read_table(written(tmp_path, "a,c\n1,\n2,-\n"), target="c")


def test_words_that_may_name_a_class_do_in_the_target(tmp_path):
    lines = ["1.5,none", "2.5,NA", "none,nil", "3.5,mild", "4.5,fehlt"]
    path = written(tmp_path, "a,c\n" + "\n".join(lines))
    with pytest.warns(UserWarning, match="the classes of 'c' are 'NA', 'fehlt', 'nil', 'none': .*--missing"):
        table = read_table(path, target="c")
    assert table.target.tolist() == ["none", "NA", "nil", "mild", "fehlt"]
    assert_array_equal(table.data[:, 0], [1.5, 2.5, np.nan, 3.5, 4.5])
    with pytest.raises(ValueError, match="target 'c' is missing in lines 2, 4: fill"):
        path = written(tmp_path, "a,c\n1,none\n2,x\n3,None\n4,y\n")
        read_table(path, target="c", missing=["None"], unlabeled="error")
    for word in ("", "  ", "NaN", "null", "<NA>", "#N/A", "k.A."):
        with pytest.raises(ValueError, match="target 'c' is missing in line 3"):
            read_table(written(tmp_path, f"a,c\n1,x\n2,{word}\n3,y\n"), target="c", unlabeled="error")


@pytest.mark.filterwarnings("ignore:.*among the classes")
def test_a_class_called_none_is_predicted(tmp_path):
    path, model, out = tmp_path / "t.csv", tmp_path / "m.skops", tmp_path / "out.csv"
    path.write_text("a,c\n" + "".join(f"{k / 8},{'None' if k < 20 else 'NA'}\n" for k in range(40)))
    assert main(["fit", str(path), "--target", "c", "--classifier", "parzen", "--out", str(model)]) == 0
    assert main(["predict", str(model), str(path), "--out", str(out)]) == 0
    assert [line.split(",")[1] for line in out.read_text("utf-8").split()[1:]] == ["None"] * 20 + ["NA"] * 20


@pytest.mark.parametrize("option", [{"dates": "dym"}, {"decimal": ";"}, {"unknown": "ignore"}])
def test_options_are_checked(tmp_path, option):
    with pytest.raises(ValueError, match="parameter of read_table must be"):
        read_table(written(tmp_path, "a\n1\n"), **option)


def test_a_sample_of_the_rows(tmp_path):
    path = written(tmp_path, "a,b\n" + "".join(f"{k * k / 8},{k % 7}\n" for k in range(100)))
    table = read_table(path, n_samples=10, random_state=3)
    assert table.n_rows == 100 and len(table.data) == 10
    whole = {tuple(row) for row in read_table(path).data}
    assert {tuple(row) for row in table.data} <= whole
    pq.write_table(
        pa.table({"a": np.arange(100) ** 2 / 8, "b": np.arange(100) % 7}), tmp_path / "t.parquet", row_group_size=9
    )
    assert_array_equal(read_table(tmp_path / "t.parquet", n_samples=10, random_state=3).data, table.data)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": [1.0, 2.0, float("inf")], "c": ["x", "y", "x"]}, "'a': 'inf' in row 2"),
        ({"a": [[1], [2], [3]], "c": ["x", "y", "x"]}, "'a' holds nested values"),
        ({"a": pa.array([], pa.float64()), "c": pa.array([], pa.string())}, "no rows"),
    ],
)
def test_bad_parquet(tmp_path, columns, message):
    pq.write_table(pa.table(columns), tmp_path / "bad.parquet")
    with pytest.raises(ValueError, match=message):
        read_table(tmp_path / "bad.parquet", target="c")
    (tmp_path / "bad.parquet").write_text("text")
    with pytest.raises(ValueError, match="not a readable Parquet file"):
        read_table(tmp_path / "bad.parquet", target="c")


def test_unknown_kinds_of_files(tmp_path):
    with pytest.raises(ValueError, match="unknown kind of file"):
        read_table(written(tmp_path, "a\n1\n", "table.doc"))
    with pytest.raises(FileNotFoundError, match="no such file"):
        read_table(tmp_path / "none.csv")
    pytest.importorskip("python_calamine")
    for content, what in ("a\n1\n", "text"), ("<html><table></table>", "an HTML page"):
        with pytest.raises(ValueError, match=f"is {what}, although its name is that of a spreadsheet"):
            read_table(written(tmp_path, content, "table.xls"))
    for content, what in (
        (b"PK\3\4...", "a spreadsheet"),
        (b"\xd0\xcf\x11\xe0", "an old spreadsheet"),
        (b"PAR1", "a Parq"),
    ):
        with pytest.raises(ValueError, match=f"is {what}.*, not text"):
            read_table(written(tmp_path, content, "table.csv"))
    with pytest.raises(ValueError, match="not a readable spreadsheet"):
        read_table(written(tmp_path, b"PK\3\4...", "table.xlsx"))


@pytest.mark.parametrize("share", [0.0025, 0.1, 0.3])
@pytest.mark.parametrize("suffix", ["csv", "xlsx", "parquet"])
def test_values_that_stand_for_missing_ones_are_named_and_can_be_left_out(tmp_path, suffix, share):
    """-999 among numbers, the last day of the calendar, and a target of 9999: with row and column, in any format."""
    rng, path = np.random.default_rng(0), tmp_path / f"table.{suffix}"
    numbers, days = rng.normal(size=400).round(2), np.datetime64("2020-01-01") + np.arange(400)
    target = rng.normal(size=400).round(2)
    lacking = rng.random((3, 400)) < share
    lacking[:, 7] = True
    numbers[lacking[0]], days[lacking[1]], target[lacking[2]] = -999, np.datetime64("9999-12-31"), 9999
    frame = pd.DataFrame({"a": numbers, "day": days.astype(object), "y": target})
    {"csv": frame.to_csv, "xlsx": frame.to_excel, "parquet": frame.to_parquet}[suffix](path, index=False)
    with pytest.warns(UserWarning, match="as far from the column's median") as record:
        read_table(path, target="y")
    (said,) = (str(warning.message) for warning in record)
    row = np.argmax(lacking[0]) + (2 if suffix != "parquet" else 0)
    assert f"the value -999 in column 'a', {'line' if suffix == 'csv' else 'row'} {row}" in said
    assert "Likewise 9999-12-31 in column 'day', 9999 in the target." in said
    with pytest.warns(UserWarning, match="rows? (is|are) left out for lack of a class"):
        table = read_table(path, target="y", missing=["-999", "9999-12-31", "9999"])
    assert np.isnan(table.data[:, 0]).sum() == (lacking[0] & ~lacking[2]).sum()
    assert np.isnan(table.data[:, 1]).sum() == (lacking[1] & ~lacking[2]).sum()
    assert len(table.target) == 400 - lacking[2].sum() and table.target.max() < 10


def test_a_class_of_numbers_far_from_the_others_is_named(tmp_path):
    lines = "".join(f"{k % 7},{99 if k % 10 == 3 else k % 3}\n" for k in range(100))
    with pytest.warns(UserWarning, match="the value 99 in the target, line 5, and 9 more like it"):
        read_table(written(tmp_path, f"a,kind\n{lines}"), target="kind")


@pytest.mark.parametrize("words", [("foo", "bar"), ("bar", "foo"), ("foo", "kg")])
def test_two_words_after_the_numbers_of_a_column_are_never_levels_silently(tmp_path, words):
    """In a file, a frame, as classes, and in a second file; whole numbers, fractions, and many different numbers."""
    for numbers in (np.arange(90) % 8, np.arange(90) % 8 + 0.5, np.arange(90) * 11):
        cells = [f"{number} {words[k // 3 % 2]}" for k, number in enumerate(numbers)]
        frame = pd.DataFrame({"a": cells, "b": np.arange(90) % 5})
        frame.to_csv(tmp_path / "table.csv", index=False)
        pattern = rf"'[\d.]+ {words[0]}'.*'[\d.]+ {words[1]}'|'[\d.]+ {words[1]}'.*'[\d.]+ {words[0]}'"
        for read in (
            partial(read_table, tmp_path / "table.csv"),
            partial(read_table, tmp_path / "table.csv", target="a"),
            partial(ParzenClassifier(bandwidth=1.0).fit, frame, np.arange(90) % 2),
        ):
            with warnings.catch_warnings(record=True) as record:
                warnings.simplefilter("always")
                try:
                    read()
                    said = " ".join(str(warning.message) for warning in record)
                except ValueError as error:
                    said = str(error)
            assert re.search(pattern, said, re.DOTALL), said
        schema = read_table(written(tmp_path, "a,b\n" + "".join(f"{n} foo,{n % 5}\n" for n in numbers))).schema
        frame.to_csv(tmp_path / "table.csv", index=False)
        with pytest.raises(ValueError, match=r"in lines? \d+"):
            read_table(tmp_path / "table.csv", schema=schema)
    several = [f"{1 + k % 4} {'child' if k % 4 == 0 else 'children'}" for k in range(90)]  # one number with a word
    read_table(written(tmp_path, "a,b\n" + "".join(f"{cell},{k % 5}\n" for k, cell in enumerate(several))))
