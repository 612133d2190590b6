"""Columns that number or name the rows and say nothing about new ones."""

import re

import numpy as np

FEWEST = 20  # values that a judgment needs
SHARE = 0.95  # of distinct values among those of an identifier
_HEAD = 1000  # values of which most columns show that they are none
_NAME = re.compile(  # "number of employees" and "num_votes" are counts
    r"(?:^|[^a-z])(?:id|uuid|guid|key|index|lfd)(?:[^a-z]|$)"
    r"|(?:^|[^a-z])(?:nr|no|num|number)[^a-z]*$|(?:nummer|number|nr)[^a-z]*$",
    re.IGNORECASE,
)
_ENDING = re.compile(r"(?:id|no|nr|num|case|seq[a-z]?)$", re.IGNORECASE)  # as "studyid": a key if the form says so too
_CAMEL = re.compile(r"[a-z](?:ID|Id|No|Key)$")
_ROW_NUMBERS = re.compile(  # that pandas, R and we give to columns without a name
    r"column \d+|Unnamed: \d+(?:[._].*)?|X(?:\.\d+)?|\.\.\.\d+|__index_level_\d+__|level_0"
    r"|(?i:index|row(?:[ ._]?(?:names?|num|number|nr|id|index))?)"
)


def calls_itself_a_row_number(name):
    """Whether a column's name is one that programs give to row numbers, as ``Unnamed: 0``."""
    return bool(_ROW_NUMBERS.fullmatch(str(name)))


def calls_itself_a_key(name):
    """Whether a column's name is one such as ``customer_id`` or ``Kunden-Nr``."""
    return bool(_NAME.search(str(name)) or _CAMEL.search(str(name)))


def is_identifier(values, name=""):
    """Whether values look like customer numbers, codes of documents or row numbers.

    Nearly all values of an identifier differ. Texts that do are identifiers (or sentences). Whole numbers also need a
    name such as ``customer_id``, or have to count: they rise or fall from row to row, and leave few numbers out. Sorted
    populations leave many out, ranks by another column neither rise nor fall.

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
    if calls_itself_a_row_number(name):
        return distinct == len(values)
    steps = np.diff(values.astype(np.float64))
    if not (np.all(steps > 0) or np.all(steps < 0)):
        return False
    return bool(values.max() - values.min() < 2 * len(values) or _ENDING.search(str(name)))
