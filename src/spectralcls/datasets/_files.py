"""Files as tables of pyarrow, with the cells of text files and spreadsheets as they are written."""

import codecs
import csv
import io
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.random import sample_without_replacement

from .._utils.files import as_path
from .._utils.typing import FilePath

TEXT = (".csv", ".tsv", ".txt", ".data")
PACKED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
PARQUET = (".parquet", ".pq")
EXCEL = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")

_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_SAMPLE, _SAMPLE_LINES = 1 << 18, 5  # bytes, and lines at least, of which the delimiter and the header are found
_BLANK = re.compile(rb"[ \t\r\n]*")
_FIRST_ROWS = 100  # of which cells have to be plain numbers
_PLAIN = {sign: re.compile(rf"-?\d+(?:[{sign}]\d*)?(?:[eE][+-]?\d+)?", re.ASCII) for sign in ".,"}
_CELL_OF_NUMBER = re.compile(r"[+-]?[\d.,]*\d[\d.,]*(?:[eE][+-]?\d+)?%?")
_MOST_LINES = 5


class Source(NamedTuple):
    """A file that was read.

    Attributes
    ----------
    path : Path
    table : pyarrow.Table
        Columns of strings, or of the types of a Parquet file or a spreadsheet.
    unit : str
        What messages count: "line" or "row".
    places : callable
        From positions of rows to the numbers that messages call them by.
    n_rows : int
        Rows of the file, of which `table` may be a sample.
    kind : str
        What was found out about a text file, for a description.
    decimal : str
        Decimal sign where the cells do not tell.
    sign : str
        That of the columns of a text file that were parsed as numbers; empty if there are none.
    delimiter, encoding : str
        Those of the file, and of one that is written for the same program.
    """

    path: Path
    table: object
    unit: str
    places: Callable
    n_rows: int
    kind: str = ""
    decimal: str = "."
    sign: str = ""
    delimiter: str = ","
    encoding: str = "utf-8"

    def taken(self, n_samples, random_state):
        """A random sample of the rows, in their order."""
        if n_samples is None or n_samples >= self.n_rows:
            return self
        rows = _sample(self.n_rows, n_samples, random_state)
        return self._replace(
            table=self.table.take(rows), places=lambda positions: self.places([int(rows[k]) for k in positions])
        )


def require_pyarrow(path):
    """Fail in one sentence if tables cannot be read."""
    try:
        import pyarrow.csv
        import pyarrow.dataset
    except ImportError:
        raise ImportError(f'{path}: tables are read with pyarrow: pip install "spectralcls[tables]"') from None
    return pyarrow


def read_source(path, *, known=(), words=(), signs=None, encoding=None, sheet=None, n_samples=None, random_state=0):
    """Read a text file, a spreadsheet, or a Parquet file or a folder of them.

    Parameters
    ----------
    path : path-like
        Where the file is, or the folder of Parquet files.
    known : collection of str
        Names of columns: a line that has one is a header.
    words : collection of str
        Words for a missing value, in lower case.
    signs : callable, default=None
        Of the names of all columns of a text file, for each the decimal signs of which plain numbers may have one, and
        are parsed then: ".,", "." or ","; "" for what is no number. None leaves all cells as they are written.
    encoding : str, default=None
        Of a text file; None finds it out.
    sheet : str or int, default=None
        Of a spreadsheet, by name or position; None takes the first one that has cells.
    n_samples, random_state : int, default=None and 0
        Keep a random sample of the rows.
    """
    path = as_path(path)
    suffix = (path.with_suffix("") if path.suffix.lower() in PACKED else path).suffix.lower()
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file")
    if path.is_dir() and suffix in TEXT + EXCEL:
        raise ValueError(f"{path}: is a folder")
    if suffix in PARQUET or path.is_dir():
        return _read_parquet(path, n_samples, random_state)
    if suffix in EXCEL:
        return _read_excel(path, known, sheet).taken(n_samples, random_state)
    if suffix in TEXT:
        return _read_text(path, known, words, signs, encoding).taken(n_samples, random_state)
    known = ", ".join([*TEXT, *(TEXT[0] + packed for packed in PACKED), *PARQUET, *EXCEL])
    raise ValueError(f"{path}: unknown kind of file; known are {known} and .npz")


