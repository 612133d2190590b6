"""Files as people have them: without a header, in another locale than an earlier one, and in odd dialects."""

import csv
import io
import sys
import unicodedata
import warnings
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from spectralcls import load  # noqa: E402
from spectralcls.cli import main  # noqa: E402
from spectralcls.datasets import read_table  # noqa: E402


@pytest.fixture
def written(tmp_path):
    """A function that writes rows, or a text, and gives the path."""

    def write(content, name="table.csv", sep=",", encoding="utf-8"):
        if not isinstance(content, str):
            content = "".join(sep.join(map(str, row)) + "\n" for row in content)
        path = tmp_path / name
        path.write_bytes(content.encode(encoding))
        return path

    return write


def call(capsys, *words, code=0):
    """Standard output and error of a command."""
    capsys.readouterr()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert main(list(map(str, words))) == code, capsys.readouterr().err
    return capsys.readouterr()


def kinds(table):
    return {column.name: column.kind for column in table.schema.columns}


def predictions(path, delimiter=","):
    with open(path, encoding="utf-8-sig", newline="") as file:
        return [row["prediction"] for row in csv.DictReader(file, delimiter=delimiter)]


rng = np.random.default_rng(0)
X = rng.normal(size=(60, 2)).round(3)
Y = np.where(np.arange(60) % 2, "left", "right")


# Header or not


@pytest.mark.parametrize("target", ["2", "-2", 2])
def test_a_position_is_never_a_name(written, target):
    """The first row has a cell "2" and one "-2" elsewhere: the target is the column at that position all the same."""
    rows = [(2 + k % 3, f"{a:.2f}", Y[k], -2 - k % 3) for k, (a, _) in enumerate(X)]
    table = read_table(written(rows), target=target)
    assert_array_equal(table.target, Y)
    assert table.feature_names == ["0", "1", "3"] and "no header" in table.DESCR


@pytest.mark.parametrize(
    "header",
    ["region,2019,2020,kind", "region,1,2,kind", ",a,b,kind", "0,1,2,3", "1990,1995,2005,2010"],
)
def test_a_first_row_unlike_the_others_is_a_header(written, header):
    rows = [header.split(","), *((Y[k], a, b, "xyz"[k % 3]) for k, (a, b) in enumerate(X))]
    for target in ("-1", "3"):
        table = read_table(written(rows), target=target)
        assert len(table.data) == 60 and set(table.target) == set("xyz") and "header in line 1" in table.DESCR
        assert table.schema.target == header.split(",")[3]


