"""Exact nearest neighbors and the graphs made from them."""

from numbers import Integral
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array

from .._core import compiled
from .._core.threads import effective_n_threads
from .._utils.conversion import as_array
from .._utils.typing import Array, ArrayLike
from .._utils.validation import check_positive
from ._checks import check_matrix, check_queries
from ._packed_points import PackedPoints

__all__ = ["knn", "knn_graph", "reverse_knn"]

ALGORITHMS = ("auto", "brute", "kd_tree")


def _checked(Q: Any, X: Any) -> tuple[Any, Any]:
    if isinstance(X, PackedPoints):
        return check_queries(X.X if Q is X else Q, X, Q is X or Q is X.X)
    points = check_matrix(X, "X")
    return check_queries(points if Q is X else Q, points, Q is X)


def _as_array(points: Any) -> Array:
    return points.X if isinstance(points, PackedPoints) else points


def knn(
    Q: ArrayLike,
    X: ArrayLike,
    k: int,
    *,
    algorithm: Literal["auto", "brute", "kd_tree"] = "auto",
    n_jobs: int | None = None,
) -> tuple[Array, Array]:
    """:func:`spectralcls.neighbors.knn` for arrays and packed points only."""
    if algorithm not in ALGORITHMS:
        raise ValueError(f"algorithm must be one of {ALGORITHMS}, got {algorithm!r}.")
    Q, X = _checked(Q, X)
    if not isinstance(k, Integral) or isinstance(k, bool) or not 1 <= k <= len(X):
        raise ValueError(f"k must be an integer between 1 and the number of points n_samples={len(X)}, got {k!r}.")
    points = X.indexed() if isinstance(X, PackedPoints) else X
    return compiled.knn(Q, points, int(k), algorithm, effective_n_threads(n_jobs))


def reverse_knn(Q: ArrayLike, X: ArrayLike, radii: ArrayLike, *, n_jobs: int | None = None) -> Any:
    """Find the training points that would have a query among their nearest neighbors.

    Parameters
    ----------
    Q : array-like of shape (m, d)
        Query points.
    X : array-like of shape (n, d) or PackedPoints
        Training points.
    radii : array-like of shape (n,)
        Distance of each training point to its k-th neighbor.
    n_jobs : int, default=None
        Threads, as in `knn`.

    Returns
    -------
    csr_array of shape (m, n)
        Distances |q_i - x_j| less than ``radii[j]``; zero distances are stored.

    Raises
    ------
    ValueError
        If an array has the wrong shape, a point contains NaN or infinity, or a radius is NaN.

    Notes
    -----
    At most O(m n d) time; memory proportional to the number of pairs found.

    Examples
    --------
    >>> from spectralcls.kernels.neighbor_search import reverse_knn
    >>> reverse_knn([[0.2]], [[0.0], [1.0], [3.0]], [0.5, 0.5, 5.0]).toarray()
    array([[0.2, 0. , 2.8]])
    """
    Q, X = _checked(Q, X)
    radii = np.require(as_array(radii, "radii"), dtype=X.dtype, requirements=["C", "A"])
    if radii.shape != (len(X),):
        raise ValueError(f"radii must have one number per row of X: shape ({len(X)},), got {radii.shape}.")
    if np.isnan(radii).any():
        raise ValueError(f"radii must be numbers, got nan for row {int(np.isnan(radii).argmax())}.")
    indptr, indices, distances = compiled.reverse_knn(Q, _as_array(X), radii, effective_n_threads(n_jobs))
    return csr(distances, indices, indptr, (len(Q), len(X)))


def csr(data: Array, columns: Array, starts: Array, shape: tuple[int, int]) -> csr_array:
    """A CSR array from its parts, with 32-bit indices if they suffice (scikit-learn accepts no others)."""
    dtype = np.int32 if max(*shape, len(data)) <= np.iinfo(np.int32).max else np.int64
    return csr_array((data, columns.astype(dtype), starts.astype(dtype)), shape=shape)


def row_starts(rows: Array, n_rows: int) -> Array:
    """Start of each row, given row numbers in increasing order: CSR's indptr."""
    return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_rows))])


