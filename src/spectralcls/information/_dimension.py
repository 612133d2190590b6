"""Intrinsic dimension from the growth of entropic graphs (Costa and Hero)."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils import check_random_state

from .._utils.conversion import converted
from .._utils.from_sklearn import Interval, StrOptions, validated
from .._utils.typing import ArrayLike, RandomState
from .._utils.validation import check_column
from ..kernels.neighbors import knn, without_self

_COUNT = [Interval(Integral, 1, None, closed="left")]
_CONSTRAINTS = {
    "graph": [StrOptions({"knn", "mst"})],
    "gamma": [Interval(Real, 0, None, closed="neither")],
    **dict.fromkeys(("n_neighbors", "n_resamples"), _COUNT),
    "random_state": ["random_state"],
}


@dataclass(frozen=True)
class IntrinsicDimension:
    """An estimate and what it rests on.

    Parameters
    ----------
    dimension : float
        The estimate, gamma / (1 - slope) of the mean log-lengths; round it for the integer estimate.
    spread : float
        Standard deviation over the resamples, each with its own slope.
    resampled : ndarray of shape (n_resamples,)
        The estimates of the resamples.
    sizes : ndarray of shape (n_sizes,)
        Numbers of points drawn.
    lengths : ndarray of shape (n_resamples, n_sizes)
        Total graph lengths: the sum of the edges' gamma-th powers.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> from spectralcls.information._dimension import entropic_dimension
    >>> found = entropic_dimension(X, random_state=0)
    >>> type(found).__name__, round(found.dimension, 6)
    ('IntrinsicDimension', 2.107535)
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
    graph: str = "knn",
    n_neighbors: int = 4,
    gamma: float = 1.0,
    sizes: ArrayLike | None = None,
    n_resamples: int = 20,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> IntrinsicDimension:
    """Intrinsic dimension of the manifold that the points lie on.

    The total length of a k-NN graph or minimal spanning tree over n points of an m-dimensional manifold,
    edges raised to the power gamma, grows as n^((m - gamma) / m). The slope of log-length against log-n, over
    subsamples drawn without replacement, gives m.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points.
    graph : {"knn", "mst"}, default="knn"
        "mst" is the tree of the complete Euclidean graph: O(n^2) time.
    n_neighbors : int, default=4
        Of the k-NN graph.
    gamma : float, default=1
        Power of the edge lengths, 0 < gamma < the dimension.
    sizes : array-like of int or None, default=None
        Numbers of points to draw; None: 8 sizes from n / 2 to n - 1.
    n_resamples : int, default=20
        Subsamples per size.
    random_state : int, RandomState or None, default=None
        Draws the subsamples.
    n_jobs : int or None, default=None
        Threads of the neighbor search, as in `spectralcls.neighbors.knn`.

    Returns
    -------
    found : IntrinsicDimension
        The estimate with its spread; infinite where the length grows as fast as n.

    Raises
    ------
    ValueError
        If there are too few points, or too few distinct ones for a positive length.

    Notes
    -----
    Time: n_resamples k-NN graphs (or trees) per size. In high dimension the estimate is biased downwards, as
    subsamples hardly reach the regime where boundaries do not matter.

    References
    ----------
    J. A. Costa, A. O. Hero, "Geodesic entropic graphs for dimension and entropy estimation in manifold
    learning", IEEE Trans. Signal Processing 52 (2004).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> from spectralcls.information._dimension import entropic_dimension
    >>> round(entropic_dimension(np.hstack([X, X]), random_state=0).dimension, 6)
    2.107535
    """
    X = converted(X, "X", dtype=[np.float64, np.float32], order="C")
    least = n_neighbors + 1 if graph == "knn" else 2
    if sizes is None:
        sizes = np.unique(np.linspace(max(least, len(X) // 2), len(X) - 1, 8).astype(int))
    sizes = np.asarray(sizes)
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu":
        raise ValueError(f"sizes must be integers, got {sizes.tolist()!r}.")
    if len(sizes) < 2 or sizes.min() < least or sizes.max() > len(X):
        raise ValueError(
            f"need two or more sizes between {least} and the number of points, n_samples={len(X)}; got "
            f"{sizes.tolist()}."
        )
    random = check_random_state(random_state)
    lengths = np.empty((n_resamples, len(sizes)))
    for r, s in np.ndindex(lengths.shape):
        rows = random.choice(len(X), sizes[s], replace=False)
        lengths[r, s] = _length(X[rows], graph, n_neighbors, gamma, n_jobs)
    if not (lengths > 0).all():
        raise ValueError("a graph has length 0: nearly all points are duplicates, their dimension is undefined.")
    logs = np.log(lengths)
    resampled = _dimensions(logs, sizes, gamma)
    mean = float(_dimensions(logs.mean(axis=0, keepdims=True), sizes, gamma)[0])
    spread = float(np.std(resampled)) if np.isfinite(resampled).all() else np.inf
    return IntrinsicDimension(mean, spread, resampled, sizes, lengths)


def class_dimensions(X: ArrayLike, y: ArrayLike, **options: Any) -> dict[Any, IntrinsicDimension]:
    """Intrinsic dimension of every class.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points.
    y : array-like of shape (n,)
        Labels.
    **options
        As in `entropic_dimension`. An int ``random_state`` serves every class.

    Returns
    -------
    found : dict of label to IntrinsicDimension
        The estimate for the points of each class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from spectralcls.information._dimension import class_dimensions
    >>> sorted(class_dimensions(X, y, random_state=0))
    [0, 1, 2]
    """
    X = converted(X, "X", dtype=[np.float64, np.float32])
    y = check_column(y, len(X))
    return {label: entropic_dimension(X[y == label], **options) for label in np.unique(y).tolist()}


def _length(X, graph, n_neighbors, gamma, n_jobs):
    if graph == "knn":
        edges = without_self(*knn(X, X, n_neighbors + 1, n_jobs=n_jobs))[0]
    else:
        edges = _spanning_tree(np.array(X, dtype=np.float64))
    return np.sum(edges.astype(np.float64) ** gamma)


def _spanning_tree(X):
    """Lengths of the edges of the Euclidean minimum spanning tree by Prim's algorithm, one row of distances at a time.
    Permutes X."""
    edges, nearest, last = np.empty(len(X) - 1), np.full(len(X) - 1, np.inf), X[-1].copy()
    for n in range(len(X) - 1, 0, -1):  # points that are not in the tree yet
        np.minimum(nearest[:n], cdist(last[None], X[:n])[0], out=nearest[:n])
        i = nearest[:n].argmin()
        edges[n - 1], last = nearest[i], X[i].copy()
        X[i], nearest[i] = X[n - 1], nearest[n - 1]
    return edges


def _dimensions(logs, sizes, gamma):
    """gamma / (1 - slope) of every row of log-lengths."""
    slopes = np.polyfit(np.log(sizes), logs.T, 1)[0]
    with np.errstate(divide="ignore"):
        return np.where(slopes < 1, gamma / np.maximum(1 - slopes, 0), np.inf)
