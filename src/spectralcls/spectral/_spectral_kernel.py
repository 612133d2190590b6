"""The spectral kernel SK<Gamma, E, S> of Li, Ong, Ng and Sun, as an embedding and as a kernel matrix."""

from dataclasses import KW_ONLY
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import safe_sparse_dot

from .._estimator import Estimator, transactional, with_parameters
from .._expansion.expansion import Expansion
from .._expansion.low_rank_spectrum import LowRankSpectrum, spectrum_of
from .._expansion.points import plain_points
from .._expansion.spectrum import DISTANCE
from .._tuning import reference_bandwidth
from .._utils.available import available_if
from .._utils.bases import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from .._utils.from_sklearn import Interval, StrOptions
from .._utils.typing import Array, ArrayLike, RandomState, Scale
from .._utils.validation import positive_weight
from ..linalg import fix_signs
from ._growing import GrowingEigenpairs
from ._similarity import (
    LinearSimilarity,
    StoredSimilarity,
    check_degrees,
    check_symmetric,
    form_similarity,
    inverse_root,
    rescaled,
    row_products,
)

_SINGLE_SIDE = 5000  # from this many samples on, rough eigenpairs are computed in float32
KERNELS = ("linear", "gaussian", "polynomial", "exponential", "precomputed")


def _may_grow(estimator):
    if estimator.kernel == "precomputed" or estimator.rank is not None:
        raise AttributeError("partial_fit needs samples, not their similarities, and rank=None.")
    if hasattr(estimator, "eigenvalues_") and estimator._pairs is None:
        raise AttributeError("partial_fit needs all samples, but landmarks replace them: fit all samples again.")
    return True


