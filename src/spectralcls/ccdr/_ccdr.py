"""Classification-constrained dimensionality reduction (CCDR)."""

from dataclasses import KW_ONLY
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from .._estimator import Estimator, transactional, with_parameters
from .._utils.advice import advise
from .._utils.bases import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from .._utils.copies import equal_rows
from .._utils.from_sklearn import Interval, StrOptions
from .._utils.typing import Array, ArrayLike, RandomState, Scale
from ..kernels import PackedPoints
from ..kernels.neighbor_search import knn, without_self
from . import _graph
from ._eigenmap import constrained_eigenmap, constrained_graph
from ._extension import EXTENSIONS, extend, neighbor_rows, replace_rows, sparse_sums, sums_over_all
from ._integration import integrate
from ._partial_labels import encode_partial

AFFINITIES = ("nearest_neighbors", "precomputed_nearest_neighbors", "precomputed")


class Graph(NamedTuple):
    """Weights between the training points, and the parameters of the weights to queries.

    Copies among the samples are one point, so they have the same image.
    """

    log_weights: csr_array | None
    weights: csr_array | None
    radii: np.ndarray | None  # (n,) distance of each point to its last neighbor
    epsilon: float | None
    places: np.ndarray | None = None  # (n_samples,) point of each sample; None if all are distinct
    rows: np.ndarray | None = None  # (n,) first sample of each point

    def of_points(self, X):
        """One row of X for each point; X has one row for each sample."""
        return X if self.rows is None else X[self.rows]


def copies(X):
    """Point of each row (equal rows are one point), and the first row of each point; None and None if all rows differ.

    Also None if all rows are equal, because a graph needs two points.
    """
    first, places = equal_rows(X)
    return (None, None) if len(first) in (1, len(X)) else (places, first)


