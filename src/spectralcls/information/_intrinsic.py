"""Renyi entropy on a manifold, from the length of an entropic graph (Costa and Hero)."""

from numbers import Integral, Real
from typing import Literal

import numpy as np
from sklearn.utils import check_random_state

from .._tuning import distinct_and_scaled, entropic_dimension, entropic_graphs, named_far_points
from .._utils.advice import quietly
from .._utils.from_sklearn import Interval, StrOptions, validated
from .._utils.typing import ArrayLike, RandomState

_COUNT = [Interval(Integral, 1, None, closed="left")]


@validated(
    {
        "alpha": [Interval(Real, 0, 1, closed="neither")],
        "dimension": [*_COUNT, None],
        "graph": [StrOptions({"knn", "mst"})],
        "random_state": ["random_state"],
    }
    | dict.fromkeys(("n_neighbors", "n_references"), _COUNT)
)
def intrinsic_entropy(
    X: ArrayLike,
    *,
    alpha: float = 0.5,
    dimension: int | None = None,
    graph: Literal["knn", "mst"] = "knn",
    n_neighbors: int = 4,
    n_references: int = 10,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> float:
    """Renyi entropy of a density on the manifold that the points lie on.

    For m dimensions and edges raised to the power ``gamma = m (1 - alpha)``, the total length L of a k-NN graph or
    minimal spanning tree of n points is about ``b n^alpha exp((1 - alpha) H)``, where H is the entropy of order alpha
    with respect to the volume of the manifold. The constant b depends only on m, alpha and the graph; it is estimated
    from graphs of n uniform points in the unit cube, whose entropy is 0. No density is estimated, and the coordinates
    of the manifold are not needed. Copies of a point count once.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points; everything is computed in float64.
    alpha : float, default=0.5
        Order of the entropy, between 0 and 1.
    dimension : int or None, default=None
        Dimension m of the manifold. None rounds the estimate of :func:`entropic_dimension`.
    graph : {"knn", "mst"}, default="knn"
        "mst" is the minimal spanning tree of the complete Euclidean graph, which takes O(n^2) time.
    n_neighbors : int, default=4
        Neighbors per point in the k-NN graph.
    n_references : int, default=10
        Number of uniform samples that estimate the mean log-length.
    random_state : int, RandomState or None, default=None
        Seed of these samples, and of the subsamples for the dimension.
    n_jobs : int or None, default=None
        Threads of the neighbor search, as in `spectralcls.neighbors.knn`.

    Returns
    -------
    entropy : float
        In nats; it grows by ``m log s`` if all distances grow by a factor of s.

    Raises
    ------
    ValueError
        If there are too few distinct points, or no finite dimension is found.

    Warns
    -----
    UserWarning
        As in :func:`entropic_dimension`, for points that are far from all others.

    Notes
    -----
    Builds one graph of the points and `n_references` graphs of equally many uniform points. On a curved manifold, edges
    are chords, which are shorter than arcs; the difference vanishes as n grows.

    References
    ----------
    J. A. Costa, A. O. Hero, "Geodesic entropic graphs for dimension and entropy estimation in manifold
    learning", IEEE Trans. Signal Processing 52 (2004).

    Examples
    --------
    A rectangle of 3 x 2, rotated in space: log 6 is 1.79.

    >>> import numpy as np
    >>> from spectralcls.information import intrinsic_entropy
    >>> U = np.random.default_rng(0).uniform(size=(2000, 2)) * (3, 2)
    >>> X = U @ np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0][:2]
    >>> round(intrinsic_entropy(X, random_state=0), 1)
    1.8
    """
    points, exponent, rows_of_X = distinct_and_scaled(X, n_neighbors + 1 if graph == "knn" else 2)
    random = check_random_state(random_state)
    if dimension is None:
        options = {"graph": graph, "n_neighbors": n_neighbors, "random_state": random, "n_jobs": n_jobs}
        with quietly():  # a warning below names the same points
            found = entropic_dimension(points, **options).dimension
        if not np.isfinite(found):
            raise ValueError("no finite dimension was found: give it as `dimension`.")
        dimension = max(round(found), 1)
    n, gamma = len(points), dimension * (1 - alpha)

    def edges_of(points):
        return entropic_graphs(points, graph, n_neighbors, n, n_jobs).edges(np.arange(n))

    edges = edges_of(points)
    consequence = "Their edges make up nearly all of the graph's length, from which the entropy follows."
    named_far_points(points, edges, n_neighbors, rows_of_X, consequence, n_jobs)
    references = [np.log(np.sum(edges_of(random.uniform(size=(n, dimension))) ** gamma)) for _ in range(n_references)]
    entropy = (np.log(np.sum(edges**gamma)) - np.mean(references)) / (1 - alpha)
    return float(entropy + dimension * exponent * np.log(2))