@contextmanager
def _readable(path, what="Parquet"):
    """Errors of pyarrow in words of ours; those that name what is wrong with the table pass."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path}: not a readable {what} file: {error}") from None


def open_parquet(path):
    """A dataset of pyarrow: one file, or those of a folder in the order of their names, all with the same columns."""
    pa = require_pyarrow(path)
    if not Path(path).exists():
        raise FileNotFoundError(f"{path}: no such file")
    with _readable(path):
        found = pa.dataset.dataset(path, format="parquet")
        if not found.schema.names:
            raise ValueError(f"{path}: the folder has no Parquet file, or files without columns")
        for fragment in found.get_fragments():
            lacking = set(found.schema.names) - set(fragment.physical_schema.names)
            if lacking:
                raise ValueError(f"{fragment.path}: no column {min(lacking)!r}, which the first file has")
        n_rows = found.count_rows()
    if not n_rows:
        raise ValueError(f"{path}: there are no rows")
    return found


def _sample(n_rows, n_samples, random_state):
    rng = check_random_state(random_state)
    return np.sort(sample_without_replacement(n_rows, n_samples, random_state=rng))


def _read_parquet(path, n_samples, random_state):
    found = open_parquet(path)
    n_rows = found.count_rows()
    if n_samples is None or n_samples >= n_rows:
        with _readable(path):
            return Source(path, found.to_table(), "row", list, n_rows)
    rows = _sample(n_rows, n_samples, random_state)
    with _readable(path):
        taken = []
        for first_row, piece in _row_groups(found):  # one in memory at a time; `found.take` reads many ahead
            own = rows[slice(*np.searchsorted(rows, [first_row, first_row + _n_rows(piece)]))]
            if len(own):
                taken.append(piece.to_table().take(own - first_row))
        table = require_pyarrow(path).concat_tables(taken)
    return Source(path, table, "row", lambda positions: [int(rows[k]) for k in positions], n_rows)


def _n_rows(piece):
    return sum(group.num_rows for group in piece.row_groups)


def _row_groups(found):
    """Number of the first row, and the fragment, of each row group that is not empty."""
    first_row = 0
    for fragment in found.get_fragments():
        for piece in fragment.split_by_row_group():
            if _n_rows(piece):
                yield first_row, piece
            first_row += _n_rows(piece)


def find_column(names, wanted, path, what="column"):
    """Position of a column, or something else, that is given by its name or its position."""
    if names.count(wanted) > 1:
        raise ValueError(f"{path}: {names.count(wanted)} {what}s are called {wanted!r}; give the position")
    if wanted in names:
        return names.index(wanted)
    digits = str(wanted)
    try:
        return range(len(names))[int(digits if digits.isascii() and "_" not in digits else "")]
    except (ValueError, IndexError):
        shown = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
        raise ValueError(f"{path}: no {what} {wanted!r}; there are {len(names)} {what}s: {shown}") from None


def _read_text(path, known, words, signs, encoding):
    pa = require_pyarrow(path)
    data, encoding = _utf8(path, encoding)
    if b"\0" in data:
        raise ValueError(f"{path}: line {_line(data, data.index(0))} holds a NUL byte: it is no text file")
    begin = data.rfind(b"\n", 0, _BLANK.match(data).end()) + 1
    head = data[: _sample_end(data, begin)]
    if not head.decode().strip():
        raise ValueError(f"{path}: the file is empty")
    skipped, delimiter = len(_lines(head[:begin])), None
    first = head[begin:].split(b"\n", 1)[0].strip(b"\r").decode()
    if first.lower().startswith("sep=") and len(first) <= 5:
        skipped, delimiter = skipped + 1, first[4:] or "\t"
    delimiter = delimiter or _delimiter(_lines(head)[skipped:])
    tail = data[-_SAMPLE:]
    last = tail.find(b"\n", len(tail.rstrip(f" \t\r\n{delimiter}".encode()))) + 1
    if 0 < last < len(tail):  # rows without content, which spreadsheets leave
        data = data[: last - len(tail)]
    rows = [(line, row) for line, row in _rows(head, delimiter, skipped) if any(row)]
    if not rows:
        raise ValueError(f"{path}: the file is empty")
    first = rows[0][1]
    names, has_header = _header(first, known, not any(_CELL_OF_NUMBER.fullmatch(cell.strip()) for cell in first))
    if has_header and len(rows) == 1:
        raise ValueError(f"{path}: there are no rows below the header")
    first_row = rows[has_header][0] - 1
    start = sum(map(len, head.splitlines(keepends=True)[:first_row]))  # quotes of the header alone cost nothing
    quoted, odd = data.find(b'"', start) >= 0, []
    if quoted and data.count(b'"', start) % 2:
        _check_quotes(path, _rows(data, delimiter, skipped, strict=True))

    def refuse(row):
        odd.append(row.actual_columns)
        return "skip"

    columns = list(map(str, range(len(names))))
    lacking = {cell for _, row in rows for cell in row if cell.lower() in words}
    firsts = [row for _, row in rows[has_header:][:_FIRST_ROWS]]
    numbers, sign = ((), "") if signs is None else _plain_numbers(firsts, signs(names), lacking)

    def parsed(numbers):
        odd.clear()
        try:
            return pa.csv.read_csv(
                pa.py_buffer(data),
                read_options=pa.csv.ReadOptions(
                    column_names=columns, skip_rows=first_row, block_size=_block(data, quoted)
                ),
                parse_options=pa.csv.ParseOptions(
                    delimiter=delimiter, newlines_in_values=quoted, invalid_row_handler=refuse, ignore_empty_lines=True
                ),
                convert_options=pa.csv.ConvertOptions(
                    column_types={name: pa.float64() if name in numbers else pa.string() for name in columns},
                    null_values=["", *lacking],
                    decimal_point=sign or ".",
                    check_utf8=False,
                ),
            )
        except pa.ArrowInvalid as error:
            if numbers:  # a later cell is none, perhaps
                return parsed(())
            _check_quotes(path, _rows(data, delimiter, skipped, strict=True))
            raise ValueError(f"{path}: not a readable table: {error}") from None

    table = parsed(numbers)
    if odd:
        _refuse_rows(path, list(_rows(data, delimiter, skipped)), len(names))
    if quoted and data.count(b"\n") > first_row + len(table):  # cells of several lines, or rows that one has swallowed
        _check_quotes(path, _rows(data, delimiter, skipped, strict=True))
    table = table.rename_columns(names)
    if not len(table):
        raise ValueError(f"{path}: there are no rows below the header")

    def places(positions):
        starts = [line for line, _ in _rows(data, delimiter, first_row)]
        return [starts[position] for position in positions]

    _refuse_second_header(path, table, places)
    kind = f", {encoding}, {_DELIMITERS.get(delimiter, repr(delimiter))} between cells"
    decimal = "," if delimiter == ";" else "."
    return Source(path, table, "line", places, len(table), kind, decimal, sign, delimiter, encoding)


def _plain_numbers(rows, signs, lacking):
    """Columns of numbers with one decimal sign in some of the first rows, and the sign: that of the most of them."""
    from ._cells import GROUPED

    found = {".": set(), ",": set()}
    for j, allowed in enumerate(signs):
        cells = {row[j] for row in rows if len(row) == len(signs)} - lacking - {""}
        for sign in allowed:
            fractions = [cell for cell in cells if sign in cell and not re.fullmatch(GROUPED[sign], cell)]
            if fractions and all(map(_PLAIN[sign].fullmatch, cells)):
                found[sign].add(str(j))
    sign = max(found, key=lambda sign: len(found[sign]))
    return found[sign], sign if found[sign] else ""


def _header(cells, known, is_header):
    """Names of the columns by the first row, and whether it holds them: if it has a known one, or looks like it."""
    header = [str(cell).strip() for cell in cells]
    if is_header or set(header) & set(known):
        return [name or f"column {k}" for k, name in enumerate(header, 1)], True
    return list(map(str, range(len(header)))), False


def _utf8(path, encoding):
    """The file as bytes of UTF-8, and its encoding: by its mark, UTF-16 by its zero bytes, UTF-8 or else cp1252."""
    packed = PACKED.get(path.suffix.lower())
    if packed:
        with _readable(path, packed):
            data = require_pyarrow(path).input_stream(path, compression=packed).read()
    else:
        data = path.read_bytes()
    if encoding is None:
        encoding = next((name for mark, name in _MARKS.items() if data.startswith(mark)), None)
        zeros = bytes(byte == 0 for byte in data[:4])
        encoding = encoding or {b"\0\1\0\1": "utf-16-le", b"\1\0\1\0": "utf-16-be"}.get(zeros, "utf-8")
        if encoding.startswith("utf-8") and _is_utf8(data):
            return data.removeprefix(codecs.BOM_UTF8), encoding
        if encoding == "utf-8":
            _refuse_damaged(path, data)
            encoding = "cp1252"
    try:
        return data.decode(encoding).removeprefix("\ufeff").encode(), encoding
    except (UnicodeError, LookupError) as error:
        raise ValueError(f"{path}: not text in the encoding {encoding}: {error}") from None


def _refuse_damaged(path, data):
    """Raise if most bytes beyond ASCII are of UTF-8: read as cp1252, every character of these would be wrong."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        n_wrong = data.decode(errors="replace").count("\ufffd")
        if 2 * n_wrong < np.count_nonzero(np.frombuffer(data, np.uint8) >= 0x80):
            raise ValueError(
                f"{path}: line {_line(data, error.start)} is not UTF-8 as the rest is: correct it, or name the "
                "encoding with --encoding"
            ) from None


