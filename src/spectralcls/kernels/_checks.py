"""Arguments of kernel sums and matrices in the types of the core, which checks their shapes and ranges."""

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .._utils.conversion import as_array, converted
from .._utils.typing import Array, ArrayLike

_FLOATS = (np.float64, np.float32)


def is_plain(A: Any, dtypes: tuple[Any, ...] = _FLOATS) -> bool:
    """Whether the core can read an array as it is."""
    return (
        type(A) is np.ndarray
        and A.size > 0
        and A.dtype.type in dtypes
        and A.dtype.isnative
        and A.flags.c_contiguous
        and A.flags.aligned
    )


def check_matrix(A: ArrayLike, name: str) -> Array:
    """A as a matrix of floats. The core refuses one that is not finite, unless it had to be converted here."""
    if is_plain(A) and A.ndim == 2:
        return A
    A = converted(A, name, dtype=list(_FLOATS), order="C")
    return np.require(A, requirements="A")  # the core reads aligned vectors


def check_queries(Q: Any, X: Any, same: bool) -> tuple[Any, Any]:
    """Queries and X (a matrix or packed points) in a common dtype. X is converted already, as is Q if `same`."""
    if not same:
        Q = check_matrix(Q, "Q")
    if Q.dtype != X.dtype:
        Q, X = Q.astype(np.float64, copy=False), X.astype(np.float64, copy=False)
    return Q, X


def check_weights(weights: Any, *dtypes: DTypeLike) -> Array:
    """Weights in one of the dtypes: converted to the first if necessary."""
    if not is_plain(weights, dtypes):
        weights = converted(weights, "weights", dtype=list(dtypes), order="C", ensure_2d=False, allow_nd=True)
        weights = np.require(weights, requirements="A")
    return weights


def check_integers(values: Any, name: str) -> Array:
    """A vector of integers, or of Booleans, as int64."""
    values = as_array(values, name)
    if values.ndim != 1 or values.dtype.kind not in "iub":
        raise ValueError(f"{name} must be integers, one per row, got shape {values.shape} and dtype {values.dtype}.")
    if values.dtype == np.uint64 and values.size and values.max() >= 2**63:
        raise ValueError(f"{name} must be less than 2^63, got {values.max()}.")
    return np.ascontiguousarray(values, dtype=np.int64)


def check_widths(bandwidth: Any) -> Any:
    """Bandwidths as a float or a float64 array."""
    if isinstance(bandwidth, float):
        return bandwidth
    try:
        bandwidths = as_array(bandwidth, "bandwidth")
    except ValueError as error:  # masked, or rows of different lengths
        bandwidths = np.asarray(None)
        if "masked" in str(error):
            raise
    if bandwidths.dtype.kind not in "iuf":
        raise ValueError(f"bandwidth must be numeric, got {bandwidth!r}.")
    bandwidths = np.asarray(bandwidths, dtype=np.float64, order="C")
    return float(bandwidths) if bandwidths.ndim == 0 else bandwidths


def check_dimension(value: Any, name: str) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be an integer of at least 1, got {value!r}.")


def check_excluded(exclude_self: Any, Q: Array, n: int) -> Array | None:
    if exclude_self is False:
        return None
    if exclude_self is not True:
        return check_integers(exclude_self, "exclude_self")
    if len(Q) != n:
        raise ValueError(f"exclude_self=True needs as many queries as points, got {len(Q)} and {n}.")
    return np.arange(n, dtype=np.int64)


def check_groups(exclude_groups: Any) -> tuple[Array | None, Array | None]:
    if exclude_groups is None:
        return None, None
    if not isinstance(exclude_groups, (tuple, list)) or len(exclude_groups) != 2:
        raise ValueError(f"exclude_groups must be a pair, the groups of Q and those of X, got {exclude_groups!r}.")
    first, second = (check_integers(groups, "exclude_groups") for groups in exclude_groups)
    if max(first.max(initial=0), second.max(initial=0)) > len(first) + len(second):
        # The core allocates a counter per group, so drop empty groups.
        groups = np.unique(np.concatenate([first, second]), return_inverse=True)[1]
        groups[np.concatenate([first, second]) < 0] = -1
        first, second = groups[: len(first)].copy(), groups[len(first) :].copy()
    return first, second
