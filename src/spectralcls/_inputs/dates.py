"""Dates, times and durations: their forms as text, time zones, and the numbers computed from them."""

import re
from datetime import UTC, date, datetime, time, timedelta, timezone
from functools import cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

import numpy as np

# Order of day, month (n: its name) and year; or a time, or a duration such as 1h 20m.
ORDERS = ("ymd", "dmy", "mdy", "dny", "ndy", "ym", "ny", "time", "duration")
SHORT = "yymd"  # the year comes first and may have two digits
WITHOUT_DAY, WITHOUT_DATE = ("ym", "ny"), ("time", "duration")
_LETTER = "[A-Za-zÀ-ɏА-яё]"
_ZONE = r"(?:UTC|GMT)? ?[+-]\d{1,2}(?::?\d{2})?|[A-Za-z]{1,4}|[A-Z][A-Za-z]+/[A-Za-z_/]+"
_TIME = (
    r"(?P<H>\d{1,3}):(?P<M>\d{2})(?::(?P<S>\d{2})(?:[.,](?P<F>\d+))?)?(?:\s*(?P<half>[AaPp])\.?[Mm]\.?)?(?:\s*Uhr)?"
    rf"(?:\s*(?P<zone>{_ZONE}))?(?:\s*(?:\[.*\]|\(.*\)))?"
)
_AT = rf"\.?(?:[T ,:]+{_TIME})?"
_DAY, _MONTH, _NAME = r"(?P<d>\d{1,2})", r"(?P<m>\d{1,2})", rf"(?P<name>{_LETTER}{{3,}})"
_NTH = rf"{_DAY}(?:st|nd|rd|th|er|º)?"
_BETWEEN, _OF = r"[-/.]\s?", r"[-/., ]*(?:(?:de|of|di|del)\s)?\s*"
_WEEKDAY = rf"(?:(?i:mo|di|mi|do|fr|sa|so|tu|we|th|su){_LETTER}*[., ]+)?"  # German and English, before a date
_YEAR = r"(?P<y>\d{4}|\d{2})"
_PATTERNS = {
    "ymd": rf"{_WEEKDAY}(?P<y>\d{{4}}){_BETWEEN}{_MONTH}{_BETWEEN}{_DAY}{_AT}",
    "dmy": rf"{_WEEKDAY}{_DAY}{_BETWEEN}{_MONTH}{_BETWEEN}{_YEAR}{_AT}",
    "mdy": rf"{_WEEKDAY}{_MONTH}{_BETWEEN}{_DAY}{_BETWEEN}{_YEAR}{_AT}",
    "dny": rf"{_WEEKDAY}{_NTH}{_OF}{_NAME}{_OF}{_YEAR}{_AT}",
    "ndy": rf"{_WEEKDAY}{_NAME}[-/. ]+{_NTH}[-/., ]+{_YEAR}{_AT}",
    "ym": rf"(?P<y>\d{{4}})[-/]{_MONTH}",
    "ny": rf"(?:{_NAME}|{_MONTH}(?=/)){_OF}(?P<y>\d{{4}})",
    "time": _TIME,
    "duration": r"P?(?:(?P<D>\d+)\s*(?:[dD]|days?))?[T\s]*(?:(?P<H>\d+)\s*(?:[hH]|hrs?|hours?|[Ss]td\.?))?\s*"
    r"(?:(?P<M>\d+)\s*(?:[mM]|mins?|minutes?)\.?)?\s*(?:(?P<S>\d+)(?:[.,](?P<F>\d+))?\s*(?:[sS]|secs?|seconds?)\.?)?",
    "yymd": rf"{_WEEKDAY}(?P<y>\d{{4}}|\d{{2}}){_BETWEEN}{_MONTH}{_BETWEEN}{_DAY}{_AT}",  # only if requested
}
_COMPOUND = re.compile(r"\d\s*[dDhHmM][a-z]*\.?\s*\d|PT?\d")  # in durations that are not numbers with a unit
UNCLEAR = re.compile("[-/]")  # separators of dates in which either the day or the month may come first
_CENTURY = 30  # two-digit years from this one on belong to the 1900s, as in Excel
_CJK = str.maketrans("年月日时時分秒년월일시분초", "-- ::  -- :  ")
_NAMES = (  # first letters in English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Turkish and Russian
    "jan|jän|ene|gen|sty|oca|янв feb|fév|fev|lut|şub|фев mar|maa|mär|mrz|mrt|мар apr|avr|abr|kwi|nis|апр"
    " may|mai|mag|mei|maj|мая|май jun|juin|giu|cze|haz|июн jul|juil|lug|lip|tem|июл aug|aoû|aou|ago|sie|ağu|авг"
    " sep|set|wrz|eyl|сен oct|okt|ott|out|paź|eki|окт nov|lis|kas|ноя dec|dez|dic|déc|gru|ara|дек"
)
_MONTHS = {name: month for month, names in enumerate(_NAMES.split(), 1) for name in names.split("|")}
_ZONES = {"Z": 0, "UTC": 0, "GMT": 0, "WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "MSK": 3, "JST": 9}
_ZONES |= {"EDT": -4, "EST": -5, "CDT": -5, "CST": -6, "MDT": -6, "MST": -7, "PDT": -7, "PST": -8}
_HEAD = 100  # if none of the first texts is a date, none is
_FIRST_DAY = date(1970, 1, 1)
_MICROSECONDS = 86_400_000_000  # microseconds in a day
_NAT = np.datetime64("NaT", "us")


class Moments(NamedTuple):
    """Dates that were read from texts.

    Attributes
    ----------
    local : ndarray (n,) of datetime64[us]
        Local dates and times, NaT if a text is none; durations count from 1970.
    zones : list of (str or None)
        Time zone of each.
    """

    local: np.ndarray
    zones: list


def read_dates(texts, order):
    """The `Moments` of distinct texts, given an order of `ORDERS`; dates or durations among them stay as they are."""
    local, zones = np.full(len(texts), _NAT), [None] * len(texts)
    match, found, places = _matcher(order), [], []
    if order == "duration" and not any(_COMPOUND.search(str(text)) for text in texts[:_HEAD]):
        return Moments(local, zones)
    for place, text in enumerate(texts):
        if isinstance(text, str):
            one = match((text if text.isascii() else text.translate(_CJK).rstrip("- ")).strip())
            if one is not None:
                found.append(one.groupdict())
                places.append(place)
        elif isinstance(text, (time, timedelta) if order in WITHOUT_DATE else date):
            local[place], zones[place] = moment_of(text)
        if place == _HEAD and not found:
            return Moments(local, zones)
    if found:
        local[places] = _datetimes(found, order)
        for place, one in zip(places, found, strict=True):
            if one.get("zone"):
                zones[place] = _zone_of(one["zone"])
                if zones[place] is None:
                    local[place] = _NAT
    return Moments(local, zones)


def moment_of(value):
    """Local time, datetime64[us], and name of the time zone of an object of the library `datetime`; NaT for None."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        name = getattr(value.tzinfo, "key", None) or getattr(value.tzinfo, "zone", None) or value.strftime("%z")
        return np.datetime64(value.replace(tzinfo=None), "us"), _zone_of(str(name))
    if isinstance(value, time):
        value = datetime.combine(_FIRST_DAY, value.replace(tzinfo=None))
    if isinstance(value, timedelta):
        return np.datetime64(0, "us") + np.timedelta64(value, "us"), None
    return np.datetime64(value, "us"), None


@cache
def _matcher(order):
    return re.compile(_PATTERNS[order], re.ASCII).fullmatch


def is_date(text):
    """Whether a text is a date or a time in some order."""
    return any(not np.isnat(read_dates([text], order).local[0]) for order in ORDERS[:-1])


def _datetimes(found, order):
    """Dates from the fields of `_PATTERNS`; NaT for a day or a time that does not exist."""
    defaults = {"y": 1970, "m": 1, "d": 1, "D": 0, "H": 0, "M": 0, "S": 0}

    def numbers(name):
        if name not in found[0]:
            return np.full(len(found), defaults[name])
        return np.array([int(one[name] or defaults[name]) for one in found])

    year, month, day, days, hour, minute, second = map(numbers, defaults)
    if "name" in found[0]:
        month = np.array([_month(one["name"]) if one["name"] else one.get("m") or 0 for one in found], dtype=int)
    fraction = np.array([int((one.get("F") or "0").ljust(6, "0")[:6]) for one in found])
    half = np.array([(one.get("half") or "").lower() for one in found])
    year = np.where(year < 100, year + np.where(year < _CENTURY, 2000, 1900), year)
    hour = np.where(half == "p", hour % 12 + 12, np.where(half == "a", hour % 12, hour))
    start = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
    date = start.astype("datetime64[D]") + (day - 1)
    valid = (month >= 1) & (month <= 12) & (day >= 1) & (date.astype("datetime64[M]") == start)
    if order != "duration":
        valid &= ((hour < 24) | (order == "time")) & (minute < 60) & (second < 60)
    seconds = ((days * 24 + hour) * 60 + minute) * 60 + second
    moment = date.astype("datetime64[us]") + seconds.astype("timedelta64[s]") + fraction.astype("timedelta64[us]")
    return np.where(valid, moment, _NAT)


def _month(name):
    name = name.lower()
    return _MONTHS.get(name[:3], _MONTHS.get(name[:4], 0))


def _zone_of(text):
    """Name of a time zone from its text; None if it is unknown."""
    text = text.replace(" ", "")
    offset = re.fullmatch(r"(?:UTC|GMT)?([+-])(\d{1,2}):?(\d{2})?", text)
    if offset:
        name = f"{offset[1]}{int(offset[2]):02}:{offset[3] or '00'}"
        return "UTC" if name[1:] == "00:00" else name
    if text.upper() in _ZONES:
        hours = _ZONES[text.upper()]
        return f"{'-' if hours < 0 else '+'}{abs(hours):02}:00" if hours else "UTC"
    return text if "/" in text and _timezone(text) is not None else None


@cache
def _timezone(name):
    offset = re.search(r"([+-])(\d{2}):?(\d{2})$", name)
    if offset:
        hours, minutes = (int(offset[1] + digits) for digits in (offset[2], offset[3]))
        return timezone(timedelta(hours=hours, minutes=minutes))
    try:
        return UTC if name == "UTC" else ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None


def offsets(zone, moments, is_local=False):
    """Offsets from UTC (n,), timedelta64[us], of a time zone at moments in UTC, or at local times."""
    tz, known = _timezone(zone), ~np.isnat(moments)
    out = np.zeros(len(moments), dtype="timedelta64[us]")
    if tz is None or not known.any():
        return out
    days, group = np.unique(moments[known].astype("datetime64[D]"), return_inverse=True)

    def offset(moment):
        moment = moment.astype("datetime64[us]").item()
        moment = moment.replace(tzinfo=tz) if is_local else moment.replace(tzinfo=UTC).astimezone(tz)
        return moment.utcoffset()

    at = np.array([[offset(day), offset(day + np.timedelta64(1, "D"))] for day in days], dtype="timedelta64[us]")
    found = at[group, 0]
    for place in np.flatnonzero(at[group, 0] != at[group, 1]):  # days on which the clock is changed
        found[place] = offset(moments[known][place])
    out[known] = found
    return out


def in_zone(moments, zone):
    """Local times (n,) of moments in UTC."""
    return moments + offsets(zone, moments)


def usual_zone(zones, counts):
    """The most frequent zone; None if there is none."""
    rows: dict = {}
    for zone, count in zip(zones, counts, strict=True):
        if zone is not None:
            rows[zone] = rows.get(zone, 0) + count
    return max(sorted(rows, reverse=True), key=rows.get, default=None)  # of two alike, UTC


def in_utc(moments):
    """Moments with zones in UTC; NaT for those without a zone."""
    out = np.full(len(moments.local), _NAT)
    for zone in set(filter(None, moments.zones)):
        own = np.array([one == zone for one in moments.zones])
        out[own] = moments.local[own] - offsets(zone, moments.local[own], is_local=True)
    return out


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
    """Names of the parts that vary among the known values. Months have no weekday, times only a part of a day."""
    parts = {name: part[~np.isnan(part)] for name, part in date_parts(values).items()}
    for name in ("weekday",) if order in WITHOUT_DAY else ("month", "weekday") if order in WITHOUT_DATE else ():
        del parts[name]
    return tuple(name for name, part in parts.items() if part.size and part.min() != part.max())


def _days(values):
    return np.where(np.isnat(values), np.nan, values.astype(np.int64) / _MICROSECONDS)
