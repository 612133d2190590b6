"""Functions that read tables."""

from ._files import table_parts
from ._read_table import read_table
from ._schema import Schema

__all__ = [
    "Schema",
    "read_table",
    "table_parts",
]
