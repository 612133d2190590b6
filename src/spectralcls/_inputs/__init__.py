"""Tables as users have them: columns of numbers, truth values, categories and text, with missing values.

`read_columns` takes a data frame apart, `Table` learns what each column is and lays it out as coordinates of one
Gaussian product kernel, NaN where a value is missing; `choose_smoothing` finds how much each category counts.
`check_features` does for an estimator what scikit-learn's `validate_data` does for arrays.
"""

from .check import check_features, validate_complete
from .smoothing import choose_smoothing, rescaled
from .table import Table

__all__ = ["Table", "check_features", "choose_smoothing", "rescaled", "validate_complete"]
