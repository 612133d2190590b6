"""Dates and times as numbers: elapsed days, month and weekday."""

import numpy as np

_MICROSECONDS = 86_400_000_000  # of a day


def date_parts(values):
    """Numbers of dates: days since 1970 with their fraction, month from 1, weekday from 0 for Monday.

    Parameters
    ----------
    values : ndarray (n,) of datetime64, or of timedelta64, which have days only

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


def varying_parts(values):
    """Names of the parts that are not the same for all known values."""
    parts = {name: part[~np.isnan(part)] for name, part in date_parts(values).items()}
    return tuple(name for name, part in parts.items() if part.size and part.min() != part.max())


def _days(values):
    return np.where(np.isnat(values), np.nan, values.astype(np.int64) / _MICROSECONDS)
