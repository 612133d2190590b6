"""Kernel sums over Dask arrays, by one task per pair of blocks and a tree of additions.

A task sums the kernel values of a block of queries over a block of points and returns pairs (log_scale, sums) with
``sum = exp(log_scale) * sums``, so that even sums out of range can be added. Tasks are independent: Dask assigns them
to workers, moves the data, and repeats the tasks of a lost worker.
"""

from typing import Any, Literal, NamedTuple

import dask
import dask.array as da
import numpy as np

from .. import kernels
from .._utils.typing import Bandwidth, Kernel
from ..kernels.neighbor_search import knn
from ._rows import as_column, as_pair, blocks, column_blocks, from_blocks, sizes

BRANCHING = 8  # partial results added per task


class ScaledSums(NamedTuple):
    """Sums, and the logarithm of their scale."""

    log_scale: np.ndarray  # (m, b, l)
    sums: np.ndarray  # (m, b, l, c)

    def log(self):
        with np.errstate(divide="ignore"):
            return np.log(self.sums) + self.log_scale[..., None]

    def plain(self):
        return np.exp(self.log_scale)[..., None] * self.sums


def add(*parts):
    """Add several `ScaledSums` in float64."""
    # The scale of a sum that is exactly zero has no meaning.
    scales = [np.where(p.sums.any(axis=-1), p.log_scale.astype(np.float64), -np.inf) for p in parts]
    top = np.maximum.reduce(scales)
    top[np.isneginf(top)] = 0.0
    total = sum(np.exp(s - top)[..., None] * p.sums for s, p in zip(scales, parts, strict=True))
    return ScaledSums(top, total)


def tree(combine, parts):
    """Reduce a list of Delayed objects by tasks that combine up to `BRANCHING` of them; there is at least one task."""
    combine = dask.delayed(combine)
    # The parts are separate arguments, because Dask would release persisted blocks that are passed in a list.
    while True:
        parts = [combine(*parts[i : i + BRANCHING]) for i in range(0, len(parts), BRANCHING)]
        if len(parts) == 1:
            return parts[0]


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
    pair = isinstance(exclude_groups, (tuple, list)) and len(exclude_groups) == 2
    kernels.kernel_sums(  # refuses what the tasks would refuse
        *np.zeros((2, 1, X.shape[1])),
        labels=None if labels is None else [0],
        n_labels=n_labels,
        kernel=kernel,
        bandwidth=bandwidth,
        log=log,
        exclude_groups=([0], [0]) if pair else exclude_groups,
        normalize=normalize,
        rtol=rtol,
        n_jobs=n_jobs,
    )
    query_groups, point_groups = (None, None) if exclude_groups is None else exclude_groups
    query_groups = None if exclude_groups is None else as_column(query_groups, Q, "exclude_groups[0]")
    point_groups = None if exclude_groups is None else as_column(point_groups, X, "exclude_groups[1]")
    bandwidth = np.asarray(bandwidth, dtype=np.float64)

    options: dict[str, Any] = dict(
        n_labels=1 if labels is None else n_labels,
        kernel=kernel,
        bandwidth=np.atleast_1d(bandwidth),
        normalize=normalize,
        rtol=rtol,
        n_jobs=n_jobs or 1,
    )
    columns = [column_blocks(column, X) for column in (W, labels, point_groups)]
    points = list(zip(blocks(X), *columns, strict=True))
    tile, finish = dask.delayed(_tile), dask.delayed(_finish)
    keep = (bandwidth.ndim > 0, labels is not None, W is not None and W.ndim == 2)
    done = []
    for i, (queries, groups) in enumerate(zip(blocks(Q), column_blocks(query_groups, Q), strict=True)):
        tiles = [
            tile(queries, x, w, c, groups, g, exclude_self and i == j, options) for j, (x, w, c, g) in enumerate(points)
        ]
        done.append(finish(tree(add, tiles), log, keep))
    axes = (len(options["bandwidth"]), options["n_labels"], W.shape[1] if keep[2] else 1)
    shape = tuple(n for n, kept in zip(axes, keep, strict=True) if kept)
    if log != "pair":
        return from_blocks(done, sizes(Q), shape, np.float64)
    scale_shape = tuple(n for n, kept in zip(axes[:2], keep[:2], strict=True) if kept)
    return (
        from_blocks([pair[0] for pair in done], sizes(Q), scale_shape, np.float64),
        from_blocks([pair[1] for pair in done], sizes(Q), shape, np.float64),
    )


