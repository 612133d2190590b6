"""Text cells as numbers and dates, parsed once for each distinct value of a column."""

import re
from collections import Counter
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .._inputs.dates import PATTERNS, datetimes
from .._utils.cached import cached_property

# Words for a missing value, in lower case.
MISSING = frozenset(
    "|-|--|–|—|.|?|na|n/a|n.a.|#n/a|#na|<na>|nan|null|#null!|none|nil|k.a.|k. a.|k.a|ka.|keine angabe|leer"
    "|fehlt|n.v.|n. v.|n/v|n.d.|n/d|#wert!|#value!|#div/0!|#bezug!|#ref!|#zahl!|#num!|#name?".split("|")
)
CLASSES = frozenset(("na", "none", "nil", "leer", "fehlt"))  # words of MISSING that may name a class in a target
_MINUS = frozenset(("-", "--"))  # not missing if another cell is a plus sign
LEADING_ZERO = r"^0\d+$"

_SPACES = " '’\u00a0\u202f"  # separators of thousands
OTHER = {".": ",", ",": "."}  # the separator of thousands, by decimal sign
_NUMBER = {  # groups of three digits, or of two before a last group of three (India)
    decimal: rf"^[+-]?(?:(?:[1-9]\d{{0,2}}(?:[{_SPACES}{group}]\d{{3}})+|[1-9]\d?(?:{group}\d{{2}})+{group}\d{{3}}|\d+)"
    rf"(?:[{decimal}]\d*)?|[{decimal}]\d+)(?:[eE][+-]?\d+)?$"
    for decimal, group in {".": ",", ",": r"\."}.items()
}
GROUPED = {sign: rf"^[+-]?[1-9]\d{{0,2}}(?:[{sign}]\d{{3}})+$" for sign in ".,"}  # ambiguous: thousands or decimals
_MONEY = {  # other spellings of a currency
    "EUR": "€", "USD": "$", "US$": "$", "GBP": "£", "JPY": "¥", "INR": "₹", "Rs": "₹", "BRL": "R$", "PLN": "zł",
    "RUB": "₽", "CNY": "¥", "RMB": "¥", "KRW": "₩", "TRY": "₺", "ILS": "₪", "PHP": "₱", "THB": "฿", "CZK": "Kč",
}  # fmt: skip
_CODES = "CHF|SEK|NOK|DKK|AUD|CAD|NZD|SGD|HKD|MXN|ZAR|HUF|RON|AED|SAR|Kč|kr|zł|Ft|Rs"
_PREFIXES = rf"(?:[A-Z]{{0,3}}[$€£¥₹₺₩₽₪₱฿₫₦]|{_CODES}|{'|'.join(name for name in _MONEY if name.isalpha())})"
_CURRENCY = re.compile(_PREFIXES)
_GAP = r"[\s\x{a0}\x{202f}]*"
_NO_NAME = r"\d\s.,'’()+−\-\x{a0}\x{202f}!?*#:;<>=_~|&@{}\\^"  # RE2 needs milliseconds to compile classes of letters
_NAME = rf"%|\$|[^%/{_NO_NAME}][^%{_NO_NAME}]*"  # name of a unit after a number
_SIGNS = (  # signs around a number, and their replacements
    ("−", "-"),
    (rf"^([-+(]?){_GAP}(?:{_PREFIXES})\.?{_GAP}", r"\1"),
    (rf"{_GAP}(?:{_NAME})\.?([-)]?)$", r"\1"),
    (rf"^([-+]){_GAP}", r"\1"),
    (rf"^\(([^-+].*)\)$|^([^-+(].*?){_GAP}-$", r"-\1\2"),
)
_AROUND = r"(\d)[eE][+-]?\d+|[\d\s.,'’()+−\-\x{a0}\x{202f}]"  # everything but the unit
_ORDINALS = dict.fromkeys(("st", "nd", "rd"), "th")
_NO_UNITS = frozenset(("am", "pm", "AM", "PM", "e", "E"))
_MOSTLY = 0.95  # least fraction of values with the column's unit or no unit; a currency needs no such majority
THOUSANDS = "k"  # counts as a unit if all numbers have it
_MULTIPLES = {"k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9}
EXACT = 2**53  # integers up to this are exact in floating point
_HEAD = 100  # cells tried first, of which one must be a date (the first cells) or a number (evenly spaced ones)


def are_exact(integers):
    """Whether floating point represents all integers of an Arrow column exactly."""
    ends = pc.min_max(integers).as_py().values()
    return None in ends or max(map(abs, ends)) <= EXACT


class Numbers(NamedTuple):
    """A text column of plain numbers: values (NaN if missing), and the decimal sign if it occurs."""

    values: np.ndarray
    decimal: str | None

    @classmethod
    def read(cls, column, decimal=None):
        """Parse a column of strings; None if not all cells are plain numbers, without separators of thousands.

        Also None if a column of integers has leading zeros or is not exact in floating point, or if all fractions are
        ambiguous, with three digits after the sign.
        """
        if len(column) > _HEAD and cls.read(column.slice(0, _HEAD), decimal) is None:
            return None
        try:
            whole = pc.cast(column, pa.int64())
        except pa.ArrowInvalid:
            return next(filter(None, (cls._fractions(column, sign) for sign in decimal or ".,")), None)
        if pc.any(pc.and_not(pc.starts_with(column, "0"), pc.equal(column, "0"))).as_py() or not are_exact(whole):
            return None
        return cls(pc.cast(whole, pa.float64(), safe=False).to_numpy(), None)

    @classmethod
    def _fractions(cls, column, sign):
        has_sign = (part.filter(pc.match_substring(part, sign)) for part in (column.slice(0, _HEAD), column))
        some = next((part.slice(0, _HEAD) for part in has_sign if len(part)), ())
        if not len(some) or pc.all(pc.match_substring_regex(some, GROUPED[sign])).as_py():
            return None
        if sign == ",":
            if pc.any(pc.match_substring(column, ".")).as_py():
                return None
            column = pc.replace_substring(column, ",", ".")
        try:
            values = pc.cast(column, pa.float64())
        except pa.ArrowInvalid:
            return None
        return cls(values.to_numpy(), sign) if pc.all(pc.is_finite(values)).as_py() else None


class Cells:
    """A column of text: row i has the distinct value ``values[codes[i]]``; the code -1 means missing.

    Parameters
    ----------
    column : pyarrow array
        Strings, or anything that casts to strings.
    missing : collection of str
        Words for a missing value, in lower case.
    """

    def __init__(self, column, missing=MISSING):
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        encoded = pc.cast(column, pa.string()).dictionary_encode()
        self.values, self.codes = encoded.dictionary, _filled(encoded.indices, -1)
        values = pc.utf8_normalize(pc.utf8_trim_whitespace(self.values), form="NFC")
        if "-" in missing and pc.any(pc.equal(values, "+")).as_py():
            missing = set(missing) - _MINUS
        lacking = pc.is_in(pc.utf8_lower(values), value_set=pa.array(sorted(missing)))
        if pc.any(lacking).as_py() or not values.equals(self.values):
            trimmed = pc.if_else(lacking, pa.scalar(None, pa.string()), values).dictionary_encode()
            self.values, codes = trimmed.dictionary, np.append(_filled(trimmed.indices, -1), np.int32(-1))
            self.codes = codes[self.codes]
        # Two cached functions: `_read` converts the distinct values to numbers with one unit, given a decimal sign;
        # `dates` converts them to datetime64[us] (NaT if not a date), given an order of day, month and year.
        self._read, self.dates = cache(partial(_numbers, self.values)), cache(partial(_dates, self.values))

    def numbers(self, decimal):
        """The distinct values as numbers, given a decimal sign; NaN if not a number."""
        return self._read(decimal)[0]

    def unit(self, decimal):
        """The unit of these numbers, such as "%" or "€"; empty without one."""
        return self._read(decimal)[1]

    @property
    def known(self):
        """Mask of the rows that have a value."""
        return self.codes >= 0

    @cached_property
    def counts(self):
        """Number of rows of each distinct value."""
        return np.bincount(self.codes[self.known], minlength=len(self.values))

    def share(self, mask):
        """Share of the known rows whose value is selected by a mask of the distinct values."""
        return float(self.counts[mask].sum() / max(self.counts.sum(), 1))

    def expand(self, values):
        """Expand floats, one for each distinct value, to rows; NaN if the value is missing."""
        return np.append(values, np.nan)[self.codes]

    def matches(self, pattern):
        """Mask of the distinct values that match a regular expression."""
        return pc.match_substring_regex(self.values, pattern).to_numpy(zero_copy_only=False).astype(bool)


def _filled(indices, value):
    return indices.fill_null(value).to_numpy(zero_copy_only=False)


def _some_digits(values):
    return pc.any(pc.match_substring_regex(values[:_HEAD], "[0-9]")).as_py()


def _numbers(values, decimal):
    if not _some_digits(values):
        return np.full(len(values), np.nan), ""
    if len(values) > _HEAD:
        some = values.take(np.linspace(0, len(values) - 1, _HEAD).astype(int))
        if np.isnan(_numbers(some, decimal)[0]).all():
            return np.full(len(values), np.nan), ""
    other = pc.invert(pc.match_substring_regex(values, _NUMBER[decimal]))
    bare = values.filter(other)
    for signs, rest in _SIGNS:
        bare = pc.replace_substring_regex(bare, signs, rest)
    good = pc.match_substring_regex(bare, _NUMBER[decimal])
    plain = pc.replace_with_mask(values, other, pc.if_else(good, bare, pa.scalar(None, pa.string())))
    for group in _SPACES + OTHER[decimal]:
        if pc.any(pc.match_substring(plain, group)).as_py():
            plain = pc.replace_substring(plain, group, "")
    if decimal == ",":
        plain = pc.replace_substring(plain, ",", ".")
    found = pc.cast(plain, pa.float64()).fill_null(np.nan).to_numpy(zero_copy_only=False)
    return _in_one_unit(found, values, decimal) if len(bare) else (found, "")


def _in_one_unit(numbers, values, decimal):
    """Numbers, with percentages divided by 100 and multiples such as 5k expanded, NaN if a unit differs from the
    column's; and the column's unit.
    """
    around = pc.replace_substring_regex(values, _AROUND, r"\1")
    texts = pc.replace_substring_regex(around, r"\d", "").to_pylist()
    plural = {f"{text}s" for text in set(texts) if len(text) > 2} & set(texts)
    texts = [f"{text}s" if f"{text}s" in plural else text for text in texts]  # 1 day, 2 days
    units = np.array([_ORDINALS.get(text, _MONEY.get(text, text)) for text in texts], dtype=object)
    read = np.isfinite(numbers)
    counts = Counter(units[read & (numbers != 0)].tolist())
    usual = max(counts, key=counts.get, default="")
    if usual == "%":
        return np.where(read & ((units == "%") | (numbers == 0)), numbers / 100, np.nan), "%"
    scaled = set(counts) & set(_MULTIPLES)
    if scaled & set("kK") and set(counts) <= {"", *_MULTIPLES}:
        return numbers * np.array([_MULTIPLES.get(unit, 1.0) for unit in units]), None if "" in counts else THOUSANDS
    unit = max(filter(_CURRENCY.fullmatch, counts), key=counts.get, default="")
    if not _CURRENCY.fullmatch(usual) and _is_unit(usual, values, units == usual, decimal):
        if counts[usual] + counts[""] >= _MOSTLY * len(values):
            unit = usual
    fits = (units == "") | (units == unit) | (numbers == 0) & np.isin(units, ["%", *filter(_CURRENCY.fullmatch, units)])
    return np.where(fits, np.where(units == "%", numbers / 100, numbers), np.nan), unit


def _is_unit(text, values, mask, decimal):
    """Whether a text after numbers is their unit, and not a letter of codes such as 12A."""
    if not text or text in _NO_UNITS:
        return False
    apart = rf"[\d)][\s\x{{a0}}]+\pL|\d[{decimal}]\d"
    return len(text) > 1 or not text.isalpha() or pc.any(pc.match_substring_regex(values.filter(mask), apart)).as_py()


def _dates(values, order):
    if not _some_digits(values) or not pc.any(pc.match_substring_regex(values[:_HEAD], PATTERNS[order])).as_py():
        return np.full(len(values), np.datetime64("NaT", "us"))
    parts, fields = pc.extract_regex(values, PATTERNS[order]), {}
    for field in parts.type:
        texts = parts.field(field.name)
        if field.name in ("half", "name"):
            fields[field.name] = _filled(texts, "")
        else:
            fields[field.name] = _filled(pc.cast(pc.if_else(pc.equal(texts, ""), "0", texts), pa.int64()), 0)
    return datetimes(fields, len(values), parts.is_valid().to_numpy(zero_copy_only=False))