def _is_utf8(data):
    """As `decode` finds out, without the copy of a large file."""
    pa = require_pyarrow("text")
    buffers = [None, pa.py_buffer(np.array([0, len(data)], np.int64)), pa.py_buffer(data)]
    try:
        pa.LargeBinaryArray.from_buffers(pa.large_binary(), 1, buffers).cast(pa.large_string())
    except pa.ArrowInvalid:
        return False
    return True


def _sample_end(data, begin):
    """End of the lines from `begin`: whole ones, `_SAMPLE` bytes of them but not fewer than a few."""
    end = begin - 1
    for _ in range(_SAMPLE_LINES):
        end = data.find(b"\n", end + 1)
        if end < 0:
            return len(data)
    return max(end, data.rfind(b"\n", begin, begin + _SAMPLE)) + 1


def _delimiter(lines):
    """The delimiter that most lines have equally often, the first one too, and of these the most frequent."""
    sample = "".join([line for line in lines if line.strip()][:50]).encode()

    def quality(delimiter):
        counts = [len(row) for _, row in _rows(sample, delimiter)]
        usual, n_lines = Counter(counts).most_common(1)[0]
        return (counts[0] == usual > 1, n_lines * (usual > 1), usual)

    return max(_DELIMITERS, key=quality)


def _rows(data, delimiter, skipped=0, strict=False):
    """Pairs of the line that a row begins in and its cells, as the standard library counts them."""
    reader, before = csv.reader(_lines(data)[skipped:], delimiter=delimiter, strict=strict), skipped
    limit = csv.field_size_limit(len(data) + 1)
    try:
        for row in reader:
            if row:
                yield before + 1, row
            before = skipped + reader.line_num
    finally:
        csv.field_size_limit(limit)


