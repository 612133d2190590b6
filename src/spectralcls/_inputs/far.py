"""Warnings about values far from all others in their column, with row, column and remedy."""

from contextvars import ContextVar

import numpy as np

from .._tuning.spread import isolated, suspects
from .._utils.advice import advise, setting

_said = ContextVar("said", default=False)
_MOST_SHOWN = 10  # columns named


def already_said():
    """Suppress warnings about far values in parts of an estimator that read the same values under other names."""
    return setting(_said, True)


def warn_of_far_values(where, columns, label, weights=None, how="make it NaN", unit="row"):
    """Warn about values far from all others: the first column with such values, and the names of others.

    Parameters
    ----------
    where : str
        Class of the estimator, or file.
    columns : list of (ColumnType or None, ndarray (n,))
        Numbers, NaN if missing; None is the target.
    label : callable
        ``label(row)`` returns the user's label of a row.
    weights : ndarray (n,), optional
    how : str
        How to declare a value of a column missing.
    unit : str
        What `label` numbers.
    """
    found = [] if _said.get() else np.flatnonzero(suspects([values for _, values in columns])).tolist()
    first, others = None, []
    for place in found:
        own, values = columns[place]
        known = np.flatnonzero(~np.isnan(values))
        if not len(known):
            continue
        far, times = isolated(values[known].astype(np.float64), None if weights is None else weights[known])
        if not len(far):
            continue
        row = known[far[0]]
        shown = f"{values[row]:g}" if own is None else own.shown(values[row])
        column = "the target" if own is None else f"column {_quoted(own.name)}"
        if first is not None:
            others.append(f"{shown} in {column}")
            continue
        more = f", and {len(far) - 1} more like it" if len(far) > 1 else ""
        whose, what = ("its", "leave out its row") if own is None else ("the column's", how)
        first = (
            f"{where}: the value {shown} in {column}, {unit} {_quoted(label(row))}{more}, is {times:.3g} times as far "
            f"from {whose} median as all others: correct it, or {what} if it stands for a missing value, because its "
            "sample is far from all others."
        )
    if first is not None:
        more = f", and in {len(others) - _MOST_SHOWN} more columns" if len(others) > _MOST_SHOWN else ""
        advise(first + f" Likewise {', '.join(others[:_MOST_SHOWN])}{more}." * bool(others))


def _quoted(name):
    return repr(str(name)) if isinstance(name, str) else str(name)
