"""Texts as numbers: what is around a number is stripped, then the decimal sign is decided, then the unit."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from spectralcls._inputs.cells import Cells, Form, Writing

TABS, SEMICOLONS, COMMAS, SHEET = Writing(), Writing(usual=","), Writing(commas=True), Writing(usual=None)


def read(cells, writing=TABS, known=None):
    """Numbers, unit, and whether the separators of all are clear."""
    found = Cells(list(cells), np.ones(len(cells), dtype=int))
    sign, unclear = found.sign(writing, known)
    numbers = found.read(sign)
    return numbers.values.tolist(), numbers.unit, unclear is None


SIGNS_AROUND = [
    "{}",
    "{} €",
    "€ {}",
    "€{}",
    "{} EUR",
    "USD {}",
    "{} kg",
    "{}\u00a0kg",
    "{} km/h",
    "{} Mio. €",
    "CHF {}",
]
NEGATIVES = ["-{}", "- {}", "({})", "{}-", "{} -", "\u2212{}", "\u2013{}"]


@pytest.mark.parametrize("around", SIGNS_AROUND)
@pytest.mark.parametrize(
    ("small", "large", "sign"), [("980", "1.234", "."), ("980", "1,234", ","), ("7", "12.345", ".")]
)
def test_what_is_around_a_number_does_not_hide_that_it_may_be_a_thousand(around, small, large, sign):
    """The cell reads as it does without anything around it: as thousands, or as unclear."""
    other = {".": ",", ",": "."}[sign]
    for writing in (TABS, SEMICOLONS, COMMAS, SHEET):
        values, _, clear = read([small, large], writing)
        found, _, clear_around = read([around.format(small), around.format(large)], writing)
        factor = 1e6 if "Mio" in around else 1
        assert clear == clear_around
        if clear:
            assert found == [value * factor for value in values] and values[1] == float(large.replace(sign, ""))
    decided = around.format(f"1{sign}234{other}5"), around.format(large)
    assert read(decided)[0][1] == float(large.replace(sign, "")) * factor


@pytest.mark.parametrize("negative", NEGATIVES)
@pytest.mark.parametrize("around", ["{}", "{} €", "€ {}", "$ {}", "{} kg"])
def test_minus_in_every_form(negative, around):
    for cell in (around.format(negative.format("1,234.50")), negative.format(around.format("1,234.50"))):
        assert read([cell])[0] == [-1234.5]


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1 234,5", "1\u202f234,5", "1\u2009234,5", "1\u2007234,5"], [1234.5] * 4),
        (["1'234.5", "1’234.5"], [1234.5] * 2),
        (["12,34,567.5", "1,00,000"], [1234567.5, 100000]),
        (["1.234.567", "2.000", "12,5"], [1234567, 2000, 12.5]),
        (["1e3", "2.5E-1", "+4", ".5", "5."], [1000, 0.25, 4, 0.5, 5]),
        (["1,234E+05", "2,5"], [123400, 2.5]),
        (["0,125", "0,250"], [0.125, 0.25]),
        (["1.5", "1,234.5", "x"], [1.5, 1234.5, np.nan]),
    ],
)
def test_numbers_as_they_are_written(cells, values):
    assert_array_equal(read(cells)[0], values)


@pytest.mark.parametrize(
    "cell", ["1_000", "١٢٣", "１２", "inf", "1e999", "0x10", "1.2.3", "12:30", "2021-05-03", "a", "--5"]
)
def test_other_texts_are_no_numbers(cell):
    assert_array_equal(read([cell, "1"])[0], [np.nan, 1])


UNCLEAR = [  # texts of a column, and the sources in which its separators may mean either
    (["980", "1.234"], (TABS, COMMAS, SHEET)),
    (["980", "1,234"], (SEMICOLONS, SHEET)),
    (["1.234", "5.678"], (SEMICOLONS, SHEET)),
    (["1,234", "5,678"], (TABS, SHEET)),
    (["2740", "1.370"], (SEMICOLONS, SHEET)),
    (["$1.234", "$5.678"], (TABS, SEMICOLONS, COMMAS, SHEET)),
    (["$1,234", "$5,678"], (TABS, SEMICOLONS, SHEET)),
    (["1.234", "1,234"], (TABS, SEMICOLONS, COMMAS, SHEET)),
    (["1.5", "1.234"], ()),
    (["0.125", "1.234"], ()),
    (["1,234.5", "1,234"], ()),
]


@pytest.mark.parametrize(("cells", "unclear"), UNCLEAR)
def test_thousands_and_fractions_are_told_apart_or_asked_for(cells, unclear):
    for writing in (TABS, SEMICOLONS, COMMAS, SHEET):
        assert read(cells, writing)[2] == (writing not in unclear)
        for sign in ".,":  # the user decides
            values, _, clear = read(cells, Writing(sign, usual=writing.usual))
            once = str(cells[1]).strip("$")
            thousands = float(once.replace(".", "").replace(",", ""))
            assert clear and (
                values[1] == (thousands / 1000 if sign in once else thousands) or (cells, unclear) in UNCLEAR[-4:]
            )


@pytest.mark.parametrize(
    ("known", "cells", "writing", "expected"),
    [
        (Form(".", ""), ["1.234"], TABS, 1.234),  # as before
        (Form(".", ""), ["1.234", "980"], TABS, None),
        (Form(".", "", False, True), ["1.234", "980"], TABS, 1.234),
        (Form(".", ""), ["1,234"], TABS, None),  # thousands were not separated
        (Form(".", "", True), ["2,345", "980"], COMMAS, 2345),
        (Form(".", "", True), ["2.345", "980"], SEMICOLONS, None),  # fractions of three digits did not occur
        (Form(".", "", True), ["2.345"], COMMAS, None),
        (Form(",", "", True), ["2.345"], SEMICOLONS, 2345),
        (Form(None, ""), ["2.345"], SEMICOLONS, None),
        (Form(None, ""), ["2,345"], COMMAS, 2345),
        (Form(".", ""), ["2,5", "1,234"], SEMICOLONS, 1.234),  # another locale, as the cells show
    ],
)
def test_a_further_source_means_what_the_first_one_meant_or_is_asked_for(known, cells, writing, expected):
    writing = Writing(usual=writing.usual, commas=writing.commas, earlier=writing.usual)
    values, _, clear = read(cells, writing, known)
    assert (values[cells.index(next(c for c in cells if len(c) == 5))] if clear else None) == expected


def test_another_kind_of_source_is_asked_for():
    known = Form(".", "", False, True)
    assert not read(["1.234"], Writing(usual=",", earlier="."), known)[2]
    assert read(["1.234"], Writing(usual=",", earlier=",", found="."), known)[0] == [1.234]


def test_most_columns_decide_what_one_alone_does_not():
    assert read(["1.234", "980"], Writing(found=","))[0] == [1234, 980]
    assert read(["1.234", "980"], Writing(found="."))[2] is False  # whole numbers beside fractions of three digits
    assert read(["1.234", "2.345"], Writing(found="."))[0] == [1.234, 2.345]


def test_rows_of_words_end_soon_and_long_texts_are_no_numbers():
    many = Cells([f"word{k}" for k in range(10_000)], np.ones(10_000, dtype=int))
    assert many.parts == [] and np.isnan(many.read(".").values).all()
    assert_array_equal(read(["1" * 80, "1"])[0], [np.nan, 1])
