"""From the user's data to coordinates: one object, `Inputs`, that an estimator keeps.

X is checked and split into columns (`read`, `frames`). Every column becomes coordinates (`columns`, `table`); held-out
samples decide how much categories and missing values count. Missing values are filled (`missing`, `completion`) or left
to formulas that integrate over them. A learned map is applied last.
"""

from .frames import Columns
from .inputs import Inputs
from .on_workers import inputs_for, refuse_collection
from .table import Table
