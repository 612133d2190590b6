"""Arguments as arrays of numbers, with errors that name the argument."""

from contextlib import contextmanager

import numpy as np
from sklearn.utils.validation import check_array

from .._core import compiled


def is_ready(A, dtypes):
    """Whether an array is finite and needs no conversion. On small problems check_array takes longer than the sums."""
    if type(A) is not np.ndarray or A.dtype.type not in dtypes or not A.dtype.isnative:
        return False
    flags = A.flags
    if not (flags.c_contiguous and flags.aligned and A.size):
        return False
    return compiled.largest_size(A) < np.inf


def converted(A, name, **options):
    """`check_array` with the argument's name in errors of conversion and overflow."""
    try:
        with named_overflow_errors(name):
            return check_array(without_mask(A), input_name=name, **options)
    except (ValueError, TypeError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(str(error) if name in str(error) else f"{name}: {error}") from None


def brought_into_range(X):
    """X, with numbers at the end of the dtype's range moved inwards so that sums over a row stay finite.

    This changes no kernel value and no neighbor, because the number stays far from all others."""
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.vdot(X, X) < np.inf:
            largest = np.ldexp(np.finfo(X.dtype).max, -24)
            np.clip(X, -largest, largest, out=X)
    return X


@contextmanager
def named_overflow_errors(name):
    """Name the argument that holds an integer too large for any float."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # sums of finite numbers may be infinite
            yield
    except OverflowError as error:
        raise ValueError(f"{name}: {error}") from None


def is_missing(value):
    """Whether a column of objects contains a missing value: None, NA, NaT or NaN."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and np.isnan(value)


def without_mask(A):
    """A, with masked entries as missing values."""
    if not np.ma.isMaskedArray(A) or not np.ma.is_masked(A):
        return A
    if A.dtype.kind in "fiub":
        return A.astype(A.dtype if A.dtype.kind == "f" else np.float64).filled(np.nan)
    return np.where(np.ma.getmaskarray(A), None, A.data.astype(object))


def as_array(values, name, dtype=None):
    """An argument without missing values as an array; masked entries are refused by its name."""
    if np.ma.is_masked(values):
        raise ValueError(f"{name} has masked entries, which are no values: leave them out or fill them.")
    return np.asarray(values, dtype)


def label_array(y):
    """Labels without a mask; missing labels in a list stay missing, where NumPy would make them the text "nan"."""
    y = without_mask(without_na(y))
    if isinstance(y, list | tuple) and any(isinstance(label, str) for label in y) and any(map(is_missing, y)):
        return np.array(y, dtype=object)
    return y


def without_na(y):
    """Labels of a nullable pandas dtype in the plain dtype; scikit-learn would turn integers into floats."""
    plain = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if plain is None or not hasattr(y, "isna"):
        return y
    return np.where(y.isna(), None, y.astype(object)) if y.isna().any() else np.asarray(y, dtype=plain)
