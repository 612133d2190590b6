"""Everything between what a user hands over and coordinates: one composed object, `Inputs`, that an estimator keeps.

X is checked and taken apart (`read`, `frames`), every column becomes coordinates (`columns`, `table`), in which
categories and gaps count as much as held-out samples say, missing values are completed (`missing`, `completion`) or
left to formulas that integrate over them, and a learned map is applied last.
"""

from .frames import Columns
from .inputs import Inputs
from .on_workers import inputs_for, library_of, refuse_collection, register_inputs
from .table import Table
