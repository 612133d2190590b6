"""Text files of any dialect as tables of strings and plain numbers."""

import codecs
import csv
import io
import re
import sys
import zipfile
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .._utils.advice import tell
from ._header import find_header
from ._limits import limit, refuse
from ._source import HTML, UNKNOWN, Source, content_of, readable, require_pyarrow

TEXT = (".csv", ".tsv", ".tab", ".txt", ".data", ".dat", ".psv", ".prn")
COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
STANDARD_INPUT = Path("-")

_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "blanks"}
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_FALLBACK = "cp1252"
_SAMPLE, _SAMPLE_LINES = 1 << 18, 5  # bytes, and least number of lines, used to find the dialect and header
_BLANK = re.compile(rb"[ \t\r\n]*")
_PLAIN = re.compile(r"-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?", re.ASCII)
_MOST_LINES = 5


class Cut(NamedTuple):
    """The dialect of a text file: how lines are split into cells."""

    delimiter: str  # a blank means any run of blanks and tabs
    skipped: int = 0  # lines before the header
    quote: str = '"'
    escape: bool = False  # whether a backslash escapes a quote within a cell
    blanks: bool = False  # whether blanks follow delimiters
    comment: str | None = None

    def rows(self, lines, strict=False, empty=False):
        """Yield the number of each row's first line, as the standard library counts lines, and the row's cells.

        With `empty`, an empty line is a row of one empty cell.
        """
        lines = lines[self.skipped :]
        if self.comment:
            lines = ["\n" if line.startswith(self.comment) else line for line in lines]
        if self.delimiter == " ":
            lines = [f"{' '.join(line.split(chr(9))).strip()}\n" for line in lines]
        reader = csv.reader(
            lines,
            delimiter=self.delimiter,
            quotechar=self.quote,
            escapechar="\\" if self.escape else None,
            skipinitialspace=self.blanks or self.delimiter == " ",
            strict=strict,
        )
        before, limit = self.skipped, csv.field_size_limit(sum(map(len, lines)) + 1)
        try:
            for row in reader:
                if row or empty:
                    yield before + 1, row or [""]
                before = self.skipped + reader.line_num
        finally:
            csv.field_size_limit(limit)


def read_text(path, dialect=UNKNOWN, *, known=(), schema=None, words=()):
    """Read a text file; see `read_source` for the arguments."""
    data, encoding = _utf8(path, dialect.encoding)
    if b"\0" in data:
        raise ValueError(f"{path}: line {_line(data, data.index(0))} holds a NUL byte: it is not a text file")
    begin = data.rfind(b"\n", 0, _BLANK.match(data).end()) + 1
    head = data[: _sample_end(data, begin)]
    if not head.decode().strip():
        raise ValueError(f"{path}: the file is empty")
    skipped = len(_lines(head[:begin])) if dialect.skip is None else dialect.skip
    cut = _cut(_lines(head), skipped, dialect, data)
    if schema is None:
        data = _without_last_rows(data, cut.delimiter)
    lines = _lines(head)
    rows = [row for row in cut.rows(lines) if any(row[1])]
    if not rows:
        raise ValueError(f"{path}: the file is empty")
    empty = max(len(row) for _, row in rows) == 1
    header = find_header(path, rows, dialect.header, known, schema, words)
    if header.first == len(rows):
        raise ValueError(f"{path}: there are no rows below the header")
    if schema is not None and header.position < 0 and cut.skipped == len(_lines(head[:begin])):
        cut = cut._replace(skipped=0)  # in a single column, blank lines above are rows
    names = header.names + ["" for _ in range(header.trailing)]
    above = rows[header.position][0] if header.position >= 0 else cut.skipped
    first_line = next(line for line, _ in cut.rows(lines, empty=empty) if line > above) - 1
    if header.first > 0 and header.position < 0:  # below a title
        first_line = rows[header.first][0] - 1
    below = cut._replace(skipped=first_line)
    table = _parsed(path, data, cut, below, len(names))
    if table is None:
        table = _cut_table(path, below, data, len(names))
    if header.trailing and not _is_empty(table.column(len(names) - 1)):
        _refuse_rows(path, list(below.rows(_lines(data))), len(header.names))
    if schema is None and header.position < 0 and len(names) > 2 and _is_empty(table.column(len(names) - 1)):
        header = header._replace(names=header.names[:-1])  # an extra delimiter in each row, not a column
    table = table.select(range(len(header.names)))
    table = table.rename_columns(header.names)
    if not len(table):
        raise ValueError(f"{path}: there are no rows below the header")

    def places(positions):
        starts = [line for line, _ in below.rows(_lines(data), empty=empty)]
        return [starts[position] for position in positions]

    if header.position >= 0:
        _refuse_second_header(path, table, places)
    kind = f", {encoding}, {_DELIMITERS.get(cut.delimiter, repr(cut.delimiter))} between cells"
    return Source(
        path,
        table,
        "line",
        places,
        len(table),
        kind,
        delimiter=cut.delimiter,
        encoding=encoding,
        header=rows[header.position][0] if header.position >= 0 else 0,
        width=len(header.names),
    )


