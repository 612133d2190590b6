"""Units, currencies and multiples that stand around numbers, and a column of numbers in one unit."""

import re
from collections import Counter
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np

_MONEY = {  # one spelling of a currency, and its others
    "€": "EUR Euro", "$": "USD US$", "£": "GBP", "¥": "JPY CNY RMB 円 元", "₹": "INR Rs", "R$": "BRL", "zł": "PLN",
    "₽": "RUB руб", "₩": "KRW 원", "₺": "TRY TL", "₪": "ILS", "₱": "PHP", "฿": "THB", "₫": "VND đ", "₴": "UAH грн",
    "Kč": "CZK", "Ft": "HUF", "CHF": "Fr SFr", "A$": "AUD", "C$": "CAD CA$", "NZ$": "NZD", "S$": "SGD", "HK$": "HKD",
    "NT$": "TWD", "MX$": "MXN", "kr": "", "SEK": "", "NOK": "", "DKK": "", "ZAR": "", "RON": "", "AED": "", "SAR": "",
    "EGP": "", "IDR": "Rp", "MYR": "RM",
}  # fmt: skip
_CURRENCIES = {name: sign for sign, others in _MONEY.items() for name in (sign, *others.split())}
_SIGNS = r"[A-Z]{0,3}[$€£¥₹₺₩₽₪₱฿₫₦₴₸₼₾]"
CURRENCY = rf"(?:{_SIGNS}|{'|'.join(sorted(filter(str.isalpha, _CURRENCIES), key=len, reverse=True))})"
_RATIOS = {  # units of one kind on one line, as multiples of the smallest
    "mass": "µg 1 mg 1e3 g 1e6 gram 1e6 grams 1e6 kg 1e9 kilo 1e9 t 1e12 oz 28349523.125 lb 453592370 lbs 453592370",
    "length": "nm 1 µm 1e3 mm 1e6 cm 1e7 dm 1e8 m 1e9 km 1e12 in 25400000 inch 25400000 ft 304800000 feet 304800000"
    " yd 914400000 mi 1609344e6 mile 1609344e6 miles 1609344e6",
    "area": "mm² 1 cm² 100 m² 1e6 m2 1e6 qm 1e6 sqm 1e6 ha 1e10 km² 1e12 km2 1e12 ft² 92903.04 sqft 92903.04",
    "volume": "µl 1 ml 1e3 cl 1e4 dl 1e5 l 1e6 liter 1e6 liters 1e6 hl 1e8 m³ 1e9 m3 1e9",
    "time": "µs 1 ms 1e3 s 1e6 sec 1e6 secs 1e6 second 1e6 seconds 1e6 sek 1e6 min 60e6 mins 60e6 minute 60e6"
    " minutes 60e6 minuten 60e6 h 3600e6 hr 3600e6 hrs 3600e6 hour 3600e6 hours 3600e6 std 3600e6 stunde 3600e6"
    " stunden 3600e6 d 86400e6 day 86400e6 days 86400e6 tag 86400e6 tage 86400e6 week 604800e6 weeks 604800e6"
    " woche 604800e6 wochen 604800e6",
    "months": "month 1 months 1 monat 1 monate 1 year 12 years 12 yr 12 yrs 12 jahr 12 jahre 12",
    "data": "B 1 KB 1e3 kB 1e3 MB 1e6 GB 1e9 TB 1e12 PB 1e15 KiB 1024 MiB 1048576 GiB 1073741824",
    "speed": "km/h 5 kmh 5 kph 5 m/s 18 mph 8.04672",
    "power": "mW 1 W 1e3 kW 1e6 MW 1e9 GW 1e12",
    "energy": "Wh 1 kWh 1e3 MWh 1e6 GWh 1e9",
    "frequency": "Hz 1 kHz 1e3 MHz 1e6 GHz 1e9",
    "voltage": "µV 1 mV 1e3 V 1e6 kV 1e9",
    "current": "µA 1 mA 1e3 A 1e6 kA 1e9",
    "pressure": "Pa 1 hPa 100 mbar 100 kPa 1e3 bar 1e5 MPa 1e6",
    "temperature": "°C 1.8 ℃ 1.8 °F 1 ℉ 1 K 1.8",
    "share": "bps 1 ‰ 10 % 100",
    "number": "k 1e3 K 1e3 tsd 1e3 ths 1e3 M 1e6 mn 1e6 mln 1e6 mio 1e6 million 1e6 B 1e9 bn 1e9 mrd 1e9 billion 1e9"
    " T 1e12",
}
_FAHRENHEIT_AT_ZERO = {"°C": 32.0, "℃": 32.0, "K": -459.67}
_ORDINALS = dict.fromkeys(("st", "nd", "rd"), "th")
THOUSANDS = "k"  # name of the unit if all numbers are multiples such as 5k
PERCENT = "%"
_NO_UNITS = frozenset(("am", "pm", "AM", "PM", "e", "E"))
_MANY = 20  # from so many different numbers on, the word that follows them is a unit
_MOSTLY = 0.95  # least share of distinct values in an unknown unit or without one; other kinds need no such majority


