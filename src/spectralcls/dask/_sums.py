"""Kernel sums over Dask arrays, by one task per pair of blocks and a tree of additions.

A task sums the kernel values of a block of queries over a block of points and returns pairs (log_scale, sums) with
``sum = exp(log_scale) * sums``, so that even sums out of range can be added. Tasks are independent: Dask assigns them
to workers, moves the data, and repeats the tasks of a lost worker.
"""

from functools import partial
from typing import Any, Literal

import dask
import numpy as np

from .. import kernels
from .._utils.typing import Bandwidth, Kernel
from ._rows import as_column, as_pair, blocks, column_blocks, from_blocks

BRANCHING = 8  # partial results added per task


def add(*parts):
    """Add logarithms of sums, or pairs (log_scale (..., 1), sums) in float64."""
    if isinstance(parts[0], np.ndarray):
        return np.logaddexp.reduce(parts)
    # The scale of a sum that is exactly zero has no meaning.
    scales = [np.where(sums.any(axis=-1, keepdims=True), scale.astype(np.float64), -np.inf) for scale, sums in parts]
    top = np.maximum.reduce(scales)
    top[np.isneginf(top)] = 0.0
    return top, sum(np.exp(scale - top) * sums for scale, (_, sums) in zip(scales, parts, strict=True))


def tree(combine, parts):
    """Reduce a list of Delayed objects by tasks that combine up to `BRANCHING` of them; there is at least one task."""
    combine = dask.delayed(combine)
    # The parts are separate arguments, because Dask would release persisted blocks that are passed in a list.
    while True:
        parts = [combine(*parts[i : i + BRANCHING]) for i in range(0, len(parts), BRANCHING)]
        if len(parts) == 1:
            return parts[0]


def over_blocks(queries, points, tile, combine, finish):
    """For each block of queries, a Delayed ``finish(sums, *q)``: `tile(*q, *p)` of all blocks of points, combined.

    A block of queries or points is a tuple of Delayed objects and other arguments.
    """
    tile, finish = dask.delayed(tile), dask.delayed(finish)
    return [finish(tree(combine, [tile(*q, *p) for p in points]), *q) for q in queries]


