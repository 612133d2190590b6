"""Nearest class centre in the leading eigenvectors of a kernel matrix: the spectral ISE classifiers."""

from numbers import Integral, Real

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from .._tuning import check_folds
from .._validation import check_bandwidth, check_training_data
from ..bandwidth import silverman_bandwidth
from ..eigen import KernelOperator
from ..kernel_mean.base import KernelMeanClassifier
from ..kernel_mean.engine import Expansion
from .centers import class_average, class_centers
from .kernel_map import KernelMap
from .search import PATIENCE, nested_distances, search, tuning_set
from .spectrum import density_weights, leading_spectrum, paper_factor

_PARAMETERS = """bandwidth : {{"cv", "silverman"}} or float, default="cv"
        Radius h of the kernel. ``"cv"`` takes the bandwidth of the best cross-validated accuracy.
    n_components : int, "cv", "all" or None, default=None
        Number of leading eigenvectors; None is the number of classes, as in the thesis. ``"cv"`` tries 1 to
        `max_components` beside every bandwidth, with one decomposition for all of them. ``"all"`` keeps the
        whole space; with means and the Gaussian kernel this takes kernel sums and no decomposition (unless
        `solver` is given), otherwise O(n^3) time and O(n^2) memory.
    center : {{"mean", "median"}}, default="mean"
        Centre of a class in the embedding, the median taken by component.
    kernel : {{"gaussian", "epanechnikov", "uniform", "quartic", "triweight", "cosine"}}, default="gaussian"
        Of the compact kernels, which are not positive semi-definite, the positive part is kept.
    projection : {{"consistent", "paper"}}, default="consistent"
        ``"consistent"`` maps training points as queries exactly as it mapped them in `fit`. ``"paper"`` is
        the thesis: a factor sqrt(n) in the map of queries (eq. 7.2){paper}.
    max_components : int, default=32
        Largest number of components that ``n_components="cv"`` tries.
    cv : int, splitter or iterable of splits, default=5
        Folds of the cross-validation. An int makes random stratified folds that keep copies of a row
        together. The test sets of a splitter have to partition the samples.
    bandwidth_grid : array-like, default=None
        Bandwidths to try; by default :func:`~spectralcls.bandwidth.bandwidth_grid` of the training data.
    max_tuning_samples : int or None, default=2000
        With more points than this, parameters are tuned on a stratified random subsample of this size, and
        the bandwidth is then scaled by ``(m / n) ** (1 / (d + 4))``; `n_tuning_samples_` says how many were
        used.
    method : {{"exact", "rpcholesky"}}, default="exact"
        ``"rpcholesky"`` decomposes a randomly pivoted Cholesky factor F F^T of K instead of K (Gaussian kernel
        only): n `rank` kernel values instead of passes over the n^2 pairs, O(n rank) memory, and queries meet
        `rank` points instead of n. Tuning stays exact. `trace_residual_` says what is left out.
    rank : int, default=500
        Columns of F, at least the number of components.
    solver : {{"auto", "lanczos", "arpack", "dense"}}, default="auto"
        See :func:`~spectralcls.eigen.top_eigenpairs`.
    tol : float, default=None
        Tolerance of the residuals, relative to the eigenvalues.
    random_state : int, RandomState instance or None, default=0
        Draws the folds, the subsample and the solver's start.
    n_jobs : int, default=None
        Threads; None means all cores unless joblib or threadpoolctl says otherwise.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    bandwidth_ : float
    n_components_ : int
        Number of components in use; n where the whole space is kept.
    trace_residual_ : float
        trace(K - F F^T) / trace(K), in [0, 1]. Only with ``method="rpcholesky"``.
    map_ : KernelMap
        The embedding; not there where no decomposition happened.
    centers_ : ndarray of shape (n_classes, n_components_)
        Class centres in the embedding, where there is one.
    bandwidth_grid_, n_components_grid_ : ndarray
        What was tried. Only after cross-validation, as the next two.
    cv_scores_ : ndarray of shape (n_bandwidths,), or (n_bandwidths, n_candidates) with ``n_components="cv"``
        Accuracy of each pair; of tied ones the smallest number of components and the middle bandwidth win.
        NaN where the data do not determine the leading eigenvectors, as at a bandwidth that isolates points.
    n_tuning_samples_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)"""


# Learned attributes that a fit with other parameters may not set.
_OPTIONAL = (
    "bandwidth_grid_", "n_components_grid_", "cv_scores_", "n_tuning_samples_", "map_", "centers_",
    "inverse_density_", "trace_residual_",
)


