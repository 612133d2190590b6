"""Columns that number or name the rows and say nothing about new ones."""

import re

import numpy as np

FEWEST = 20  # values that a judgment needs
SHARE = 0.95  # of distinct values among those of an identifier
_HEAD = 1000  # values of which most columns show that they are none
_NAME = re.compile(
    r"(?:^|[^a-z])(?:id|uuid|guid|key|nr|no|num|number|nummer|index|lfd)(?:[^a-z]|$)|(?:nummer|number|nr)$",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"[a-z](?:ID|Id|No|Key)$")


def calls_itself_a_key(name):
    """Whether a column's name is one such as ``customer_id`` or ``Kunden-Nr``."""
    return bool(_NAME.search(str(name)) or _CAMEL.search(str(name)))


def is_identifier(values, name=""):
    """Whether values look like customer numbers, codes of documents or row numbers.

    Nearly all values of an identifier differ. Texts that do are identifiers (or sentences). Whole numbers also need a
    name such as ``customer_id``, or have to count: they rise or fall from row to row, or leave few numbers out.

    Parameters
    ----------
    values : ndarray (n,)
        Known values: numbers or strings.
    name : str
        Name of the column.
    """
    if len(values) < FEWEST:
        return False
    numeric = values.dtype.kind in "iuf"
    if numeric and (values.dtype.kind == "f" and not np.array_equal(values, np.trunc(values))):
        return False
    if len(set(values[:_HEAD].tolist())) < SHARE * min(len(values), _HEAD):
        return False
    if numeric and values.max() - values.min() + 1 < SHARE * len(values):  # whole numbers: some have to be equal
        return False
    distinct = len(np.unique(values)) if numeric else len(set(values.tolist()))
    if distinct < SHARE * len(values):
        return False
    if not numeric or calls_itself_a_key(name):
        return True
    steps = np.diff(values.astype(np.float64))
    counts = values.max() - values.min() < 2 * len(values) or bool(np.all(steps > 0) or np.all(steps < 0))
    return distinct == len(values) and bool(counts)
