"""Arguments as arrays of numbers, with errors that name the argument."""

from contextlib import contextmanager

import numpy as np
from sklearn.utils.validation import check_array

from .._core import compiled


def is_ready(A, dtypes):
    """Whether an array is finite and needs no conversion. On small problems `check_array` takes longer than the
    sums."""
    if type(A) is not np.ndarray or A.dtype.type not in dtypes or not A.dtype.isnative:
        return False
    flags = A.flags
    if not (flags.c_contiguous and flags.aligned and A.size):
        return False
    return compiled.largest_size(A) < np.inf


def converted(A, name, **options):
    """`check_array`, with the argument's name in all error messages."""
    try:
        with named_overflow_errors(name):
            return check_array(without_mask(A), input_name=name, **options)
    except (ValueError, TypeError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        text = str(error) if name in str(error) else f"{name}: {error}"
        if "could not convert string" in text:
            text += ". This function takes numbers: leave out text, or code categories with pandas.get_dummies."
        raise kind(text) from None


def brought_into_range(X):
    """Clip X in place if its squares overflow, so that sums over a row stay finite.

    Clipped numbers stay far from all others, so no kernel value between ordinary points changes."""
    if not np.vdot(X, X) < np.inf:
        largest = np.ldexp(np.finfo(X.dtype).max, -24)
        np.clip(X, -largest, largest, out=X)
    return X


@contextmanager
def named_overflow_errors(name):
    """Name the argument in the error for an integer too large for a float."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # sums of finite numbers may be infinite
            yield
    except OverflowError as error:
        raise ValueError(f"{name}: {error}") from None


def is_missing(value):
    """Whether a value from a column of objects is missing: None, NA, NaT or NaN."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and np.isnan(value)


def without_mask(A):
    """A, with masked entries replaced by missing values."""
    if not np.ma.isMaskedArray(A) or not np.ma.is_masked(A):
        return A
    if A.dtype.kind in "fiub":
        return A.astype(A.dtype if A.dtype.kind == "f" else np.float64).filled(np.nan)
    return np.where(np.ma.getmaskarray(A), None, A.data.astype(object))


def as_array(values, name, dtype=None):
    """An argument as an array; masked entries raise an error with its name."""
    if np.ma.is_masked(values):
        raise ValueError(f"{name} has masked entries: leave them out or fill them.")
    return np.asarray(values, dtype)


def label_array(y):
    """Labels without a mask; missing labels in a list of strings stay missing instead of becoming NumPy's "nan"."""
    y = without_mask(without_na(y))
    if isinstance(y, list | tuple) and any(isinstance(label, str) for label in y) and any(map(is_missing, y)):
        return np.array(y, dtype=object)
    return y


def without_na(y):
    """Labels of a nullable pandas dtype, converted to the plain dtype; scikit-learn would turn integers into floats."""
    plain = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if plain is None or not hasattr(y, "isna"):
        return y
    return np.where(y.isna(), None, y.astype(object)) if y.isna().any() else np.asarray(y, dtype=plain)
