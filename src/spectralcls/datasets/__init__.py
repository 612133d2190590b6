"""The papers' synthetic distributions, and functions that load data sets and read tables."""

from ._files import table_parts
from ._generators import (
    make_gaussian_in_ring,
    make_ringnorm,
    make_simdata,
    make_two_gaussians,
    make_two_rings,
    make_two_spirals,
    make_twonorm,
    make_waveform,
)
from ._loading import available, load, read_npz
from ._schema import Schema
from ._table import read_table

__all__ = [
    "Schema",
    "available",
    "load",
    "make_gaussian_in_ring",
    "make_ringnorm",
    "make_simdata",
    "make_two_gaussians",
    "make_two_rings",
    "make_two_spirals",
    "make_twonorm",
    "make_waveform",
    "read_npz",
    "read_table",
    "table_parts",
]
