"""Warnings about values far from all others in their column: one per fit, with row, column and remedy."""

from contextvars import ContextVar

import numpy as np

from .._tuning.spread import isolated, suspects
from .._utils.advice import advise, setting

_said = ContextVar("said", default=False)


def already_said():
    """Suppress warnings about far values in parts of an estimator that read the same values under other names."""
    return setting(_said, True)


def warn_of_far_values(name, columns, label, weights=None):
    """Warn about the first column with values far from all others.

    Parameters
    ----------
    name : str
        Class of the estimator.
    columns : list of (name, ndarray (n,))
        Numbers, NaN if missing; the name of a target is None.
    label : callable
        ``label(row)`` returns the user's label of a row.
    weights : ndarray (n,), optional
    """
    if _said.get():
        return
    for place in np.flatnonzero(suspects([values for _, values in columns])):
        column, values = columns[place]
        known = np.flatnonzero(~np.isnan(values))
        if not len(known):
            continue
        far, times = isolated(values[known].astype(np.float64), None if weights is None else weights[known])
        if not len(far):
            continue
        where, whose, how = f"column {_quoted(column)}", "the column's", "make it NaN"
        if column is None:
            where, whose, how = "the target", "its", "leave out its row"
        row, more = known[far[0]], f", and {len(far) - 1} more like it" if len(far) > 1 else ""
        advise(
            f"{name}: the value {values[row]:g} in {where}, row {_quoted(label(row))}{more}, is {times:.3g} times as "
            f"far from {whose} median as all others: correct it, or {how} if it stands for a missing value, because "
            "its sample is far from all others."
        )
        return


def _quoted(name):
    return repr(str(name)) if isinstance(name, str) else str(name)
