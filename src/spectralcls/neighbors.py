"""Exact nearest neighbors: the search, its graph, and a transformer for pipelines."""

from dataclasses import KW_ONLY
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from scipy.sparse import csr_matrix

from ._estimator import Estimator, transactional, with_parameters
from ._inputs import Inputs
from ._inputs.frames import is_frame
from ._utils.bases import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from ._utils.from_sklearn import Interval, StrOptions
from ._utils.typing import Array, ArrayLike
from .kernels import PackedPoints
from .kernels import neighbor_search as arrays
from .kernels.neighbor_search import ALGORITHMS, csr, knn_graph, reverse_knn

__all__ = ["KNNTransformer", "knn", "knn_graph", "reverse_knn"]


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


@with_parameters
class KNNTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Transform points into the sparse graph of their nearest training points.

    A drop-in replacement for scikit-learn's ``KNeighborsTransformer`` (Euclidean metric) for pipelines whose next step
    takes ``metric="precomputed"`` or ``affinity="precomputed_nearest_neighbors"``.

    Parameters
    ----------
    mode : {"distance", "connectivity"}, default="distance"
        Entries of the graph: distances, or ones.
    n_neighbors : int, default=5
        Neighbors per point. With ``mode="distance"`` one more is stored, since a training point is its own
        first neighbor and scikit-learn's consumers expect it.
    algorithm : {"auto", "brute", "kd_tree"}, default="auto"
        As in :func:`spectralcls.neighbors.knn`.
    n_jobs : int or None, default=None
        Number of threads. None means all cores, unless joblib or threadpoolctl sets a lower limit.

    Attributes
    ----------
    n_samples_fit_ : int
        Number of training points.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features. Only present if X has string names.

    See Also
    --------
    spectralcls.neighbors.knn_graph : The same graph as a function, optionally symmetric.

    Notes
    -----
    Cost and exactness are those of :func:`spectralcls.neighbors.knn`: O(m n d) at most for m queries.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from spectralcls.neighbors import KNNTransformer
    >>> KNNTransformer(n_neighbors=5).fit_transform(X).shape
    (150, 150)
    """

    _: KW_ONLY
    mode: Literal["distance", "connectivity"] = "distance"
    n_neighbors: int = 5
    algorithm: Literal["auto", "brute", "kd_tree"] = "auto"
    n_jobs: int | None = None

    _parameter_constraints = {
        "mode": [StrOptions({"distance", "connectivity"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "algorithm": [StrOptions(set(ALGORITHMS))],
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @transactional
    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Keep the training points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training points; float32 stays float32, everything else becomes float64.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        self._inputs = self._make_inputs()
        self._fit_X = PackedPoints(self._inputs.fit_points(X).X)
        self.n_samples_fit_ = self._n_features_out = len(self._fit_X)
        return self

    def transform(self, X: Any) -> Array:
        """Compute the graph of neighbors of X among the training points.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            Queries.

        Returns
        -------
        csr_matrix of shape (m, n_samples_fit_)
            Graph with rows in order of increasing distance, as in scikit-learn.

        Raises
        ------
        ValueError
            If the queries are invalid, or there are fewer training points than neighbors.
        """
        X = self._queries(X)
        k = self.n_neighbors + (self.mode == "distance")
        if k > self.n_samples_fit_:
            raise ValueError(f"Expected n_neighbors <= n_samples_fit, but got {k} > {self.n_samples_fit_}.")
        distances, indices = knn(X, self._fit_X, k, algorithm=self.algorithm, n_jobs=self.n_jobs)
        data = distances.ravel() if self.mode == "distance" else np.ones(distances.size, distances.dtype)
        starts = np.arange(0, distances.size + 1, k)
        return csr_matrix(csr(data, indices.ravel(), starts, (len(X), self.n_samples_fit_)))
