"""The papers' synthetic distributions, and functions that load data sets and read tables."""

from ._files import table_parts
from ._gaussian import make_ringnorm, make_two_gaussians, make_twonorm, make_waveform
from ._loading import available, load, read_npz
from ._mixture import gaussian_mixture, make_gaussian_mixture, make_simdata
from ._schema import Schema
from ._shapes import make_gaussian_in_ring, make_two_rings, make_two_spirals
from ._table import read_table

__all__ = [
    "Schema",
    "available",
    "gaussian_mixture",
    "load",
    "make_gaussian_in_ring",
    "make_gaussian_mixture",
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
