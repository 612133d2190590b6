"""Exact nearest neighbors: the search and its graph."""

from typing import Literal

from ._inputs import Inputs
from ._inputs.frames import is_frame
from ._utils.typing import Array, ArrayLike
from .kernels import PackedPoints
from .kernels import neighbor_search as arrays
from .kernels.neighbor_search import knn_graph, reverse_knn

__all__ = ["knn", "knn_graph", "reverse_knn"]


def knn(
    Q: ArrayLike,
    X: ArrayLike | PackedPoints,
    k: int,
    *,
    algorithm: Literal["auto", "brute", "kd_tree"] = "auto",
    n_jobs: int | None = None,
) -> tuple[Array, Array]:
    """Exact Euclidean k nearest neighbors.

    Parameters
    ----------
    Q : array-like or data frame of shape (m, d)
        Query points.
    X : array-like, PackedPoints or data frame of shape (n, d)
        Points to search. Arrays must not contain NaN or infinity. :class:`~spectralcls.kernels.PackedPoints` are
        checked, and their k-d tree is built, once for many calls. If both are data frames, columns without numbers are
        categories, and missing values are filled from X.
    k : int
        Number of neighbors, 1 <= k <= n.
    algorithm : {"auto", "brute", "kd_tree"}, default="auto"
        Search algorithm; the result does not depend on it.
    n_jobs : int or None, default=None
        Threads; the result does not depend on their number.

    Returns
    -------
    distances : ndarray of shape (m, k)
        In increasing order, in the dtype of the data (float32 only if both are). Computed from coordinate
        differences, hence free of cancellation: a point is at distance exactly 0 from itself.
    indices : ndarray of shape (m, k), int64
        Rows of X. Points at equal distance are ordered by index; distances are compared by their squares.

    Raises
    ------
    ValueError
        If k is not in 1 ... n, the numbers of features differ, or an input is not a finite matrix.

    Notes
    -----
    Numbers are used unchanged. A category is scaled to variance 1; its levels are equally far from each other, or at
    their ranks if it is ordered. If the numbers are standardized, all columns thus have equal weight, as in Gower's
    distance. A missing number is filled by kernel regression on the known columns.

    When ``Q is X`` every point is its own first neighbor (or a duplicate with a smaller index is), as in
    scikit-learn's ``kneighbors(X)``.

    Examples
    --------
    >>> from spectralcls import knn
    >>> distances, indices = knn([[0.2]], [[0.0], [1.0], [3.0]], 2)
    >>> indices
    array([[0, 1]])
    """
    if is_frame(Q) and is_frame(X):
        inputs, same = Inputs("knn", n_jobs=n_jobs), Q is X
        X = inputs.fit_points(X).X
        Q = X if same else inputs(Q)
    return arrays.knn(Q, X, k, algorithm=algorithm, n_jobs=n_jobs)