# An edge longer than this many medians leads to a row that counts as infinitely far. Ordinary outliers are nearer: the
# longest of 4e5 edges of normal samples measures 20 000 medians in one dimension and 100 in two. A single edge of 1e6
# medians dominates the mean square of 1e10 edges.
_INFINITE = 1e6


def typical_length(distances: ArrayLike) -> float:
    """Root mean square of the lengths of edges, scaled to avoid overflow; 1 if all are zero.

    Edges to rows far from all others are left out, because a single one would dominate.
    """
    positive = np.asarray(distances, dtype=np.float64)[np.asarray(distances) > 0]
    if not len(positive):
        return 1.0
    near = positive <= _INFINITE * np.median(positive)
    n = np.size(distances) - np.count_nonzero(~near)
    lengths = positive[near]
    largest = float(lengths.max())
    return largest * float(np.sqrt(np.square(lengths / largest).sum() / n))


def mean_squared_length(distances: ArrayLike) -> float:
    """Scale of the heat kernel: the mean squared length of all edges except those to far rows; 1 if all are zero.

    Raises
    ------
    ValueError
        If the mean is out of the range of float64 although the lengths are not.
    """
    root = typical_length(distances)
    if not np.finfo(float).tiny <= root * root <= np.finfo(float).max:
        raise ValueError(
            f"The mean squared length of the edges, {root:.3g} squared, is out of the range of float64: "
            "rescale the data."
        )
    return root * root


def heat(distances: Array, length: float) -> Array:
    """``exp(-(distance / length)^2)``, evaluated in float64 and returned in the dtype of the distances."""
    with np.errstate(over="ignore", under="ignore"):
        return np.exp(-np.square(distances.astype(np.float64) / length)).astype(distances.dtype)