def kernel_sums(
    Q: Any,
    X: Any,
    *,
    weights: Any = None,
    labels: Any = None,
    n_labels: int | None = None,
    kernel: Kernel = "gaussian",
    bandwidth: Bandwidth,
    log: bool | Literal["pair"] = False,
    exclude_self: bool = False,
    exclude_groups: Any = None,
    normalize: bool = False,
    rtol: float = 0.0,
    n_jobs: int | None = None,
) -> Any:
    """Sum kernel values over Dask arrays: :func:`spectralcls.kernels.kernel_sums` for many machines.

    Parameters
    ----------
    Q : Dask array of shape (m, d)
        Queries, chunked by rows.
    X : Dask array of shape (n, d)
        Points, chunked by rows. Persist them if they are used more than once.
    weights : Dask array or array-like of shape (n,) or (n, c), default=None
        Weights of the points; None means 1.
    labels : Dask array or array-like of int of shape (n,), default=None
        Labels 0 ... n_labels - 1 of the points.
    n_labels : int, default=None
        Number of labels. None: the largest label + 1, which is computed immediately.
    kernel : str, default="gaussian"
        As in :func:`spectralcls.kernels.kernel_sums`.
    bandwidth : float or array-like of shape (b,) or (b, n_labels)
        As in :func:`spectralcls.kernels.kernel_sums`.
    log : bool or "pair", default=False
        As in :func:`spectralcls.kernels.kernel_sums`.
    exclude_self : bool, default=False
        Leave out point i for query i; requires Q to be X.
    exclude_groups : tuple of two Dask arrays or array-likes of shape (m,) and (n,), default=None
        Groups of the queries and of the points, 0, 1, ...; a query leaves out the points of its own group.
    normalize : bool, default=False
        Multiply by the constant that makes the kernel a density on R^d.
    rtol : float, default=0
        Allowed error, as in :func:`spectralcls.kernels.kernel_sums`, for non-negative weights: the errors of the blocks
        of points, relative to their totals, stay within it. Each task chooses its method.
    n_jobs : int, default=None
        Threads per task. None: one, because each Dask worker runs as many tasks at a time as it has threads.

    Returns
    -------
    sums : Dask array of shape (m[, b][, l][, c]), float64
        Lazy, in the chunks of Q. With ``log="pair"`` a tuple (log_scale, sums).

    Raises
    ------
    ValueError
        Before any task runs: for unknown chunk sizes, chunks along the features, shapes that do not match, or an option
        that :func:`spectralcls.kernels.kernel_sums` refuses.
    RuntimeError
        If a worker lacks the package or has a different version.

    Notes
    -----
    There is one task per pair of blocks. It reads two blocks and returns at most ``8 * rows(Q) * b * l * (1 + c)``
    bytes; partial results are added eight at a time.

    Examples
    --------
    >>> import dask.array as da
    >>> from spectralcls.dask import kernel_sums
    >>> X = da.random.default_rng(0).normal(size=(200, 2), chunks=(100, 2))
    >>> kernel_sums(X, X, bandwidth=1.0).compute().shape
    (200,)
    """
    same = Q is X
    Q, X = as_pair(Q, X)
    if not isinstance(exclude_self, (bool, np.bool_)):
        raise ValueError(f"exclude_self must be True or False, got {exclude_self!r}.")
    if exclude_self and not same:
        raise ValueError("exclude_self=True needs Q to be X itself.")
    W: Any = None if weights is None else as_column(weights, X, "weights")
    labels = None if labels is None else as_column(labels, X, "labels")
    if labels is not None and (labels.ndim != 1 or labels.dtype.kind not in "iub"):
        raise ValueError(f"labels must be integers, one per row, got shape {labels.shape} and dtype {labels.dtype}.")
    if labels is not None and n_labels is None:
        n_labels = int(labels.max().compute()) + 1
    groups, given = [None, None], isinstance(exclude_groups, (tuple, list)) and len(exclude_groups) == 2
    if given:
        groups = [
            as_column(of, to, f"exclude_groups[{k}]")
            for k, (of, to) in enumerate(zip(exclude_groups, (Q, X), strict=True))
        ]
    options: dict[str, Any] = dict(n_labels=n_labels, kernel=kernel, bandwidth=bandwidth, log=log, normalize=normalize)
    options |= {"rtol": rtol, "n_jobs": n_jobs or 1}
    example = kernels.kernel_sums(  # refuses what the tasks would refuse
        *np.zeros((2, 1, X.shape[1])),
        weights=None if W is None else np.ones((1, *W.shape[1:])),
        labels=None if labels is None else [0],
        exclude_groups=([0], [0]) if given else exclude_groups,
        **options | {"n_jobs": n_jobs},
    )
    columns = [column_blocks(column, X) for column in (W, labels, groups[1])]
    done = over_blocks(
        list(zip(blocks(Q), range(Q.npartitions), column_blocks(groups[0], Q), strict=True)),
        list(zip(blocks(X), range(X.npartitions), *columns, strict=True)),
        partial(_tile, options, exclude_self),
        add if log else total,
        partial(_finish, W is not None and W.ndim == 2),
    )
    if log != "pair":
        return from_blocks(done, Q.chunks[0], example.shape[1:], np.float64)
    pairs = [[pair[k] for pair in done] for k in (0, 1)]
    shapes = [like.shape[1:] for like in example]
    return tuple(from_blocks(each, Q.chunks[0], shape, np.float64) for each, shape in zip(pairs, shapes, strict=True))


def total(*parts):
    return sum(parts)


def _tile(options, exclude_self, Q, i, query_groups, X, j, weights, labels, point_groups):
    exclude_self = exclude_self and i == j
    found = kernels.kernel_sums(
        Q,
        Q if exclude_self else X,
        weights=weights,
        labels=labels,
        exclude_self=exclude_self,
        exclude_groups=None if point_groups is None else (query_groups, point_groups),
        **options,
    )
    if options["log"] != "pair":
        return found.astype(np.float64)
    log_scale, sums = found
    return log_scale[..., None], sums if weights is not None and weights.ndim == 2 else sums[..., None]


def _finish(columns, found, *_):
    if isinstance(found, np.ndarray):
        return found
    log_scale, sums = found
    return log_scale[..., 0], sums if columns else sums[..., 0]
