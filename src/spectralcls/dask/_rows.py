"""Dask collections as blocks of rows: validation, and conversion between blocks and arrays."""

from functools import partial

import dask
import dask.array as da
import numpy as np

from .._inputs.training_data import TrainingData
from .._utils.blocks import by_rows
from .._utils.conversion import without_mask
from .._utils.from_sklearn import check_columns_seen
from .._utils.validation import check_class_labels, refuse_missing_labels, weights_of_classes
from ._workers import check_workers, keep

FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def as_points(X, name="X"):
    """Check a Dask array or data frame of points; returns an array with one chunk of features.

    Raises
    ------
    TypeError
        If X is not a Dask collection.
    ValueError
        For unknown chunk sizes, chunks along the features, another number of dimensions, or values that are
        not real numbers.
    """
    if hasattr(X, "to_dask_array"):
        X = _of_frame(X)
    if not isinstance(X, da.Array):
        raise TypeError(
            f"{name} must be a Dask array or data frame, got {type(X).__name__}. For data in memory use the "
            "functions of spectralcls, or wrap it: dask.array.from_array(X, chunks=(100_000, -1)); for a "
            "numpy.memmap, spectralcls.dask.from_memmap(X)."
        )
    if X.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, rows and features, got {X.ndim}.")
    X = _without_masks(X)
    _check_known(X, name)
    if len(X.chunks[1]) != 1:
        raise ValueError(
            f"{name} is chunked along its features, into {X.chunks[1]} columns; distances need whole rows: "
            f"{name} = {name}.rechunk({{1: -1}})."
        )
    if X.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold real numbers, got dtype {X.dtype}.")
    if not X.shape[0] or not X.shape[1]:
        raise ValueError(f"{name} is empty: its shape is {X.shape}.")
    X = without_empty_chunks(X)
    return X if X.dtype in FLOATS else X.astype(np.float64)


def without_empty_chunks(array):
    """Remove empty chunks, which a filter may leave."""
    if all(array.chunks[0]):
        return array
    parts = [(block, rows) for block, rows in zip(blocks(array), array.chunks[0], strict=True) if rows]
    return from_blocks(*zip(*parts, strict=True), array.shape[1:], array.dtype)


def as_pair(Q, X):
    """Check the package's version on the workers, and that queries and points have the same number of features."""
    check_workers()
    Q, X = as_points(Q, "Q"), as_points(X, "X")
    if Q.shape[1] != X.shape[1]:
        raise ValueError(f"Q has {Q.shape[1]} features, but X has {X.shape[1]} features.")
    return Q, X


def as_column(values, X, name):
    """Check one value (or one row of values) per row of X; returns them in X's chunks."""
    if hasattr(values, "to_dask_array"):
        dtype = getattr(values, "dtype", np.dtype(object))
        if not isinstance(dtype, np.dtype):  # pandas's extension types: nullable numbers, strings
            plain = getattr(dtype, "numpy_dtype", None)
            values = values.astype(plain if plain is not None and plain.kind in "biuf" else object)
        values = _of_frame(values)
    if not isinstance(values, da.Array):
        values = da.from_array(np.asarray(without_mask(values)), chunks=-1)
    values = _without_masks(values)
    _check_known(values, name)
    values = without_empty_chunks(values) if values.ndim and values.size else values
    if values.ndim not in (1, 2) or values.shape[0] != X.shape[0]:
        raise ValueError(f"{name} has shape {values.shape}, but X has {X.shape[0]} rows.")
    return values.rechunk({0: X.chunks[0], 1: -1} if values.ndim == 2 else {0: X.chunks[0]})


def _without_masks(array):
    """Replace masked entries by missing values, as in memory."""
    if not isinstance(array._meta, np.ma.MaskedArray):
        return array
    dtype = {"f": array.dtype}.get(array.dtype.kind, np.dtype(np.float64 if array.dtype.kind in "iub" else object))
    return array.map_blocks(_unmasked, dtype, dtype=dtype, meta=np.empty((0,) * array.ndim, dtype))


def _unmasked(block, dtype):
    return np.asarray(without_mask(block), dtype=dtype)


def _of_frame(frame):
    """A data frame or a column as an array with known chunks, after one pass to count the rows.

    It is optimized first, because Dask may read several small files as one partition.
    """
    frame = frame.optimize() if hasattr(frame, "optimize") else frame
    return frame.to_dask_array(lengths=True)


def _check_known(array, name):
    if np.isnan(array.shape).any():
        raise ValueError(
            f"{name} has unknown chunk sizes, so that its rows cannot be matched with those of other arrays: call "
            f"{name}.compute_chunk_sizes() first, or make it with ddf.to_dask_array(lengths=True)."
        )


def blocks(array):
    """The row blocks of an array as Delayed objects."""
    return list(array.to_delayed(optimize_graph=False).ravel())


def column_blocks(column, X):
    """The blocks of a column that match those of X; for anything else, as many copies of it."""
    return blocks(column) if isinstance(column, da.Array) else [column] * X.numblocks[0]


