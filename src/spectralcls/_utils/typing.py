"""Types that the public signatures share."""

from collections.abc import Sequence
from os import PathLike
from typing import Annotated, Any

import numpy as np

# What scikit-learn's checks accept: arrays, nested sequences, data frames, in places sparse matrices. NumPy's own
# ArrayLike has neither frames nor sparse matrices, and would deny that a checked array keeps its name.
ArrayLike = Annotated[Any, "array-like"]
Array = np.ndarray[Any, np.dtype[Any]]
Bandwidth = float | Sequence[float] | Array
RandomState = int | np.random.RandomState | None
Sizes = int | tuple[int, ...]
FilePath = str | PathLike[str]
