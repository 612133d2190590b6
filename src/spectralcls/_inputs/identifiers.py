"""Columns that number or name the rows and contain no information about new rows."""

import re

import numpy as np

FEWEST = 20  # fewest values for a decision
SHARE = 0.95  # least fraction of distinct values in an identifier
_HEAD = 1000  # number of values that are checked first; they rule out most columns
_NAME = re.compile(  # "number of employees" and "num_votes" are counts, not keys
    r"(?:^|[^a-z])(?:id|uuid|guid|key|index|lfd)(?:[^a-z]|$)"
    r"|(?:^|[^a-z])(?:nr|no|num|number)[^a-z]*$|(?:nummer|number|nr)[^a-z]*$",
    re.IGNORECASE,
)
# endings as in "studyid"; a column with such a name is a key only if its values also look like keys
_ENDING = re.compile(r"(?:id|no|nr|num|case|seq[a-z]?)$", re.IGNORECASE)
_CAMEL = re.compile(r"[a-z](?:ID|Id|No|Key)$")
_ROW_NUMBERS = re.compile(  # names that pandas, R and this package give to unnamed columns
    r"column \d+|Unnamed: \d+(?:[._].*)?|X(?:\.\d+)?|\.\.\.\d+|__index_level_\d+__|level_0"
    r"|(?i:index|obs|observation|row(?:[ ._]?(?:names?|num|number|nr|id|index))?)"
)
_NAMELESS = re.compile(r"column \d+|Unnamed: \d+(?:[._].*)?|\.\.\.\d+|__index_level_\d+__|level_0|rownames")
_NAMELESS_ROWS = 4  # largest mean number of rows per row number; draws with replacement and joins repeat numbers


_POSTAL = re.compile(  # Italian "cap" comes first in a name; "market cap" is not a postal code
    r"(?:^|[^a-z])(?:plz|zip|postal|postcode)(?:[^a-z]|$)|^(?:codice[ _])?cap(?:[^a-z]|$)|postleitzahl|zip_?code"
    r"|postcode",
    re.I,
)
_DIGITS = range(4, 7)  # possible numbers of digits of a postal code
_FRACTION = re.compile(r"[+-]?\d*[.,]\d+")


def may_be_postal_code(name):
    """Whether a column's name suggests postal codes, whose leading zeros are significant."""
    return bool(_POSTAL.search(str(name)))


def is_postal_code(name, texts, counts):
    """Whether a column holds postal codes, by its name and because most values have as many digits as the longest.

    Parameters
    ----------
    name : object
    texts : list of str
        The distinct values.
    counts : ndarray
        Number of rows with each value.
    """
    if not may_be_postal_code(name):
        return False
    counts = counts / counts.sum()
    lengths = np.array([len(text) if text.isdecimal() else 0 for text in texts])
    if counts[lengths > 0].sum() < 0.5:
        fractions = np.array([bool(_FRACTION.fullmatch(text)) for text in texts])
        return counts[(lengths > 0) | fractions].sum() < 0.5
    longest = int(lengths.max())
    possible = longest in _DIGITS and (longest == 5 or not re.search(r"\bcap\b", str(name), re.I))
    shorter = counts[(lengths > 0) & (lengths < longest - 1)].sum()
    return bool(possible and counts[lengths == longest].sum() >= 0.5 and shorter < 0.02)


def numbers_the_rows(values, name):
    """Whether numbers are row numbers, by the column's name and because all are distinct integers.

    In a column without a name, the numbers may repeat, as after drawing with replacement.
    """
    if not calls_itself_a_row_number(name) or len(values) < 3 or (values % 1).any():
        return False
    n_different = len(np.unique(values))
    return n_different == len(values) or bool(_NAMELESS.fullmatch(name) and n_different * _NAMELESS_ROWS >= len(values))


def calls_itself_a_row_number(name):
    """Whether programs give this name to row numbers, such as ``Unnamed: 0``."""
    return bool(_ROW_NUMBERS.fullmatch(str(name)))


def calls_itself_a_key(name):
    """Whether a column's name is that of a key, such as ``customer_id`` or ``Kunden-Nr``."""
    return bool(_NAME.search(str(name)) or _CAMEL.search(str(name)))


def is_identifier(values, name="", counted=False):
    """Whether numbers look like customer numbers or row numbers.

    Nearly all values of an identifier differ. In addition, the column has a name such as ``customer_id``, or its values
    count the rows: they rise or fall from row to row with few gaps. Sorted numbers of inhabitants, in contrast, have
    many gaps, and ranks by another column neither rise nor fall.

    Parameters
    ----------
    values : ndarray (n,)
        Known values.
    name : str
        Name of the column.
    counted : bool
        Whether the rows are in their original (file) order, so that values that rise or fall from row to row may be row
        numbers.
    """
    named = calls_itself_a_key(name)
    if len(values) < FEWEST or not (named or counted):
        return False
    if not np.array_equal(values[:_HEAD], np.trunc(values[:_HEAD])) or not np.array_equal(values, np.trunc(values)):
        return False
    if len(np.unique(values[:_HEAD])) < SHARE * min(len(values), _HEAD):
        return False
    if values.max() - values.min() + 1 < SHARE * len(values):  # too small a range for that many distinct integers
        return False
    if len(np.unique(values)) < SHARE * len(values):
        return False
    if named:
        return True
    steps = np.diff(values.astype(np.float64))
    if not (np.all(steps > 0) or np.all(steps < 0)):
        return False
    return bool(values.max() - values.min() < 2 * len(values) or _ENDING.search(str(name)))