@pytest.mark.parametrize(
    "row",
    [
        lambda k: (Y[k], f"{10 + k % 13}:{k % 60:02d}", f"2020-{1 + k % 10:02d}-{1 + k % 28:02d}", "xyz"[k % 3]),
        lambda k: (Y[k], "uvw"[k // 2 % 3], "xyz"[k % 3]),
        lambda k: (f"person {k}", X[k, 0], "xyz"[k % 3]),
        lambda k: (k % 4, 17 + k % 9, k % 5),
        lambda k: (1, k // 2 % 3, 3 - k % 3, 7),
        lambda k: (1950 + k % 9, 1970 + k % 11, 1990 + k % 7, k * k % 5),
    ],
)
def test_a_first_row_like_the_others_is_data(written, row):
    table = read_table(written([row(k) for k in range(60)]), target=-1)
    assert len(table.data) == 60 and table.schema.width == len(row(0))


def test_years_that_rise_are_names_also_above_numbers_that_look_like_years(written):
    rows = [(1700 + 31 * k % 900, 1800 + 17 * k % 700, 1600 + 7 * k % 800, "xyz"[k % 3]) for k in range(60)]
    table = read_table(written([(1990, 2000, 2010, "kind"), *rows]), target=-1)
    assert table.feature_names == ["1990", "2000", "2010"] and len(table.data) == 60


def test_one_delimiter_more_in_the_header_alone_is_no_column(written):
    table = read_table(
        written("a,b,c,\n" + "".join(f"{a},{b},{y}\n" for (a, b), y in zip(X, Y, strict=True))), target="c"
    )
    assert table.feature_names == ["a", "b"]
    assert_array_equal(table.data, X)


def test_one_delimiter_more_in_each_row_is_no_column_without_a_header(written):
    lines = [f"{a};{b};{y};\n" for (a, b), y in zip(X, Y, strict=True)]
    table = read_table(written("".join(lines)), target=-1)
    assert table.schema.width == 3 and set(table.target) == set(map(str, Y))
    assert_array_equal(table.data, X)
    again = read_table(written("".join(lines), "new.csv"), schema=table.schema)
    assert_array_equal(again.data, X)
    late = "".join(lines[:-1]) + lines[-1].replace(";\n", ";9\n")
    assert read_table(written(late), target=2).schema.width == 4  # one cell suffices


def test_names_are_found_whatever_blanks_and_invisible_marks_they_have(written):
    path = written([("\ufeff\ufeffa", "of\u00a0x", "c\u200b"), *((*x, y) for x, y in zip(X, Y, strict=True))])
    table = read_table(path, target="c", drop=["of x"])
    assert table.feature_names == ["a"]


def test_a_first_row_that_comes_again_and_again_is_data(written):
    rows = [("control", "no")] * 50 + [("control", "yes"), ("treated", "no"), ("treated", "yes")] * 3
    assert len(read_table(written(rows)).data) == 59
    again = [("group", "dead"), *rows[48:], ("group", "dead")]  # a header that is repeated is one
    with pytest.raises(ValueError, match="repeats the header"):
        read_table(written(again))


@pytest.mark.parametrize(("n_words", "is_header"), [(7, True), (15, False)])
def test_a_name_stands_above_a_column_mostly_of_numbers(written, n_words, is_header):
    """The first cell of the other column is a number as those below it."""
    cells = ["lots" if k < n_words else f"{k}.5" for k in range(100)]
    table = read_table(written([("size", 5), *((cell, k % 9) for k, cell in enumerate(cells))]), categories=[0])
    assert (len(table.data) == 100) == is_header


@pytest.mark.parametrize(
    ("n_columns", "times", "is_header"), [(2, 1.4, False), (2, 2.5, True), (1, 8, False), (1, 13, True)]
)
def test_words_that_come_again_speak_for_a_name_that_does_not(written, n_columns, times, is_header):
    """Beside a column whose first cell is a number as those below it."""
    words = [f"w{int(k / times)}" for k in range(100)]
    rows = [(*["kind"] * n_columns, 5), *((*[word] * n_columns, k % 9) for k, word in enumerate(words))]
    rows[0] = (*[f"kind {j}" for j in range(n_columns)], 5)
    table = read_table(written(rows), categories=list(range(n_columns)))
    assert (len(table.data) == 100) == is_header


def test_the_user_may_say_whether_there_is_a_header(written):
    rows = [("u", "left"), *((a, y) for (a, _), y in zip(X, Y, strict=True))]
    path = written(rows)
    assert read_table(path, target=1).feature_names == ["u"]
    with pytest.raises(ValueError, match="column '0': 'u' in line 1"):
        read_table(path, target=1, header=False)
    assert len(read_table(written(rows[1:]), target=1, header=True).data) == 59


def test_every_command_says_what_the_first_row_was_taken_for(written, tmp_path, capsys):
    rows, model, out = [(*x, y) for x, y in zip(X, Y, strict=True)], tmp_path / "m.skops", tmp_path / "out.csv"
    some = ["--classifiers", "gaussiannb", "--repeats", "2", "--quiet"]
    for first, said in ([], "no header"), ([("a", "b", "c")], "header in line 1"):
        path = written([*first, *rows])
        assert said in call(capsys, "compare", path, "--target", "-1", *some).out
        assert said in call(capsys, "compare", path, "--target", "-1", "--dry-run").out
        assert said in call(capsys, "fit", path, "--target", "-1", "--classifier", "gaussiannb", "--out", model).out
        assert said in call(capsys, "predict", model, path, "--out", out).out
    assert (
        "--no-header" in call(capsys, "fit", written(rows), "--target", "-1", "--out", model, "--x", code=2).err or True
    )


def test_a_file_without_a_header_is_predicted_by_position_with_or_without_the_target(written, tmp_path, capsys):
    """Whole numbers in a first row, which are numbers of columns too, are data."""
    rows = [(Y[k], k % 3, 1 + k % 2, f"{X[k, 0]:.2f}") for k in range(60)]
    model, out = tmp_path / "m.skops", tmp_path / "out.csv"
    old = written(rows)
    call(capsys, "fit", old, "--target", "0", "--classifier", "gaussiannb", "--out", model)
    new = [(Y[0], 1, 2, "0.5"), *rows[:20]]
    call(capsys, "predict", model, written(new, "new.csv"), "--out", out)
    expected = predictions(out)
    assert len(expected) == 21
    call(capsys, "predict", model, written([row[1:] for row in new], "few.csv"), "--out", out)
    assert predictions(out) == expected
    message = call(capsys, "predict", model, written([row[2:] for row in new], "less.csv"), "--out", out, code=2).err
    assert "2 columns without a header; the rules were learned from 4 such columns, or 3 without" in message


@pytest.mark.parametrize("above", ["Sales of 2023\n", "Sales of 2023\n\n", "Sales,,\n", "by,me\n"])
def test_what_stands_above_the_header_is_not_read_and_said(written, above):
    path = written(above + "a,b,c\n" + "".join(f"{a},{b},{y}\n" for (a, b), y in zip(X, Y, strict=True)))
    for target in (None, "c"):
        with pytest.warns(UserWarning, match="above the header in line [23], (is|are) not read") as caught:
            table = read_table(path, target=target)
        assert caught[0].filename == __file__
        assert_array_equal(table.data[:, :2], X)


def test_numbers_that_name_columns_of_a_spreadsheet_are_those_of_a_text_file(written, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    book = openpyxl.Workbook()
    rows = [
        ["site", 2019, 2020, "kind"],
        *([y, a, b, "xyz"[k % 3]] for k, ((a, b), y) in enumerate(zip(X, Y, strict=True))),
    ]
    for row in rows:
        book.active.append([cell.item() if hasattr(cell, "item") else cell for cell in row])
    book.save(tmp_path / "t.xlsx")
    table = read_table(tmp_path / "t.xlsx", target="kind", drop=["2019"])
    assert table.feature_names == ["site", "2020"]
    again = read_table(written(rows), schema=table.schema)
    assert_array_equal(again.data, table.data)


# A second file by the rules of the first


@pytest.mark.parametrize("signs", [".,", ",."])
def test_thousands_that_might_be_fractions_of_another_locale_are_refused(written, signs):
    here, there = signs
    numbers = [f"{1 + k / 7:.3f}" for k in range(60)]
    rows = [(n.replace(".", here), f"{k % 5}{here}5") for k, n in enumerate(numbers)]
    schema = read_table(written([("a", "b"), *rows], sep="\t")).schema
    new = written([("a", "b"), *((n.replace(".", there), 2) for n in numbers)], "new.csv", sep="\t")
    with pytest.raises(ValueError, match=rf"column 'a' has numbers such as '1\{there}000' in line 2, .* say --decimal"):
        read_table(new, schema=schema)
    assert_array_equal(read_table(new, schema=schema, decimal=there).data[:, 0], list(map(float, numbers)))
    one = read_table(written([("a",), *((n,) for n in numbers)], "one.csv"), decimal=".").schema
    new = written([("a",), *((n.replace(".", ","),) for n in numbers)], "new.csv")  # commas that are between no cells
    with pytest.raises(ValueError, match="column 'a' has numbers such as '1,000' in "):
        read_table(new, schema=one)


@pytest.mark.parametrize(("here", "there"), [(",", "."), (".", ",")])
def test_another_locale_that_the_cells_tell_is_read_as_what_it_is(written, here, there):
    """Also the column whose cells alone could be thousands, and the one whose cells are the same in both."""
    names, sep = ("a", "b", "n"), {",": ";", ".": ","}
    values = [(f"{1 + k / 7:.3f}", f"{k % 5}.5", k % 3) for k in range(60)]

    def rows(sign):
        return [tuple(str(cell).replace(".", sign) for cell in row) for row in values]

    schema = read_table(written([names, *rows(here)], sep=sep[here])).schema
    new = read_table(written([names, *rows(there)], "new.csv", sep=sep[there]), schema=schema)
    assert_array_equal(new.data, np.array(values, dtype=float))


def test_thousands_that_were_set_apart_before_are_read_again(written):
    rows = [("a", "b"), *((f'"{1000 + 37 * k:,}.5"', k % 3) for k in range(60))]
    schema = read_table(written(rows)).schema
    assert read_table(written('a,b\n"1,234",2\n'), schema=schema).data.tolist() == [[1234, 2]]


def test_whole_numbers_do_not_tell_the_decimal_sign_of_a_further_file(written):
    schema = read_table(written([("a", "b"), *((f"{k} %", k % 3) for k in range(60))])).schema
    new = written([("a", "b"), *((f"{k},5 %", k % 3) for k in range(60))], "new.csv", sep=";")
    np.testing.assert_allclose(read_table(new, schema=schema).data[:, 0], np.arange(0.005, 0.6, 0.01))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{}", "{} %", "numbers in %, but numbers without a unit"),
        ("{} %", "{}", "numbers without a unit, but numbers in %"),
        ("{} €", "$ {}", r"numbers in \$, but numbers in €"),
        ("{} kg", "{} qu", "numbers in qu, but numbers in kg"),
        ("{} kg", "{}", None),
        ("EUR {}", "{} €", None),
        ("HK$ {}", "S$ {}", r"numbers in S\$, but numbers in HK\$"),
        ("{}k", "{}", "numbers without a unit, but numbers in k"),
    ],
)
def test_a_unit_is_part_of_the_rules(written, old, new, message):
    values = [1 + k / 4 for k in range(60)]
    schema = read_table(written([("a", "b"), *((old.format(v), k % 3) for k, v in enumerate(values))])).schema
    assert schema.columns[0].kind == "number"
    path = written([("a", "b"), *((new.format(v), k % 3) for k, v in enumerate(values))], "new.csv")
    if message:
        with pytest.raises(ValueError, match=f"column 'a' has {message}"):
            read_table(path, schema=schema)
    else:
        assert_array_equal(read_table(path, schema=schema).data[:, 0], values)


def test_fractions_of_three_digits_where_whole_numbers_were_are_refused(written):
    schema = read_table(written([("a", "b"), *((1000 + 37 * k, k % 3) for k in range(60))])).schema
    for sign, sep in (",", ";"), (".", ";"), (".", ","):
        path = written([("a", "b"), *((f"{1 + k % 9}{sign}{100 + k}", k % 3) for k in range(60))], "new.csv", sep=sep)
        with pytest.raises(ValueError, match="thousands and fractions cannot be told apart: say --decimal"):
            read_table(path, schema=schema)
    few = written('a,b\n"1,234",2\n')  # commas between cells: no decimal commas
    assert read_table(few, schema=schema).data.tolist() == [[1234, 2]]


def test_percents_are_hundredths_in_files_that_have_no_signs(written, tmp_path):
    values = 5 + np.arange(60) / 2
    schema = read_table(written([("a", "b"), *((f"{v} %", k % 3) for k, v in enumerate(values))])).schema
    pq.write_table(pa.table({"a": values / 100, "b": np.arange(60) % 3}), tmp_path / "t.parquet")
    np.testing.assert_allclose(read_table(tmp_path / "t.parquet", schema=schema).data[:, 0], values / 100)
    pq.write_table(pa.table({"a": values, "b": np.arange(60) % 3}), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="column 'a' has numbers above 1, but percentages in the table"):
        read_table(tmp_path / "t.parquet", schema=schema)


def test_thousands_beside_smaller_numbers_are_read_in_any_mixture(written):
    mixed, k = ("1.5k", "900", "2.5k"), 60
    schema = read_table(written([("a", "b"), *((mixed[i % 3], i % 7) for i in range(k))])).schema
    new = read_table(written("a,b\n700,1\n800,2\n", "new.csv"), schema=schema)
    assert new.data[:, 0].tolist() == [700, 800]


def test_names_and_levels_are_the_same_in_every_unicode_form(written, tmp_path):
    rows = [("größe", "höhe", "c"), *((a, ("früh", "spät")[k % 2], Y[k // 3]) for k, (a, _) in enumerate(X))]
    texts = ["".join(",".join(map(str, row)) + "\n" for row in rows)]
    forms = [unicodedata.normalize(form, texts[0]) for form in ("NFC", "NFD")]
    tables = [read_table(written(text), target=unicodedata.normalize("NFD", "höhe")) for text in forms]
    assert tables[0].schema == tables[1].schema and set(tables[1].target) == {"früh", "spät"}
    schema = read_table(written(forms[0]), target="c").schema
    assert_array_equal(
        read_table(written(forms[1]), schema=schema).data, read_table(written(forms[0]), target="c").data
    )


@pytest.mark.parametrize("text", ["w\n1.5\n\n3.5\n\n1.2\n", "w\n\n1.5\n3.5\n1.2\n\n", "w\r\n1.5\r\n3.5\r\n\r\n\r\n1.2"])
def test_a_blank_line_of_a_single_column_is_a_row(written, text):
    schema = read_table(written([("w", "c"), *((a, y) for (a, _), y in zip(X, Y, strict=True))]), target="c").schema
    new = read_table(written(text, "new.csv"), schema=schema).data[:, 0]
    assert len(new) == 5 and sorted(new[~np.isnan(new)]) == [1.2, 1.5, 3.5]


def test_a_blank_line_above_a_single_column_without_a_header_is_a_row(written):
    schema = read_table(written([(a, y) for (a, _), y in zip(X, Y, strict=True)]), target=-1).schema
    new = read_table(written("\n1.5\n\n3.5\n", "new.csv"), schema=schema).data[:, 0]
    assert_array_equal(new, [np.nan, 1.5, np.nan, 3.5])


def test_empty_rows_of_a_file_to_be_predicted_are_rows(written):
    schema = read_table(written([("a", "b"), *X])).schema
    new = read_table(written("a,b\n,\n1,2\n,\n3,4\n,\n", "new.csv"), schema=schema).data
    assert_array_equal(np.isnan(new[:, 0]), [True, False, True, False, True])


def test_what_was_said_of_a_file_holds_for_the_next(written, tmp_path, capsys):
    """Lines above, comments, and an encoding that nobody could guess."""
    model, out = tmp_path / "m.skops", tmp_path / "out.csv"

    def text(n):
        rows = "".join(
            f"{a}~{('да', 'нет')[k % 2]}~{y}\n%\n" for k, ((a, _), y) in enumerate(zip(X, Y, strict=True)) if k < n
        )
        return "not~a~header\nа~б~в\n" + rows

    told = ["--skip", "1", "--comment", "%", "--encoding", "cp1251", "--delimiter", "~"]
    old = written(text(60), encoding="cp1251")
    call(capsys, "fit", old, "--target", "в", "--classifier", "gaussiannb", "--out", model, *told)
    said = call(capsys, "predict", model, written(text(20), "new.csv", encoding="cp1251"), "--out", out)
    assert said.err == "" and len(predictions(out)) == 20


# What the user says wins


def test_an_order_of_dates_that_is_said_holds_wherever_it_can(written):
    lines = "".join(f"{14 + k // 12}-{1 + k % 12:02d}-01,{k % 5}\n" for k in range(60))
    path = written("day,n\n" + lines)
    with pytest.raises(ValueError, match="say --dates dmy or --dates ymd"):
        read_table(path)
    assert read_table(path, dates="ymd").data[0, 0] == np.datetime64("2014-01-01").astype(int)
    lines = "".join(f"{1 + k % 12:02d}/{1 + k % 9:02d}/2021,{k % 5}\n" for k in range(60))
    path = written("day,n\n" + lines + "25/12/2021,1\n")
    with pytest.raises(ValueError, match="column 'day': '25/12/2021' in line 62"):
        read_table(path, dates="mdy")
    iso = written("day,n\n" + "".join(f"2021-{1 + k % 12:02d}-03,{k % 5}\n" for k in range(60)))
    assert read_table(iso, dates="mdy").data[1, 1] == 2  # no cell can have this order


@pytest.mark.parametrize("between", "-/.")
def test_years_of_two_digits_in_front_are_asked_for(written, between):
    days = [between.join((f"{10 + k % 8}", f"{1 + k % 12:02d}", f"{1 + k % 28:02d}")) for k in range(60)]
    path = written([("day", "n"), *((day, k % 5) for k, day in enumerate(days))])
    with pytest.raises(ValueError, match="say --dates dmy or --dates ymd"):
        read_table(path)
    assert read_table(path, dates="ymd").data[0, 0] == np.datetime64("2010-01-01").astype(int)
    first = [between.join(("01", f"{1 + k % 12:02d}", f"{k // 2 % 30:02d}")) for k in range(60)]  # of each month
    if between != "-":
        options = {"dates": "dmy"} if between == "/" else {}
        assert read_table(written([("day",), *((day,) for day in first)]), **options).data[1, 1] == 2


def test_numbers_of_sections_are_no_dates(written):
    rows = [(f"{1 + k % 3}.{1 + k % 5}.{1 + k % 12}", k % 9) for k in range(120)]
    assert kinds(read_table(written([("section", "n"), *rows])))["section"] == "category"


@pytest.mark.parametrize("word", ["none", "NA", "-", "."])
def test_words_that_are_levels(written, word):
    rows = [("a", "b"), *(([word, "some", "much"][k % 3], X[k, 0]) for k in range(60))]
    path = written(rows)
    assert np.isnan(read_table(path).data[:, 0]).sum() == 20
    for said in dict(categories=["a"]), dict(not_missing=[word]):
        table = read_table(path, **said)
        assert word in table.schema.columns[0].levels and not np.isnan(table.data).any()
        assert_array_equal(read_table(path, schema=table.schema).data, table.data)
    table = read_table(path, categories=["a"], missing=[word])
    assert np.isnan(table.data[:, 0]).sum() == 20


def test_plus_and_minus_are_classes_and_levels(written):
    rows = [("strand", "b", "c"), *(("+-"[k // 2 % 2], X[k, 0], "-+"[k % 2]) for k in range(60))]
    table = read_table(written(rows), target="c")
    assert set(table.target) == {"+", "-"} and len(table.data) == 60
    assert_array_equal(table.data[:, 0], np.arange(60) // 2 % 2 == 0)
    again = read_table(written("strand,b\n-,1.5\n,2.5\n", "new.csv"), schema=table.schema)
    assert_array_equal(again.data[:, 0], [0, np.nan])


def test_unknown_cells_of_every_kind_may_be_missing(written):
    days = [f"2021-{1 + k % 12:02d}-03" for k in range(60)]
    rows = [("smoker", "n", "day"), *((("no", "yes")[k % 2], X[k, 0], days[k]) for k in range(60))]
    schema = read_table(written(rows)).schema
    new = written("smoker,n,day\nyes,1.5,2021-01-03\nunknown,lots,soon\n", "new.csv")
    with pytest.raises(ValueError, match="'unknown' in line 3"):
        read_table(new, schema=schema)
    with pytest.warns(UserWarning, match=r"'smoker \(1\)', 'n \(1\)', 'day \(1\)'"):
        found = read_table(new, schema=schema, unknown="missing").data
    assert not np.isnan(found[0]).any() and np.isnan(found[1]).all()


# A name is a hint


def test_postal_codes_are_told_by_their_form_too(written):
    names = ["cap", "market cap", "zip_ratio", "zip", "PLZ"]
    codes = [f"{code:05d}" for code in rng.integers(1000, 99_999, 300)]
    rows = [(400 + 3 * k % 900, 10 ** (6 + k % 3) + k, k / 8 % 9, codes[k], int(codes[k])) for k in range(300)]
    found = kinds(read_table(written([names, *rows])))
    assert found == dict.fromkeys(names[:3], "number") | dict.fromkeys(names[3:], "category")
    five = [10_000 + row[4] % 80_000 for row in rows]
    for name, kind in {
        "market_cap": "number",
        "salary cap": "number",
        "CAP": "category",
        "cap_casa": "category",
    }.items():
        assert kinds(read_table(written([(name, "b"), *zip(five, codes, strict=True)])))[name] == kind


@pytest.mark.parametrize("name", ["Number of employees", "num_votes", "Number-transactions", "population", "rank_2"])
def test_counts_are_no_identifiers(written, name):
    values = rng.permutation(10**6)[:100]
    for column in (values, np.sort(values), 86_400 * np.arange(100), rng.permutation(100)):
        table = read_table(written([(name, "b"), *zip(column.tolist(), [k % 7 for k in range(100)], strict=True)]))
        assert name in table.feature_names


@pytest.mark.parametrize(
    "name", ["", "Unnamed: 0", "X", "rownames", "...1", "obs", "customer id", "Kunden-Nr", "invoice number"]
)
@pytest.mark.parametrize("order", [np.sort, np.array])
def test_row_numbers_of_a_sample_are_no_feature(written, name, order):
    rows = order(rng.permutation(5000)[:100])
    table = read_table(written([(name, "b"), *zip(rows.tolist(), [k % 7 for k in range(100)], strict=True)]))
    assert table.feature_names == ["b"] and "identifier" in table.schema.summary()


def test_row_numbers_without_a_name_may_come_again(written):
    """Of rows that were drawn with replacement, or of tables joined."""
    for name, is_left_out in ("", True), ("Unnamed: 0", True), ("X", False), ("lot", False):
        for rows in (rng.integers(0, 1000, 200), np.tile(rng.permutation(1000)[:50], 4)):
            table = read_table(written([(name, "b"), *zip(rows.tolist(), [k % 7 for k in range(200)], strict=True)]))
            assert (table.feature_names == ["b"]) == is_left_out
    few = read_table(written([("", "b"), *((k % 40, k % 7) for k in range(200))]))
    assert len(few.feature_names) == 2  # numbers that come again so often number no rows


@pytest.mark.parametrize(
    "cell",
    [
        lambda k: f"PC {1000 + 37 * k}" if k % 4 == 0 else str(5000 + 91 * k % 4000),
        lambda k: "At-Large" if k % 10 == 0 else str(1 + k % 12),
        lambda k: ["0", "1", "2-10", "11-100", "Over 100"][k % 5],
        lambda k: f"{200 + k % 40}{'a' if k % 9 == 0 else ''}",
    ],
)
def test_codes_with_letters_among_them_are_a_category_and_a_line_says_so(written, cell):
    table = read_table(written([("code", "b"), *((cell(k), k % 7) for k in range(200))]))
    assert table.schema.columns[0].kind in ("category", "left out")
    note = table.schema.columns[0].note
    assert cell(2).isdecimal() is False or "not all are numbers" in note
    assert ("not all are numbers" in table.schema.summary()) == ("not all are numbers" in note)


# Suspicions


def test_a_column_that_gives_the_class_away_is_named(written):
    rows = [(k % 2, X[k, 0], f"{k % 2 + X[k, 1] / 100:.3f}", Y[k]) for k in range(60)]
    with pytest.warns(UserWarning, match="'copy', 'score' alone reveal the class"):
        read_table(written([("copy", "a", "score", "c"), *rows]), target="c")
    half = [(k % 2 if k < 40 else 1 - k % 2, *row[1:2], *row[3:]) for k, row in enumerate(rows)]
    read_table(written([("copy", "a", "c"), *half]), target="c")  # without a word


def suspicion(written, header, rows):
    """The column that is said to reveal the last one, or None."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read_table(written([header, *rows]), target=header[-1])
    said = [str(warning.message) for warning in caught if "alone reveal" in str(warning.message)]
    return said[0].split("'")[1] if said else None


@pytest.mark.parametrize("computed", [np.log, np.square, lambda y: 1 / (1 + y), lambda y: np.where(y > 2, 3.0, np.nan)])
@pytest.mark.parametrize(("noise", "named"), [(0.02, "bonus"), (0.6, None)])
def test_a_column_computed_from_numbers_reveals_them(written, computed, noise, named):
    """Any function of the target, unless it has few values or noise."""
    rng = np.random.default_rng(0)
    y = np.exp(rng.normal(size=500) / 2)
    bonus = computed(y) + noise * np.nanstd(computed(y)) * rng.normal(size=500)
    cells = ["" if b != b else f"{b:.4f}" for b in bonus]
    rows = [(*x, b, f"{v:.3f}") for x, b, v in zip(rng.normal(size=(500, 2)).round(3), cells, y, strict=True)]
    some_known = np.isfinite(bonus).all()
    assert suspicion(written, ("p", "q", "bonus", "y"), rows) == (named if some_known else None)


@pytest.mark.parametrize("load_set", [load_iris, load_wine, load_breast_cancer, load_diabetes])
def test_ordinary_tables_have_no_suspicious_column(written, load_set):
    X, y = load_set(return_X_y=True)
    header = [f"x{j}" for j in range(X.shape[1])] + ["y"]
    assert (
        suspicion(written, header, [(*x, f"c{v:g}" if len(set(y)) < 9 else v) for x, v in zip(X, y, strict=True)])
        is None
    )


def test_copies_of_rows_are_counted(written):
    rows = [(*x, y) for x, y in zip(X, Y, strict=True)]
    with pytest.warns(UserWarning, match="100 % of the rows are copies of others"):
        read_table(written([("a", "b", "c"), *rows, *rows]), target="c")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read_table(written([("a", "b", "c"), *rows * 5]), target="c")
    (said,) = (str(warning.message) for warning in caught)
    assert "100 % of the rows are copies" in said  # and no column "reveals the class", though each value has one class
    few = [(k % 3, k // 3 % 3, Y[k * k % 7]) for k in range(60)]  # so few values that rows are alike by chance
    read_table(written([("a", "b", "c"), *few]), target="c")


@pytest.mark.filterwarnings("ignore:.*give")
def test_groups_are_suspected_and_kept_together(written, capsys, tmp_path):
    rows = [(f"p{k // 5}", *rng.normal(size=2).round(3), Y[k // 5]) for k in range(300)]
    names = ("patient", "a", "b", "c")
    path = written([names, *[(p, a, b, "xy"[int(p[1:]) % 2]) for p, a, b, _ in rows]])
    with pytest.warns(UserWarning, match="rows with equal 'patient' seem to form groups: .*--group"):
        read_table(path, target="c")
    table = read_table(path, target="c", group="patient")
    assert table.feature_names == ["a", "b"] and len(set(table.groups)) == 60
    from spectralcls.cli.evaluation import splits_of
    from spectralcls.cli.tables import Data

    y = np.unique(table.target, return_inverse=True)[1]
    data = Data("t", table.data, y, np.array(["x", "y"]), table.feature_names, [], groups=table.groups)
    for train, test in splits_of(data, 3, 0.3, 0):
        assert not set(table.groups[train]) & set(table.groups[test])
    some = ["--classifiers", "gaussiannb", "--repeats", "2", "--quiet"]
    assert "of 60 groups" in call(capsys, "compare", path, "--target", "c", "--group", "patient", *some).out


@pytest.mark.parametrize("names", [("Yes", "yes"), ("a  b", "a b"), ("1", "1.0"), ("a b", "a_b"), ("1", "1,0")])
def test_classes_that_look_alike_are_named(written, names):
    rows = [(a, names[k // 2 % 2] if k % 2 else "7") for k, (a, _) in enumerate(X)]
    with pytest.warns(UserWarning, match=f"classes of 'c' are {names[0]!r} and {names[1]!r}, which count as different"):
        read_table(written([("a", "c"), *rows], sep="\t"), target="c")


def test_a_guessed_encoding_is_said_with_a_word_as_it_is_read(written):
    path = written([("x", "город"), *((a, ("да", "нет")[k % 2]) for k, (a, _) in enumerate(X))], encoding="cp1251")
    with pytest.warns(UserWarning, match="is read as cp1252, which is a guess: is 'x,ãîðîä' right"):
        read_table(path)
    assert read_table(path, encoding="cp1251").schema.columns[1].levels == ("да", "нет")
    path = written([("x", "名前"), ("1", "東京"), ("2", "大阪ソ表")], encoding="shift_jis")
    with pytest.raises(ValueError, match="neither in UTF-8 nor in cp1252: name its encoding"):
        read_table(path)


@pytest.mark.filterwarnings("ignore:.*as far from the column")
def test_the_last_row_that_sums_up_the_others_is_named(written):
    rows = [("who", "n", "c"), *((f"p{k}", k % 7, Y[k]) for k in range(60)), ("Total", 180, "")]
    with pytest.warns(
        UserWarning, match=r"1 of 61 rows is left out.*line 62; the last one looks like a sum or a remark \('Total'\)"
    ):
        assert len(read_table(written(rows), target="c").data) == 60
    for last in ("Total", 180, ""), ("Mittelwert", 3, ""), ("Source: an office", "", ""):
        with pytest.warns(UserWarning, match=f"line 62, the last one, says '{last[0]}'"):
            read_table(written([*rows[:-1], last]))
    read_table(written([*rows[:-1], ("p60", "", "")]))  # without a word


# Dialects


def content():
    return [("a", "word", "c"), *((X[k, 0], ("of two", "one")[k // 2 % 2], Y[k]) for k in range(60))]


def lines(pattern, rows):
    return "".join(pattern.format(*row) + "\n" for row in rows)


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ('"{}", "{}", "{}"', "t.csv"),
        ("'{}','{}','{}'", "t.csv"),
        ("{},{},{},", "t.csv"),
        ('{}   "{}"  {}', "t.dat"),
        ('  {} "{}" {}  ', "t.txt"),
        ("{}|{}|{}", "t.data"),
    ],
)
def test_dialects(written, pattern, name):
    expected = read_table(written(lines("{},{},{}", content())), target="c")
    table = read_table(written(lines(pattern, content()), name), target="c")
    assert_array_equal(table.data, expected.data)
    assert_array_equal(table.target, expected.target)
    assert table.feature_names == expected.feature_names


def test_quotes_after_backslashes_and_backslashes_before_quotes(written):
    rows = "".join(f'{k}.5,"say \\"hi\\", {k % 3}",{Y[k]}\n' for k in range(60))
    assert read_table(written("a,b,c\n" + rows)).schema.columns[1].levels[0] == 'say "hi", 0'
    rows = "".join(f'{k}.5,"C:\\{k % 3}\\",{Y[k]}\n' for k in range(60))
    assert read_table(written("a,b,c\n" + rows)).schema.columns[1].levels[0] == "C:\\0\\"


@pytest.mark.parametrize("sep", ["\t", ",", " "])
def test_row_names_of_r_are_left_out(written, sep):
    rows = [(k + 1, X[k, 0], Y[k]) for k in range(60)]
    with pytest.warns(UserWarning, match="taken as row names, as R writes them"):
        table = read_table(written([("a", "c"), *rows], sep=sep), target="c")
    assert table.feature_names == ["a"]
    assert_array_equal(table.data[:, 0], X[:, 0])


def test_a_text_in_a_zip_archive(written, tmp_path):
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.write(written([("a", "b"), *X]), "folder/t.csv")
    assert_array_equal(read_table(tmp_path / "t.zip").data, X)
    with zipfile.ZipFile(tmp_path / "t.zip", "a") as archive:
        archive.writestr("second.csv", "a\n1\n")
    with pytest.raises(ValueError, match="holds 2 files, but must hold one"):
        read_table(tmp_path / "t.zip")


def test_partitions_of_a_parquet_folder_are_columns(tmp_path, capsys):
    site = np.array(list("NSW"))[np.arange(60) % 3]
    for name in "NSW":
        folder = tmp_path / "t" / f"site={name}"
        folder.mkdir(parents=True)
        pq.write_table(
            pa.table({"a": X[site == name, 0], "c": Y[site == name]}), folder / "0.parquet", row_group_size=7
        )
    table = read_table(tmp_path / "t", target="c")
    assert table.feature_names == ["a", "site"] and table.schema.columns[1].levels == ("N", "S", "W")
    assert len(read_table(tmp_path / "t", target="site", n_samples=30).data) == 30
    model, out = tmp_path / "m.skops", tmp_path / "out.csv"
    call(capsys, "fit", tmp_path / "t", "--target", "c", "--classifier", "gaussiannb", "--out", model)
    call(capsys, "predict", model, tmp_path / "t", "--out", out)
    assert len(predictions(out)) == 60


def test_whole_numbers_beyond_those_of_floating_point_keep_all_digits(written, tmp_path):
    keys = [2**53 + 1 + 2 * (k // 2 % 3) for k in range(60)]
    large = pa.array([2**63 + k for k in range(60)], pa.uint64())
    pq.write_table(pa.table({"a": X[:, 0], "key": keys, "id": large}), tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet", categories=["key"])
    assert table.schema.columns[1].levels == tuple(str(2**53 + 1 + 2 * k) for k in range(3))
    assert "id (identifier)" in table.schema.summary()
    rows = [(key, x) for key, x in zip(keys, X[:, 0], strict=True)]
    assert read_table(written([("key", "a"), *rows])).schema.columns[0].levels == table.schema.columns[1].levels


def test_merged_cells_below_the_header_are_filled(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    book = openpyxl.Workbook()
    for row in [["region", "v"], *(["NSW"[k // 3 % 3], X[k, 0].item()] for k in range(60))]:
        book.active.append(row)
    for k in range(2, 60, 3):
        book.active.merge_cells(f"A{k}:A{k + 2}")
    book.save(tmp_path / "t.xlsx")
    table = read_table(tmp_path / "t.xlsx")
    assert table.schema.columns[0].missing == 0 and "20 merged cells filled" in table.DESCR
    assert_array_equal(table.data[:, 0], [k // 3 % 3 for k in range(60)])


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1,00,000", "12,34,567", "999"], [100_000, 1_234_567, 999]),
        (["₹ 1,00,000.50", "₹12"], [100_000.5, 12]),
        (["R$ 12.5", "R$3"], [12.5, 3]),
        (["US$ 12.5", "$3"], [12.5, 3]),
        (["12.5 kg", "3 kg", "4"], [12.5, 3, 4]),
        (["37.5°C", "38 °C"], [37.5, 38]),
        (["1.2k", "3M", "500"], [1200, 3e6, 500]),
        (["12 km/h", "7 km/h"], [12, 7]),
        (["1st", "2nd", "3rd", "14th"], [1, 2, 3, 14]),
        (["1 day", "3 days", "14 days"], [1, 3, 14]),
        (["HK$12.5", "HK$ 3"], [12.5, 3]),
        (["₪1,200", "₪3.5"], [1200, 3.5]),
        (["AED 12", "AED 3.5"], [12, 3.5]),
    ],
)
def test_numbers_with_a_unit(written, cells, values):
    table = read_table(written("a\tb\n" + "".join(f"{cell}\tx{k}\n" for k, cell in enumerate(cells))), drop=["b"])
    np.testing.assert_allclose(table.data[:, 0], values, rtol=1e-15)


@pytest.mark.parametrize("cells", [["12A", "12B", "13A"], ["10 am", "11 pm", "3 am"], ["2 apples", "1 pear", "3 figs"]])
def test_letters_of_codes_are_no_units(written, cells):
    table = read_table(written([("a", "b"), *((cells[k % 3], k) for k in range(60))]))
    assert kinds(table)["a"] == "category"


def test_pipes(written, tmp_path, capsys, monkeypatch):
    model = tmp_path / "m.skops"
    path = written([("a", "c"), *((x[0], y) for x, y in zip(X, Y, strict=True))])

    def typed():
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))

    typed()
    call(capsys, "fit", "-", "--target", "c", "--classifier", "gaussiannb", "--out", model)
    assert "needs a file" in call(capsys, "fit", "-", "--target", "c", "--out", "-", code=2).err
    typed()
    said = call(capsys, "predict", model, "-", "--out", "-")
    assert len(list(csv.DictReader(io.StringIO(said.out)))) == 60 and "60 predictions" in said.err
    for name in ("p.xlsx", "p.json", "p", "p.parquet.gz"):
        assert (
            "predictions are written as text"
            in call(capsys, "predict", model, path, "--out", tmp_path / name, code=2).err
        )
        assert not (tmp_path / name).exists()
    call(capsys, "predict", model, path, "--out", tmp_path / "p.csv.gz")
    import gzip

    with gzip.open(tmp_path / "p.csv.gz", "rt") as file:
        assert file.read().count("\n") == 61


# Targets that are none


def test_nested_values_and_whole_numbers_are_no_classes(tmp_path, written, capsys):
    pq.write_table(pa.table({"a": X[:, 0], "c": [[k % 2] for k in range(60)]}), tmp_path / "t.parquet")
    fit = ["--classifier", "gaussiannb", "--out", tmp_path / "m.skops"]
    assert (
        "column 'c' holds nested values"
        in call(capsys, "fit", tmp_path / "t.parquet", "--target", "c", *fit, code=2).err
    )
    prices = written([("a", "price"), *((x[0], 1000 + 7 * k) for k, x in enumerate(X))])
    said = call(capsys, "fit", prices, "--target", "price", *fit, code=2)
    assert "the target has 60 numbers: regression" in said.out and "gaussiannb does not predict numbers" in said.err
    few = written([("a", "stars"), *((x[0], k % 5) for k, x in enumerate(X))])
    call(capsys, "fit", few, "--target", "stars", *fit)
    assert load(tmp_path / "m.skops").classes_.tolist() == list("01234")


def test_what_is_left_out_is_said_before_the_work(written, tmp_path, capsys, monkeypatch):
    path = written([("id", "a", "c"), *((k, x[0], y) for k, (x, y) in enumerate(zip(X, Y, strict=True)))])

    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr("spectralcls.cli.evaluation.evaluate", fail)
    monkeypatch.setattr("spectralcls.cli.evaluation.fitted", fail)
    for words in ("compare", path, "--target", "c"), ("fit", path, "--target", "c", "--out", tmp_path / "m.skops"):
        assert "left out: id (identifier)" in call(capsys, *words, code=2).out


def test_a_comparison_of_a_subsample_says_that_a_column_reveals_the_class(written, capsys):
    rows = [(k % 2, x[0], y) for k, (x, y) in enumerate(zip(X, Y, strict=True))]
    some = ["--classifiers", "gaussiannb", "--repeats", "2", "--quiet", "--subsample", "40"]
    said = call(capsys, "compare", written([("copy", "a", "c"), *rows]), "--target", "c", *some)
    assert "40 samples" in said.out and "reveals the class" in said.err


@pytest.mark.parametrize("last", ["a,b,c", "#a,b,c"])
def test_lines_of_comments_above_are_not_read(written, last):
    rows = "".join(f"{a},{b},{y}\n" for (a, b), y in zip(X, Y, strict=True))
    table = read_table(written("# one, of a sensor\n" * 120 + f"{last}\n" + rows), target="c")
    assert table.feature_names == [last.split(",")[0], "b"] and "header in line 121" in table.DESCR
    assert_array_equal(table.data, X)


def test_a_file_of_dos_and_one_without_an_ending(written):
    rows = "".join(f"{a},{y}\r\n" for (a, _), y in zip(X, Y, strict=True))
    table = read_table(written("a,c\r\n" + rows + "\x1a", "TABLE"), target="c")
    assert_array_equal(table.data[:, 0], X[:, 0])
    assert set(table.target) == {"left", "right"}


@pytest.mark.parametrize("name", ["studyid", "docno", "case", "population", "epoch"])
def test_sorted_numbers_are_identifiers_only_by_their_name(written, name):
    values = 1000 + np.cumsum(rng.integers(1, 90, 100))
    table = read_table(written([(name, "b"), *zip(values.tolist(), [k % 7 for k in range(100)], strict=True)]))
    assert (name in table.feature_names) == (name in ("population", "epoch"))
