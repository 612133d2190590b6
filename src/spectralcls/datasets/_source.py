"""The content of a file as a pyarrow table, with the information needed for messages and for reading further files."""

import unicodedata
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.random import sample_without_replacement


class Dialect(NamedTuple):
    """The user's options for the format of a file; None means detection.

    Attributes
    ----------
    encoding : str
        Encoding of a text file.
    delimiter : str
        Delimiter of the cells of a text file; a blank stands for any number of blanks and tabs.
    comment : str
        Prefix of the lines of a text file that are skipped.
    skip : int
        Number of lines, or rows of a spreadsheet, above the table.
    header : bool
        Whether the first row holds the names of the columns.
    sheet : str or int
        Sheet of a spreadsheet, by name or position.
    """

    encoding: str | None = None
    delimiter: str | None = None
    comment: str | None = None
    skip: int | None = None
    header: bool | None = None
    sheet: str | int | None = None

    def over(self, other):
        """This dialect, with missing options taken from another."""
        return Dialect(*(theirs if own is None else own for own, theirs in zip(self, other, strict=True)))


UNKNOWN = Dialect()
HTML = "an HTML page"
_UNSEEN = {0xA0: " ", 0x202F: " ", 0xFEFF: None, 0x200B: None}  # no-break spaces, byte order mark, zero-width space


class Source(NamedTuple):
    """The content of a file.

    Attributes
    ----------
    path : Path
    table : pyarrow.Table
        Columns of strings for a text file; typed columns for a Parquet file or a spreadsheet.
    unit : str
        Unit of positions in messages: "line" or "row".
    places : callable
        Maps positions of rows to the line or row numbers shown in messages.
    n_rows : int
        Number of rows of the file; `table` may be a sample of them.
    kind : str
        Detected properties of a text file or spreadsheet, for the description; empty for Parquet.
    delimiter : str or None
        Delimiter of a text file; None for other files.
    encoding : str
        Encoding of the file, reused for output.
    mixed : dict
        Columns of a spreadsheet with cells of several types, by name: arrays of objects.
    header : int or None
        Number of the line or row with the names of the columns; 0 if there is none, None for Parquet.
    width : int
        Number of columns of the file, some of which may have been dropped since.
    """

    path: Path
    table: object
    unit: str
    places: Callable
    n_rows: int
    kind: str = ""
    delimiter: str | None = None
    encoding: str = "utf-8"
    mixed: dict = {}
    header: int | None = None
    width: int = 0

    def take(self, rows):
        """The rows at the given positions."""
        return self._replace(
            table=self.table.take(rows),
            mixed={name: column[rows] for name, column in self.mixed.items()},
            places=lambda positions: self.places([int(rows[k]) for k in positions]),
        )

    def taken(self, n_samples, random_state):
        """A random sample of the rows, in their original order."""
        if n_samples is None or n_samples >= self.n_rows:
            return self
        return self.take(sample(self.n_rows, n_samples, random_state))

    @property
    def decimal(self):
        """Usual decimal sign in files with this delimiter."""
        return "," if self.delimiter == ";" else "."

    @property
    def headed(self):
        """Description of the header; empty for Parquet."""
        if self.header is None:
            return ""
        return f"header in {self.unit} {self.header}" if self.header else "no header"


def sample(n_rows, n_samples, random_state):
    """Sorted positions of a random sample of rows."""
    rng = check_random_state(random_state)
    return np.sort(sample_without_replacement(n_rows, n_samples, random_state=rng))


def require_pyarrow(path):
    """Import pyarrow, or raise a one-sentence error."""
    try:
        import pyarrow.csv
        import pyarrow.dataset
    except ImportError:
        raise ImportError(f'{path}: tables are read with pyarrow: pip install "spectralcls[tables]"') from None
    return pyarrow


@contextmanager
def readable(path, what="Parquet"):
    """Turn errors of pyarrow and the file system into a ValueError that names the file."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path}: not a readable {what} file: {error}") from None


def content_of(data):
    """What the first bytes of a file show, whatever its name."""
    if data.startswith(b"PK\3\4"):
        return "a spreadsheet (.xlsx or .ods) or an archive (.zip)"
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        return "an old spreadsheet (.xls)"
    if data.startswith(b"PAR1"):
        return "a Parquet file (.parquet)"
    start = data[:1000].lstrip().lower()
    return HTML if start.startswith((b"<html", b"<!doctype", b"<table", b"<meta", b"<?xml")) else "text"


def normalized(name):
    """Normalize a name for comparisons: Unicode NFC, plain blanks, no invisible marks."""
    return unicodedata.normalize("NFC", name.translate(_UNSEEN)).strip() if isinstance(name, str) else name


def find_column(names, wanted, path, what="column"):
    """Position of a column, or of another item, given by name or position."""
    wanted = normalized(wanted)
    if names.count(wanted) > 1:
        raise ValueError(f"{path}: {names.count(wanted)} {what}s are called {wanted!r}; give the position")
    position = as_position(wanted, len(names))
    if wanted in names:
        if position not in (None, names.index(wanted)):
            raise ValueError(
                f"{path}: {wanted!r} is the name of {what} {names.index(wanted)}, and the position of "
                f"{names[position]!r}: give that name, or the position {names.index(wanted) - len(names)}"
            )
        return names.index(wanted)
    if position is None:
        shown = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
        raise ValueError(f"{path}: no {what} {wanted!r}; there are {len(names)} {what}s: {shown}") from None
    return position


def as_position(text, width):
    """Position among `width` columns, given as an integer or a string of digits; None for a name or if out of range."""
    digits = str(text)
    try:
        return range(width)[int(digits if digits.isascii() and "_" not in digits else "")]
    except (ValueError, IndexError):
        return None
