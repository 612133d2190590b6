"""Everything between what a user hands over and coordinates: one composed object, `Inputs`, that an estimator keeps.

X is checked and taken apart (`read`, `frames`), every column becomes coordinates (`columns`, `table`), each category
gets a scale that held-out samples choose (`category_scales`), missing values are completed (`missing`, `completion`)
or left to formulas that integrate over them, and a learned map is applied last.
"""

from .category_scales import choose_category_scales
from .frames import Columns
from .inputs import Inputs
from .on_workers import inputs_for, library_of, refuse_collection, register_inputs
from .table import Table