class Unit(NamedTuple):
    """What stands around a number.

    Attributes
    ----------
    name : str
        One spelling of the unit or currency; empty without one.
    kind : str
        Units of one kind can be converted. "money" only equals itself; empty for an unknown unit.
    factor : Fraction
        Multiples of the kind's smallest unit; of a currency or a bare number, the multiple such as 1000 for "k".
    """

    name: str = ""
    kind: str = ""
    factor: Fraction = Fraction(1)

    def __hash__(self):
        return hash(self.name)  # that of a fraction takes long

    def converted(self, values, other):
        """Numbers in this unit as numbers in another one of the same kind."""
        if self.kind == "temperature" and self.name != other.name:
            shift = _FAHRENHEIT_AT_ZERO.get(self.name, 0.0) - _FAHRENHEIT_AT_ZERO.get(other.name, 0.0)
            return (values * float(self.factor) + shift) / float(other.factor)
        ratio = self.factor / other.factor
        return values * ratio.numerator / ratio.denominator  # 900 g / 1000 rounds once


PLAIN, _ONE = Unit(), Unit("", "number")
_WHOLE = Unit(PERCENT, "share", Fraction(10_000))  # percentages are stored as fractions
_KNOWN = {}
for _kind, _line in _RATIOS.items():
    _words = _line.split()
    for _name, _factor in zip(_words[::2], _words[1::2], strict=True):
        _KNOWN[_kind == "number", _name] = Unit(_name, _kind, Fraction(_factor))


@cache
def unit_of(before, after):
    """The `Unit` of a number, from the texts before and after it."""
    after = after.replace("\u03bc", "µ").rstrip(". ")
    money = _CURRENCIES.get(before, before)
    multiple = after
    if not money:
        found = re.fullmatch(rf"(.*?)[. ]*({CURRENCY})\.?", after)
        if found:
            multiple, money = found[1].rstrip(". "), _CURRENCIES.get(found[2], found[2])
    if money:
        factor = _known(True, "M" if multiple == "m" else multiple) if multiple else PLAIN
        return Unit(money, "money", factor.factor) if factor else Unit(f"{money} {multiple}")
    after = _ORDINALS.get(after, after)
    return PLAIN if not after else _known(True, after) or _known(False, after) or Unit(after)


def _known(is_multiple, name):
    return _KNOWN.get((is_multiple, name)) or (_KNOWN.get((is_multiple, name.lower())) if len(name) > 1 else None)


class InOneUnit(NamedTuple):
    """Numbers of a column, converted to one unit.

    Attributes
    ----------
    values : ndarray (n,)
        NaN for a number in another unit, and for other values.
    unit : str or None
        Name of the unit, None if only some numbers have a multiple such as k.
    measured : ndarray (n,) of bool
        Numbers in any unit.
    converted : tuple of int
        Positions of a number in the unit, and of one that was converted to it; empty if there is none.
    """

    values: np.ndarray
    unit: str | None
    measured: np.ndarray
    converted: tuple = ()