def from_blocks(delayed, rows, shape, dtype):
    """Join blocks with the given numbers of rows into an array; `shape` is that of a row."""
    parts = [da.from_delayed(block, (n, *shape), dtype=dtype) for block, n in zip(delayed, rows, strict=True)]
    return da.concatenate(parts) if len(parts) > 1 else parts[0]


def check_labels(name, seen, X, y, sample_weight=None, *, class_weight=None, at_least=2):
    """Check X, labels y and weights, and keep them on the workers, as `TrainingData`; and whether values are missing.
    Fills `seen`; see `check_columns_seen`.

    Blocks are persisted, not scattered, so that they are recomputed if a worker is lost. Without a cluster, large data
    are read whenever a task needs a block, and may be larger than memory.
    """
    X, y, weights, incomplete, _ = _check_rows(name, seen, X, _required(name, y), sample_weight)
    if y.ndim != 1:
        raise ValueError(f"y must have one dimension, got shape {y.shape}.")
    distinct = dask.delayed(_distinct)
    classes = np.concatenate(dask.compute(*[distinct(labels) for labels in blocks(y)]))
    check_class_labels(classes)
    classes = np.unique(classes)
    if len(classes) < at_least:
        raise ValueError(f"The number of classes has to be greater than one; got {len(classes)} class.")
    (codes,) = dask.persist(by_rows(y, partial(np.searchsorted, classes), dtype=np.int64))
    data = TrainingData(X, codes, classes, weights)
    if class_weight is not None:
        of_classes = weights_of_classes(class_weight, classes, data.class_weight)
        if not np.all((of_classes > 0) & np.isfinite(of_classes)):
            raise ValueError(f"On Dask collections class_weight must be positive and finite, got {class_weight!r}.")
        factors = by_rows(codes, of_classes.take, dtype=np.float64)
        data = data._replace(weights=factors if weights is None else weights * factors)
    return data, incomplete


def check_targets(name, seen, X, y, sample_weight=None):
    """As `check_labels`, for numeric targets y of one or more outputs."""
    X, y, weights, incomplete, _ = _check_rows(name, seen, X, _required(name, y), sample_weight)
    if y.dtype.kind not in "biuf":
        raise ValueError(f"y must hold real numbers, got dtype {y.dtype}.")
    targets = y.astype(np.float64).reshape(len(y), -1)
    return TrainingData.points(X, weights)._replace(targets=targets, y=y), incomplete


def check_points(name, seen, X, sample_weight=None, *, at_least=1):
    """As `check_labels`, for points without targets."""
    X, _, weights, incomplete, kept = _check_rows(name, seen, X, None, sample_weight)
    if X.shape[0] < at_least:
        raise ValueError(f"{name} requires at least {at_least} samples of positive weight.")
    return TrainingData.points(X, weights)._replace(kept=kept), incomplete


def _required(name, y):
    if y is None:
        raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
    return y


def _check_rows(name, seen, X, y, sample_weight):
    """Points, targets and weights of the rows of positive weight, on the workers; whether values are missing; and the
    mask of these rows (None: all).
    """
    names = X._meta if hasattr(X, "to_dask_array") else None
    X = as_points(X)
    y = da.zeros(X.shape[:1], chunks=X.chunks[:1]) if y is None else as_column(y, X, "y")
    weights = None if sample_weight is None else as_column(sample_weight, X, "sample_weight")
    check_columns_seen(name, seen, np.empty((1, X.shape[1])) if names is None else names, reset=True)

    X, y = keep(X, y)
    first = np.cumsum([0, *X.chunks[0][:-1]])
    check = dask.delayed(_check_block)
    checked = [check(block, answers, row) for block, answers, row in zip(blocks(X), blocks(y), first, strict=True)]
    incomplete = any(dask.compute(*checked))
    if weights is None:
        return X, y, None, incomplete, None
    X, y, weights, kept = _without_zero_weights(X, y, weights)
    return X, y, weights, incomplete, kept


def _check_block(X, y, first_row):
    """Check a block; returns whether it has missing values."""
    if np.isinf(X).any():
        row, column = np.unravel_index(np.argmax(np.isinf(X)), X.shape)
        raise ValueError(
            f"Input X contains infinity: row {first_row + row}, column {column}. Replace infinite values, or make them "
            "missing."
        )
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        row = np.argmin(np.isfinite(y).reshape(len(y), -1).all(axis=1))
        raise ValueError(f"Input y contains NaN or infinity: row {first_row + row}.")
    refuse_missing_labels(y, first_row)
    return bool(np.isnan(X).any())


def _without_zero_weights(X, y, weights):
    weights = weights.astype(np.float64).persist()
    if not bool((da.isfinite(weights) & (weights >= 0)).all().compute()):
        raise ValueError("sample_weight must be non-negative and finite.")
    kept = weights > 0
    if not bool(kept.any().compute()):
        raise ValueError("Sample weights must contain at least one non-zero number.")
    if bool(kept.all().compute()):
        return X, y, weights, None
    some = keep(X[kept], y[kept], weights[kept])
    return *(without_empty_chunks(array.compute_chunk_sizes()) for array in some), kept


def _distinct(labels):
    if labels.dtype != object:
        return np.unique(labels)
    return np.array(list(dict.fromkeys(labels.tolist())), dtype=object)  # labels need not be sortable
