"""Nearest neighbors over Dask arrays, merged from the neighbors in every block."""

from functools import partial
from numbers import Integral
from typing import Any, Literal

import dask
import numpy as np

from .._core.threads import effective_n_threads
from ..kernels import neighbor_search
from ._rows import as_pair, as_points, blocks, from_blocks
from ._sums import over_blocks


def knn(Q: Any, X: Any, k: int, *, n_jobs: int | None = None) -> tuple[Any, Any]:
    """Exact Euclidean k nearest neighbors: :func:`spectralcls.knn` for many machines.

    Parameters
    ----------
    Q : Dask array of shape (m, d)
        Queries, chunked by rows.
    X : Dask array of shape (n, d)
        Points, chunked by rows.
    k : int
        Number of neighbors, 1 <= k <= n.
    n_jobs : int, default=None
        Threads per task; None means one.

    Returns
    -------
    distances, indices : Dask array of shape (m, k)
        Lazy, in the chunks of Q, and ordered as by :func:`spectralcls.knn`: by distance, then by index.

    Raises
    ------
    ValueError
        Before any task runs: for unknown chunk sizes, chunks along the features, different numbers of features, or k
        not in 1 ... n.

    Notes
    -----
    There is one task per pair of blocks, which returns ``16 * rows(Q) * k`` bytes.

    Examples
    --------
    >>> import dask.array as da
    >>> from spectralcls.dask import knn
    >>> X = da.random.default_rng(0).normal(size=(200, 2), chunks=(100, 2))
    >>> distances, indices = knn(X, X, 3)
    >>> indices.compute().shape
    (200, 3)
    """
    Q, X = as_pair(Q, X)
    if not isinstance(k, Integral) or isinstance(k, bool) or not 1 <= k <= X.shape[0]:
        raise ValueError(f"k must be an integer between 1 and the number of points {X.shape[0]}, got {k!r}.")
    effective_n_threads(n_jobs)
    points = list(zip(blocks(X), np.cumsum([0, *X.chunks[0][:-1]]), strict=True))
    done = over_blocks([(q,) for q in blocks(Q)], points, partial(_tile, k, n_jobs or 1), partial(_nearest, k), _first)
    dtype = np.result_type(Q.dtype, X.dtype)
    return (
        from_blocks([found[0] for found in done], Q.chunks[0], (k,), dtype),
        from_blocks([found[1] for found in done], Q.chunks[0], (k,), np.int64),
    )


def knn_graph(
    X: Any,
    n_neighbors: int,
    *,
    mode: Literal["connectivity", "distance", "heat"] = "connectivity",
    symmetrize: Literal["auto", "or", "and", "mean"] | None = "auto",
    epsilon: Any = None,
    n_jobs: int | None = None,
) -> Any:
    """Connect every point with its nearest neighbors, as :func:`spectralcls.neighbors.knn_graph`.

    The workers find the neighbors; this process builds the graph, O(n n_neighbors) numbers.

    Parameters
    ----------
    X : Dask array of shape (n, d)
        Points, chunked by rows.
    n_neighbors : int
        Number of neighbors per point, without the point itself, 1 <= n_neighbors < n.
    mode : {"connectivity", "distance", "heat"}, default="connectivity"
        Value of an edge, as in :func:`spectralcls.neighbors.knn_graph`.
    symmetrize : {"auto", "or", "and", "mean"} or None, default="auto"
        Which edges are kept, as in :func:`spectralcls.neighbors.knn_graph`.
    epsilon : float, "mean" or None, default=None
        Scale of the heat kernel, as in :func:`spectralcls.neighbors.knn_graph`.
    n_jobs : int, default=None
        Threads per task; None means one.

    Returns
    -------
    graph : csr_array of shape (n, n)
        In memory; empty diagonal.

    Raises
    ------
    ValueError
        Before any task runs: as in :func:`spectralcls.neighbors.knn_graph`, and for unknown chunk sizes or chunks along
        the features.

    Notes
    -----
    The cost is that of :func:`knn`.

    Examples
    --------
    >>> import dask.array as da
    >>> from spectralcls.dask import knn_graph
    >>> X = da.random.default_rng(0).normal(size=(200, 2), chunks=(100, 2))
    >>> knn_graph(X, 3).shape
    (200, 200)
    """
    X = as_points(X)
    neighbor_search.check_graph(X.shape[0], n_neighbors, mode, symmetrize, epsilon)
    distances, indices = dask.compute(*knn(X, X, n_neighbors + 1, n_jobs=n_jobs))
    return neighbor_search.graph_of_neighbors(distances, indices, mode=mode, symmetrize=symmetrize, epsilon=epsilon)


def _first(found, *_):
    return found


def _tile(k, n_jobs, Q, X, first):
    distances, indices = neighbor_search.knn(Q, X, min(k, len(X)), n_jobs=n_jobs)
    return distances, indices + first


def _nearest(k, *found):
    """The k nearest of several sets of neighbors."""
    distances = np.concatenate([each[0] for each in found], axis=1)
    indices = np.concatenate([each[1] for each in found], axis=1)
    order = np.lexsort((indices, distances), axis=1)[:, :k]
    return np.take_along_axis(distances, order, 1), np.take_along_axis(indices, order, 1)
