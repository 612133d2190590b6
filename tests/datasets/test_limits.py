"""A small file that asks for very much memory is refused in one sentence, whatever its kind, and no process ends."""

import bz2
import gzip
import struct
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from spectralcls.datasets import _limits, read_table

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("python_calamine")

ROWS = [(round(np.cos(k), 3), round(np.sin(7 * k), 3), k % 2) for k in range(30)]


def archive(path, parts):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, part in parts.items():
            file.writestr(name, part)


def cells(far=None):
    """Rows of numbers as cells (row, column, value), counted from 0, and one elsewhere."""
    found = [(row, column, value) for row, values in enumerate(ROWS) for column, value in enumerate(values)]
    return found + ([(*far, 1.0)] if far else [])


def xlsx(path, far=None, attributes="", closing="<v>1</v></c>"):
    """A workbook by hand, because the library that would write it takes a while for far cells."""
    rows = [
        f'<row r="{row + 1}"><c r="{_limits._name(row, column)}"><v>{value}</v></c></row>'
        for row, column, value in cells()
    ]
    if far:
        rows.append(f'<row r="{far[0] + 1}"><c {attributes} r="{_limits._name(*far)}"{closing}</row>')
    main, kind = "http://schemas.openxmlformats.org", "application/vnd.openxmlformats-officedocument.spreadsheetml"
    spread, links = f"{main}/spreadsheetml/2006/main", f"{main}/officeDocument/2006/relationships"
    part = f'<Relationships xmlns="{main}/package/2006/relationships"><Relationship Id="r1" Type="{links}/'
    archive(
        path,
        {
            "[Content_Types].xml": f'<Types xmlns="{main}/package/2006/content-types">'
            f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/></Types>',
            "_rels/.rels": f'{part}officeDocument" Target="xl/workbook.xml"/></Relationships>',
            "xl/_rels/workbook.xml.rels": f'{part}worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
            "xl/workbook.xml": f'<workbook xmlns="{spread}" xmlns:r="{links}"><sheets>'
            '<sheet name="s" sheetId="1" r:id="r1"/></sheets></workbook>',
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{spread}"><sheetData>{"".join(rows)}</sheetData>'
            "</worksheet>",
        },
    )


def ods(path, row_repeats=1, column_repeats=1, n=1, value='office:value-type="float" office:value="1"'):
    """A sheet whose last `n` rows are repeated, and have one cell that is."""
    body = [
        "<table:table-row>"
        + "".join(f'<table:table-cell office:value-type="float" office:value="{value}"/>' for value in values)
        + "</table:table-row>"
        for values in ROWS
    ]
    body += [
        f'<table:table-row table:number-rows-repeated="{row_repeats}">'
        f'<table:table-cell table:number-columns-repeated="{column_repeats}" {value}/></table:table-row>'
    ] * n
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table")
    )
    content = (
        f"<office:document-content {spaces}><office:body><office:spreadsheet>"
        f'<table:table table:name="s">{"".join(body)}</table:table></office:spreadsheet></office:body>'
        "</office:document-content>"
    )
    kind, manifest = (
        "application/vnd.oasis.opendocument.spreadsheet",
        "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0",
    )
    archive(
        path,
        {
            "mimetype": kind,
            "META-INF/manifest.xml": f'<manifest:manifest xmlns:manifest="{manifest}"/>',
            "content.xml": content,
        },
    )


def xlsb(path, far=None):
    """A workbook of binary parts: records of a kind, a size and data."""

    def record(kind, data=b""):
        kind = bytes([kind]) if kind < 128 else bytes([kind & 127 | 128, kind >> 7])
        return kind + bytes([len(data)]) + data

    def text(value):
        return struct.pack("<I", len(value)) + value.encode("utf-16-le")

    main = "http://schemas.openxmlformats.org"
    part = f'<Relationships xmlns="{main}/package/2006/relationships"><Relationship Id="r1" Type="x" Target="'
    body = record(0x0081) + record(0x0094, struct.pack("<IIII", 0, 30, 0, 2)) + record(0x0091)
    for row, column, value in cells(far):
        body += record(0, struct.pack("<I", row)) + record(5, struct.pack("<IId", column, 0, value))
    archive(
        path,
        {
            "[Content_Types].xml": "<Types/>",
            "xl/_rels/workbook.bin.rels": f'{part}worksheets/sheet1.bin"/></Relationships>',
            "xl/workbook.bin": record(0x008F)
            + record(0x009C, struct.pack("<II", 0, 1) + text("r1") + text("s"))
            + record(0x0090)
            + record(0x0084),
            "xl/worksheets/sheet1.bin": body + record(0x0092) + record(0x0082),
        },
    )


