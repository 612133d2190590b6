"""Checks for the arguments of kernel sums and matrices; each argument is converted once."""

from numbers import Integral, Real
from sys import float_info
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from sklearn.utils.validation import check_consistent_length

from .._utils.conversion import as_array, converted, is_ready
from .._utils.typing import Array, ArrayLike
from ._profiles import PROFILES

_MOST_LABELS = 2**31 - 1  # the core counts labels in an int


def check_points(Q: ArrayLike, X: ArrayLike) -> tuple[Array, Array]:
    same = Q is X
    X = check_matrix(X, "X")
    return check_queries(X if same else Q, X, same)


def check_queries(Q: Any, X: Any, same: bool) -> tuple[Any, Any]:
    """Checked queries and X (an array or packed points) in a common dtype. X is checked already, as is Q if `same`."""
    if not same:
        Q = check_matrix(Q, "Q")
    if Q.dtype != X.dtype:
        Q, X = Q.astype(np.float64, copy=False), X.astype(np.float64, copy=False)
    if Q.shape[1] != X.shape[1]:
        raise ValueError(f"Q has {Q.shape[1]} features, but X has {X.shape[1]} features.")
    return Q, X


def check_matrix(A: ArrayLike, name: str) -> Array:
    if is_ready(A, (np.float64, np.float32)) and A.ndim == 2:
        return A
    A = converted(A, name, dtype=[np.float64, np.float32], order="C")
    return np.require(A, requirements="A")  # the core reads aligned vectors


def check_weights(weights: Any, n: int, n_bandwidths: int | None, *dtypes: DTypeLike) -> Array | None:
    """Checked weights, in one of the dtypes: converted to the first if necessary."""
    if weights is None:
        return None
    if not is_ready(weights, dtypes):
        weights = converted(weights, "weights", dtype=list(dtypes), order="C", ensure_2d=False, allow_nd=True)
        weights = np.require(weights, requirements="A")
    wrong = len(weights) != n or weights.ndim > 3 or (weights.ndim == 3 and weights.shape[1] != n_bandwidths)
    if wrong or weights.size == 0:
        raise ValueError(f"weights must have shape ({n},), ({n}, c) or ({n}, {n_bandwidths}, c), got {weights.shape}.")
    return weights.reshape(n, -1) if weights.ndim < 3 else weights


def check_labels(labels: ArrayLike | None, n_labels: Any, n: int) -> tuple[Array | None, int, bool]:
    if labels is None:
        if n_labels is not None:
            raise ValueError(f"n_labels={n_labels!r} needs labels, but none are given.")
        return None, 1, False
    labels = as_array(labels, "labels")
    if labels.shape != (n,) or labels.dtype.kind not in "iub":
        raise ValueError(f"labels must be {n} integers, got shape {labels.shape} and dtype {labels.dtype}.")
    largest = max(_largest(labels), -1)
    if n_labels is None:
        n_labels = largest + 1
    elif not isinstance(n_labels, Integral) or isinstance(n_labels, bool):
        raise ValueError(f"n_labels must be an integer, got {n_labels!r}.")
    if not largest < n_labels <= _MOST_LABELS:
        raise ValueError(f"labels go up to {largest}, but n_labels={n_labels}; at most {_MOST_LABELS} are possible.")
    return np.ascontiguousarray(labels, dtype=np.int64), n_labels, True


def check_bandwidths(bandwidth: Any, n_labels: int | None = None) -> tuple[Array, bool]:
    """Bandwidths as an array, (b,) or (b, n_labels), and whether the result has the axis b."""
    if isinstance(bandwidth, float) and 0 < bandwidth < np.inf:
        return np.array([bandwidth]), False
    bandwidths = check_widths(bandwidth)
    if bandwidths.size == 0 or bandwidths.ndim > 2:
        raise ValueError(f"bandwidth must be a number or a list of numbers, got shape {bandwidths.shape}.")
    if bandwidths.ndim == 2 and bandwidths.shape[1] != n_labels:
        wanted = "labels" if n_labels is None else f"shape (b, {n_labels})"
        raise ValueError(f"bandwidth of shape {bandwidths.shape} has a column for each label: it needs {wanted}.")
    return np.atleast_1d(bandwidths), bandwidths.ndim > 0


