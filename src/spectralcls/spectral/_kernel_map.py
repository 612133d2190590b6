"""The Nystrom feature map: leading eigenvectors of a kernel matrix, extended to new points."""

from dataclasses import KW_ONLY
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np

from .._estimator import Estimator, transactional, with_parameters
from .._expansion.low_rank_spectrum import n_landmarks, spectrum_of
from .._tuning import reference_of
from .._utils.advice import advise
from .._utils.bases import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from .._utils.blocks import in_memory
from .._utils.from_sklearn import Interval, StrOptions
from .._utils.typing import Array, ArrayLike, Kernel, RandomState, Scale, Solver
from ._entropy_components import by_entropy, of_largest_entropy


@with_parameters
class KernelMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Coordinates in the leading eigenvectors of a kernel matrix, for training points and new points.

    Let ``E L E^T`` be the eigendecomposition of the kernel matrix K, or of ``K_f = D^-1/2 K D^-1/2``, where D holds the
    Parzen density f at the training points. Training points are mapped to the rows of ``E L^1/2``, and a new point y is
    mapped to ``k(y) E L^-1/2``, the Nystrom extension; for K_f the kernel is ``k(y, x_i) / sqrt(f(y) f_i)``. For
    training points both maps agree.

    Parameters
    ----------
    n_components : int or "all", default=2
        Number of leading eigenvectors; ``"all"`` keeps the whole space, at O(n^3) cost.
    weighting : {"symmetric"} or None, default=None
        None decomposes K (kernel principal components without centering); ``"symmetric"`` decomposes the normalized
        K_f, whose leading vectors separate clusters whatever their density.
    order : {"eigenvalue", "entropy"}, default="eigenvalue"
        Order of the eigenvectors e with eigenvalues l: by l, or by ``l (1^T e)^2``, their share of the sum of all
        entries of the matrix. For K this sum is the information potential, whose negative logarithm is Renyi's
        quadratic entropy: kernel entropy component analysis [3]_.
    kernel : str, default="gaussian"
        Shape of the kernel: "gaussian", "laplace", or one of "epanechnikov", "uniform", "quartic", "triweight",
        "cosine" and "linear", which are compact: they vanish beyond the bandwidth.
        Compact kernels have negative eigenvalues too; the positive part is kept, and a warning says how much was
        dropped.
    bandwidth : {"scale", "silverman"} or float, default="scale"
        Radius h of the kernel. ``"scale"`` is ``s sqrt(d / 2)``, where s^2 is the mean variance of the features: the
        Gaussian of a typical distance is then e^-2 in any dimension (scikit-learn's ``gamma="scale"``).
        ``"silverman"`` is the rule of density estimation, which isolates points in many dimensions. Both are
        transferred to other kernels by their variance.
    scale : "auto" or None, default="auto"
        ``"auto"`` scales each column of numbers to mean 0 and spread 1, estimated robustly; columns of spread 1 stay
        unchanged. Bandwidths are in these units. None uses the numbers unchanged.
    rank : int or None, default=None
        Number of landmarks that span a low-rank factor F, K ~= F F^T (kernels "gaussian" and "laplace"). They are drawn
        by randomly pivoted Cholesky among at most 20 000 samples. A fit takes O(n rank^2) operations instead of passes
        over the n^2 pairs, and each query is evaluated against the landmarks instead of n points. None means exact up
        to 20 000 samples, and above them ``500 + 10 n_components`` landmarks, but at most 2000 and at least twice the
        number of components. To be exact anyway, give at least the number of samples.
    solver : {"auto", "lanczos", "arpack", "dense"}, default="auto"
        Eigensolver, as in :func:`~spectralcls.linalg.top_eigenpairs`. "dense" always converges, in O(n^3) time: use it
        if a warning says that pairs have not converged or that copies of equal eigenvalues may be missing.
    tol : float or None, default=None
        Convergence tolerance of the eigensolver: bound on the residuals, relative to the eigenvalues. None means ``eps
        ** (2 / 3)`` of the data's dtype.
    random_state : int, RandomState instance or None, default=0
        Seed of folds, subsamples, landmarks and starting vectors. With an int, a refit gives identical results.
    n_jobs : int or None, default=None
        Number of threads. None means all cores, unless joblib or threadpoolctl sets a lower limit.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components_,)
        Positive eigenvalues, descending unless `order` is "entropy". With ``weighting="symmetric"`` the largest is the
        sum of the sample weights, by default n.
    eigenvectors_ : ndarray of shape (n_samples, n_components_)
        Unit eigenvectors E, in the dtype of X.
    n_components_ : int
        Number of components; fewer than requested if eigenvalues vanish or are negative.
    dropped_eigenvalues_ : ndarray
        Requested eigenvalues that are not positive.
    trace_residual_ : float
        trace(K - F F^T) / trace(K), in [0, 1]; 0 if K is exact.
    bandwidth_ : float
        Bandwidth in use.
    inverse_density_ : ndarray of shape (n_samples,)
        1/f at the training points in units of the kernel's normalizing constant. Only present if `weighting` is given.
    X_fit_ : ndarray of shape (n_samples, n_features)
        Training points of positive weight.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features. Only present if X has string names.

    See Also
    --------
    sklearn.manifold.SpectralEmbedding : Has no `transform`.
    sklearn.decomposition.KernelPCA : Stores the kernel matrix, O(n^2) memory.

    Notes
    -----
    Cost: an exact fit usually takes 7 to 20 products of the kernel matrix with a block of 32 vectors, each a pass over
    the n^2 pairs. Up to n = 400 the matrix is formed. With r landmarks, a fit takes O(n r^2) operations. Memory is O(n
    n_components), plus O(r^2). Mapping m points takes one pass over the pairs with the n points or r landmarks.

    References
    ----------
    .. [1] O. K. Storås, "Information Theoretic Learning for Pattern Classification", Master's thesis, University of
       Tromsø, 2007, section 7.1.
    .. [2] C. K. I. Williams and M. Seeger, "Using the Nyström method to speed up kernel machines", Advances in Neural
       Information Processing Systems 13, 2001.
    .. [3] R. Jenssen, "Kernel entropy component analysis", IEEE Transactions on Pattern Analysis and Machine
       Intelligence 32 (5), 2010, pp. 847-860.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls import KernelMap
    >>> X, y = load_iris(return_X_y=True)
    >>> KernelMap(n_components=3).fit(X).transform(X[:5]).shape
    (5, 3)
    """

    n_components: Literal["all"] | int = 2
    _: KW_ONLY
    weighting: Literal["symmetric"] | None = None
    order: Literal["eigenvalue", "entropy"] = "eigenvalue"
    kernel: Kernel = "gaussian"
    bandwidth: Literal["scale", "silverman"] | float = "scale"
    scale: Scale = "auto"
    rank: int | None = None
    solver: Solver = "auto"
    tol: float | None = None
    random_state: RandomState = 0
    n_jobs: int | None = None

    _parameter_constraints = {
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"all"})],
        "weighting": [StrOptions({"symmetric"}), None],
        "order": [StrOptions({"eigenvalue", "entropy"})],
        "bandwidth": [Interval(Real, 0, None, closed="neither"), StrOptions({"scale", "silverman"})],
    }

    _learns_on_workers = True

    def _check_on_workers(self):
        super()._check_on_workers()
        check_no_rank(self)

    @transactional
    def fit(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Compute the leading eigenvectors.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training points; float32 stays float32, everything else becomes float64. A Dask array or data frame stays on
            the workers, and the map of Dask queries is then lazy; this needs ``rank=None`` and fewer components than
            points.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights. Weight k is equivalent to k copies of the sample, weight 0 to leaving it out.

        Returns
        -------
        self : object
            Fitted transformer.

        Raises
        ------
        ValueError
            If the data are invalid, or `rank` is given with a kernel other than the Gaussian. A fitted transformer
            stays unchanged.
        """
        self._fit(X, sample_weight)
        return self

    @transactional
    def fit_transform(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Array:
        """Fit and return the map of the training points, ``E L^1/2``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training points, as in `fit`.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights, as in `fit`.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components_)
            Mapped training points, in the dtype of X; points of weight zero are mapped by the Nystrom extension.
        """
        kept = self._fit(X, sample_weight)
        if kept is None:
            return self._spectrum.training_map
        return self.transform(X)

    def _fit(self, X, sample_weight):
        self._inputs = self._inputs_for(X)
        data = self._inputs.fit_points(X, sample_weight, ensure_min_samples=2)
        X, weights = data.X, in_memory(data.weights)
        bandwidth = self._bandwidth(data)
        spectrum = self._leading(X, weights, bandwidth)
        self._spectrum = spectrum
        self.X_fit_ = X
        self.bandwidth_: float = float(bandwidth)
        self.eigenvalues_, self.eigenvectors_ = spectrum.values, spectrum.vectors
        self.n_components_ = self._n_features_out = len(spectrum.values)
        self.dropped_eigenvalues_ = spectrum.dropped
        if spectrum.operator.degrees is not None:
            self.inverse_density_ = 1 / spectrum.operator.degrees.astype(np.float64)
        self.trace_residual_ = spectrum.trace_residual
        return data.kept

    def _leading(self, X, weights, bandwidth):
        n_components = None if self.n_components == "all" else self.n_components

        def leading(n_components):
            return spectrum_of(self, X, weights, bandwidth, self.kernel, self.weighting, n_components)

        if self.order == "eigenvalue":
            spectrum = leading(n_components)
        elif n_components is None or n_landmarks(self.rank, X, n_components, self.kernel):
            spectrum = by_entropy(leading(None), n_components)
        else:
            spectrum = of_largest_entropy(leading, n_components, self.kernel)
        warn_of_negative(spectrum)
        return spectrum

    def _bandwidth(self, data):
        if isinstance(self.bandwidth, Real):
            return self.bandwidth
        return reference_of(data, self.bandwidth, self.kernel, self.random_state)

    def transform(self, X: Any) -> Array:
        """Map points by the Nystrom extension.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Points to map.

        Returns
        -------
        Z : ndarray of shape (n_queries, n_components_)
            Mapped points; zeros for points that no kernel reaches.

        Notes
        -----
        One pass over the pairs of queries and samples, or landmarks.
        """
        X = self._queries(X)
        return self._spectrum.expansion().values(X).astype(X.dtype)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def check_no_rank(estimator):
    """Raise if a low-rank factor of points on workers is requested."""
    if estimator.rank is not None:
        raise ValueError("On Dask collections rank must be None: landmarks are drawn one block after another.")


def warn_of_negative(spectrum):
    """Warn about negative requested eigenvalues; zeros are dropped without a warning."""
    floor = 1e-3 * np.abs(spectrum.values[0]) * np.sqrt(np.finfo(spectrum.vectors.dtype).eps)
    negative = spectrum.dropped[spectrum.dropped < -floor]
    if len(negative):
        share = -negative.sum() / (spectrum.values.sum() - negative.sum())
        advise(
            f"The kernel matrix is not positive semi-definite: {len(negative)} of "
            f"{len(spectrum.values) + len(spectrum.dropped)} eigenvalues are negative ({share:.2%} of their "
            "absolute sum) and were dropped. Use the Gaussian kernel, or fewer components.",
            UserWarning,
        )
