"""Synthetic distributions from the papers, and functions that read tables."""

from ._files import table_parts
from ._generators import make_two_gaussians, make_two_rings, make_two_spirals
from ._read_table import numbers_in as numbers_in  # for the command line
from ._read_table import read_table
from ._schema import Schema

__all__ = [
    "Schema",
    "make_two_gaussians",
    "make_two_rings",
    "make_two_spirals",
    "read_table",
    "table_parts",
]
