"""Dates and times: their forms as text, and the numbers computed from them: days, month and weekday."""

import re
from functools import cache

import numpy as np

ORDERS = ("ymd", "dmy", "mdy", "dny", "ndy", "ym", "time")  # order of day, month (n: its name), year; or a time
SHORT = "yymd"  # the year comes first and may have two digits
# Regular expressions with the same meaning in Python and Arrow.
_LETTER = "[A-Za-zÀ-ɏ]"
_TIME = r"(?P<H>\d{1,2}):(?P<M>\d{2})(?::(?P<S>\d{2})(?:[.,]\d+)?)?\s*(?P<half>[AaPp]?)(?:[Mm]|Z|Uhr|[+-]\d{2}:?\d{2})?"
_AT = rf"(?:[T ,]+{_TIME})?$"
_DAY, _MONTH, _NAME = r"(?P<d>\d{1,2})", r"(?P<m>\d{1,2})", rf"(?P<name>{_LETTER}+)"
_BETWEEN = r"[-/.]\s?"
_WEEKDAY = rf"^(?:(?i:mo|di|mi|do|fr|sa|so|tu|we|th|su){_LETTER}*[., ]+)?"  # German and English, before a date
_YEAR = r"(?P<y>\d{4}|\d{2})"
PATTERNS = {
    "ymd": rf"{_WEEKDAY}(?P<y>\d{{4}}){_BETWEEN}{_MONTH}{_BETWEEN}{_DAY}{_AT}",
    "dmy": rf"{_WEEKDAY}{_DAY}{_BETWEEN}{_MONTH}{_BETWEEN}{_YEAR}{_AT}",
    "mdy": rf"{_WEEKDAY}{_MONTH}{_BETWEEN}{_DAY}{_BETWEEN}{_YEAR}{_AT}",
    "dny": rf"{_WEEKDAY}{_DAY}[-/. ]+{_NAME}[-/., ]+{_YEAR}{_AT}",
    "ndy": rf"{_WEEKDAY}{_NAME}[-/. ]+{_DAY}[-/., ]+{_YEAR}{_AT}",
    "ym": rf"^(?P<y>\d{{4}})[-/]{_MONTH}$",
    "time": f"^{_TIME}$",
    "yymd": rf"{_WEEKDAY}(?P<y>\d{{4}}|\d{{2}}){_BETWEEN}{_MONTH}{_BETWEEN}{_DAY}{_AT}",  # only if requested
}
UNCLEAR = re.compile("[-/]")  # separators of dates in which either the day or the month may come first
_CENTURY = 30  # two-digit years from this one on belong to the 1900s, as in Excel
_NAMES = "jan|jän feb mar|mär|mrz apr may|mai jun jul aug sep oct|okt nov dec|dez"
_MONTHS = {name: month for month, names in enumerate(_NAMES.split(), 1) for name in names.split("|")}
_MICROSECONDS = 86_400_000_000  # microseconds in a day


def datetimes(fields, n, found=True):
    """Dates from the fields of `PATTERNS`, as datetime64[us] (n,); NaT for a day or a time that does not exist.

    Parameters
    ----------
    fields : dict of str to array-like (n,)
        Whole numbers; texts for "name" and "half".
    n : int
    found : ndarray of bool (n,), optional
        Mask of the rows with fields.
    """
    fields = {"y": 1970, "m": 1, "d": 1, "H": 0, "M": 0, "S": 0, "half": ""} | fields
    if "name" in fields:
        fields["m"] = [_MONTHS.get(str(name).lower()[:3], 0) for name in fields["name"]]
    year, month, day, hour, minute, second = (np.broadcast_to(np.asarray(fields[name]), n) for name in "ymdHMS")
    half = np.char.lower(np.broadcast_to(np.asarray(fields["half"], dtype=str), n))
    year = np.where(year < 100, year + np.where(year < _CENTURY, 2000, 1900), year)
    hour = np.where(half == "p", hour % 12 + 12, np.where(half == "a", hour % 12, hour))
    start = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
    date = start.astype("datetime64[D]") + (day - 1)
    valid = found & (month >= 1) & (month <= 12) & (day >= 1) & (date.astype("datetime64[M]") == start)
    valid &= (hour < 24) & (minute < 60) & (second < 60)
    moment = date.astype("datetime64[us]") + ((hour * 60 + minute) * 60 + second).astype("timedelta64[s]")
    return np.where(valid, moment, np.datetime64("NaT", "us"))


def read_dates(texts, order):
    """Texts as datetime64[us] (n,) if all are dates in the given order; otherwise None."""
    distinct, match = list(dict.fromkeys(texts)), _matcher(order)
    found = []
    for text in distinct:
        found.append(match(text.strip()))
        if found[-1] is None:
            return None
    fields = {name: [one[name] or "0" for one in found] for name in found[0].re.groupindex}
    numbers = {name: list(map(int, values)) for name, values in fields.items() if name not in ("name", "half")}
    dates = datetimes(fields | numbers, len(distinct))
    if np.isnat(dates).any():
        return None
    position = {text: k for k, text in enumerate(distinct)}
    return dates[[position[text] for text in texts]]


@cache
def _matcher(order):
    return re.compile(PATTERNS[order], re.ASCII).match


def date_parts(values):
    """Numbers computed from dates: days since 1970 including fractions, month from 1, weekday from 0 for Monday.

    Parameters
    ----------
    values : ndarray (n,) of datetime64, or of timedelta64, which has only days

    Returns
    -------
    parts : dict of str to float64 (n,), NaN for NaT
    """
    if values.dtype.kind == "m":
        return {"days": _days(values.astype("timedelta64[us]"))}
    values = values.astype("datetime64[us]")
    day, missing = values.astype("datetime64[D]"), np.isnat(values)
    month = day.astype("datetime64[M]").astype(np.int64) % 12 + 1
    weekday = (day.astype(np.int64) + 3) % 7  # 1970 began on a Thursday
    return {
        "days": _days(values),
        "month": np.where(missing, np.nan, month),
        "weekday": np.where(missing, np.nan, weekday),
    }


def varying_parts(values, order=None):
    """Names of the parts that vary among the known values. Dates in the order "ym", without a day, have no weekday."""
    parts = {name: part[~np.isnan(part)] for name, part in date_parts(values).items()}
    if order == "ym":
        del parts["weekday"]
    return tuple(name for name, part in parts.items() if part.size and part.min() != part.max())


def _days(values):
    return np.where(np.isnat(values), np.nan, values.astype(np.int64) / _MICROSECONDS)