def _block(data, quoted):
    """Bytes at a time: all of a small file, whose rows may be longer than a block otherwise."""
    longest = max(data.find(b"\n"), 1)
    return min(max(1 << 19, 8 * longest, (1 << 24) * quoted), 1 << 30)


def _lines(data):
    """Lines that end as in files: `splitlines` knows further ends."""
    return list(io.StringIO(data.decode(), newline=""))


def _line(data, position):
    return data.count(b"\n", 0, position) + 1


def _check_quotes(path, rows):
    """Raise if a quote is opened and not closed, or closed within a cell."""
    last = 0
    try:
        for line, _ in rows:
            last = line
    except csv.Error as error:
        what = "never ends: close the quote"
        if "expected after" in str(error):
            what = "goes on behind the next quote: close the first one, or write quotes within cells twice"
        raise ValueError(f"{path}: a cell that begins with a quote in or after line {last + 1} {what}") from None


def _refuse_rows(path, rows, width):
    """Raise for rows that are longer or shorter than the first one."""
    usual = Counter(len(row) for _, row in rows).most_common(1)[0][0]
    odd = [(line, len(row)) for line, row in rows if len(row) != usual]
    if not odd or odd[0][0] == rows[0][0]:  # titles, or rows that end in one delimiter more than the header
        raise ValueError(
            f"{path}: the first row has a width of {width}, most others of {usual}: take out what stands above the "
            "header, or make the header as long as the rows"
        )
    named = ", ".join(f"line {line} has {found}" for line, found in odd[:_MOST_LINES])
    more = f" and {len(odd) - _MOST_LINES} more lines" if len(odd) > _MOST_LINES else ""
    raise ValueError(f"{path}: the first row has {usual} cells, but {named}{more}")


def _refuse_second_header(path, table, places):
    """Raise if a row repeats the names of the columns, as in files that were joined."""
    import pyarrow.compute as pc

    if table.schema.types[0] != "string":
        return
    rows = np.flatnonzero(pc.equal(pc.utf8_trim_whitespace(table.column(0)), table.schema.names[0]).to_numpy())
    again = [row for row in rows if [str(c[int(row)]).strip() for c in table.columns] == table.schema.names]
    if again:
        raise ValueError(f"{path}: line {places(again[:1])[0]} repeats the header: take it out")