def records(found, declared=(0, 31, 0, 3)):
    """A workbook of the old format: the stream of its records."""

    def record(kind, data=b""):
        return struct.pack("<HH", kind, len(data)) + data

    globals_ = record(0x0809, struct.pack("<HHHHII", 0x0600, 5, 0, 0, 0, 0))
    sheet = record(0x0809, struct.pack("<HHHHII", 0x0600, 0x10, 0, 0, 0, 0))
    sheet += record(0x0200, struct.pack("<IIHHH", *declared, 0))
    sheet += b"".join(record(0x0203, struct.pack("<HHHd", row, column, 0, value)) for row, column, value in found)
    place = len(globals_) + 4 + 9 + 4
    return (
        globals_
        + record(0x0085, struct.pack("<IBBBB", place, 0, 0, 1, 0) + b"s")
        + record(0x000A)
        + sheet
        + record(0x000A)
    )


def xls(path, stream):
    """A compound file with one stream: the header, a table of links, a folder, and the stream in sectors."""
    stream = stream.ljust(4096, b"\0") if len(stream) < 4096 else stream
    n = -(-len(stream) // 512)
    links = [0xFFFFFFFD, 0xFFFFFFFE, *range(3, n + 2), 0xFFFFFFFE]

    def entry(name, kind, start, size, child=0xFFFFFFFF):
        name = name.encode("utf-16-le") + b"\0\0"
        none = 0xFFFFFFFF
        return name.ljust(64, b"\0") + struct.pack(
            "<HBBIII36xIII", len(name), kind, 1, none, none, child, start, size, 0
        )

    folder = entry("Root Entry", 5, 0xFFFFFFFE, 0, 1) + entry("Workbook", 2, 2, len(stream)) + bytes(256)
    header = (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
        + bytes(16)
        + struct.pack("<HHHHH6xIIIIIIIII", 62, 3, 0xFFFE, 9, 6, *[0, 1, 1, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0])
    )
    header += struct.pack("<109I", 0, *[0xFFFFFFFF] * 108)
    table = struct.pack(f"<{len(links)}I", *links).ljust(512, b"\xff")
    assert len(header) == 512 and len(table) == 512
    path.write_bytes(header + table + folder + stream.ljust(512 * n, b"\0"))


def read(path):
    return read_table(path, target=-1).data.shape


def damaged(seed, n):
    """Read `n` sheets with other bytes, as far as they can be read: they may fail by a ValueError only."""
    random = Random(seed)
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(n):
            write = random.choice([xlsx, xlsb, ods, xls])
            path = Path(folder) / f"a.{write.__name__}"
            write(path, records(cells())) if write is xls else write(path)
            content = path.read_bytes()
            if write is xls or random.random() < 0.3:
                path.write_bytes(changed(random, content))
            else:
                with zipfile.ZipFile(path) as file:
                    parts = {name: file.read(name) for name in file.namelist()}
                victim = random.choice([*parts][-2:])
                archive(path, {**parts, victim: changed(random, parts[victim])})
            try:
                read(path)
            except ValueError:
                pass


def changed(random, content):
    content = bytearray(content)
    for _ in range(random.randint(1, 6)):
        content[random.randrange(len(content))] = random.choice(
            [0, 255, random.randrange(256), ord(random.choice("0123456789"))]
        )
    return bytes(content)


def refused(path, words):
    with pytest.raises(ValueError, match=words) as error:
        read(path)
    assert str(path) in str(error.value) and "\n" not in str(error.value)


@pytest.mark.filterwarnings("ignore:.* left out for lack of a class")
def test_a_sheet_of_each_kind_is_read(tmp_path):
    xlsx(tmp_path / "a.xlsx")
    xlsx(tmp_path / "styled.xlsx", (1_048_575, 16_383), closing="/>")  # a style is no content
    xlsb(tmp_path / "a.xlsb")
    ods(tmp_path / "a.ods", 1_048_000, 16_384, value="")  # what LibreOffice adds to fill its sheet
    xls(tmp_path / "a.xls", records(cells()))
    xls(tmp_path / "large.xls", records(cells() + [(row, 0, 1.0) for row in range(31, 400)]))
    for path in sorted(tmp_path.iterdir())[:-1]:
        assert read(path)[1] == 2, path


@pytest.mark.parametrize("far", [(1_048_575, 16_383), (2_000, 2_999)])
@pytest.mark.parametrize("attributes", ["", 's="1"', "s='1' "])
def test_a_far_cell_of_a_workbook_is_named(far, attributes, tmp_path):
    for write, suffix in ((xlsx, ".xlsx"), (xlsb, ".xlsb")):
        path = tmp_path / f"far{suffix}"
        write(path, far, attributes) if write is xlsx else write(path, far)
        refused(
            path, f"cells as far as {_limits._name(*far)} of sheet1 make it a table of {far[0] + 1} x {far[1] + 1}:"
        )


def test_far_cells_of_other_sheets_are_named(tmp_path):
    xls(tmp_path / "far.xls", records([*cells(), (65_535, 255, 1.0)]))
    refused(tmp_path / "far.xls", "cells as far as IV65536 of sheet 2 make it a table of 65536 x 256:")
    xls(tmp_path / "wide.xls", records([*cells(), (65_535, 65_535, 1.0)]))
    refused(tmp_path / "wide.xls", "as far as CRXP65536")
    xls(tmp_path / "declared.xls", records(cells(), (0, 2**31, 0, 65_535)))
    refused(tmp_path / "declared.xls", "declares 2147483648 rows and 65535 columns")
    for name, repeats in (
        ("rows", (1_000_000, 16_384, 1)),
        ("cells", (1, 16_384, 3_000)),
        ("both", (1_000, 16_000, 9)),
    ):
        ods(tmp_path / f"{name}.ods", *repeats)
        refused(tmp_path / f"{name}.ods", "as far as (XFD|WQJ).* make it a table of")


def test_a_chain_of_sectors_without_an_end_is_refused(tmp_path):
    path = tmp_path / "a.xls"
    xls(path, records(cells()))
    content = bytearray(path.read_bytes())
    content[512 + 4 : 512 + 8] = struct.pack("<I", 1)  # the folder goes on with itself
    path.write_bytes(content)
    refused(path, "not a readable spreadsheet: sectors without an end")


@pytest.mark.parametrize("suffix", [".csv.gz", ".csv.bz2", ".csv.zst", ".zip", ".xlsx", ".ods"])
def test_what_unpacks_to_very_much_is_refused(suffix, tmp_path, monkeypatch):
    monkeypatch.setattr(_limits, "SMALL", 2**19)
    path, content = tmp_path / f"bomb{suffix}", b"0,1,0\n" * 2**17
    if suffix == ".csv.gz":
        path.write_bytes(gzip.compress(content))
    elif suffix == ".csv.bz2":
        path.write_bytes(bz2.compress(content))
    elif suffix == ".csv.zst":
        path.write_bytes(pa.compress(content, codec="zstd", asbytes=True))
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("a.csv" if suffix == ".zip" else "xl/sharedStrings.xml", content)
    refused(path, "needs more than 0.5 MB of memory")


def test_a_part_that_unpacks_to_more_than_it_says_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(_limits, "SMALL", 2**22)
    path = tmp_path / "liar.xlsx"
    archive(path, {"xl/sharedStrings.xml": bytes(2**23)})
    size = struct.pack("<I", 2**23)
    assert path.read_bytes().count(size) == 2
    path.write_bytes(path.read_bytes().replace(size, struct.pack("<I", 100)))
    refused(path, "needs more than 4 MB of memory")


def test_parquet_that_declares_more_rows_than_it_holds_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(_limits, "SMALL", 2**22)
    path = tmp_path / "long.parquet"
    pq.write_table(pa.table({"x": np.zeros(2**20), "y": np.zeros(2**20, int)}), path)
    refused(path, "needs more than 4 MB of memory")


def test_a_panic_of_the_library_is_an_error(tmp_path, monkeypatch):
    import python_calamine

    class Panic(BaseException):  # as its library raises them
        pass

    def panics(path):
        raise Panic("capacity overflow")

    monkeypatch.setattr(python_calamine, "load_workbook", panics)
    xlsx(tmp_path / "a.xlsx")
    refused(tmp_path / "a.xlsx", "not a readable spreadsheet: capacity overflow")


def test_no_process_ends_by_a_damaged_sheet():
    program = "import test_limits; test_limits.damaged(0, 40)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=__file__.rpartition("/")[0], capture_output=True, text=True
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