def check_widths(bandwidth: Any) -> Array:
    """Positive finite bandwidths of any shape as float64."""
    try:
        bandwidths = as_array(bandwidth, "bandwidth")
    except ValueError:  # rows of different lengths
        bandwidths = np.asarray(None)
    if bandwidths.dtype.kind not in "iuf":
        raise ValueError(f"bandwidth must be numeric, got {bandwidth!r}.")
    bandwidths = np.asarray(bandwidths, dtype=np.float64, order="C")
    if not (np.isfinite(bandwidths).all() and (bandwidths > 0).all()):
        raise ValueError(f"bandwidth must be positive and finite, got {bandwidth!r}.")
    return bandwidths


def check_kernel(kernel: object) -> None:
    if not isinstance(kernel, str) or kernel not in PROFILES:
        raise ValueError(f"kernel must be one of {', '.join(PROFILES)}, got {kernel!r}.")


def check_log(log: Any) -> str:
    """The name of the output in the core."""
    if not (isinstance(log, (bool, np.bool_)) or (isinstance(log, str) and log == "pair")):
        raise ValueError(f'log must be False, True or "pair", got {log!r}.')
    return {False: "plain", True: "log", "pair": "scaled"}[log]


def check_dimension(value: Any, name: str) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be an integer of at least 1, got {value!r}.")


def check_tolerances(rtol: Any, atol: Any) -> None:
    for name, value in (("rtol", rtol), ("atol", atol)):
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        if not is_number or not 0 <= value <= float_info.max:
            raise ValueError(f"{name} must be a finite number of at least 0, got {value!r}.")


def check_excluded(exclude_self: Any, Q: Any, X: Any) -> Array | None:
    if exclude_self is False:
        return None
    if exclude_self is True:
        check_consistent_length(Q, X)
        return np.arange(len(Q), dtype=np.int64)
    excluded = as_array(exclude_self, "exclude_self")
    if excluded.shape != (len(Q),) or excluded.dtype.kind not in "iu":
        raise ValueError(f"exclude_self must be True, False or {len(Q)} integers, got {exclude_self!r}.")
    if _largest(excluded) >= len(X):
        raise ValueError(f"exclude_self names row {excluded.max()}, but X has {len(X)} rows.")
    return np.ascontiguousarray(excluded, dtype=np.int64)


def check_pair_of_groups(exclude_groups: Any) -> Any:
    if not isinstance(exclude_groups, (tuple, list)) or len(exclude_groups) != 2:
        raise ValueError(f"exclude_groups must be a pair, the groups of Q and those of X, got {exclude_groups!r}.")
    return exclude_groups


def check_groups(exclude_groups: Any, m: int, n: int) -> tuple[Array | None, Array | None, int]:
    if exclude_groups is None:
        return None, None, 1
    query_groups, point_groups = (as_array(groups, "exclude_groups") for groups in check_pair_of_groups(exclude_groups))
    for groups, size in ((query_groups, m), (point_groups, n)):
        if groups.shape != (size,) or groups.dtype.kind not in "iu" or groups.min(initial=0) < 0:
            raise ValueError(f"exclude_groups must hold {m} and {n} non-negative integers.")
    n_groups = max(_largest(query_groups), _largest(point_groups)) + 1
    if n_groups > m + n:  # the core allocates a counter per group, so drop empty groups
        groups = np.unique(np.concatenate([query_groups, point_groups]), return_inverse=True)[1]
        query_groups, point_groups, n_groups = groups[:m], groups[m:], int(groups.max()) + 1
    first, second = (np.ascontiguousarray(groups, dtype=np.int64) for groups in (query_groups, point_groups))
    return first, second, n_groups


def _largest(integers: Array) -> int:
    """The largest of an array of integers; -1 if it is empty."""
    return int(integers.max()) if integers.size else -1
