"""The distinct texts of a column as numbers.

What stands around a number (signs, currency, unit, parentheses) is stripped first; then the decimal sign is decided on
what remains; then the texts vote on the unit.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._utils.cached import cached_property
from .units import CURRENCY, PLAIN, Unit, in_one_unit, unit_of

# Words for a missing value, in lower case.
MISSING = frozenset(
    "|-|--|–|—|.|?|na|n/a|n.a.|#n/a|#na|<na>|nan|nat|null|(null)|<null>|#null!|\\n|none|nil|k.a.|k. a.|k.a|ka."
    "|keine angabe|leer|fehlt|n.v.|n. v.|n/v|n.d.|n/d|#wert!|#value!|#div/0!|#bezug!|#ref!|#zahl!|#num!|#name?"
    "|-1.#ind|1.#qnan|0000-00-00|0000-00-00 00:00:00".split("|")
)
CLASSES = frozenset(("na", "none", "nil", "leer", "fehlt"))  # words of MISSING that may name a class or a level
MINUS = frozenset(("-", "--"))  # not missing if another cell is a plus sign
OTHER = {".": ",", ",": "."}  # the separator of thousands, by decimal sign
EXACT = 2**53  # integers up to this are exact in floating point
_PLAINER = str.maketrans(
    {"−": "-", "–": "-", "﹣": "-", "－": "-", "’": "'", "‘": "'", "ʼ": "'", "\u00a0": " "}
    | dict.fromkeys("\u202f\u2007\u2009\u200a\t", " ")
)
_NO_NAME = r"\d\s.,'()+\-!?*#:;<>=_~|&@{}\\^"
_NAME = rf"(?:%|‰|\$|[^%/{_NO_NAME}][^%{_NO_NAME}]*[23]?)"
_CELL = re.compile(
    rf"([-+(]?) *(?:({CURRENCY})(?![A-Za-z])\.?)? *([-+(]?) *(\d(?:[\d.,' ]*[\d.,])?|[.,]\d+)"
    rf"((?:[eE][-+]?\d+)?)( *[-)]? *)((?:{_NAME}(?:\.? {_NAME})?)?)\.? *([-)]?)",
    re.ASCII,
)
_NUMBER = {  # groups of three digits, or of two before a last group of three (India)
    sign: re.compile(
        rf"(?:[1-9]\d{{0,2}}(?:[ '{group}]\d{{3}})+|[1-9]\d?(?:{group}\d{{2}})+{group}\d{{3}}|\d+)(?:[{sign}]\d*)?"
        rf"|[{sign}]\d+",
        re.ASCII,
    )
    for sign, group in {".": ",", ",": r"\."}.items()
}
_ONCE = re.compile(r"[1-9]\d{0,2}[.,]\d{3}", re.ASCII)  # a fraction, or thousands
_LONGEST = 60  # characters of the longest text that may be a number
_SOME = 0.1  # share of whole numbers that fractions of three digits seldom have
_WORDS = 5  # most words after the numbers of a column that may be units
_HEAD = 100  # texts tried first, from the start and evenly spaced, one of which must be a number


class Parts(NamedTuple):
    """A number in a text: digits with separators, an exponent, and what stands around them."""

    body: str
    exponent: str
    negative: bool
    unit: Unit
    is_apart: bool  # whether the unit follows a blank


def parts_of(text):
    """The `Parts` of a text; None if it is not a number."""
    if len(text) > _LONGEST:
        return None
    if not text.isascii():
        text = text.translate(_PLAINER)
    found = _CELL.fullmatch(text)
    if found is None:
        return None
    first, before, second, body, exponent, between, after, last = found.groups()
    signs = first + second + between.strip() + last
    if len(signs) > 2 or signs not in ("", "+", "-", "()"):
        return None
    return Parts(body, exponent, bool(signs) and signs != "+", unit_of(before or "", after), " " in between)


def value_of(parts, sign):
    """The number, given a decimal sign; NaN if its separators contradict the sign."""
    body = parts.body
    if not body.isdecimal():
        if not _NUMBER[sign].fullmatch(body):
            return np.nan
        if parts.exponent and _ONCE.fullmatch(body) and sign not in body:  # 1,234e5 has a fraction
            return np.nan
        for group in {" ", "'", OTHER[sign]}.intersection(body):
            body = body.replace(group, "")
        body = body.replace(",", ".")
    value = float(body + parts.exponent)
    return -value if parts.negative else value


class Form(NamedTuple):
    """How the numbers of a column were written.

    Attributes
    ----------
    decimal : str or None
        Decimal sign; None if no separator showed it, or if the source had types.
    unit : str or None
        Such as ``"%"`` or ``"€"``; empty without one, None if unknown.
    grouped : bool
        Whether thousands are separated.
    thousandths : bool
        Whether fractions of three digits occur.
    """

    decimal: str | None = None
    unit: str | None = None
    grouped: bool = False
    thousandths: bool = False


@dataclass(frozen=True)
class Writing:
    """What a source and its user say about how cells are written.

    Attributes
    ----------
    decimal : str or None
        The user's decimal sign.
    found : str or None
        Decimal sign that most columns favor.
    usual : str or None
        Decimal sign in sources of this kind; None if unknown.
    commas : bool
        Whether commas separate cells, so that a comma within one is rather a separator of thousands.
    earlier : str or None
        `usual` of the source of an earlier `Form`.
    """

    decimal: str | None = None
    found: str | None = None
    usual: str | None = "."
    commas: bool = False
    earlier: str | None = "."


class Cells:
    """Distinct values of a column, mostly texts, as numbers.

    Parameters
    ----------
    values : list
        Distinct known values: texts, and numbers of a spreadsheet or a column of objects.
    counts : ndarray
        Number of rows of each value.
    """

    def __init__(self, values, counts):
        self.values, self.counts = values, counts
        self._raw: dict = {}
        self._read: dict = {}

    @cached_property
    def parts(self):
        """`Parts` of each text, None for other values; an empty list if no value is a number."""
        n = len(self.values)
        head = self.values[:_HEAD]
        if n > 2 * _HEAD:
            head = [*head, *(self.values[k] for k in np.linspace(0, n - 1, _HEAD).astype(int))]
        if not any(map(_may_be_number, head)):
            return []
        return [parts_of(value) if isinstance(value, str) else None for value in self.values]

    @cached_property
    def typed(self):
        """Numbers that were not written as text; NaN for texts and other values."""
        return np.array([float(v) if isinstance(v, float | int | np.number) else np.nan for v in self.values])

    def raw(self, sign):
        """Numbers, given a decimal sign, each in its own unit; NaN for other values."""
        if sign not in self._raw:
            texts = [np.nan if parts is None else value_of(parts, sign) for parts in self.parts]
            found = np.array(texts or [np.nan] * len(self.values))
            if not all(isinstance(value, str) for value in self.values):
                found = np.where(np.isnan(self.typed), found, self.typed)
            self._raw[sign] = np.where(np.isinf(found), np.nan, found)
        return self._raw[sign]

    def share(self, mask):
        """Share of the rows whose value is selected."""
        return float(self.counts[mask].sum() / max(self.counts.sum(), 1))

    @cached_property
    def shares(self):
        """Share of the rows that are numbers, by decimal sign."""
        return {sign: self.share(np.isfinite(self.raw(sign))) for sign in OTHER}

    def mask(self, test):
        """Mask of the values whose `Parts` pass a test."""
        return np.array([parts is not None and bool(test(parts)) for parts in self.parts or [None] * len(self.values)])

    def first(self, mask):
        """The first selected value."""
        return self.values[int(np.argmax(mask))]

    def sign(self, writing, known=None):
        """The decimal sign, and a value whose separator may mean either thousands or a fraction, None if all are clear.

        Parameters
        ----------
        writing : Writing
        known : Form, optional
            How the column was written in an earlier source.
        """
        sign = writing.decimal or writing.found or (known and known.decimal) or writing.usual or "."
        readable = {one: np.isfinite(self.raw(one)) for one in OTHER}
        better, worse = readable[OTHER[sign]] & ~readable[sign], readable[sign] & ~readable[OTHER[sign]]
        if better.any() and (readable[OTHER[sign]].all() if writing.decimal else not worse.any()):
            sign = OTHER[sign]
        once = self.mask(lambda parts: _ONCE.fullmatch(parts.body) and not parts.exponent)
        if writing.decimal or not once.any() or (readable["."] != readable[","]).any():
            return sign, None
        fraction = self.mask(lambda parts: sign in parts.body) & once
        alike = bool(fraction.any()) == bool(fraction[once].all())  # not 1.234 and 1,234
        means = self._as_before if known else self._clear
        return sign, None if alike and means(sign, bool(fraction.any()), writing, known) else self.first(once)

    def _clear(self, sign, is_fraction, writing, _):
        """Whether the whole numbers beside 1.234, and the source, show what its separator means."""
        if writing.found:
            return not (is_fraction and self._has_whole_numbers)
        if writing.usual is None:
            return False
        small, large = any(n < 4 for n in self._digits), any(n > 3 for n in self._digits)
        if is_fraction:  # who writes 1.2 with three digits would not write 900 without any
            return not self.mask(lambda parts: parts.unit.kind == "money").any() and (large or not small)
        return writing.commas or small and not large

    def _as_before(self, sign, is_fraction, writing, known):
        """Whether the separator of 1.234 means what it meant in an earlier source."""
        is_alike = bool(writing.found) or writing.usual == writing.earlier
        if is_fraction:
            alone = known.decimal == sign and not known.grouped and not self._has_whole_numbers
            return is_alike and (known.thousandths or alone)
        if writing.found:
            return known.grouped or known.decimal in (None, sign)
        return writing.commas if known.decimal is None else is_alike and known.grouped

    @property
    def _digits(self):
        """Number of digits of the whole numbers."""
        return [len(parts.body) for parts in self.parts if parts is not None and parts.body.isdecimal()]

    @property
    def _has_whole_numbers(self):
        """Whether whole numbers of up to three digits are no exceptions, as among fractions of three digits."""
        return sum(n < 4 for n in self._digits) >= _SOME * len(self.values)

    @cached_property
    def _units(self):
        units = [PLAIN if parts is None else parts.unit for parts in self.parts] or [PLAIN] * len(self.values)
        return units, self.mask(lambda parts: parts.is_apart or not parts.body.isdecimal())

    def of_two_units(self):
        """Two texts with different words after their numbers, if most texts are numbers with one of a few words; an
        empty list otherwise.
        """
        places: dict = {}
        for place, parts in enumerate(self.parts):
            is_word = parts is not None and (parts.unit.kind or parts.unit.name.replace(" ", "").isalpha())
            if is_word and (parts.is_apart or len(parts.unit.name) > 1):
                places.setdefault(parts.unit, []).append(place)
        several = [of_unit for of_unit in places.values() if len(of_unit) > 1]
        share = self.counts[[place for of_unit in several for place in of_unit]].sum() / max(self.counts.sum(), 1)
        return [self.values[one[0]] for one in several[:2]] if 2 <= len(several) <= _WORDS and share >= 0.5 else []

    def read(self, sign):
        """The numbers, given a decimal sign, as `InOneUnit`."""
        if sign not in self._read:
            units, clear = self._units
            self._read[sign] = in_one_unit(self.raw(sign), units, self.counts, clear)
        return self._read[sign]

    def form(self, sign, unit):
        """The `Form` of the numbers."""
        bodies = [parts.body for parts in self.parts if parts is not None]
        grouped = any(OTHER[sign] in body for body in bodies)
        shown = grouped or any(sign in body for body in bodies)
        thousandths = any(body[-4:-3] == sign for body in bodies)
        return Form(sign if shown else None, unit, grouped, thousandths)


def _may_be_number(value):
    return not isinstance(value, str) or parts_of(value) is not None
