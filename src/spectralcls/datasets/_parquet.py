"""Parquet files, and folders of them."""

from functools import partial
from pathlib import Path

import numpy as np

from ._limits import check_parquet
from ._source import Source, normalized, readable, require_pyarrow, sample


def open_parquet(path):
    """Open a file, or all files of a folder in the order of their names, as a pyarrow dataset.

    Every file must have the columns of the first one.

    Names of subfolders such as ``site=north`` become columns too.
    """
    pa = require_pyarrow(path)
    if not Path(path).exists():
        raise FileNotFoundError(f"{path}: no such file")
    with readable(path):
        found = pa.dataset.dataset(path, format="parquet", partitioning="hive" if Path(path).is_dir() else None)
        if not found.schema.names:
            raise ValueError(f"{path}: the folder has no Parquet file, or files without columns")
        for fragment in found.get_fragments():
            parts = pa.dataset.get_partition_keys(fragment.partition_expression)
            lacking = set(found.schema.names) - set(fragment.physical_schema.names) - set(parts)
            if lacking:
                raise ValueError(f"{fragment.path}: no column {min(lacking)!r}, which the first file has")
            check_parquet(fragment.path, fragment.metadata.num_rows * fragment.metadata.num_columns)
        n_rows = found.count_rows()
    if not n_rows:
        raise ValueError(f"{path}: there are no rows")
    return found


def read_parquet(path, n_samples, random_state):
    """Read a file or a folder as a source, or a random sample of its rows."""
    found = open_parquet(path)
    n_rows = found.count_rows()
    if n_samples is None or n_samples >= n_rows:
        with readable(path):
            return _source(path, found.to_table(), list, n_rows)
    rows = sample(n_rows, n_samples, random_state)
    with readable(path):
        taken = []
        for first_row, piece in _row_groups(found):  # one group in memory at a time; `found.take` would read many ahead
            own = rows[slice(*np.searchsorted(rows, [first_row, first_row + _n_rows(piece)]))]
            if len(own):
                taken.append(piece.to_table(schema=found.schema).take(own - first_row))
        table = require_pyarrow(path).concat_tables(taken)
    return _source(path, table, lambda positions: [int(rows[k]) for k in positions], n_rows)


def parquet_parts(path):
    """For each row group, yield the index of its first row and a function that reads it."""
    found = open_parquet(path)
    for first_row, piece in _row_groups(found):
        yield first_row, partial(_read_piece, path, piece, found.schema, first_row)


def _read_piece(path, piece, schema, first_row):
    with readable(path):
        table = piece.to_table(schema=schema)
    return _source(path, table, lambda rows: [first_row + row for row in rows], len(table))


def _source(path, table, places, n_rows):
    table = table.rename_columns(list(map(normalized, table.column_names)))
    return Source(path, table, "row", places, n_rows, width=table.num_columns)


def _n_rows(piece):
    return sum(group.num_rows for group in piece.row_groups)


def _row_groups(found):
    """For each nonempty row group, yield the index of its first row and its fragment."""
    first_row = 0
    for fragment in found.get_fragments():
        for piece in fragment.split_by_row_group():
            if _n_rows(piece):
                yield first_row, piece
            first_row += _n_rows(piece)
