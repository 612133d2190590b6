"""Numbers with units: one unit for a column, exact conversions, and letters of codes that are no units."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from spectralcls._inputs.cells import Cells, Writing
from spectralcls._inputs.units import PLAIN, unit_of


def read(cells, counts=None):
    found = Cells(cells, np.ones(len(cells), dtype=int) if counts is None else np.array(counts))
    return found.read(found.sign(Writing())[0])


@pytest.mark.parametrize(
    ("cells", "values", "unit"),
    [
        (["1.5 kg", "900 g", "2 kg"], [1.5, 0.9, 2], "kg"),
        (["900 g", "1.5 kg", "250 g"], [900, 1500, 250], "g"),
        (["1 t", "1500 kg", "2 t"], [1, 1.5, 2], "t"),
        (["90 min", "1.5 h", "30 min"], [90, 90, 30], "min"),
        (["1 GB", "512 MB", "2 GB"], [1, 0.512, 2], "GB"),
        (["2 km", "500 m", "1 km"], [2, 0.5, 1], "km"),
        (["10 in", "2.54 cm", "3 in"], [10, 1, 3], "in"),
        (["5 lb", "2 kg", "3 kg"], [2.26796185, 2, 3], "kg"),
        (["72 °F", "75.5 °F", "20 °C"], [72, 75.5, 68], "°F"),
        (["20 °C", "21 °C", "68 °F"], [20, 21, 20], "°C"),
        (["36 km/h", "10 m/s", "18 km/h"], [36, 36, 18], "km/h"),
        (["2 years", "6 months", "1 year"], [2, 0.5, 1], "years"),
        (["5 %", "12.5 %", "0"], [0.05, 0.125, 0], "%"),
        (["5 %", "5 ‰", "1 %"], [0.05, 0.005, 0.01], "%"),
        (["€1.2M", "€565K"], [1.2e6, 565e3], "€"),
        (["$ 1.2m", "$300k", "$ 12"], [1.2e6, 3e5, 12], "$"),
        (["1.2 Mrd. €", "565 Tsd. €"], [1.2e9, 565e3], "€"),
        (["1.2B", "565M"], [1.2e9, 565e6], "k"),
        (["1.2k", "3M", "500"], [1200, 3e6, 500], None),
        (["EUR 5", "5 €", "€5", "5 Euro"], [5] * 4, "€"),
        (["1 day", "3 days", "14 days"], [1, 3, 14], "days"),
        (["1 owner", "3 owners", "2 owners"], [1, 3, 2], "owners"),
        (["1st", "2nd", "3rd", "14th"], [1, 2, 3, 14], "th"),
        (["5g", "12g"], [5, 12], "g"),
        (["45 m2", "50 m²"], [45, 50], "m2"),
        (["12 km/l", "7 km/l"], [12, 7], "km/l"),
        (["0 €", "5 $", "7 $"], [0, 5, 7], "$"),
    ],
)
def test_a_column_in_one_unit(cells, values, unit):
    found = read(cells)
    assert_allclose(found.values, values, rtol=1e-15)
    assert found.measured.all()
    if unit in ("%", "€", "$", None):
        assert found.unit == unit
    else:
        assert unit_of("", found.unit).factor == unit_of("", unit).factor


@pytest.mark.parametrize(
    ("cells", "odd"),
    [
        (["5 €", "3 $", "2 €"], 1),
        (["19.6 kmpl", "18.5 kmpl", "26.6 km/kg"], 2),
        (["5 kg", "3 m", "2 kg"], 1),
        (["2 years", "3 weeks", "1 year"], 1),
        (["5", "7", "12 %"], 2),
        (["5 %", "12 %", "7"], 2),
        (["72 °F", "75 °F", "18 m"], 2),
    ],
)
def test_units_that_cannot_be_converted_are_numbers_that_do_not_fit(cells, odd):
    found = read(cells, [30, 20, 10] if odd else None)
    assert found.measured.all() and np.isnan(found.values[odd]) and np.isfinite(found.values).any()


@pytest.mark.parametrize(
    "cells",
    [
        ["12A", "12B", "13A"],
        ["23M", "45F", "31M"],
        ["10 am", "11 pm"],
        ["2 apples", "1 pear"],
        ["12 Elm St", "3 Oak Rd"],
    ],
)
def test_letters_of_codes_and_words_are_no_units(cells):
    assert not read(cells).measured.any()


def test_every_unit_is_converted_there_and_back():
    from spectralcls._inputs.units import _KNOWN

    values = np.array([0.1, 1, 7, 1234.5])
    for one in _KNOWN.values():
        for other in _KNOWN.values():
            if one.kind == other.kind:
                assert_allclose(other.converted(one.converted(values, other), one), values, rtol=1e-12)
    assert unit_of("", "") == PLAIN and unit_of("", "°C").converted(100.0, unit_of("", "°F")) == 212
    assert unit_of("", "m") != unit_of("", "M") and unit_of("$", "m").factor == 10**6


@pytest.mark.parametrize("unit", ["kmpl", "widgets"])
def test_a_word_after_many_different_whole_numbers_is_a_unit(unit):
    """A few cells with another word are named; words after few numbers, and streets, stay words."""
    cells = [f"{k} {unit}" for k in range(40)] + [f"{k} km/kg" for k in range(5)]
    assert read(cells).measured.tolist() == [True] * 40 + [False] * 5
    assert read(cells[:3] + cells[42:]).measured.tolist() == [False] * 6
    assert not read([f"{k} {'ABCDEFGH'[k % 8]}street" for k in range(42)]).measured.any()