class _SpectralClassifier(KernelMeanClassifier):
    """Nearest class centre in the embedding; `_weighting` tells the two named classifiers apart."""

    _weighting = None
    _parameter_constraints = {
        "bandwidth": [Interval(Real, 0, None, closed="neither"), StrOptions({"cv", "silverman"})],
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"cv", "all"}), None],
        "center": [StrOptions({"mean", "median"})],
        "projection": [StrOptions({"consistent", "paper"})],
        "max_components": [Interval(Integral, 1, None, closed="left")],
    } | {
        name: KernelMap._parameter_constraints[name] for name in ("method", "rank", "solver", "tol")
    } | {
        name: KernelMeanClassifier._parameter_constraints[name]
        for name in ("kernel", "cv", "bandwidth_grid", "max_tuning_samples", "random_state", "n_jobs")
    }

    def __init__(
        self,
        bandwidth="cv",
        *,
        n_components=None,
        center="mean",
        kernel="gaussian",
        projection="consistent",
        max_components=32,
        cv=5,
        bandwidth_grid=None,
        max_tuning_samples=2000,
        method="exact",
        rank=500,
        solver="auto",
        tol=None,
        random_state=0,
        n_jobs=None,
    ):
        self.bandwidth = bandwidth
        self.n_components = n_components
        self.center = center
        self.kernel = kernel
        self.projection = projection
        self.max_components = max_components
        self.cv = cv
        self.bandwidth_grid = bandwidth_grid
        self.max_tuning_samples = max_tuning_samples
        self.method = method
        self.rank = rank
        self.solver = solver
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Fit the classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training points; float32 stays float32, everything else becomes float64.
        y : array-like of shape (n_samples,)
            Class labels, two classes at least.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights. Weight k equals giving the sample k times, weight 0 leaving it out.

        Returns
        -------
        self : object
        """
        data = check_training_data(self, X, y, sample_weight)
        n_classes = len(data.classes)
        tuned = {}
        bandwidth = self._given_bandwidth(data)
        n_components = n_classes if self.n_components is None else self.n_components
        if bandwidth is None or n_components == "cv":
            bandwidth, n_components, tuned = self._tune(data, y, bandwidth, n_components)
        if n_components == "all" and self.method == "exact" and self._implicit():
            fitted = self._fit_implicit(data.X, data.codes, n_classes, data.weights, bandwidth)
        else:
            fitted = self._fit_explicit(data, n_classes, bandwidth, n_components)
        for name in _OPTIONAL:
            self.__dict__.pop(name, None)
        self.classes_, self.bandwidth_ = data.classes, float(bandwidth)
        for name, value in (tuned | fitted).items():
            setattr(self, name, value)
        return self

    def _implicit(self):
        """Whether the whole space can be kept without decomposition: means, and k positive definite."""
        return self.center == "mean" and self.kernel == "gaussian" and self.solver == "auto"

    def _given_bandwidth(self, data):
        """The bandwidth, or None where it is to be tuned."""
        if isinstance(self.bandwidth, Real):
            return check_bandwidth(self.bandwidth, 1)
        if self.bandwidth == "cv":
            return None
        if not np.ptp(data.X, axis=0).any():
            return 1.0
        return silverman_bandwidth(data.X, data.weights, kernel=self.kernel)

    def _operator(self, X, weights, bandwidth):
        normalization = None if self._weighting is None else "mean"
        return KernelOperator(
            X, kernel=self.kernel, bandwidth=bandwidth, normalization=normalization, sample_weight=weights,
            n_jobs=self.n_jobs,
        )

    def _fit_implicit(self, X, codes, n_classes, weights, bandwidth):
        """All components, no eigenvector: <phi(y), m_c> and |m_c|^2 are kernel sums."""
        plain = KernelOperator(X, kernel=self.kernel, bandwidth=bandwidth, n_jobs=self.n_jobs)
        operator = self._operator(X, weights, bandwidth)
        M = class_average(codes, n_classes, weights)
        weighted = M if operator.degrees is None else M / np.sqrt(operator.degrees)[:, None]
        offsets = np.einsum("ic,ic->c", weighted, (plain @ weighted).astype(np.float64))
        offsets[M.sum(axis=0) == 0] = np.inf
        consistent = self.projection == "consistent"
        A = 2 * weighted if consistent else 2 * paper_factor(operator) * M
        density = density_weights(operator) if consistent else None
        model = Expansion(operator.X, A, offsets, self.kernel, bandwidth, density, self.n_jobs)
        return self._learned(model, operator, len(operator.X))

    def _fit_explicit(self, data, n_classes, bandwidth, n_components):
        kernel_map = KernelMap(
            None if n_components == "all" else n_components,
            weighting=self._weighting, kernel=self.kernel, bandwidth=bandwidth, method=self.method,
            rank=self.rank, solver=self.solver, tol=self.tol, random_state=self.random_state, n_jobs=self.n_jobs,
        )
        embedding = kernel_map.fit(data.X, sample_weight=data.weights)._spectrum
        centers = class_centers(embedding.training_map, data.codes, n_classes, data.weights, self.center)
        density = embedding.density_weights if self.projection == "consistent" else None
        A = 2 * embedding.coefficients(centers.T, self.projection)
        offsets = np.einsum("cr,cr->c", centers, centers)
        model = Expansion(embedding.anchors, A, offsets, self.kernel, bandwidth, density, self.n_jobs)
        learned = self._learned(model, embedding.operator, len(embedding.values))
        if self.method == "rpcholesky":
            learned["trace_residual_"] = kernel_map.trace_residual_
        return learned | {"map_": kernel_map, "centers_": centers}

    def _learned(self, model, operator, n_components):
        learned = {"_model": model, "n_components_": n_components}
        if operator.degrees is not None:
            learned["inverse_density_"] = 1 / operator.degrees.astype(np.float64)
        return learned

    def _tune(self, data, y, bandwidth, n_components):
        n_classes = len(data.classes)
        tuning = tuning_set(
            data, check_folds(self.cv, y, data.kept), kernel=self.kernel, cv=self.cv,
            grid=self.bandwidth_grid if bandwidth is None else [bandwidth],
            max_samples=self.max_tuning_samples, random_state=self.random_state,
        )
        if n_components == "cv":
            candidates = np.arange(1, min(self.max_components, len(tuning.X) // 2) + 1)
        else:
            candidates = np.array([len(tuning.X) if n_components == "all" else n_components])

        def fold_scores(train, test, h, candidates):
            weights = tuning.weights[train]
            weights = None if np.all(weights == 1) else weights
            X, codes = tuning.X[train], tuning.codes[train]
            if n_components == "all" and self._implicit():
                model = self._fit_implicit(X, codes, n_classes, weights, h)["_model"]
                return model.scores(tuning.X[test])[:, None], True
            spectrum = leading_spectrum(
                self._operator(X, weights, h), candidates.max() + 1, solver=self.solver, tol=self.tol,
                random_state=self.random_state, max_applications=PATIENCE,
            )
            sound = n_components == "all" or spectrum.determined(candidates, self.tol)
            centers = class_centers(spectrum.training_map, codes, n_classes, weights, self.center)
            Z = spectrum.extend(tuning.X[test], self.projection)
            return nested_distances(Z, centers, candidates), sound

        found = search(tuning, candidates, fold_scores)
        tuned = {
            "bandwidth_grid_": tuning.grid,
            "n_components_grid_": candidates,
            "cv_scores_": found.scores if self.n_components == "cv" else found.scores[:, 0],
            "n_tuning_samples_": found.n_samples,
        }
        best = n_components if n_components == "all" else int(candidates[found.candidate])
        return float(tuning.grid[found.bandwidth]), best, tuned


class SpectralISEClassifier(_SpectralClassifier):
    __doc__ = f"""Nearest class centre in the leading eigenvectors of the kernel matrix K.

    The training points are mapped by the leading eigenvectors of their kernel matrix, queries by the Nystrom
    extension, and a query goes to the class whose centre is nearest. With all components kept and means it is
    the ISE classifier with ``potential="same"``.

    Parameters
    ----------
    {_PARAMETERS.format(paper="")}

    See Also
    --------
    SpectralLaplacianISEClassifier : The same with the kernel matrix normalised by the density.
    KernelMap : The embedding alone.

    Notes
    -----
    Fitting takes 7 to 20 passes over the n^2 pairs as a rule, predicting one over the m n pairs (the fitted
    form is ``k(y) A - b``). Memory is O(n n_components).

    References
    ----------
    Thesis, section 7.2.1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls.spectral.spectral_ise import SpectralISEClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> SpectralISEClassifier(bandwidth=0.5, n_components=5).fit(X, y).predict(X[:2])
    array([0, 0])
    """


class SpectralLaplacianISEClassifier(_SpectralClassifier):
    __doc__ = f"""Nearest class centre in the leading eigenvectors of ``K_f = D^-1/2 K D^-1/2``.

    D is the Parzen density f of the training points, with the same bandwidth as K. Dividing by it gives
    sparse regions the same say as dense ones: well separated classes lie on orthogonal lines.

    Parameters
    ----------
    {_PARAMETERS.format(paper=", and the plain kernel instead of k(y, x_i) / sqrt(f(y) f_i)")}
    inverse_density_ : ndarray of shape (n_samples,)
        The sample weights 1/f(x_i), in units of the kernel's normalising constant.

    See Also
    --------
    SpectralISEClassifier : Without normalisation.
    LaplacianSpectralClassifier : Compares angles, with class-wise bandwidths.

    Notes
    -----
    Fitting takes 7 to 20 passes over the n^2 pairs as a rule, predicting one over the m n pairs (the fitted
    form is ``g(y) k(y) A - b``). Memory is O(n n_components).

    References
    ----------
    Thesis, section 7.2.2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls.spectral.spectral_ise import SpectralLaplacianISEClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> SpectralLaplacianISEClassifier(bandwidth=0.5).fit(X, y).predict(X[:2])
    array([0, 0])
    """

    _weighting = "1/f"