def _without_last_rows(data, delimiter):
    """Remove the empty rows that spreadsheet programs leave at the end of a file."""
    tail = data[-_SAMPLE:]
    last = tail.find(b"\n", len(tail.rstrip(f" \t\r\n{delimiter}".encode()))) + 1
    return data[: last - len(tail)] if 0 < last < len(tail) else data


def _cut(lines, skipped, dialect, data):
    """Find the dialect of a file from its first lines and the user's options."""
    first = lines[skipped].strip("\r\n") if skipped < len(lines) else ""
    delimiter = dialect.delimiter
    if first.lower().startswith("sep=") and len(first) <= 5:
        skipped, delimiter = skipped + 1, delimiter or first[4:] or "\t"
    comment = dialect.comment
    skipped += _n_comments(lines[skipped:])
    sample = [line for line in lines[skipped:] if line.strip() and not (comment and line.startswith(comment))][:50]
    single = not any('"' in line for line in sample) and sum(line.count("'") for line in sample) >= len(sample)
    ways = []
    for one in [delimiter] if delimiter else list(_DELIMITERS):
        for quote in "\"'" if single and one != " " else '"':
            ways.append(Cut(one, 0, quote))
    cut = max(ways, key=lambda way: _quality(way, sample)) if len(ways) > 1 else ways[0]
    if cut.delimiter == "\t" and not delimiter and _are_numbers_apart(sample):  # e.g. a tab only before the last cell
        cut = Cut(" ")
    cut = cut._replace(skipped=skipped, comment=comment)
    if cut.delimiter != " ":
        after = re.escape(cut.delimiter) + " +" + cut.quote
        if any(re.search(after, line) for line in sample):
            cut = cut._replace(blanks=True)
    if b"\\" in data and f"\\{cut.quote}".encode() in data:
        whole = _lines(data)
        if not _is_strict(cut, whole) and _is_strict(cut._replace(escape=True), whole):
            cut = cut._replace(escape=True)
    return cut


def _n_comments(lines):
    """Number of leading lines that begin with #, not counting the last one if it names the columns below."""
    n = next((k for k, line in enumerate(lines) if not line.startswith("#")), 0)
    if not n:
        return 0
    ways = [Cut(delimiter) for delimiter in _DELIMITERS]
    last, below = lines[n - 1], lines[n : n + _SAMPLE_LINES]
    widths = [(len(next(way.rows([last]))[1]), {len(row) for _, row in way.rows(below)}) for way in ways]
    return n - any(width > 1 and found == {width} for width, found in widths)


def _is_strict(cut, lines):
    try:
        for _ in cut.rows(lines, strict=True):
            pass
    except csv.Error:
        return False
    return True


def _quality(cut, sample):
    """Quality of a split, a tuple to compare: whether the first line has the most common number of cells, how many
    lines have it, that number minus one, and whether single quotes are used.

    Blanks separate cells only if all lines (the first may lack one cell) have equally many cells, some of which are
    numbers. Single quotes must enclose whole cells.
    """
    rows = [row for _, row in cut.rows(sample)]
    counts = list(map(len, rows))
    if not counts or cut.delimiter == "," and _is_one_column(sample):
        return (-1,)
    usual, n_lines = Counter(counts).most_common(1)[0]
    if cut.delimiter == " ":
        numbers = [any(_PLAIN.fullmatch(row[j]) for row in rows if len(row) > j) for j in range(usual)]
        if usual < 2 or not any(numbers) or any(n != usual for n in counts[1:]) or usual - counts[0] not in (0, 1):
            return (False, 0, 0, 0)
        return (False, 1, 0, 0)
    quoted = cut.quote == "'" and not any("'" in cell for row in rows for cell in row)
    if cut.quote == "'" and not quoted:
        return (False, 0, 0, 0)
    return (counts[0] == usual > 1, n_lines * (usual > 1), usual - 1, quoted)


