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
        Numbers, NaN if missing.
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
        row, more = known[far[0]], f", and {len(far) - 1} more like it" if len(far) > 1 else ""
        advise(
            f"{name}: the value {values[row]:g} in column {_quoted(column)}, row {_quoted(label(row))}{more}, is "
            f"{times:.3g} times as far from the column's median as all others: correct it, or make it NaN if it stands "
            "for a missing value, because its sample is far from all others."
        )
        return


def _quoted(name):
    return repr(str(name)) if isinstance(name, str) else str(name)