def _tile(Q, X, weights, labels, query_groups, point_groups, exclude_self, options):
    if exclude_self:
        X = Q
    log_scale, sums = kernels.kernel_sums(
        Q,
        X,
        weights=None if weights is None else weights.reshape(len(X), -1),
        log="pair",
        labels=np.zeros(len(X), dtype=np.int64) if labels is None else labels,
        exclude_self=exclude_self,
        exclude_groups=None if point_groups is None else (query_groups, point_groups),
        **options,
    )
    return ScaledSums(log_scale, sums[..., None] if weights is None else sums)


def _finish(pairs, log, keep):
    bandwidths, labels, columns = keep
    index = (slice(None), slice(None) if bandwidths else 0, slice(None) if labels else 0)
    column = (*index, slice(None) if columns else 0)
    if log == "pair":
        return pairs.log_scale[index], pairs.sums[column]
    return (pairs.log() if log else pairs.plain())[column]


def class_potentials(X, codes, weights, n_classes, kernel, bandwidths, rtol, n_jobs):
    """sum_ij w_i w_j k(x_i, x_j) over the pairs within each class, as a float64 array (C,) in this process.

    Every task returns C numbers; `bandwidths` has one value per class.
    """
    tile = dask.delayed(_class_tile)
    points = list(zip(blocks(X), blocks(codes), column_blocks(weights, X), strict=True))
    tiles = [
        tile(*points[i], *points[j], n_classes, kernel, bandwidths, rtol, n_jobs or 1) * (1 if i == j else 2)
        for i in range(len(points))
        for j in range(i + 1)
    ]
    return tree(total, tiles).compute()


def total(*parts):
    return sum(parts)


def _class_tile(Q, query_codes, query_weights, X, codes, weights, n_classes, kernel, bandwidths, rtol, n_jobs):
    out = np.zeros(n_classes)
    for c in range(n_classes):
        rows, points = query_codes == c, codes == c
        if rows.any() and points.any():
            w = None if weights is None else weights[points]
            sums = kernels.kernel_sums(
                Q[rows], X[points], weights=w, kernel=kernel, bandwidth=bandwidths[c], rtol=rtol, n_jobs=n_jobs
            ).astype(np.float64)
            out[c] = sums.sum() if query_weights is None else query_weights[rows] @ sums
    return out


def nearest_codes(Q, X, codes, wanted, candidates):
    """Codes of the points nearest to the queries in the mask `wanted`, -1 for the others; Dask array (m,).

    Only points whose classes are in the mask `candidates` (C,) count; among equally near points the first is taken.
    """
    return _nearest(Q, wanted, X, codes, candidates, (), np.int64)


def nearest_points(Q, X, wanted):
    """The queries, with those in the mask `wanted` replaced by their nearest points; Dask array (m, d)."""
    found = _nearest(Q, wanted, X, X, None, X.shape[1:], X.dtype)
    return da.where(wanted[:, None], found, Q.astype(X.dtype))


def _nearest(Q, wanted, X, answers, candidates, shape, dtype):
    """Entries of `answers` (n, *shape) at the point nearest to each wanted query, -1 for the others."""
    tile, finish = dask.delayed(_nearest_tile), dask.delayed(lambda found: found[1].astype(dtype))
    points = list(zip(blocks(X), blocks(answers), strict=True))
    done = [
        finish(tree(_nearer, [tile(q, mask, x, said, candidates) for x, said in points]))
        for q, mask in zip(blocks(Q), blocks(wanted), strict=True)
    ]
    return from_blocks(done, sizes(Q), shape, dtype)


def _nearest_tile(Q, wanted, X, answers, candidates):
    distances, nearest = np.full(len(Q), np.inf), np.full((len(Q), *answers.shape[1:]), -1, dtype=answers.dtype)
    rows = np.flatnonzero(wanted)
    own = np.arange(len(X)) if candidates is None else np.flatnonzero(candidates[answers])
    if len(rows) and len(own):
        found, index = knn(Q[rows], X[own], 1, n_jobs=1)
        distances[rows], nearest[rows] = found[:, 0], answers[own[index[:, 0]]]
    return distances, nearest


def _nearer(first, *others):
    distances, nearest = first
    for further in others:
        closer = further[0] < distances
        nearest = np.where(closer.reshape(-1, *[1] * (nearest.ndim - 1)), further[1], nearest)
        distances = np.where(closer, further[0], distances)
    return distances, nearest