def _is_one_column(sample):
    """Whether the lines are a name above numbers with decimal commas."""
    below = [line.strip() for line in sample[1:]]
    return "," not in sample[0] and bool(below) and all(re.fullmatch(r"[+-]?\d+(,\d+)?", line) for line in below)


def _are_numbers_apart(sample):
    """Whether blanks and tabs split all lines into equally many cells, more than twice as many as tabs alone, and at
    least half of the cells are numbers.
    """
    rows = [row for _, row in Cut(" ").rows(sample)]
    numbers = sum(bool(_PLAIN.fullmatch(cell)) for row in rows for cell in row)
    n_tabs = max(line.strip().count("\t") for line in sample)
    return len(set(map(len, rows))) == 1 and len(rows[0]) > 2 * n_tabs + 2 and 2 * numbers >= sum(map(len, rows))


def _parsed(path, data, cut, below, width):
    """Split the rows with pyarrow; None if this is not possible or may be wrong."""
    if cut.delimiter == " " or cut.blanks or cut.comment and f"\n{cut.comment}".encode() in data:
        return None
    pa = require_pyarrow(path)
    start = sum(map(len, data[: _sample_end(data, 0)].splitlines(keepends=True)[: below.skipped]))
    quote = cut.quote.encode()
    quoted, names = data.find(quote, start) >= 0, list(map(str, range(width)))  # ignores quotes in the header
    if quoted and not cut.escape and data.count(quote, start) % 2:
        return None
    # a row must fit into a block
    block = min(max(1 << 19, 8 * max(data.find(b"\n"), 1), (1 << 24) * quoted), 1 << 30)
    try:
        table = pa.csv.read_csv(
            pa.py_buffer(data),
            read_options=pa.csv.ReadOptions(column_names=names, skip_rows=below.skipped, block_size=block),
            parse_options=pa.csv.ParseOptions(
                delimiter=cut.delimiter,
                quote_char=cut.quote,
                escape_char="\\" if cut.escape else False,
                newlines_in_values=quoted,
                ignore_empty_lines=width > 1,
            ),
            convert_options=pa.csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), check_utf8=False),
        )
    except pa.ArrowInvalid:
        return None
    # otherwise cells with several lines, or rows within quotes that were left open
    return None if quoted and data.count(b"\n") > below.skipped + len(table) else table


def _cut_table(path, below, data, width):
    """Split the rows with the standard library.

    Raises
    ------
    ValueError
        If rows have different numbers of cells, or a quote is not closed.
    """
    pa = require_pyarrow(path)
    lines, last = _lines(data), below.skipped
    try:
        for line, _ in below.rows(lines, strict=True):
            last = line
    except csv.Error as error:
        what = "never ends: close the quote"
        if "expected after" in str(error):
            what = "continues after the next quote: close the first one, or double quotes within cells"
        raise ValueError(f"{path}: a cell that begins with a quote in or after line {last + 1} {what}") from None
    rows = list(below.rows(lines, empty=width == 1))
    if any(len(row) != width for _, row in rows):
        _refuse_rows(path, rows, width)
    columns = zip(*(row for _, row in rows), strict=True)
    return pa.table([pa.array(column, pa.string()) for column in columns], names=list(map(str, range(width))))


def _is_empty(column):
    import pyarrow.compute as pc

    return pc.all(pc.equal(pc.utf8_trim_whitespace(column), "")).as_py() is not False


def _content(path):
    """The decompressed bytes of a file, or the bytes of the standard input."""
    compression = COMPRESSED.get(path.suffix.lower())
    if path == STANDARD_INPUT:
        return sys.stdin.buffer.read()
    if not compression and path.suffix.lower() != ".zip":
        return path.read_bytes()
    n_bytes = path.stat().st_size
    with ExitStack() as opened:
        if compression:
            opened.enter_context(readable(path, compression))
            stream = require_pyarrow(path).input_stream(path, compression=compression)
        else:
            opened.enter_context(readable(path, "zip"))
            archive = opened.enter_context(zipfile.ZipFile(path))
            (name,) = zipped(archive)
            stream = opened.enter_context(archive.open(name))
        data = stream.read(limit(n_bytes) + 1)
    if len(data) > limit(n_bytes):
        refuse(path, n_bytes)
    return data


