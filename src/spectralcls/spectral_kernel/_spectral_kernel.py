"""SK<Gamma, E, S>: the spectral kernel of Li, Ong, Ng and Sun as an embedding and as a kernel matrix."""

import warnings
from numbers import Integral, Real

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import normalize
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from ..bandwidth import silverman_bandwidth
from ..eigen import fix_signs
from ..kernels import kernel_sums
from ._similarity import (
    GaussianSimilarity,
    LinearSimilarity,
    LowRankSimilarity,
    StoredSimilarity,
    check_degrees,
    check_symmetric,
    form_similarity,
    formed_row_products,
)

DEFAULT_COMPONENTS = 100


class SpectralKernel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Spectral embedding of a similarity graph, in and out of sample, and the kernel it defines.

    A similarity matrix S of the training data is transformed (Gamma), its k largest positive eigenvalues give
    each sample k coordinates (E), and a similarity of these coordinates (S) is the kernel: the family
    SK<Gamma, E, S> of [1]_. With ``transformation="identity"``, ``embedding="b"``, ``normalize=False`` it is
    the latent semantic kernel (Theorem 1).

    Parameters
    ----------
    n_components : int, default=None
        k. None: 100, or as many as there are. Where S has a smaller rank, a warning says the rank and all
        components that exist are kept.
    transformation : {"normalized", "identity"}, default="normalized"
        Gamma_N = D^-1/2 S D^-1/2, D the row sums of S, or Gamma_I = S (Table 1).
    embedding : {"a", "b"}, default="b"
        Step 1 of Figure 1: (a) the eigenvectors V, (b) V Lambda^1/2.
    normalize : bool, default=True
        Step 2 of Figure 1: rows of unit length.
    similarity : {"inner", "rbf", "pearson"}, default="inner"
        Table 2, of the rows of the embedding: inner product; exp(-|y - z|^2 / sigma); correlation
        coefficient.
    sigma : float, default=1.0
        Width of the "rbf" similarity.
    kernel : {"linear", "gaussian", "polynomial", "exponential", "precomputed"}, default="linear"
        The input similarity: x.z; exp(-|x - z|^2 / (2 bandwidth^2)); (x.z + coef0)^degree; exp(x.z); or S
        itself, given as X of shape (n_samples, n_samples) in `fit` and (n_queries, n_samples) in `transform`.
    bandwidth : float or "silverman", default="silverman"
        Width of the Gaussian kernel; the rule needs dense data.
    degree : int, default=2
        Of the polynomial kernel.
    coef0 : float, default=1.0
        Of the polynomial kernel.
    method : {"exact", "rpcholesky"}, default="exact"
        ``"rpcholesky"`` replaces S by a randomly pivoted Cholesky factor F F^T, for the Gaussian kernel of dense X:
        O(n_samples rank) memory, and queries meet `rank` samples instead of all. `trace_residual_` says what is left
        out.
    rank : int, default=500
        Columns of F.
    n_jobs : int, default=None
        Threads; None: all cores, unless joblib, threadpoolctl or OMP_NUM_THREADS say otherwise.
    random_state : int, RandomState instance or None, default=None
        Of the eigensolver's start vectors and the random pivots.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (k,)
        Positive eigenvalues of Gamma(S), descending.
    coefficients_ : ndarray of shape (n_features, n_samples or rank; k, k + 1 or k + 2)
        What `transform` multiplies a query with: its features where the kernel is linear, its similarities to
        the training samples otherwise. The last column of a normalized transformation gives the query's
        degree.
    X_fit_ : {ndarray, sparse array} of shape (n_samples, n_features) or None
        The training data, which the linear and the precomputed kernel do not need.
    bandwidth_ : float
        Of the Gaussian kernel only.
    trace_residual_ : float
        trace(S - F F^T) / trace(S). Only with ``method="rpcholesky"``, where X_fit_ has the pivots alone.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Raises
    ------
    ValueError
        In `fit` and `transform`, for NaN or infinity; for a degree that is not positive: negative entries of
        X with the linear and the polynomial kernel, rows that add up to zero or less otherwise; for a
        precomputed matrix that is not symmetric or has the wrong width; in `fit`, where all similarities are
        zero.

    Notes
    -----
    Samples without any similarity to the training samples (empty documents, documents without a known term)
    have all coordinates 0.

    The linear kernel needs O(nnz + (n_samples + n_features) k) memory, and `transform` costs O(nnz k): S is
    never formed. Nor is it for the Gaussian kernel of dense X, O(n_samples (k + n_features)) memory and
    O(n_samples^2 (n_features + k)) time per pass of the eigensolver. The polynomial and the exponential
    kernel, and the Gaussian of a sparse X, form S, O(n_samples^2) memory.

    References
    ----------
    .. [1] W. Li, K.-L. Ong, W.-K. Ng, A. Sun. Spectral Kernels for Classification. DaWaK 2005.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from spectralcls import SpectralKernel
    >>> texts = ["wheat and corn prices", "corn harvest", "crude oil prices", "oil tanker"]
    >>> X = TfidfVectorizer().fit_transform(texts)
    >>> SpectralKernel(n_components=2).fit_transform(X).shape
    (4, 2)
    """

    _parameter_constraints: dict = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "transformation": [StrOptions({"normalized", "identity"})],
        "embedding": [StrOptions({"a", "b"})],
        "normalize": ["boolean"],
        "similarity": [StrOptions({"inner", "rbf", "pearson"})],
        "sigma": [Interval(Real, 0, None, closed="neither")],
        "kernel": [StrOptions({"linear", "gaussian", "polynomial", "exponential", "precomputed"})],
        "bandwidth": [StrOptions({"silverman"}), Interval(Real, 0, None, closed="neither")],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "coef0": [Interval(Real, 0, None, closed="left")],
        "method": [StrOptions({"exact", "rpcholesky"})],
        "rank": [Interval(Integral, 1, None, closed="left")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self, n_components=None, *, transformation="normalized", embedding="b", normalize=True,
        similarity="inner", sigma=1.0, kernel="linear", bandwidth="silverman", degree=2, coef0=1.0,
        method="exact", rank=500, n_jobs=None, random_state=None,
    ):
        self.n_components = n_components
        self.transformation = transformation
        self.embedding = embedding
        self.normalize = normalize
        self.similarity = similarity
        self.sigma = sigma
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.degree = degree
        self.coef0 = coef0
        self.method = method
        self.rank = rank
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X, y=None):
        """Decompose the transformed similarity matrix of X.

        Parameters
        ----------
        X : {array-like, sparse matrix, sparse array} of shape (n_samples, n_features)
            float32 stays float32, everything else becomes float64.
        y : ignored

        Returns
        -------
        self
        """
        self.fit_transform(X)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X, y=None):
        """Fit and return the embedding of the training samples, (n_samples, k)."""
        embedding = self._fit(X, DEFAULT_COMPONENTS if self.n_components is None else self.n_components)
        if self.n_components is not None:
            warn_of_rank(self.n_components, embedding.shape[1])
        return embedding

    def transform(self, X):
        """Embedding of new samples by Lemma 3; training samples get back the coordinates of `fit_transform`.

        Parameters
        ----------
        X : {array-like, sparse matrix, sparse array} of shape (n_queries, n_features)
            Similarities to the training samples, (n_queries, n_samples), with the precomputed kernel.

        Returns
        -------
        Y : ndarray of shape (n_queries, k)
        """
        return self._embed(X)

    def kernel_matrix(self, X, Y=None):
        """Values of the spectral kernel, for kernel machines such as ``SVC(kernel="precomputed")``.

        Parameters
        ----------
        X, Y : {array-like, sparse matrix, sparse array} of shape (m, n_features) and (p, n_features)
            As for `transform`. Y=None: X with itself.

        Returns
        -------
        K : ndarray of shape (m, p)
        """
        X = self._embed(X)
        return similarity_matrix(X, X if Y is None else self._embed(Y), self.similarity, self.sigma)

    def _fit(self, X, at_most):
        X = self._check(X, reset=True)
        bandwidth = self._choose_bandwidth(X)
        S = self._input_similarity(X, bandwidth)
        n = X.shape[0]
        normalized = self.transformation == "normalized"
        scale = _inverse_root(S.degrees()) if normalized else np.ones(n)
        values, vectors = self._decompose(S, scale, at_most)

        power = 1.0 if self.embedding == "a" else 0.5
        weights = scale[:, None] * vectors / values**power
        points, embedding = X, (vectors * values ** (1 - power)).astype(X.dtype)
        self.__dict__.pop("trace_residual_", None)
        if self.method == "rpcholesky":
            weights, points = S.compress(weights, normalized), X[S.factor.pivots]
            self.trace_residual_ = S.factor.relative_trace_residual
        elif normalized:
            weights = np.column_stack([weights, np.ones(n)])
        weights = weights.astype(X.dtype)

        stored = self.kernel in ("linear", "precomputed")
        self.eigenvalues_ = values.astype(X.dtype)
        self.coefficients_ = safe_sparse_dot(X.T, weights) if self.kernel == "linear" else weights
        self.X_fit_ = None if stored else points
        self.bandwidth_ = bandwidth
        self._n_features_out = len(values)
        return self._finish(embedding)

    def _embed(self, X):
        check_is_fitted(self)
        X = self._check(X, reset=False)
        products = self._row_products(X)
        if self.transformation == "identity":
            return self._finish(products)
        k = self._n_features_out
        degrees = products[:, k:].max(axis=1)
        if self.kernel == "precomputed":
            check_degrees(degrees, X)
        return self._finish(products[:, :k] * _inverse_root(degrees)[:, None].astype(products.dtype))

    def _check(self, X, reset):
        X = validate_data(
            self, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32], order="C"
        )
        if reset and self.kernel == "precomputed":
            check_symmetric(X)
        if self.transformation == "normalized" and self.kernel in ("linear", "polynomial"):
            check_non_negative(X, f"SpectralKernel(transformation='normalized', kernel={self.kernel!r})")
        return X

    def _choose_bandwidth(self, X):
        if self.kernel != "gaussian" or self.bandwidth != "silverman":
            return self.bandwidth
        if sp.issparse(X):
            raise ValueError("bandwidth='silverman' needs dense X: give a number for sparse data.")
        return silverman_bandwidth(X)

    def _kernel_parameters(self, bandwidth):
        return {"kernel": self.kernel, "bandwidth": bandwidth, "degree": self.degree, "coef0": self.coef0}

    def _input_similarity(self, X, bandwidth):
        if self.method == "rpcholesky":
            if self.kernel != "gaussian" or sp.issparse(X):
                raise ValueError('method="rpcholesky" is for kernel="gaussian" and dense X.')
            seed = 0 if self.random_state is None else self.random_state
            return LowRankSimilarity(X, bandwidth, self.rank, seed, self.n_jobs)
        if self.kernel == "linear":
            return LinearSimilarity(X)
        if self.kernel == "gaussian" and not sp.issparse(X):
            return GaussianSimilarity(X, bandwidth, self.transformation == "normalized", self.n_jobs)
        return StoredSimilarity(
            X if self.kernel == "precomputed" else form_similarity(X, X, **self._kernel_parameters(bandwidth))
        )

    def _decompose(self, S, scale, at_most):
        """The positive leading eigenpairs of diag(scale) S diag(scale)."""
        values, vectors = S.eigenpairs(
            scale, min(at_most, S.rank_bound), n_jobs=self.n_jobs, random_state=self.random_state
        )
        rounding = 10 * np.sqrt(len(scale)) * np.finfo(vectors.dtype).eps * values.max()
        rank = int(np.sum(values > rounding))
        if rank == 0:
            raise ValueError("The similarity matrix has no positive eigenvalue: all its entries may be zero.")
        vectors = fix_signs(vectors[:, :rank])
        vectors[S.empty_rows()] = 0
        return values[:rank].astype(np.float64), vectors

    def _truncate(self, k):
        """Keep the k leading components."""
        self.eigenvalues_ = self.eigenvalues_[:k]
        self.coefficients_ = np.delete(self.coefficients_, np.s_[k : self._n_features_out], axis=1)
        self.n_components = self._n_features_out = k
        return self

    def _row_products(self, X):
        """S(X, training samples) times the weights of the training samples."""
        if self.X_fit_ is None:
            return safe_sparse_dot(X, self.coefficients_)
        if self.kernel == "gaussian" and not sp.issparse(self.X_fit_):
            X = X.toarray() if sp.issparse(X) else X
            return kernel_sums(
                X, self.X_fit_, weights=self.coefficients_, bandwidth=self.bandwidth_, n_jobs=self.n_jobs
            )
        return formed_row_products(
            X, self.X_fit_, self.coefficients_, checked=self.transformation == "normalized",
            **self._kernel_parameters(self.bandwidth_),
        )

    def _finish(self, Y):
        return normalize(Y) if self.normalize else Y

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.positive_only = (
            self.transformation == "normalized" and self.kernel not in ("gaussian", "exponential")
        )
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def warn_of_rank(wanted, rank):
    if rank < wanted:
        warnings.warn(
            f"n_components={wanted}, but the rank of the similarity matrix (the number of its positive "
            f"eigenvalues) is {rank}: keeping {rank} components.", UserWarning, stacklevel=4,
        )


def similarity_matrix(Y, Z, similarity="inner", sigma=1.0):
    """Table 2, (m, k) and (p, k) to (m, p). A constant row has correlation 0 with every other."""
    if similarity == "rbf":
        return np.exp(-euclidean_distances(Y, Z, squared=True) / sigma)
    if similarity == "pearson":
        Y, Z = (normalize(A - A.mean(axis=1, keepdims=True)) for A in (Y, Z))
    return Y @ Z.T


def _inverse_root(degrees):
    """d^-1/2, and 0 for a sample that is similar to none."""
    return np.where(degrees > 0, degrees, np.inf) ** -0.5
