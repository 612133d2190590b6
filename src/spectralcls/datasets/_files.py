"""Read files of all supported formats as pyarrow tables."""

import stat
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .._utils.atomic_files import as_path
from .._utils.typing import FilePath
from ._parquet import parquet_parts, read_parquet
from ._sheets import EXCEL, read_sheet
from ._source import UNKNOWN, Dialect
from ._text import COMPRESSED, STANDARD_INPUT, TEXT, read_text, zipped

PARQUET = (".parquet", ".pq")


def read_source(path, dialect=UNKNOWN, *, known=(), schema=None, words=(), n_samples=None, random_state=0):
    """Read a text file, a spreadsheet, or a Parquet file or a folder of them.

    Parameters
    ----------
    path : path-like
        The file, or a folder of Parquet files; "-" is text from the standard input.
    dialect : Dialect
        The user's options for the format of the file.
    known : collection of str
        Column names given by the user: a line that contains one is the header, unless the name is a position.
    schema : Schema, default=None
        Schema of an earlier file with the same columns.
    words : collection of str
        Words for a missing value, in lower case.
    n_samples, random_state : int, default=None and 0
        Number of rows to keep, drawn at random (None: all), and the seed.
    """
    path = as_path(path)
    suffix = _suffix(path)
    rules = dict(known=known, schema=schema, words=words)
    if path.is_dir() and suffix in TEXT + EXCEL:
        raise ValueError(f"{path}: is a folder")
    if suffix in PARQUET or path.is_dir():
        return read_parquet(path, n_samples, random_state)
    if suffix in EXCEL:
        return read_sheet(path, dialect, **rules).taken(n_samples, random_state)
    if suffix in TEXT:
        return read_text(path, dialect, **rules).taken(n_samples, random_state)
    known = ", ".join([*TEXT, *(TEXT[0] + suffix for suffix in (*COMPRESSED, ".zip")), *PARQUET, *EXCEL])
    raise ValueError(f"{path}: unknown kind of file; known are {known}")


def is_stream(path):
    """Whether a file is text that can be read only once: standard input, or a pipe."""
    return path == STANDARD_INPUT or path.exists() and not stat.S_ISREG(path.stat().st_mode) and not path.is_dir()


def _suffix(path):
    """The suffix that shows the type of a file, compressed or not."""
    if is_stream(path):
        return TEXT[0]
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file")
    suffix = path.suffix.lower()
    if suffix == ".zip" and path.is_file():
        try:
            with zipfile.ZipFile(path) as archive:
                names = zipped(archive)
        except (zipfile.BadZipFile, OSError) as error:
            raise ValueError(f"{path}: not a readable zip file: {error}") from None
        if len(names) != 1 or Path(names[0]).suffix.lower() not in TEXT:
            raise ValueError(f"{path}: holds {len(names)} files, but must hold one text file: unpack it")
        return Path(names[0]).suffix.lower()
    if suffix in COMPRESSED:
        suffix = path.with_suffix("").suffix.lower()
    return suffix or (TEXT[0] if path.is_file() else "")


def table_parts(
    path: FilePath,
    *,
    schema: Any = None,
    encoding: str | None = None,
    sheet: str | int | None = None,
    delimiter: str | None = None,
    comment: str | None = None,
    skip: int | None = None,
    header: bool | None = None,
) -> Iterator[tuple[int, Callable]]:
    """Iterate over the parts of a file that can be read separately: the row groups of Parquet, or the whole file.

    Parameters
    ----------
    path : path-like
        A text file, a spreadsheet, a Parquet file, or a folder of Parquet files.
    schema : Schema, default=None
        Schema of the table, which shows whether there is a header.
    encoding, sheet, delimiter, comment, skip, header : default=None
        As in :func:`read_table`; None takes the option of the schema's table, or detects it.

    Yields
    ------
    first_row : int
        Index of the part's first row in the file.
    read : callable
        Function without arguments that returns the part, as a source for :meth:`Schema.encode`.

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
    if path.suffix.lower() in PARQUET or path.is_dir():
        yield from parquet_parts(path)
        return
    dialect = Dialect(encoding, delimiter, comment, skip, header, sheet)
    rules = {}
    if schema is not None:
        dialect = dialect.over(Dialect(*schema.dialect))
        rules = dict(schema=schema, words=schema.words)
    yield 0, lambda: read_source(path, dialect, **rules)
