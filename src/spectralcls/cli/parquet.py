"""Parquet files, or folders of them, as a stream of row groups: nothing larger is ever in memory."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .columns import from_arrow, together
from .errors import CommandError
from .tables import arrow_labels, find_column

ROWS_PER_BATCH = 1 << 16


def import_pyarrow():
    try:
        import pyarrow.parquet
    except ImportError:
        raise CommandError('Parquet files need pyarrow: pip install "spectralcls[parquet]"') from None
    return pyarrow


@dataclass(frozen=True)
class RowGroup:
    """One row group, and the number of its first row in the whole data."""

    file: Path
    number: int
    first_row: int
    n_rows: int


class ParquetData:
    """Row groups of one file or of the ``*.parquet`` files of a folder, in the order of their names.

    Parameters
    ----------
    path : Path
    columns : callable
        Given the names of the first file's columns, those to read.

    Raises
    ------
    CommandError
        For what is no Parquet file, has no rows, or lacks one of the columns in any of its files; the footers
        of all files are read before any data.
    """

    def __init__(self, path, columns):
        pa = import_pyarrow()
        self.path = Path(path)
        self.columns = None
        self.groups = []
        rows = 0
        for file in self._files():
            try:
                footer = pa.parquet.read_metadata(file)
            except (pa.ArrowException, OSError) as error:
                raise CommandError(f"{file}: not a readable Parquet file: {error}") from None
            names = footer.schema.to_arrow_schema().names
            if self.columns is None:
                self.columns = columns(names)
            for column in self.columns:
                if names.count(column) != 1:
                    what = "no column" if column not in names else "more than one column"
                    where = f"{file}, row {rows}" if rows else f"{file}"
                    shown = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
                    raise CommandError(f"{where}: {what} {column!r}; there are {shown}")
            for number in range(footer.num_row_groups):
                size = footer.row_group(number).num_rows
                if size:
                    self.groups.append(RowGroup(file, number, rows, size))
                rows += size
        self.n_rows = rows
        if not rows:
            raise CommandError(f"{path}: there are no rows")

    def _files(self):
        if not self.path.exists():
            raise CommandError(f"{self.path}: no such file")
        if not self.path.is_dir():
            return [self.path]
        files = sorted(file for file in self.path.glob("*.parquet") if not file.name.startswith(("_", ".")))
        if not files:
            raise CommandError(f"{self.path}: the folder has no file *.parquet")
        return files

    def batches(self, group, features, target=None, categories=(), numbers=()):
        """Yield (X, labels) of at most `ROWS_PER_BATCH` rows of a row group; labels are None without target.

        X is float32 where all features are, else float64, and of objects if there are `categories`: by default those
        columns are that hold text. An infinite value raises CommandError with its row and column.
        """
        pa = import_pyarrow()
        columns = [*features, *([] if target is None else [target])]
        first = group.first_row
        try:
            with pa.parquet.ParquetFile(group.file) as file:
                for batch in file.iter_batches(ROWS_PER_BATCH, row_groups=[group.number], columns=columns):
                    labels = None
                    if target is not None:
                        labels = arrow_labels(batch.column(target), target, self.path, first)
                    yield self._features(batch, features, first, categories, numbers), labels
                    first += batch.num_rows
        except (pa.ArrowException, OSError) as error:
            message = f"{group.file}: row group {group.number} cannot be read: {error}"
            raise CommandError(message) from None

    def _features(self, batch, features, first_row, categories, numbers):
        single = all(batch.schema.field(name).type == "float" for name in features)
        X = together(
            [from_arrow(batch.column(name), name, self.path, first_row, categories, numbers) for name in features]
        )
        return X.astype(np.float32) if single and X.dtype != object else X

    def identity(self):
        """What tells whether these are the same rows as another time: sizes of files and row groups."""
        return [[g.file.name, g.number, g.n_rows, g.file.stat().st_size] for g in self.groups]


def training_columns(target, drop, path):
    """A chooser for `ParquetData`: all columns but the dropped ones, the target last."""

    def choose(names):
        target_name = names[find_column(names, target, path)]
        dropped = {target_name, *(names[find_column(names, name, path)] for name in drop)}
        features = [name for name in names if name not in dropped]
        if not features:
            raise CommandError(f"{path}: there is no feature column beside the target {target_name!r}")
        return [*features, target_name]

    return choose