def zipped(archive):
    """Names of the files in a zip archive, without those that macOS adds."""
    return [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX/")]


def _utf8(path, encoding):
    """The file as UTF-8 bytes, and its encoding. If the encoding is not given, it is found from the byte order mark or
    the zero bytes of UTF-16, and is otherwise UTF-8 or cp1252.
    """
    data = _content(path)
    found = content_of(data)
    if found not in ("text", HTML):
        raise ValueError(f"{path}: is {found}, not text: rename it accordingly")
    guessed = False
    if b"\x1a" in data[-10:]:  # DOS's end-of-file character
        data = data.rstrip(b"\x1a\r\n") + b"\n"
    if encoding is None:
        encoding = next((name for mark, name in _MARKS.items() if data.startswith(mark)), None)
        zeros = bytes(byte == 0 for byte in data[:4])
        encoding = encoding or {b"\0\1\0\1": "utf-16-le", b"\1\0\1\0": "utf-16-be"}.get(zeros, "utf-8")
        if encoding.startswith("utf-8") and _is_utf8(data):
            return data.removeprefix(codecs.BOM_UTF8), encoding
        if encoding == "utf-8":
            _refuse_damaged(path, data)
            encoding, guessed = _FALLBACK, True
    try:
        text = data.decode(encoding).removeprefix("\ufeff")
    except (UnicodeError, LookupError) as error:
        if guessed:
            raise ValueError(
                f"{path}: the text is neither in UTF-8 nor in {_FALLBACK}: name its encoding with encoding= "
                "(--encoding), e.g. cp1251, gb18030 or shift_jis"
            ) from None
        raise ValueError(f"{path}: not text in the encoding {encoding}: {error}") from None
    if guessed:
        odd = next(line for line in text.splitlines() if not line.isascii()).strip()
        position = next(k for k, character in enumerate(odd) if not character.isascii())
        tell(
            f"{path}: is not UTF-8, and is read as {_FALLBACK}, which is a guess: is "
            f"{odd[max(position - 10, 0) :][:30]!r} right? If not, name the encoding with encoding= (--encoding)",
        )
    return text.encode(), encoding


def _refuse_damaged(path, data):
    """Raise if most non-ASCII bytes are valid UTF-8, which cp1252 would decode wrongly."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        n_wrong = data.decode(errors="replace").count("\ufffd")
        if 2 * n_wrong < np.count_nonzero(np.frombuffer(data, np.uint8) >= 0x80):
            raise ValueError(
                f"{path}: line {_line(data, error.start)} is not UTF-8, unlike the rest: correct it, or name the "
                "encoding with --encoding"
            ) from None


def _is_utf8(data):
    """Whether bytes are valid UTF-8; a large file is not copied."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data) + 1, _SAMPLE):
            decoder.decode(data[start : start + _SAMPLE], final=start + _SAMPLE > len(data))
    except UnicodeDecodeError:
        return False
    return True


def _sample_end(data, begin):
    """End of the sample of whole lines from `begin`: `_SAMPLE` bytes, but at least a few lines."""
    end = begin - 1
    for _ in range(_SAMPLE_LINES):
        end = data.find(b"\n", end + 1)
        if end < 0:
            return len(data)
    return max(end, data.rfind(b"\n", begin, begin + _SAMPLE)) + 1


def _lines(data):
    """Lines with their line ends; `splitlines` would also split at other characters."""
    return list(io.StringIO(data.decode(), newline=""))


def _line(data, position):
    return data.count(b"\n", 0, position) + 1


def _refuse_rows(path, rows, width):
    """Raise for rows below the header that are longer or shorter than the first row, which has `width` cells."""
    usual = Counter(len(row) for _, row in rows).most_common(1)[0][0]
    if usual != width:
        raise ValueError(
            f"{path}: the first row has {width} cells, most others have {usual}: remove the lines above the header, or "
            "make the header as long as the rows"
        )
    odd = [(line, len(row)) for line, row in rows if len(row) != usual]
    named = ", ".join(f"line {line} has {found}" for line, found in odd[:_MOST_LINES])
    more = f" and {len(odd) - _MOST_LINES} more lines" if len(odd) > _MOST_LINES else ""
    raise ValueError(f"{path}: the first row has {usual} cells, but {named}{more}")


def _refuse_second_header(path, table, places):
    """Raise if a row repeats the names of the columns, as in concatenated files."""
    import pyarrow.compute as pc

    rows = np.flatnonzero(pc.equal(pc.utf8_trim_whitespace(table.column(0)), table.schema.names[0]).to_numpy())
    again = [row for row in rows if [str(c[int(row)]).strip() for c in table.columns] == table.schema.names]
    if again:
        raise ValueError(f"{path}: line {places(again[:1])[0]} repeats the header: remove it")