def in_one_unit(numbers, units, counts, clear):
    """Convert the numbers of a column to the most frequent unit.

    Parameters
    ----------
    numbers : ndarray (n,)
        Distinct numbers, NaN for other values.
    units : list of Unit
        Unit of each number; anything for other values.
    counts : ndarray (n,)
        Number of rows of each value.
    clear : ndarray (n,) of bool
        Whether a number is not a whole one directly followed by its unit, which may be a letter of a code such as 12A.
    """
    found = np.isfinite(numbers)
    if all(unit == PLAIN for unit, is_one in zip(units, found, strict=True) if is_one):
        return InOneUnit(numbers, "", found)
    units = _named_alike(units, found)
    rows: Counter = Counter()
    for unit, value, count in zip(units, numbers, counts.tolist(), strict=True):
        if value and value == value:
            rows[unit] += count
    total = counts.sum()
    codes = _codes(rows, {unit for unit, is_clear in zip(units, clear, strict=True) if is_clear}, total)
    found &= [unit not in codes for unit in units]
    rows = {unit: count for unit, count in rows.items() if unit not in codes}
    fractions = {unit for unit, value in zip(units, numbers.tolist(), strict=True) if value % 1 > 0}
    different = Counter(unit for unit, is_one in zip(units, found.tolist(), strict=True) if is_one)
    many = {unit for unit, n in different.items() if n >= _MANY}
    measures = {unit for unit in fractions | many if len(unit.name) > 1}  # words after fractions or many numbers
    usual = _most(rows)
    base, name = usual if usual != PLAIN else _most(rows, "money"), None
    if any(unit.kind for unit in rows) and all(unit == PLAIN or unit.kind == "number" for unit in rows):
        base, name = _ONE, None if PLAIN in rows else THOUSANDS
    elif usual.kind == "share":
        base, name = _WHOLE, PERCENT
    else:
        fits = sum(is_one and unit in (usual, PLAIN) for unit, is_one in zip(units, found.tolist(), strict=True))
        if not usual.kind and fits < _MOSTLY * len(units) and usual not in measures:
            base = _most(rows, "money")
        name = base.name
    values, converted = np.full(len(numbers), np.nan), ()
    groups: dict = {}
    for place in np.flatnonzero(found).tolist():
        groups.setdefault(units[place], []).append(place)
    for unit, places in groups.items():
        some = numbers[places]
        if unit == PLAIN and base is not _WHOLE:
            values[places] = some
        elif unit.kind == base.kind != "money" and unit.kind:
            values[places] = unit.converted(some, base)
            if unit.factor != usual.factor and unit.kind != "number":
                converted = groups[usual][0], places[0]
        elif unit.name == base.name:
            values[places] = unit.converted(some, PLAIN) if unit.kind else some
        elif unit == PLAIN or unit.kind in ("money", "share"):
            values[places] = np.where(some == 0, 0.0, np.nan)
    is_unit = [bool(unit.kind) or unit == PLAIN or unit in measures for unit in units]
    return InOneUnit(values, name, np.isfinite(values) | found & is_unit, converted)


def _most(rows, kind=None):
    """The most frequent unit, of a kind if one is given; no unit if there is none."""
    some = [unit for unit in sorted(rows) if kind in (None, unit.kind)]
    return max(some, key=rows.get, default=PLAIN)


def _named_alike(units, found):
    """The units, with one name for each: "owner" is "owners" if that occurs, and B is a unit if MB occurs."""
    distinct = {unit for unit, is_one in zip(units, found, strict=True) if is_one}
    names, kinds = {unit.name for unit in distinct}, {unit.kind for unit in distinct}

    def renamed(unit):
        if not unit.kind and len(unit.name) > 2 and f"{unit.name}s" in names:
            return Unit(f"{unit.name}s")
        if unit.kind == "number":
            other = _KNOWN.get((False, unit.name))
            return other if other is not None and other.kind in kinds else unit
        same = [one for one in distinct if one.kind == unit.kind not in ("", "money") and one.factor == unit.factor]
        return min(same, default=unit)

    new = {unit: renamed(unit) for unit in distinct}
    return [new.get(unit, unit) for unit in units]


def _codes(rows, clear, total):
    """The units that are rather letters of codes: nothing shows that they are units, and they differ."""

    def is_sure(unit):
        return len(unit.name) != 1 or not unit.name.isalpha() or unit in clear or unit.name in "kK"

    def is_code(unit):
        partners = [other for other in rows if other.kind == unit.kind != ""]
        return unit.name in _NO_UNITS or not (
            is_sure(unit) or rows[unit] >= _MOSTLY * total or any(map(is_sure, partners))
        )

    return {unit for unit in rows if is_code(unit)}