@with_parameters
class SpectralKernel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Spectral embedding of a similarity graph, in and out of sample, and the kernel that it defines.

    A similarity matrix S of the training data is transformed (Gamma). The eigenvectors of its k largest positive
    eigenvalues give each sample k coordinates (E), and the kernel is the inner product of these coordinates. It belongs
    to the family SK<Gamma, E, S> of [1]_, whose last argument is the similarity of the coordinates. With
    ``weighting=None``, ``embedding="b"`` and ``normalize=False`` it is the latent semantic kernel (Theorem 1).

    Parameters
    ----------
    n_components : int or "all", default=100
        Number k of coordinates. If S has fewer positive eigenvalues, all of them are kept.
    weighting : {"symmetric"} or None, default="symmetric"
        Gamma: "symmetric" means Gamma_N = D^-1/2 S D^-1/2, where D holds the row sums of S; None means Gamma_I = S
        (Table 1).
    embedding : {"a", "b"}, default="b"
        Step 1 of Figure 1: (a) the eigenvectors V, or (b) V Lambda^1/2.
    normalize : bool, default=True
        Step 2 of Figure 1: whether rows are scaled to unit length.
    kernel : {"auto", "linear", "gaussian", "polynomial", "exponential", "precomputed"}, default="auto"
        Input similarity: x.z; exp(-|x - z|^2 / (2 bandwidth^2)); (x.z + 1)^degree; exp(x.z); or S itself, given as X of
        shape (n_samples, n_samples) in `fit` and (n_queries, n_samples) in `transform`. "auto" is linear for sparse X,
        such as term frequencies, and Gaussian for dense X.
    bandwidth : {"scale", "silverman"} or float, default="scale"
        Bandwidth of the Gaussian kernel. "scale" is ``s sqrt(d / 2)``, where s^2 is the mean variance of the features:
        a typical pair then has the similarity e^-2 in any dimension (scikit-learn's ``gamma="scale"``). "silverman" is
        the rule of density estimation. Both need dense data, and are 1 if all rows are equal.
    scale : "auto" or None, default="auto"
        For the Gaussian kernel of dense X, ``"auto"`` scales each column of numbers to mean 0 and spread 1, estimated
        robustly; columns of spread 1 stay unchanged. Bandwidths are in these units. None uses the numbers unchanged, as
        is always the case for sparse X and for other kernels.
    degree : int, default=2
        Degree of the polynomial kernel.
    rank : int or None, default=None
        Number of landmarks that span a low-rank factor F; F F^T replaces S. Only for the Gaussian kernel of dense X, as
        in :class:`KernelMap`. None means exact up to 20 000 samples, and above them ``500 + 10 n_components``
        landmarks, but at most 2000 and at least twice the number of components. `trace_residual_` measures the part
        left out. To be exact anyway, give at least the number of samples.
    random_state : int, RandomState instance or None, default=0
        Seed of folds, subsamples, landmarks and starting vectors. With an int, a refit gives identical results.
    n_jobs : int or None, default=None
        Number of threads. None means all cores, unless joblib or threadpoolctl sets a lower limit.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (k,)
        Positive eigenvalues of Gamma(S), descending.
    coefficients_ : ndarray of shape (n_features, n_samples or rank; k, k + 1 or k + 2)
        Coefficients of `transform`, by which the features of a query (linear kernel) or its similarities to the
        training samples are multiplied. With symmetric weighting, the columns after the first k give the query's
        degree.
    X_fit_ : {ndarray, sparse array} of shape (n_samples, n_features) or None
        Training data; None for the linear and the precomputed kernel, which do not need them.
    kernel_ : str
        Kernel in use.
    bandwidth_ : float
        Bandwidth in use. Only present with the Gaussian kernel.
    trace_residual_ : float
        trace(S - F F^T) / trace(S), in [0, 1]; 0 if S is exact, otherwise X_fit_ contains only the landmarks.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features. Only present if X has string names.

    Raises
    ------
    ValueError
        In `fit` and `transform`: if X contains infinity; if a degree is not positive (negative entries of X with the
        linear and the polynomial kernel, otherwise rows that add up to zero or less); or if a precomputed matrix is not
        symmetric, contains NaN or has the wrong width. In `fit`: if all similarities are zero.

    Notes
    -----
    Samples without any similarity to the training samples (such as empty documents, or documents without a known term)
    have all coordinates 0. Under the Gaussian kernel, the similarities of a far query are small but not 0: with
    `normalize` its coordinates are those of the nearest training samples; without it they tend to 0.

    The linear kernel never forms S: it needs O(nnz + (n_samples + n_features) k) memory, and `transform` costs
    O(nnz k). The Gaussian kernel of dense X does not form S either: it needs O(n_samples (k + n_features)) memory and
    O(n_samples^2 (n_features + k)) time per pass of the eigensolver, or O(n_samples r^2) time with r landmarks. The
    polynomial and exponential kernels, and the
    Gaussian kernel of sparse X, form S in O(n_samples^2) memory.

    References
    ----------
    .. [1] W. Li, K.-L. Ong, W.-K. Ng, A. Sun, "Spectral kernels for classification", Data Warehousing and Knowledge
       Discovery (DaWaK) 2005, LNCS 3589, pp. 520-529.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from spectralcls import SpectralKernel
    >>> texts = ["wheat and corn prices", "corn harvest", "crude oil prices", "oil tanker"]
    >>> X = TfidfVectorizer().fit_transform(texts)
    >>> SpectralKernel(n_components=2).fit_transform(X).shape
    (4, 2)
    """

    n_components: Literal["all"] | int = 100
    _: KW_ONLY
    weighting: Literal["symmetric"] | None = "symmetric"
    embedding: Literal["a", "b"] = "b"
    normalize: bool = True
    kernel: Literal["auto", "linear", "gaussian", "polynomial", "exponential", "precomputed"] = "auto"
    bandwidth: Literal["scale", "silverman"] | float = "scale"
    scale: Scale = "auto"
    degree: int = 2
    rank: int | None = None
    random_state: RandomState = 0
    n_jobs: int | None = None

    solver, tol, _pairs = cast("tuple[str, float | None, Any]", ("auto", None, None))  # of the eigenpairs

    _parameter_constraints: ClassVar[dict] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"all"})],
        "weighting": [StrOptions({"symmetric"}), None],
        "embedding": [StrOptions({"a", "b"})],
        "normalize": ["boolean"],
        "kernel": [StrOptions({"auto", *KERNELS})],
        "bandwidth": [StrOptions({"scale", "silverman"}), Interval(Real, 0, None, closed="neither")],
        "degree": [Interval(Integral, 1, None, closed="left")],
    }

    @transactional
    def fit(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Decompose the transformed similarity matrix of X.

        Parameters
        ----------
        X : {array-like, sparse matrix, sparse array} of shape (n_samples, n_features)
            Training samples; float32 stays float32, everything else becomes float64.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights. Weight k is equivalent to k copies of the sample, weight 0 to leaving it out.

        Returns
        -------
        self : object
            Fitted transformer.
        """
        self._fit_weighted(self._check(X, True, sample_weight), sample_weight)
        return self

    @transactional
    def fit_transform(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Array:
        """Fit and return the embedding of the training samples.

        Parameters
        ----------
        X : {array-like, sparse matrix, sparse array} of shape (n_samples, n_features)
            As in `fit`.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            As in `fit`.

        Returns
        -------
        Y : ndarray of shape (n_samples, k)
            The embedding, in the dtype of X.
        """
        X = self._check(X, True, sample_weight)
        embedding, kept = self._fit_weighted(X, sample_weight)
        return embedding() if kept is None else self._embedded(X)

    def transform(self, X: Any) -> Array:
        """Embed new samples by Lemma 3; training samples get the same coordinates as in `fit_transform`.

        Parameters
        ----------
        X : {array-like, sparse matrix, sparse array} of shape (n_queries, n_features)
            Queries; similarities to the training samples, (n_queries, n_samples), with the precomputed kernel.

        Returns
        -------
        Y : ndarray of shape (n_queries, k)
            Embedding, in the dtype of X.
        """
        return self._embed(X)

    def kernel_matrix(self, X: Any, Y: Any = None) -> Array:
        """Evaluate the spectral kernel, for kernel machines such as ``SVC(kernel="precomputed")``.

        Parameters
        ----------
        X, Y : {array-like, sparse matrix, sparse array} of shape (m, n_features) and (p, n_features)
            Samples, as in `transform`. If Y is None, it is X.

        Returns
        -------
        K : ndarray of shape (m, p)
            Inner products of the embedded samples. The other similarities of the paper's Table 2 are scikit-learn's
            ``rbf_kernel`` and NumPy's ``corrcoef`` of the result of `transform`.
        """
        X = self._embed(X)
        return X @ (X if Y is None else self._embed(Y)).T

    def _fit_weighted(self, X, sample_weight):
        """Fit to checked X; return a function that computes the embedding of the samples of positive weight, and their
        mask (None: all).
        """
        rows, weights, kept = positive_weight(X, sample_weight)
        pairwise = kept is not None and self.kernel_ == "precomputed"
        embedding = self._fit(rows[:, kept] if pairwise else rows, weights)
        if pairwise:  # queries have similarities to all samples
            coefficients = np.zeros((len(kept), self.coefficients_.shape[1]), self.coefficients_.dtype)
            coefficients[kept] = self.coefficients_
            self.coefficients_ = coefficients
        return embedding, kept

    def _fit(self, X, sample_weight):
        """Fit to checked X and positive weights.

        With weights w, W^1/2 D^-1/2 S D^-1/2 W^1/2 is decomposed, where D holds the weighted row sums. Its eigenvectors
        are those of the matrix with each sample repeated w times, multiplied by the roots of the weights.
        """
        w = np.ones(X.shape[0]) if sample_weight is None else sample_weight
        self.trace_residual_ = 0.0
        if self.kernel_ == "gaussian":
            self.bandwidth_: float = self._chosen_bandwidth(X, sample_weight)
            if not sp.issparse(X):
                return self._fit_points(X, w, sample_weight)
        if self.rank is not None:
            raise ValueError("rank needs kernel='gaussian' and dense X.")
        if self.kernel_ == "linear":
            S = LinearSimilarity(X)
        else:
            given = self.kernel_ == "precomputed"
            S = StoredSimilarity(X if given else form_similarity(X, X, **self._kernel_parameters()))
        degrees = None if self.weighting is None else S.degrees(w)
        values, v = self._decompose(S, np.sqrt(w) if degrees is None else np.sqrt(w) * inverse_root(degrees), w)
        return self._learn(X, w, degrees, values, v)

    def _fit_points(self, X, w, sample_weight):
        """`_fit` with the Gaussian kernel of dense X, whose matrix is never formed."""
        most = None if isinstance(self.n_components, str) else min(self.n_components, self.rank or self.n_components)
        form = self.bandwidth_, "gaussian", self.weighting
        spectrum = spectrum_of(self, self._rounded(X), sample_weight, *form, most)
        total = 1.0 if self.weighting is None else w.sum()  # its matrix is normalized by row means, not by row sums
        if not isinstance(spectrum, LowRankSpectrum):
            degrees = None if self.weighting is None else total * spectrum.operator.degrees.astype(np.float64)
            return self._learn(X, w, degrees, *_positive(spectrum.values / total, spectrum.vectors.astype(X.dtype)))
        values = spectrum.values / total
        self.trace_residual_, self._pairs = spectrum.trace_residual, None
        weights = spectrum.coefficients(np.diag(values ** (1 - self._power) / np.sqrt(spectrum.values)))
        density = spectrum.density_weights
        weights = weights if density is None else np.column_stack([weights, density])
        self._keep(values.astype(X.dtype), weights.astype(X.dtype), spectrum.anchors)
        return partial(self._embedded, X)

    def _rounded(self, X):
        """X in float32, which takes half the time, if rough eigenpairs are wanted and need no more digits.

        In a kernel value exp(-u^2 / 2), rounding of the coordinates changes u by eps |x| / h, and relevant u are at
        most 6.
        """
        if self.tol is None or len(X) < _SINGLE_SIDE:
            return X
        error = 6 * np.finfo(np.float32).eps * np.abs(X).max() / self.bandwidth_
        return X if error > self.tol / 2 else X.astype(np.float32, copy=False)

    @property
    def _power(self):
        """Power of the eigenvalues in the coefficients of queries."""
        return 1.0 if self.embedding == "a" else 0.5

    def _learn(self, X, w, degrees, values, v):
        """Set the fitted attributes from eigenpairs, with vectors scaled for repeated samples; return a function that
        computes the embedding of the samples.
        """
        root = np.sqrt(w)
        pairs = GrowingEigenpairs(X, w, degrees, values, v * root[:, None])
        self._pairs = None if self.kernel_ == "precomputed" else pairs
        weights = (pairs.scale * root)[:, None] * v / values**self._power
        weights = weights if degrees is None else np.column_stack([weights, w])
        weights = weights.astype(X.dtype)
        stored = self.kernel_ in ("linear", "precomputed")
        weights = safe_sparse_dot(X.T, weights) if self.kernel_ == "linear" else weights
        self._keep(values.astype(X.dtype), weights, None if stored else X)
        return lambda: self._finish((v * values ** (1 - self._power)).astype(X.dtype))

    def _keep(self, values, coefficients, points):
        self.eigenvalues_, self.coefficients_, self.X_fit_ = values, coefficients, points
        self._n_features_out = len(values)
        self._expand()

    @available_if(_may_grow)
    @transactional(keep=True)
    def partial_fit(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Append training samples without comparing the old samples with each other.

        Similarities to the new samples and all degrees are exact; similarities among the old samples are reduced to
        their k known components. The result equals that of `fit` on all samples if S has no further components, as with
        ``n_components="all"`` or the linear kernel with up to `n_components` features. Otherwise it loses the further
        components; the larger `n_components`, the smaller the loss.

        Parameters
        ----------
        X : {array-like, sparse matrix, sparse array} of shape (n_samples, n_features)
            Samples to append. Bandwidth, scale and kernel of the first call are kept.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            As in `fit`.

        Returns
        -------
        self : object
            Transformer fitted to all samples. Samples seen before have new coordinates: `transform` them again.

        Raises
        ------
        ValueError
            If the data are invalid. The transformer stays unchanged.

        Notes
        -----
        With n old and m new samples, this takes O(n m) similarities and O((n + m) (k + m)^2) operations. For this
        purpose the fitted transformer keeps the samples and their k coordinates.
        """
        if not hasattr(self, "eigenvalues_"):
            return self.fit(X, sample_weight=sample_weight)
        rows, weights, _ = positive_weight(self._check(X, reset=False), sample_weight)
        weights = np.ones(rows.shape[0]) if weights is None else weights
        most = None if isinstance(self.n_components, str) else self.n_components
        pairs = self._pairs.grown(rows, weights, self._similarity, most)
        vectors = fix_signs(pairs.vectors / np.sqrt(pairs.weights)[:, None])
        self._learn(pairs.X, pairs.weights, pairs.degrees, pairs.values, vectors)
        return self

    def _similarity(self, Q, X):
        if self.kernel_ == "linear":
            return safe_sparse_dot(Q, X.T, dense_output=True)
        return form_similarity(Q, X, **self._kernel_parameters())

    def _embed(self, X, any_length=False):
        return self._embedded(self._check(X, reset=False), any_length)

    def _embedded(self, X, any_length=False):
        """Rows of the embedding; with `any_length`, each only up to a positive factor, so that none underflows."""
        directions = self.normalize or any_length
        if self._expansion is not None:
            X = X.toarray() if sp.issparse(X) else X
            evaluate = self._expansion.directions if directions else self._expansion.values
            return self._finish(evaluate(X).astype(X.dtype))
        log_scale, products = row_products(
            X,
            self.X_fit_,
            self.coefficients_,
            checked=self.weighting == "symmetric",
            **self._kernel_parameters(),
        )
        if self.weighting == "symmetric":
            k = self._n_features_out
            degrees = products[:, k:].max(axis=1)
            if self.kernel_ == "precomputed":
                check_degrees(degrees, X)
            products = products[:, :k] * inverse_root(degrees)[:, None].astype(products.dtype)
            log_scale = log_scale / 2
        return self._finish(products if directions else rescaled(products, log_scale, self.kernel_))

    def _make_inputs(self, **options):
        return super()._make_inputs(**of_kernel(self), **options)

    def _check(self, X, reset, sample_weight=None):
        sparse = "csr" if self.rank is None else False
        if reset:
            self._inputs = self._make_inputs(accept_sparse=sparse)
            X = all_points(self._inputs, X, sample_weight)
        else:
            X = self._queries(X)
        if reset:
            self.kernel_ = self.kernel if self.kernel != "auto" else "linear" if sp.issparse(X) else "gaussian"
            if self.kernel_ == "precomputed":
                check_symmetric(X)
        if self.weighting == "symmetric" and self.kernel_ in ("linear", "polynomial"):
            self._check_non_negative(X)
        return X

    def _check_non_negative(self, X):
        smallest = X.min() if X.shape[0] else 0
        if smallest < 0:
            raise ValueError(
                f"Negative values in data passed to SpectralKernel(weighting='symmetric', "
                f"kernel={self.kernel_!r}): the smallest is {smallest:.3g}, but degrees of the similarity graph "
                f"must be positive. Use weighting=None, or {self._way_out(X)}."
            )

    @staticmethod
    def _way_out(X):
        """The alternatives for data with negative values, for the error message."""
        if sp.issparse(X):
            return "features without negative values, such as those of HashingVectorizer(alternate_sign=False)"
        return "kernel='gaussian', for example for standardized features"

    def _chosen_bandwidth(self, X, sample_weight):
        if not isinstance(self.bandwidth, str):
            return float(self.bandwidth)
        if sp.issparse(X):
            raise ValueError("Choosing a bandwidth needs dense X: give a number for sparse data.")
        return reference_bandwidth(self.bandwidth, X, None, 1, sample_weight)

    def _kernel_parameters(self):
        bandwidth = getattr(self, "bandwidth_", None)
        return {"kernel": self.kernel_, "bandwidth": bandwidth, "degree": self.degree}

    def _decompose(self, S, scale, weights):
        """The positive leading eigenpairs of diag(scale) S diag(scale), with vectors scaled for repeated samples."""
        most = S.rank_bound if isinstance(self.n_components, str) else min(self.n_components, S.rank_bound)
        values, vectors = S.eigenpairs(scale, most, tol=self.tol, n_jobs=self.n_jobs, random_state=self.random_state)
        values, vectors = _positive(values, vectors)
        vectors = fix_signs(vectors / np.sqrt(weights).astype(vectors.dtype)[:, None])
        vectors[S.empty_rows()] = 0
        return values, vectors

    def _truncate(self, k):
        """Keep the k leading components."""
        self.eigenvalues_ = self.eigenvalues_[:k]
        self.coefficients_ = np.delete(self.coefficients_, np.s_[k : self._n_features_out], axis=1)
        self.n_components = self._n_features_out = k
        vars(self).pop("_pairs", None)  # no further partial_fit
        self._expand()
        return self

    def _expand(self):
        """Create the `Expansion` that embeds queries, if the embedding is a kernel sum over the training samples."""
        self._expansion = None
        if self.X_fit_ is not None and self.kernel_ == "gaussian" and not sp.issparse(self.X_fit_):
            points, no_offsets = plain_points(self.X_fit_, self.n_jobs), np.zeros(self._n_features_out)
            self._expansion = Expansion(DISTANCE, points, "gaussian", self.bandwidth_, self.coefficients_, no_offsets)

    def _finish(self, Y):
        return normalize(Y) if self.normalize else Y

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        needs_dense = self.kernel == "gaussian" and isinstance(self.bandwidth, str)  # rules compute variances
        tags.input_tags.sparse = self.rank is None and not needs_dense
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.allow_nan = not tags.input_tags.pairwise
        tags.input_tags.positive_only = self.weighting == "symmetric" and self.kernel in (
            "linear",
            "polynomial",
            "precomputed",
        )
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _positive(values, vectors):
    """The eigenpairs whose eigenvalue exceeds rounding, with values in float64."""
    rank = int(np.sum(values > 10 * np.sqrt(len(vectors)) * np.finfo(vectors.dtype).eps * values.max()))
    if rank == 0:
        raise ValueError("The similarity matrix has no positive eigenvalue: all its entries may be zero.")
    return values[:rank].astype(np.float64), vectors[:, :rank]


def of_kernel(estimator):
    """Options of `Inputs` implied by the parameters `kernel` and `scale`."""
    return {
        "scale": estimator.scale if estimator.kernel in ("auto", "gaussian") else None,
        "missing": "refuse" if estimator.kernel == "precomputed" else "complete",
    }


def all_points(inputs, X, sample_weight):
    """Coordinates of all samples, including those of weight 0, from newly fitted inputs."""
    data = inputs.fit_points(X, sample_weight)
    return data.X if data.kept is None else inputs(X)