def undirected(
    rows: Array, columns: Array, distances: Array, n: int, symmetrize: str | None = "or"
) -> tuple[csr_array, Array]:
    """Make directed edges undirected: an (n, n) CSR array of distances, and the vote of each edge.

    The vote of an edge is 1 if it was found from both of its ends and 1/2 if only from one. Zero distances are stored;
    loops are dropped.
    """
    proper = rows != columns
    rows, columns, distances = rows[proper], columns[proper], distances[proper]
    pairs = np.minimum(rows, columns).astype(np.int64) * n + np.maximum(rows, columns)
    pairs, first, counts = np.unique(pairs, return_index=True, return_counts=True)
    if symmetrize == "and":
        mutual = counts > 1
        pairs, first, counts = pairs[mutual], first[mutual], counts[mutual]
    # Use one value for both directions: the distance computed in reverse may be rounded differently.
    edges = np.concatenate([pairs, pairs % n * n + pairs // n])
    order = np.argsort(edges, kind="stable")
    edges, values, counts = edges[order], np.tile(distances[first], 2)[order], np.tile(counts, 2)[order]
    return csr(values, edges % n, row_starts(edges // n, n), (n, n)), np.minimum(counts, 2) / 2


def without_self(distances: Array, indices: Array) -> tuple[Array, Array]:
    """Drop each point's own entry from its k + 1 neighbors, or the last entry if duplicates displaced its own."""
    n, width = indices.shape
    own = indices == np.arange(n)[:, None]
    own[~own.any(axis=1), -1] = True
    return distances[~own].reshape(n, width - 1), indices[~own].reshape(n, width - 1)


def knn_graph(
    X: ArrayLike,
    n_neighbors: int,
    *,
    mode: Literal["connectivity", "distance", "heat"] = "connectivity",
    symmetrize: Literal["auto", "or", "and", "mean"] | None = "auto",
    epsilon: float | None = None,
    algorithm: Literal["auto", "brute", "kd_tree"] = "auto",
    n_jobs: int | None = None,
) -> Any:
    """Graph of the nearest neighbors of every point.

    By default, a graph of ones or distances is directed and has `n_neighbors` entries in each row, like that of
    :func:`sklearn.neighbors.kneighbors_graph`, and a graph of heat kernel values is symmetric.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points.
    n_neighbors : int
        Neighbors per point, not counting the point itself, 1 <= n_neighbors < n.
    mode : {"connectivity", "distance", "heat"}, default="connectivity"
        Value of an edge: 1, the distance, or exp(-distance^2 / epsilon).
    symmetrize : {"auto", "or", "and", "mean"} or None, default="auto"
        None: an edge from each point to its neighbors. "or": an edge between two points if either is a neighbor of the
        other. "and": only if both are. "mean": as "or", but with half the value if only one is; not for distances.
        "auto": "or" with ``mode="heat"``, otherwise None.
    epsilon : float, "mean" or None, default=None
        Scale of the heat kernel. None and "mean": the mean squared length of all edges except those longer than 1e6
        times the median.
    algorithm : {"auto", "brute", "kd_tree"}, default="auto"
        As in `knn`.
    n_jobs : int, default=None
        Threads, as in `knn`.

    Returns
    -------
    csr_array of shape (n, n)
        The graph. Its diagonal is empty, and zero distances are stored. O(n n_neighbors) memory.

    Raises
    ------
    ValueError
        If `n_neighbors` is not in 1 ... n - 1, X is not a finite matrix, or an option is invalid or contradicts
        another.

    Examples
    --------
    >>> from spectralcls.neighbors import knn_graph
    >>> knn_graph([[0.0], [1.0], [3.0]], 1).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 1., 0.]])
    >>> knn_graph([[0.0], [1.0], [3.0]], 1, symmetrize="or").toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    X = check_matrix(X, "X")
    check_graph(len(X), n_neighbors, mode, symmetrize, epsilon)
    neighbors = knn(X, X, n_neighbors + 1, algorithm=algorithm, n_jobs=n_jobs)
    return graph_of_neighbors(*neighbors, mode=mode, symmetrize=symmetrize, epsilon=epsilon)


def check_graph(n: int, n_neighbors: Any, mode: Any, symmetrize: Any, epsilon: Any) -> None:
    if not isinstance(n_neighbors, Integral) or not 1 <= int(n_neighbors) < n:
        raise ValueError(f"n_neighbors must be an integer between 1 and n_samples - 1 = {n - 1}, got {n_neighbors!r}.")
    if not _is_one_of(mode, ("connectivity", "distance", "heat")):
        raise ValueError(f"mode must be 'connectivity', 'distance' or 'heat', got {mode!r}.")
    if not _is_one_of(symmetrize, ("auto", "or", "and", "mean", None)):
        raise ValueError(f"symmetrize must be 'auto', 'or', 'and', 'mean' or None, got {symmetrize!r}.")
    if mode == "distance" and symmetrize == "mean":
        raise ValueError("Half a distance has no meaning: use symmetrize='or' or 'and' with mode='distance'.")
    if mode == "heat" and not _is_one_of(epsilon, ("mean", None)):
        check_positive(np.float64(epsilon), "epsilon")


def _is_one_of(value: Any, names: tuple[Any, ...]) -> bool:
    return value is None and None in names or isinstance(value, str) and value in names


def graph_of_neighbors(
    distances: Array, indices: Array, *, mode: str, symmetrize: str | None, epsilon: float | None
) -> Any:
    """`knn_graph` from the neighbors of each point, including itself: two arrays (n, n_neighbors + 1)."""
    dtype = distances.dtype
    distances, indices = without_self(distances, indices)
    n, n_neighbors = indices.shape
    rows = np.repeat(np.arange(n), n_neighbors)
    if symmetrize == "auto":
        symmetrize = "or" if mode == "heat" else None
    if symmetrize is None:
        starts = np.arange(0, n * n_neighbors + 1, n_neighbors)
        graph = csr(distances.ravel(), indices.ravel(), starts, (n, n))
        graph.sort_indices()
        votes: Any = 1
    else:
        graph, votes = undirected(rows, indices.ravel(), distances.ravel(), n, symmetrize)
    if mode == "heat":
        if epsilon in (None, "mean"):
            graph.data = heat(graph.data, typical_length(graph.data))
        else:
            graph.data = heat(graph.data, np.sqrt(np.float64(epsilon)))
    elif mode == "connectivity":
        graph.data = np.ones_like(graph.data)
    if symmetrize == "mean":
        graph.data = (graph.data * votes).astype(dtype)
    return graph
