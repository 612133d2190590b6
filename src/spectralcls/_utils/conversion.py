"""Arguments as arrays of numbers, with errors that say which one could not be converted."""

from contextlib import contextmanager

import numpy as np
from sklearn.utils.validation import check_array


def converted(A, name, **options):
    """check_array, whose errors of conversion do not say what could not be converted; what overflows is refused."""
    try:
        with held_by_floats(name):
            return check_array(A, input_name=name, **options)
    except (ValueError, TypeError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(str(error) if name in str(error) else f"{name}: {error}") from None


@contextmanager
def held_by_floats(name):
    """Integers of Python have no bounds: one that no float holds is refused by the name of its argument."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # sums of finite numbers may be infinite, of both signs
            yield
    except OverflowError as error:
        raise ValueError(f"{name}: {error}") from None
