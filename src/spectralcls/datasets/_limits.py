"""Files that would take far more memory than their size suggests, refused before a library reads them.

The libraries take memory for what a file declares: the rectangle around all cells of a sheet, the rows of a Parquet
file, the unpacked bytes of an archive. A blank in the last cell of a sheet, in a file of 5 kB, is 550 GB.
"""

import re
import struct
import zipfile
import zlib
from functools import cache
from pathlib import Path

SMALL, RATIO = 2**29, 200  # bytes that any file may unpack to, or times its size
_SMALL_AREA, _AREA_RATIO = 4_000_000, 20  # cells of a rectangle around any cells, or times their number
_LARGEST_AREA = 200_000_000
_BLOCK = 1 << 20
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_XLSX = re.compile(rb"""<(?:\w+:)?c\s(?:[^>]*?\s)?r=["']([A-Za-z]{1,7})(\d{1,9})["'][^>]*(?<!/)>""")
_ODS = re.compile(rb"<table:(table-row|table-cell|covered-table-cell|table)\b([^>]*)>")
_REPEATED = re.compile(rb"""number-(?:rows|columns)-repeated=["'](\d{1,9})""")
_CELLS = (0x0006, 0x00BD, 0x00D6, 0x00FD, 0x0203, 0x0204, 0x0205, 0x027E)  # records that hold a cell
_END = 0xFFFFFFFA  # from here on, numbers of sectors have other meanings


def limit(n_bytes):
    """Largest number of bytes that a file of `n_bytes` may unpack to."""
    return max(SMALL, RATIO * n_bytes)


def refuse(path, n_bytes):
    """Raise for a file that holds more than `limit`."""
    raise ValueError(
        f"{path}: has {n_bytes / 2**20:.3g} MB, but needs more than {limit(n_bytes) / 2**20:.3g} MB of memory: if you "
        "trust it, unpack it, or read it with another library and pass the table as a data frame"
    )


def check_parquet(path, n_values):
    """Raise for a Parquet file that declares more numbers than its size can hold."""
    n_bytes = Path(path).stat().st_size
    if 8 * n_values > limit(n_bytes):
        refuse(path, n_bytes)


def check_sheets(path):
    """Raise for a spreadsheet with a cell far from all others, or that unpacks to very much."""
    with path.open("rb") as file:
        head = file.read(8)
    try:
        if head[:2] == b"PK":
            _check_archive(path)
        elif head == _OLE:
            _check_records(path, _Compound(path.read_bytes()).workbook())
    except (zipfile.BadZipFile, zlib.error, struct.error, LookupError, EOFError, RuntimeError) as error:
        raise ValueError(f"{path}: not a readable spreadsheet: {error}") from None


class _Extent:
    """The rectangle around the cells of a sheet that hold something; `weight` is how many cells one may stand for."""

    def __init__(self, path, sheet, weight=1):
        self.path, self.sheet, self.weight, self.n = path, sheet, weight, 0
        self.first, self.last, self.names = [2**32] * 2, [-1] * 2, [None, None]
        self.row, self.column, self.n_rows = 0, 0, 0  # of the next cell, for formats that count

    def add(self, cells):
        """Add a list of cells (row, column), counted from 0."""
        self.n += len(cells)
        for axis in range(2) if cells else ():
            far = max(cells, key=lambda cell: cell[axis])
            self.first[axis] = min(self.first[axis], min(cells, key=lambda cell: cell[axis])[axis])
            if far[axis] > self.last[axis]:
                self.last[axis], self.names[axis] = far[axis], _name(*far)

    def check(self):
        rows, columns = (last - first + 1 for first, last in zip(self.first, self.last, strict=True))
        allowed = min(max(_SMALL_AREA, _AREA_RATIO * self.weight * self.n), _LARGEST_AREA)
        if self.n and rows * columns > allowed:
            far = " and ".join(dict.fromkeys(reversed(self.names)))
            raise ValueError(
                f"{self.path}: cells as far as {far} of {self.sheet} make it a table of {rows} x {columns}: delete "
                "what lies far from the table (a blank counts), or save the table alone"
            )


def _name(row, column):
    """The name of a cell in a spreadsheet."""
    letters, column = "", column + 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return f"{letters}{row + 1}"


def _check_archive(path):
    n_bytes, n_read = path.stat().st_size, 0
    with zipfile.ZipFile(path) as archive:
        for part in archive.infolist():
            part.file_size = 2**62  # not believed: the part is read to its end
            name, suffix = Path(part.filename).stem, Path(part.filename).suffix
            count = {".xml": _count_ods if name == "content" else _count_xlsx, ".bin": _count_xlsb}.get(suffix)
            extent = _Extent(path, name)
            tail = b""
            with archive.open(part) as stream:
                while block := stream.read(_BLOCK):
                    n_read += len(block)
                    if n_read > limit(n_bytes):
                        refuse(path, n_bytes)
                    if count:
                        tail = count(extent, tail + block)
            extent.check()


def _count_xlsx(extent, data):
    """Add the cells of a piece of XML that hold something; returns what follows the last whole tag."""
    end = max(data.rfind(b"<"), 0)
    extent.add([(int(row) - 1, _column(letters)) for letters, row in _XLSX.findall(data, 0, end)])
    return data[end:]


