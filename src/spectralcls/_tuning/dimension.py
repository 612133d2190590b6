"""Intrinsic dimension from the growth of entropic graphs (Costa and Hero)."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Literal

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils import check_random_state

from .._utils.advice import advise, quietly
from .._utils.conversion import converted
from .._utils.from_sklearn import Interval, StrOptions, validated
from .._utils.typing import ArrayLike, RandomState
from ..kernels.neighbor_search import knn, without_self
from .scaled import centered_and_scaled

TRIMMED = 0.05  # fraction of edges left out: the longest ones
# If the longest edges make up this fraction of the total length, far points are looked for. In samples of a normal
# distribution, their fraction is smaller.
DOMINATED = 0.8
NAMED = 5  # far points named in a warning
SPARE = 4  # extra neighbors, in standard deviations of their number, so that only 1 point in 1e5 has too few
MOST_KNOWN = 128  # limit on the neighbors stored per point; in small subsamples, neighbors are searched for again
MOST_PAIRED = 4096  # up to this many points, all distances are stored (128 MiB)
_COUNT = [Interval(Integral, 1, None, closed="left")]
_CONSTRAINTS = {
    "graph": [StrOptions({"knn", "mst"})],
    "gamma": [Interval(Real, 0, None, closed="neither")],
    **dict.fromkeys(("n_neighbors", "n_resamples"), _COUNT),
    "random_state": ["random_state"],
}


@dataclass(frozen=True)
class IntrinsicDimension:
    """An estimate of the intrinsic dimension, with the graph lengths it was computed from.

    Parameters
    ----------
    dimension : float
        The estimate gamma / (1 - slope), from the slope of the mean log-length against the log-size; round it for an
        integer estimate.
    spread : float
        Standard deviation of the estimates of the resamples.
    resampled : ndarray of shape (n_resamples,)
        The estimate of each resample.
    sizes : ndarray of shape (n_sizes,)
        Sizes of the subsamples.
    lengths : ndarray of shape (n_resamples, n_sizes)
        Total graph lengths: sums of the edge lengths to the power gamma, without the longest twentieth of the edges.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> from spectralcls.information import entropic_dimension
    >>> found = entropic_dimension(X, random_state=0)
    >>> type(found).__name__, round(found.dimension, 3)
    ('IntrinsicDimension', 1.964)
    """

    dimension: float
    spread: float
    resampled: np.ndarray
    sizes: np.ndarray
    lengths: np.ndarray


@validated(_CONSTRAINTS)
def entropic_dimension(
    X: ArrayLike,
    *,
    graph: Literal["knn", "mst"] = "knn",
    n_neighbors: int = 4,
    gamma: float = 1.0,
    sizes: ArrayLike | None = None,
    n_resamples: int = 20,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> IntrinsicDimension:
    """Intrinsic dimension of the manifold that the points lie on.

    For n points on an m-dimensional manifold, the total length of a k-NN graph or minimal spanning tree, with edges
    raised to the power gamma, grows as n^((m - gamma) / m). The slope of log-length against log-n, over subsamples
    drawn without replacement, gives m. The longest twentieth of the edges is left out: their length grows at the same
    rate, and most of them lie at the boundary. Points far from all others are left out too. Copies of a point count
    once.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points, converted to float64.
    graph : {"knn", "mst"}, default="knn"
        Graph of the points. "mst" is the minimal spanning tree of the complete Euclidean graph, O(n^2) time.
    n_neighbors : int, default=4
        Neighbors per point in the k-NN graph.
    gamma : float, default=1
        Power of the edge lengths, 0 < gamma < the dimension.
    sizes : array-like of int or None, default=None
        Sizes of the subsamples. None means 8 sizes from n / 2 to n - 1, where n counts distinct points.
    n_resamples : int, default=20
        Number of subsamples per size.
    random_state : int, RandomState or None, default=None
        Controls the subsamples.
    n_jobs : int or None, default=None
        Number of threads of the neighbor search, as in `spectralcls.neighbors.knn`.

    Returns
    -------
    found : IntrinsicDimension
        The estimate and its spread. The estimate is infinite if the length grows as fast as n.

    Raises
    ------
    ValueError
        If there are too few distinct points.

    Warns
    -----
    UserWarning
        If the longest twentieth of the edges makes up four fifths of the total length, and some points are more than
        ten times as far from their neighbors as the other edges are long. The warning names the farthest points.

    Notes
    -----
    k-NN graphs take one search for enough neighbors to cover those in nearly all subsamples; spanning trees are built
    anew for each of the n_resamples subsamples of each size.

    In high dimensions, the estimate is biased downward, because boundary effects remain at the usual sample sizes.

    References
    ----------
    J. A. Costa, A. O. Hero, "Geodesic entropic graphs for dimension and entropy estimation in manifold
    learning", IEEE Trans. Signal Processing 52 (2004), for trees; J. A. Costa, A. Girotra, A. O. Hero, "Estimating
    local intrinsic dimension with k-nearest neighbor graphs", IEEE Workshop on Statistical Signal Processing, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> from spectralcls.information import entropic_dimension
    >>> round(entropic_dimension(np.hstack([X, X]), random_state=0).dimension, 3)
    1.964
    """
    points, exponent, rows_of_X = distinct_and_scaled(X, least := least_number(graph, n_neighbors))
    n = len(points)
    given = sizes
    if sizes is None:
        sizes = np.unique(np.linspace(max(least, n // 2), n - 1, 8).astype(int))
    sizes = np.asarray(sizes)
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu":
        raise ValueError(f"sizes must be integers, got {sizes.tolist()!r}.")
    if len(sizes) < 2 or sizes.min() < least or sizes.max() > n:
        raise ValueError(
            f"sizes must be two or more between {least} and the number of distinct points, {n}; got {sizes.tolist()}."
        )
    graphs = entropic_graphs(points, graph, n_neighbors, sizes.min(), n_jobs)
    consequence = "They are left out of the estimate."
    far = named_far_points(points, graphs.edges(np.arange(n)), n_neighbors, rows_of_X, consequence, n_jobs)
    if 0 < np.count_nonzero(far) < n - least:
        with quietly():  # the rest may include far points again
            return entropic_dimension(
                np.asarray(X)[rows_of_X[~far]],
                graph=graph,
                n_neighbors=n_neighbors,
                gamma=gamma,
                sizes=None if given is None else np.unique(np.minimum(given, n - np.count_nonzero(far))),
                n_resamples=n_resamples,
                random_state=random_state,
                n_jobs=n_jobs,
            )
    random = check_random_state(random_state)
    logs = np.empty((n_resamples, len(sizes)))
    for r, s in np.ndindex(logs.shape):
        rows = random.choice(n, sizes[s], replace=False)
        logs[r, s] = np.log(trimmed_length(graphs.edges(rows), gamma))
    resampled = _dimensions(logs, sizes, gamma)
    mean = float(_dimensions(logs.mean(axis=0, keepdims=True), sizes, gamma)[0])
    spread = float(np.std(resampled)) if np.isfinite(resampled).all() else np.inf
    with np.errstate(over="ignore", under="ignore"):
        lengths = np.exp(logs + gamma * exponent * np.log(2))
    return IntrinsicDimension(mean, spread, resampled, sizes, lengths)


def largest_dimension(X, codes, random_state, n_jobs=None):
    """The largest rounded dimension among the classes 0, 1, ... with enough points for an estimate."""
    found = []
    for c in range(codes.max() + 1):
        own = np.unique(X[codes == c], axis=0)
        if len(own) > least_number("knn") + 1:
            found.append(entropic_dimension(own, random_state=random_state, n_jobs=n_jobs).dimension)
    if not found:
        raise ValueError(
            f"no class has the {least_number('knn') + 2} distinct labeled points that an intrinsic dimension needs."
        )
    return round(min(max(found), X.shape[1]))


def least_number(graph, n_neighbors=4):
    """The smallest number of points of a graph."""
    return n_neighbors + 1 if graph == "knn" else 2


def distinct_and_scaled(X, least):
    """Distinct points after `scaled`, its exponent, and the row of each point; raises ValueError for too few points."""
    points, exponent = centered_and_scaled(converted(X, "X", dtype=np.float64))
    points, rows = np.unique(points, axis=0, return_index=True)
    if len(points) <= least:
        raise ValueError(
            f"need more than {least} distinct points for a dimension, but without duplicates there are {len(points)} "
            f"of n_samples={np.shape(X)[0]}."
        )
    return points, exponent, rows


def entropic_graphs(points, graph, n_neighbors, smallest, n_jobs):
    """`NeighborGraphs` or `SpanningTrees` of subsamples with at least `smallest` points."""
    if graph == "mst":
        return SpanningTrees.of(points)
    return NeighborGraphs.of(points, n_neighbors, smallest, n_jobs)


@dataclass(frozen=True)
class NeighborGraphs:
    """Edges of the k-NN graphs of subsamples.

    The neighbors of a point in a subsample are the nearest of its known neighbors that were drawn. If too few were
    drawn, a search finds them.
    """

    X: np.ndarray
    k: int
    distances: np.ndarray  # (n, K) distances of the neighbors among all points
    indices: np.ndarray
    n_jobs: int | None

    @classmethod
    def of(cls, X, k, smallest, n_jobs):
        known = min(len(X) - 1, int(np.ceil((k + SPARE * np.sqrt(k) + SPARE) * len(X) / smallest)), MOST_KNOWN)
        return cls(X, k, *without_self(*knn(X, X, known + 1, n_jobs=n_jobs)), n_jobs)

    def edges(self, rows):
        drawn = np.zeros(len(self.X), dtype=bool)
        drawn[rows] = True
        of_subsample = drawn[self.indices[rows]]
        counts = np.cumsum(of_subsample, axis=1, dtype=np.int16)
        complete = counts[:, -1] >= self.k
        edges = self.distances[rows][of_subsample & (counts <= self.k) & complete[:, None]]
        others = rows[~complete]
        if not len(others):
            return edges
        missing = knn(self.X[others], self.X[rows], self.k + 1, n_jobs=self.n_jobs)[0][:, 1:]
        return np.concatenate([edges, missing.ravel()])


@dataclass(frozen=True)
class SpanningTrees:
    """Edges of the Euclidean minimum spanning trees of subsamples, by Prim's algorithm.

    Distances of up to `MOST_PAIRED` points are computed once; those of more points whenever needed, a row at a time.
    """

    X: np.ndarray
    distances: np.ndarray | None  # (n, n)

    @classmethod
    def of(cls, X):
        return cls(X, cdist(X, X) if len(X) <= MOST_PAIRED else None)

    def edges(self, rows):
        others, last = rows[:-1].copy(), rows[-1]
        edges, nearest = np.empty(len(others)), np.full(len(others), np.inf)
        for n in range(len(others), 0, -1):  # points outside the tree
            np.minimum(nearest[:n], self._distances(last, others[:n]), out=nearest[:n])
            i = nearest[:n].argmin()
            edges[n - 1], last = nearest[i], others[i]
            others[i], nearest[i] = others[n - 1], nearest[n - 1]
        return edges

    def _distances(self, row, others):
        return cdist(self.X[row, None], self.X[others])[0] if self.distances is None else self.distances[row, others]


def named_far_points(points, edges, n_neighbors, rows_of_X, consequence, n_jobs):
    """Mask (n,) of points so far from all others that their edges make up most of a graph's length.

    A warning names these points and states the `consequence`.
    """
    far = np.zeros(len(points), dtype=bool)
    kept = np.sort(edges)[: -max(n_neighbors, int(TRIMMED * len(edges)))]
    if not len(kept) or kept.sum() > (1 - DOMINATED) * edges.sum():
        return far
    farthest = knn(points, points, min(n_neighbors, len(points) - 1) + 1, n_jobs=n_jobs)[0][:, -1]
    far = farthest > 10 * kept[-1]
    if far.any():
        rows = np.flatnonzero(far)
        rows = rows[np.argsort(-farthest[rows], kind="stable")]
        named = ", ".join(str(row) for row in rows_of_X[rows[:NAMED]]) + (", ..." if len(rows) > NAMED else "")
        advise(
            f"{len(rows)} of {len(points)} distinct points are far from all others (rows {named} of those given). "
            f"{consequence} Check whether these rows are errors."
        )
    return far


def trimmed_length(edges, gamma):
    """Length of a graph without the longest `TRIMMED` fraction of its edges.

    The edge at the cut counts partially, so that the fraction is exact for any number of edges.
    """
    left_out = TRIMMED * len(edges)
    kept = len(edges) - int(left_out)
    powers = np.partition(edges, kept - 1)[:kept] ** gamma
    return powers.sum() - (left_out % 1) * powers[-1]


def _dimensions(logs, sizes, gamma):
    """gamma / (1 - slope) of every row of log-lengths."""
    slopes = np.polyfit(np.log(sizes), logs.T, 1)[0]
    with np.errstate(divide="ignore"):
        return np.where(slopes < 1, gamma / np.maximum(1 - slopes, 0), np.inf)