def _read_excel(path, known, sheet):
    pa = require_pyarrow(path)
    name, worksheet = _worksheet(path, sheet)
    rows = enumerate(worksheet.to_python(), worksheet.start[0] + 1) if worksheet.height else ()
    numbered = [(number, row) for number, row in rows if any(cell != "" for cell in row)]
    if not numbered:
        raise ValueError(f"{path}: the sheet is empty")
    number, first = numbered[0]
    across = [left < right for (top, left), (_, right) in worksheet.merged_cell_ranges or () if top < number]
    if any(across) or len(first) > 1 and not any(cell != "" for cell in first[1:]):
        raise ValueError(
            f"{path}: row {number} does not name each column (merged cells, or a title): give all names in one row, "
            "and take out what stands above it"
        )
    header, has_header = _header(first, known, all(isinstance(cell, str) for cell in first))
    numbered = numbered[has_header:]
    if not numbered:
        raise ValueError(f"{path}: there are no rows below the header")
    columns = zip(*(row for _, row in numbered), strict=True)
    table = pa.Table.from_arrays([_from_cells(pa, column) for column in columns], names=header)
    places = [number for number, _ in numbered]
    return Source(path, table, "row", lambda rows: [places[k] for k in rows], len(table), f", sheet {name!r}")


def _worksheet(path, sheet):
    """Name and content of the sheet that is given by name or position, by default of the first visible one with cells;
    then a warning names the others."""
    try:
        import python_calamine as calamine
    except ImportError:
        raise ImportError(
            f'{path}: spreadsheets are read with python-calamine: pip install "spectralcls[tables]"'
        ) from None
    try:
        book = calamine.load_workbook(path)
        found = [one for one in book.sheets_metadata if one.typ == calamine.SheetTypeEnum.WorkSheet]
        if sheet is None:
            found = [one for one in found if one.visible == calamine.SheetVisibleEnum.Visible]
        sheets = {one.name: book.get_sheet_by_name(one.name) for one in found}
    except Exception as error:  # a parser's own errors, of many types
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
        warnings.warn(
            f"{path}: the sheet {name!r} is read, and not {listed}: name one with sheet= (--sheet)", stacklevel=6
        )
    return name, sheets[name]


def _from_cells(pa, cells):
    """A column of a spreadsheet: of one type, or of strings."""
    cells = [None if cell == "" else cell for cell in cells]
    types = Counter(type(cell) for cell in cells if cell is not None)
    if len(types) == 1 and not {str} & set(types):
        return pa.array(cells)
    texts = [str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell) for cell in cells]
    return pa.array([None if cell is None else text for cell, text in zip(cells, texts, strict=True)], pa.string())


def table_parts(
    path: FilePath,
    *,
    schema=None,
    encoding: str | None = None,
    sheet: str | int | None = None,
    as_written: bool = False,
) -> Iterator[tuple[int, Callable]]:
    """The parts of a file as they can be read one after the other: the row groups of Parquet, or the file as one.

    Parameters
    ----------
    path : path-like
        A text file, a Parquet file, or a folder of Parquet files.
    schema : Schema, default=None
        That of the table: a line of a text file that has the name of one of its columns is a header, and its numbers
        may be parsed as the file is read.
    encoding : str, default=None
        Of a text file; None finds it out.
    sheet : str or int, default=None
        Of a spreadsheet, by name or position; None takes the first one that has cells.
    as_written : bool, default=False
        Keep the cells of a text file as they are written, also numbers.

    Yields
    ------
    first_row : int
        Number of the part's first row.
    read : callable
        Returns the part for :meth:`Schema.encode`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from spectralcls.datasets import read_table, table_parts
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "sizes.csv")
    ...     _ = path.write_text("size\\n1\\n2\\n")
    ...     schema = read_table(path).schema
    ...     parts = table_parts(path, schema=schema)
    ...     [(first_row, schema.encode(read()).tolist()) for first_row, read in parts]
    [(0, [[1.0], [2.0]])]
    """
    path = as_path(path)
    if path.suffix.lower() not in PARQUET and not path.is_dir():
        rules = {} if schema is None else {"known": [column.name for column in schema.columns], "words": schema.words}
        signs = None if schema is None or as_written else schema.signs
        yield 0, lambda: read_source(path, **rules, signs=signs, encoding=encoding, sheet=sheet)
        return
    for first_row, piece in _row_groups(open_parquet(path)):
        yield first_row, partial(_read_piece, path, piece, first_row)


def _read_piece(path, piece, first_row):
    with _readable(path):
        table = piece.to_table()
    return Source(path, table, "row", lambda rows: [first_row + row for row in rows], len(table))
