"""Spreadsheets as tables, with the types of their cells."""

import re
from datetime import timedelta
from itertools import product

import numpy as np

from .._utils.advice import tell
from ._header import find_header
from ._limits import check_sheets
from ._source import HTML, UNKNOWN, Source, content_of, find_column, require_pyarrow

_DURATION = re.compile(r"PT(\d+)H(\d+)M([\d.]+)S")
EXCEL = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")


def read_sheet(path, dialect=UNKNOWN, *, known=(), schema=None, words=()):
    """Read a sheet; see `read_source` for the arguments."""
    pa = require_pyarrow(path)
    name, worksheet = _worksheet(path, dialect.sheet)
    top, left = worksheet.start if worksheet.height else (0, 0)
    cells = worksheet.to_python() if worksheet.height else []
    merged = [(a[0] - top, a[1] - left, b[0] - top, b[1] - left) for a, b in worksheet.merged_cell_ranges or ()]
    skipped = max((dialect.skip or 0) - top, 0)
    first = next((k for k, row in enumerate(cells) if k >= skipped and any(cell != "" for cell in row)), None)
    if first is None:
        raise ValueError(f"{path}: the sheet is empty")
    rows = [(k + top + 1, list(map(_text, cells[k]))) for k in range(first, len(cells)) if any(map(_text, cells[k]))]
    header = find_header(path, rows, dialect.header, known, schema, words, unit="row")
    if header.first == len(rows):
        raise ValueError(f"{path}: there are no rows below the header")
    number = rows[max(header.position, 0)][0]
    across = any(column < end for row, column, _, end in merged if row + top + 1 == number)
    if across or header.position >= 0 and not any(rows[header.position][1][1:]) and len(cells[0]) > 1:
        raise ValueError(
            f"{path}: row {number} does not name each column (merged cells, or a title): give all names in one row, "
            "and remove the rows above it"
        )
    filled = _fill(cells, merged, number - top if header.position >= 0 else 0)
    begin = number - top if header.position >= 0 else rows[header.first][0] - top - 1
    below = [(k + top + 1, cells[k]) for k in range(begin, len(cells))]
    if schema is None:  # otherwise empty rows stay, because every row gets a prediction
        below = [(place, row) for place, row in below if any(cell != "" for cell in row)]
    columns = [_from_cells(pa, column) for column in zip(*(row for _, row in below), strict=True)]
    table = pa.Table.from_arrays([column for column, _ in columns], names=header.names)
    mixed = {name: cells for name, (_, cells) in zip(header.names, columns, strict=True) if cells is not None}
    places = [place for place, _ in below]
    kind = f", sheet {name!r}" + (f", {filled} merged cells filled" if filled else "")
    return Source(
        path,
        table,
        "row",
        lambda rows: [places[k] for k in rows],
        len(table),
        kind,
        header=number if header.position >= 0 else 0,
        width=len(header.names),
        mixed=mixed,
    )


def _fill(cells, merged, first):
    """Copy the value of merged cells into each of them, from row `first` on; returns the number of ranges."""
    filled = [(top, left, bottom, right) for top, left, bottom, right in merged if top >= first]
    for top, left, bottom, right in filled:
        for row, column in product(range(top, min(bottom + 1, len(cells))), range(left, min(right + 1, len(cells[0])))):
            cells[row][column] = cells[top][left]
    return len(filled)


def _worksheet(path, sheet):
    """Name and content of a sheet, given by name or position. The default is the first visible sheet with cells; a
    warning names the others.
    """
    try:
        import python_calamine as calamine
    except ImportError:
        raise ImportError(
            f'{path}: spreadsheets are read with python-calamine: pip install "spectralcls[tables]"'
        ) from None
    with path.open("rb") as file:
        found = content_of(file.read(1000))
    if found in ("text", HTML):
        how = (
            "rename it to .csv or .tsv" if found == "text" else "open it in a spreadsheet program, and save it as .xlsx"
        )
        raise ValueError(f"{path}: is {found}, although its name is that of a spreadsheet: {how}")
    check_sheets(path)
    try:
        book = calamine.load_workbook(path)
        found = [one for one in book.sheets_metadata if one.typ == calamine.SheetTypeEnum.WorkSheet]
        if sheet is None:
            found = [one for one in found if one.visible == calamine.SheetVisibleEnum.Visible]
        sheets = {one.name: book.get_sheet_by_name(one.name) for one in found}
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # parsers raise errors of many types, and a panic is no Exception
        raise ValueError(f"{path}: not a readable spreadsheet: {error}") from None
    names = list(sheets)
    if sheet is not None:
        name = names[find_column(names, sheet, path, "sheet")]
        return name, sheets[name]
    filled = [name for name in names if sheets[name].height]
    if not filled:
        raise ValueError(f"{path}: the spreadsheet is empty")
    name, *others = filled
    if others:
        listed = ", ".join(map(repr, others))
        tell(f"{path}: reading the sheet {name!r}, but not {listed}: choose one with sheet= (--sheet)")
    return name, sheets[name]


def _text(cell):
    """A cell as it would appear in a text file."""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _duration(cell):
    """A duration, which OpenDocument writes as PT26H30M00S; other cells unchanged."""
    found = _DURATION.fullmatch(cell) if isinstance(cell, str) else None
    return (
        timedelta(**dict(zip(("hours", "minutes", "seconds"), map(float, found.groups()), strict=True)))
        if found
        else cell
    )


def _from_cells(pa, cells):
    """The cells of a column as an Arrow array, with their type if it is the same for all, otherwise as strings; and as
    an array of objects if there are texts among numbers or dates.
    """
    cells = [None if cell == "" else _duration(cell) for cell in cells]
    kinds = {type(cell) for cell in cells if cell is not None}
    if len(kinds) == 1 and str not in kinds:
        return pa.array(cells), None
    texts = pa.array([None if cell is None else _text(cell) for cell in cells], pa.string())
    if bool in kinds or len(kinds) < 2:
        return texts, None
    objects = np.empty(len(cells), dtype=object)
    objects[:] = cells
    return texts, objects
