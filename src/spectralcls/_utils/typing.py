"""Types of public signatures."""

from collections.abc import Sequence
from os import PathLike
from typing import Annotated, Any

import numpy as np

# Inputs that scikit-learn's checks accept: arrays, nested sequences, data frames, and in places sparse matrices.
# NumPy's ArrayLike includes neither frames nor sparse matrices, and would reject the reuse of a name for the checked
# array.
ArrayLike = Annotated[Any, "array-like"]
Array = np.ndarray[Any, np.dtype[Any]]
Bandwidth = float | Sequence[float] | Array
RandomState = int | np.random.RandomState | None
Sizes = int | tuple[int, ...]
FilePath = str | PathLike[str]