@cache
def _column(letters):
    """The number of a column of a spreadsheet."""
    return sum(26**place * (letter - 64) for place, letter in enumerate(reversed(letters.upper()))) - 1


def _count_ods(extent, data):
    """The same for XML of OpenDocument, where rows and cells may be repeated."""
    end, cells = max(data.rfind(b"<"), 0), []
    for tag, rest in _ODS.findall(data, 0, end):
        repeated = _REPEATED.search(rest)
        n = int(repeated[1]) if repeated else 1
        if tag == b"table-row":
            extent.row, extent.column, extent.n_rows = extent.row + extent.n_rows, 0, n
        elif tag == b"table":
            extent.add(cells)
            extent.check()
            extent.__init__(extent.path, "the sheet", weight=10)
            cells = []
        else:
            if not rest.endswith(b"/") or b"office:value" in rest or b"table:formula" in rest:
                cells.append((extent.row, extent.column))
                if n > 1 or extent.n_rows > 1:
                    cells.append((extent.row + extent.n_rows - 1, extent.column + n - 1))
            extent.column += n
    extent.add(cells)
    return data[end:]


def _count_xlsb(extent, data):
    """The same for the records of a binary sheet."""
    place, cells = 0, []
    while True:
        start, head = place, data[place : place + 6]
        width = 2 if head[:1] >= b"\x80" else 1
        kind = sum((byte & 127) << 7 * k for k, byte in enumerate(head[:width]))
        size = shift = 0
        for byte in head[width:]:
            width, size, shift = width + 1, size | (byte & 127) << shift, shift + 7
            if byte < 128 or shift == 28:
                break
        place += width + size
        if shift == 0 or place > len(data):
            break
        if kind <= 11 and kind != 1 and size >= 4:  # a row, or a cell that is not blank
            (number,) = struct.unpack_from("<I", data, start + width)
            if kind:
                cells.append((extent.row, number))
            else:
                extent.row = number
    extent.add(cells)
    return data[start:]


class _Compound:
    """A compound file, in which older programs store a workbook: sectors, which a table links to chains."""

    def __init__(self, data):
        self.data, self.size = data, 1 << struct.unpack_from("<H", data, 30)[0]
        if self.size not in (512, 4096):
            raise ValueError("sectors of an unknown size")
        blocks, following = [*struct.unpack_from("<109I", data, 76)], struct.unpack_from("<I", data, 68)[0]
        while following < _END and len(blocks) < len(data):
            *more, following = self._numbers(self._sector(following))
            blocks += more
        self.links = [link for block in blocks if block < _END for link in self._numbers(self._sector(block))]

    def _sector(self, number):
        return self.data[(number + 1) * self.size : (number + 2) * self.size]

    def _numbers(self, data):
        return struct.unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4])

    def _chain(self, number, links, sector):
        parts = []
        while number < _END:
            if len(parts) > len(links):
                raise IndexError("sectors without an end")
            parts.append(sector(number))
            number = links[number]
        return b"".join(parts)

    def workbook(self):
        """The stream with the cells."""
        start, minor = (struct.unpack_from("<I", self.data, place)[0] for place in (48, 60))
        folder = self._chain(start, self.links, self._sector)
        entries = [folder[place : place + 128] for place in range(0, len(folder), 128)]
        named = {entry[:64].decode("utf-16-le", "replace").split("\0")[0]: entry for entry in entries}
        entry = named.get("Workbook") or named["Book"]
        start, size = struct.unpack_from("<II", entry, 116)
        if size >= 4096:
            return self._chain(start, self.links, self._sector)[:size]
        small = self._chain(struct.unpack_from("<I", entries[0], 116)[0], self.links, self._sector)
        links = self._numbers(self._chain(minor, self.links, self._sector))
        return self._chain(start, links, lambda number: small[64 * number : 64 * number + 64])[:size]


def _check_records(path, data):
    """Check the sheets in the records of an old workbook."""
    cells, place, sheet = [], 0, 0
    while place + 4 <= len(data):
        kind, size = struct.unpack_from("<HH", data, place)
        if kind in _CELLS and size >= 4:
            cells.append(struct.unpack_from("<HH", data, place + 4))
            if kind == 0x00BD:  # several numbers in a row
                cells.append((cells[-1][0], struct.unpack_from("<H", data, place + 2 + size)[0]))
        elif kind == 0x0200 and size >= 12:  # the rectangle that the sheet declares
            row, end, column, right = struct.unpack_from("<IIHH", data, place + 4)
            if not (row <= end <= 2**16 and column <= right <= 2**8):
                raise ValueError(f"{path}: not a readable spreadsheet: it declares {end} rows and {right} columns")
        elif kind == 0x0809:  # the next sheet
            _checked(path, sheet, cells)
            cells, sheet = [], sheet + 1
        place += 4 + size
    _checked(path, sheet, cells)


def _checked(path, sheet, cells):
    extent = _Extent(path, f"sheet {sheet}")
    extent.add(cells)
    extent.check()
