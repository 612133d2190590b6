"""The target of a file: classes, as texts, or numbers."""

import shlex

import numpy as np

from .._inputs.cells import CLASSES
from .._inputs.dates import ORDERS, read_dates
from .._inputs.frames import NUMBER
from .._inputs.reading import Unclear
from .._inputs.types import as_texts
from .._utils.advice import tell

# At most _MOST_WHOLE distinct integers are classes. More are classes only if they are consecutive, start with 0 or 1,
# and have at least _ROWS_A_CLASS rows each, on average.
_MOST_WHOLE, _ROWS_A_CLASS = 20, 3
# with at least this many distinct numbers per other distinct cell, the other cells count as mistakes
_NUMBERS_A_WORD = 10


def target_of(source, goal, wish, reading):
    """The column of the target: numbers if they are many or the user says so, otherwise texts as they are written.

    Words that may name a class are missing only among numbers. ``NA`` is missing if other columns contain it, too.

    Parameters
    ----------
    wish : True, "number" or None
        Whether the user calls the target classes, or numbers.
    reading : Reading
    """
    from ._file_columns import columns_of, holds

    (column,) = columns_of(source, [goal], reading.words, [goal] if wish is not True else [])
    if column.kind == NUMBER and wish is not True:
        known = column.values[~column.missing]
        if len(known) and (wish == NUMBER or are_many(np.unique(known), len(known))):
            return column
    (column,) = columns_of(source, [goal], reading.words, [])
    texts = as_texts(column)
    numbers = texts.without(reading.words)
    if wish == NUMBER or wish is None and _mostly_many_numbers(numbers):
        return numbers
    others = [name for name in source.table.column_names if name != goal]
    has_na = "NA" in texts.levels and any(holds(source, name, "NA") for name in others)
    kept = CLASSES - {"na"} if has_na else CLASSES
    return texts.without(reading.words - (kept - reading.own_words))


def _mostly_many_numbers(column):
    if not len(column.levels):
        return False
    shares = column.cells.shares
    sign = max(shares, key=shares.get)
    found = column.cells.raw(sign)
    return shares[sign] >= 0.5 and are_many(np.unique(found[np.isfinite(found)]), len(column.values))


def answers(column, goal, wish, reading):
    """The target of rows that have one: numbers (n,) for a regression, otherwise texts (n,).

    Raises
    ------
    ValueError
        For dates, and for numbers with a few other cells or several units.
    """
    if column.kind == NUMBER:
        return column.values
    column = column.compact()
    labels = np.array([str(level) for level in column.levels])[column.values]
    if wish is True:
        return labels
    sign, unclear = column.cells.sign(reading.writing)
    found = column.cells.read(sign)
    fits, known = np.isfinite(found.values), np.unique(found.values[np.isfinite(found.values)])
    many = len(known) > 0 and are_many(known, len(labels))
    path = reading.source.path
    if wish is None:
        mistaken = not found.measured.all() and many and len(known) >= _NUMBERS_A_WORD * np.count_nonzero(~fits)
        if any(level[0] == "0" and level.isdecimal() and level != "0" for level in map(str, column.levels)):
            return labels
        if not mistaken and not (found.measured.all() and (many or len(fits) > _MOST_WHOLE and not fits.all())):
            _refuse_dates(column, reading)
            reading.note_two_units(column)
            reading.check()
            return labels
    if unclear is not None:
        reading.refuse(column, Unclear.of_thousands(unclear))
        reading.check()
    if not fits.all():
        cell = column.cells.first(~fits)
        odd = reading.named(column, cell)
        if found.measured.all() and fits.any():
            other = reading.named(column, column.cells.first(fits))
            raise ValueError(
                f"{path}: the target {goal!r} has cells in different units, {other} and {odd}: convert them"
            )
        if wish == NUMBER:
            raise ValueError(f"{path}: --task regression predicts numbers, but the target has {odd}")
        raise ValueError(
            f"{path}: the target has {len(known)} numbers, and {odd}: correct the cell, or leave out its row with "
            f"--missing {shlex.quote(str(cell))}; --task classification takes each number as a class"
        )
    if found.converted:
        one, other = (reading.named(column, column.levels[place]) for place in found.converted)
        tell(
            f"{path}: the target {goal!r} has cells in several units, such as {one} and {other}: all are converted to "
            "the unit of the first"
        )
    return column.expand(found.values)


def are_many(values, n_rows):
    """Whether distinct numbers are a regression target: some are not integers, or there are many that cannot be
    consecutive classes.
    """
    if not np.array_equal(values, np.round(values)):
        return True
    if len(values) <= _MOST_WHOLE:
        return False
    running = values.min() in (0, 1) and np.ptp(values) == len(values) - 1
    return not running or len(values) > n_rows / _ROWS_A_CLASS


def _refuse_dates(column, reading):
    """Raise if the target holds many different dates."""
    texts = column.levels
    if len(texts) > max(_MOST_WHOLE, len(column.values) / _ROWS_A_CLASS):
        if any(not np.isnat(read_dates(texts, order).local).any() for order in ORDERS):
            raise ValueError(
                f"{reading.source.path}: the target holds dates, such as {reading.named(column, texts[0])}, and "
                "regression predicts numbers: write the days since some date into the file; --task classification "
                "takes each date as a class"
            )