@with_parameters
class CCDR(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Classification-constrained dimensionality reduction.

    CCDR computes Laplacian eigenmaps of a neighbors graph that has an additional node for each class, the class center,
    which is joined with the labeled points of the class. It minimizes

        sum_{k, i in class k} |z_k - y_i|^2 + beta / 2 sum_ij w_ij |y_i - y_j|^2

    over centers z and embedded points y, subject to Z D Z^T = I and Z D 1 = 0. Points may be unlabeled.

    Parameters
    ----------
    n_components : int, default=2
        Dimension of the embedding, at most n_samples + n_classes - 2.
    beta : float, default=0.5
        Weight of the geometry relative to the labels: small values collapse the labeled points onto their class centers
        (good for linear classifiers), and large values ignore the labels. With 0 every point must be labeled.
    unlabeled : label or None, default=None
        Label that marks an unlabeled point, such as -1 in scikit-learn's semi-supervised module. A missing label (NaN,
        None, pandas' NA) always marks one. None means that every other label is a class.
    n_neighbors : int, default=4
        Neighbors per point in the graph; two points are joined if either is a neighbor of the other.
    weights : {"heat", "binary"}, default="heat"
        Weights of the edges: exp(-distance^2 / epsilon), or 1.
    epsilon : float or None, default=None
        Scale of the heat kernel. None means the mean squared length of the edges.
    affinity : str, default="nearest_neighbors"
        Meaning of X. "nearest_neighbors": points. "precomputed_nearest_neighbors": a sparse graph of distances to
        neighbors, as from ``KNeighborsTransformer`` or an approximate index; it is symmetrized here. "precomputed": a
        symmetric sparse graph of weights. If X is a graph, `transform` takes the (m, n_samples) graph between queries
        and training points; its entries give the edges of the out-of-sample formula, and no neighbors are searched for.
    extension : {"symmetric", "nearest", "full"}, default="symmetric"
        Training points in the out-of-sample formula. "symmetric": the query's nearest neighbors and the points that
        would have the query among theirs, so that a training point is reproduced. "nearest": only the query's
        neighbors. "full": all points, by the heat kernel.
    scale : "auto" or None, default="auto"
        ``"auto"`` scales each column of numbers to mean 0 and spread 1, estimated robustly; columns of spread 1 stay
        unchanged. None uses the numbers unchanged. A graph has no columns to scale.
    max_samples : int or None, default=None
        If there are more points than this, embeddings of five stratified subsamples of this size are extended to all
        points, aligned and averaged (see Notes). The out-of-sample rule is then "nearest".
    random_state : int, RandomState instance or None, default=0
        Seed of folds, subsamples, landmarks and starting vectors. With an int, a refit gives identical results.
    n_jobs : int or None, default=None
        Number of threads. None means all cores, unless joblib or threadpoolctl sets a lower limit.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components_)
        Embedded training points, scaled such that U^T D U = I (eq. 14).
    class_centers_ : ndarray of shape (n_classes, n_components_)
        Embedded class centers, the z of the objective.
    eigenvalues_ : ndarray of shape (n_components_,)
        Values lambda of eq. 15, in increasing order.
    classes_ : ndarray of shape (n_classes,)
        Class labels, without the label of unlabeled points.
    class_index_ : ndarray of shape (n_samples,)
        Position in `classes_` of each training point's label; -1 for an unlabeled point.
    n_components_ : int
        Dimension of the embedding; lower than requested (with a warning) if 1 - lambda vanishes, for example with tiny
        beta.
    n_connected_components_ : int
        Number of connected components of the graph with its class centers.
    epsilon_ : float or None
        Scale of the heat kernel.
    graph_ : csr_array of shape (n_points, n_points)
        Weights w_ij between the distinct rows of X, in the order of their first occurrence; None if subsamples were
        integrated.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features. Only present if X has string names.

    Notes
    -----
    Time: the neighbor search, O(n^2 d) at worst, and on the order of a hundred products with a sparse matrix of about 2
    n n_neighbors entries. Memory: O(n (n_neighbors + n_components)).

    On a disconnected graph, the constant vector is dropped, and so are the directions that only separate a component
    without labeled points from the rest. The directions that separate labeled components come first, with lambda = 0.

    Integration of subsamples: each embedding is extended to all points by the formula for labeled points, scaled to
    unit Frobenius norm, rotated onto the common mean (generalized Procrustes) and averaged. The factor 1 / (1 - lambda)
    becomes the mean of the rotated factors. Queries then use eq. 21, with their neighbors among *all* training points.

    Equal rows form one point, which is joined with its classes and its neighbors once per copy. Copies have the same
    image, and repeating every row changes only the scale. There is no `sample_weight`.

    References
    ----------
    .. [1] R. Raich, J. A. Costa, S. B. Damelin, A. O. Hero III, "Classification constrained dimensionality
       reduction", arXiv:0802.2906, 2008. Fit: eq. 13 to 17. `transform` and `extend`: eq. 20, 21.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls import CCDR
    >>> X, y = load_iris(return_X_y=True)
    >>> CCDR(n_components=2).fit_transform(X, y).shape
    (150, 2)
    """

    n_components: int = 2
    _: KW_ONLY
    beta: float = 0.5
    unlabeled: Any = None
    n_neighbors: int = 4
    weights: Literal["heat", "binary"] = "heat"
    epsilon: float | None = None
    affinity: Literal["nearest_neighbors", "precomputed", "precomputed_nearest_neighbors"] = "nearest_neighbors"
    extension: Literal["symmetric", "full", "nearest"] = "symmetric"
    scale: Scale = "auto"
    max_samples: int | None = None
    random_state: RandomState = 0
    n_jobs: int | None = None

    _of_points = _counts = None  # set for distinct rows if there are copies

    _parameter_constraints: ClassVar[dict] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "beta": [Interval(Real, 0, None, closed="left")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "weights": [StrOptions({"heat", "binary"})],
        "epsilon": [None, Interval(Real, 0, None, closed="neither")],
        "affinity": [StrOptions(set(AFFINITIES))],
        "extension": [StrOptions(set(EXTENSIONS))],
        "max_samples": [None, Interval(Integral, 2, None, closed="left")],
        "unlabeled": "no_validation",
    }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.pairwise = tags.input_tags.sparse = self._takes_graph
        tags.input_tags.allow_nan = not self._takes_graph
        return tags

    @property
    def _takes_graph(self):
        return self.affinity != "nearest_neighbors"

    @transactional
    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Embed the training points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or sparse of shape (n_samples, n_samples)
            Points, or a graph (see `affinity`).
        y : array-like of shape (n_samples,) or None, default=None
            Labels; missing labels (NaN, None) and `unlabeled` mark unlabeled points. With None all points are
            unlabeled, which gives Laplacian eigenmaps.

        Returns
        -------
        self : object
            Fitted transformer.

        Raises
        ------
        ValueError
            If n_neighbors >= n_samples; if n_components > n_samples + n_classes - 2; if a graph is not square, or has
            negative entries or asymmetric weights; or if an unlabeled point has no edge of positive weight, which makes
            D singular.
        """
        X = self._validate(X, reset=True)
        if y is None:
            classes, codes = np.empty(0, dtype=np.int64), np.full(X.shape[0], -1)
        else:
            classes, codes = encode_partial(y, X.shape[0], self.unlabeled)
        largest = X.shape[0] + len(classes) - 2
        if self.n_components > max(largest, 1):
            raise ValueError(f"n_components={self.n_components} exceeds n_samples + n_classes - 2 = {largest}.")
        self._embed(X, classes, codes, self.n_components)
        if self.n_components_ < self.n_components:
            advise(
                f"only {self.n_components_} of {self.n_components} components have 1 - lambda > 0 and can be "
                "extended to new points; use a larger beta or fewer components."
            )
        return self

    def _validate(self, X, reset):
        self._check_extension()
        if not reset:
            return self._queries(X)
        of_graph = {"accept_sparse": "csr", "missing": "refuse", "scale": None} if self._takes_graph else {}
        self._inputs = self._make_inputs(**of_graph)
        return self._inputs.fit_points(X, ensure_min_samples=2).X

    def _check_extension(self):
        if self._takes_graph and (self.max_samples is not None or self.extension == "full"):
            raise ValueError("max_samples and extension='full' need points, not a precomputed graph.")
        if self.extension == "full" and self.weights == "binary":
            raise ValueError("extension='full' is a sum of heat kernels: it needs weights='heat'.")

    def _embed(self, X, classes, codes, n_components):
        """Fit to validated points and class codes, without a warning if there are fewer components than requested."""
        if self.max_samples is None or X.shape[0] <= self.max_samples:
            self._embed_graph(self._graph(X), X, classes, codes, n_components)
        else:
            found, epsilon = integrate(self, X, classes, codes, n_components)
            self._keep(found, Graph(None, None, None, epsilon), X, classes, codes)

    def _graph(self, X):
        """The `Graph` of the points, which depends neither on labels nor on beta."""
        radii = places = rows = None
        if self.affinity == "precomputed":
            log_weights, epsilon = _graph.symmetric_log_weights(X), None
        else:
            if self.affinity == "precomputed_nearest_neighbors":
                distances = _graph.symmetric_distances(X)
            else:
                places, rows = copies(X)
                distances, radii = self._neighbors_graph(X if rows is None else X[rows], len(X))
            log_weights, epsilon = _graph.log_weights(distances, self.weights, self.epsilon)
        return Graph(log_weights, _graph.exponential(log_weights), radii, epsilon, places, rows)

    def _embed_graph(self, graph, X, classes, codes, n_components):
        G = constrained_graph(graph.weights, codes, len(classes), self.beta, graph.places)
        found = constrained_eigenmap(G, len(classes), n_components, self._ways_out(), graph.rows)
        self._keep(found, graph, X, classes, codes)

    def _ways_out(self):
        """Advice for points without neighbors."""
        if self.beta == 0:
            way = "use beta > 0"
        elif self.affinity == "precomputed":
            way = "give them edges"
        else:
            way = "use a larger epsilon or weights='binary'"
        return f"{way}, or label or remove them"

    def _neighbors_graph(self, X, n_samples):
        if self.n_neighbors >= n_samples:
            raise ValueError(
                f"n_neighbors={self.n_neighbors} must be less than the number of points, n_samples={n_samples}."
            )
        n_neighbors = min(self.n_neighbors, len(X) - 1)
        neighbors = knn(X, X, n_neighbors + 1, n_jobs=self.n_jobs)
        distances, indices = without_self(*neighbors)
        rows = np.repeat(np.arange(len(X)), n_neighbors)
        graph = _graph.undirected(rows, indices.ravel(), distances.ravel(), len(X))[0]
        return graph, distances[:, -1].copy()

    def _keep(self, found, graph, X, classes, codes):
        self._fit_X = None if self._takes_graph else PackedPoints(graph.of_points(X))
        self._log_graph, self.graph_, self._radii, self.epsilon_ = graph[:4]
        self.embedding_, self.class_centers_ = found.points.astype(X.dtype), found.centers.astype(X.dtype)
        self._of_points, self._counts = None, None
        if graph.places is not None:
            self._of_points, self._counts = self.embedding_, np.bincount(graph.places)
            self.embedding_ = self._of_points[graph.places]
        self.eigenvalues_, self.n_connected_components_ = found.eigenvalues, found.n_connected_components
        self.classes_: Array = classes
        self.class_index_: Array = codes
        self.n_components_ = self._n_features_out = found.points.shape[1]

    @property
    def _points(self):
        """The embedding of each point of the graph, (n, m)."""
        return self.embedding_ if self._of_points is None else self._of_points

    def fit_transform(self, X: Any, y: ArrayLike | None = None) -> Array:
        """Fit and return `embedding_`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or sparse of shape (n_samples, n_samples)
            Points, or a graph (see `affinity`).
        y : array-like of shape (n_samples,) or None, default=None
            Labels, as in `fit`.

        Returns
        -------
        embedding : ndarray of shape (n_samples, n_components_)
            Embedded training points, `embedding_`.
        """
        return self.fit(X, y).embedding_

    def transform(self, X: Any) -> Array:
        """Embed new unlabeled points by eq. 20 with c = 0.

        Parameters
        ----------
        X : array-like of shape (m, n_features), or sparse of shape (m, n_samples)
            Points, or the graph between them and the training points (distances or weights, as in `fit`).

        Returns
        -------
        embedded : ndarray of shape (m, n_components_)
            Embedded points. A row that equals a training point gets the embedding of that point. A query so far away
            that every weight underflows gets the limit: the image of its nearest neighbor times 1 / (1 - lambda). In a
            given graph, a query without neighbors is mapped to the origin.
        """
        check_is_fitted(self)
        return self._transform(self._validate(X, reset=False))

    def _transform(self, Q, rows=None):
        embedded, duplicates = self._extend(Q, np.full(Q.shape[0], -1), rows)
        embedded[duplicates >= 0] = self._points[duplicates[duplicates >= 0]]
        return embedded

    def extend(self, X: Any, y: ArrayLike | None = None) -> Array:
        """Embed new points by eq. 20, with or without labels.

        Parameters
        ----------
        X : array-like of shape (m, n_features), or sparse of shape (m, n_samples)
            Points, or the graph between them and the training points.
        y : array-like of shape (m,) or None, default=None
            Labels among `classes_`, missing labels, or `unlabeled`. None means that all points are unlabeled.

        Returns
        -------
        embedded : ndarray of shape (m, n_components_)
            Embedded points. For the training points with their labels, this is `embedding_` up to rounding, except if
            subsamples were integrated or with ``extension="full"``.

        Raises
        ------
        ValueError
            If a label is neither `unlabeled` nor in `classes_`.
        """
        check_is_fitted(self)
        Q = self._validate(X, reset=False)
        if y is None:
            return self._extend(Q, np.full(Q.shape[0], -1))[0]
        return self._extend(Q, encode_partial(y, Q.shape[0], self.unlabeled, self.classes_)[1])[0]

    def _extend(self, Q, codes, rows=None):
        """Eq. 20, and the training point that equals each query (-1: none); `rows` are the `_log_rows` if known."""
        labeled = codes >= 0
        if self.extension == "full":
            duplicates = np.full(len(Q), -1)
            counts = 1.0 if self._counts is None else (1 + self._counts[:, None]) / 2
            sums = sums_over_all(Q, self._fit_X.X, self.epsilon_, self._points, counts, labeled, self.n_jobs)
        else:
            log_rows, duplicates = self._log_rows(Q) if rows is None else rows
            sums = sparse_sums(log_rows, self._points, labeled)
        embedded = extend(*sums, codes, self.class_centers_, self.beta, self.eigenvalues_)
        return embedded.astype(Q.dtype), duplicates

    def _log_rows(self, Q):
        if self.affinity == "precomputed":
            return _graph.positive_logarithms(Q), np.full(Q.shape[0], -1)
        if self.affinity == "precomputed_nearest_neighbors":
            rows, duplicates = _graph.given_rows(Q)
        else:
            radii = self._radii if self.extension == "symmetric" else None
            rows, duplicates = neighbor_rows(Q, self._fit_X, self.n_neighbors, radii, n_jobs=self.n_jobs)
        epsilon = np.inf if self.weights == "binary" else self.epsilon_
        with np.errstate(over="ignore"):  # a query whose squared distances overflow is equally far from all points
            rows = _graph.log_heat(rows, epsilon)
        known = np.flatnonzero(duplicates >= 0)
        if self._log_graph is not None and self.extension == "symmetric":
            rows = replace_rows(rows, known, self._log_graph[duplicates[known]])
        if self._counts is not None:  # mean number of samples at the two ends of an edge, as in `constrained_graph`
            own = np.ones(len(Q))
            own[known] = self._counts[duplicates[known]]
            rows.data += np.log((1 + self._counts[rows.indices] / np.repeat(own, np.diff(rows.indptr))) / 2)
        return rows, duplicates
