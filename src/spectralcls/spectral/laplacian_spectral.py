"""The Laplacian spectral classifier: smallest angle to a class mean in the eigenspace of a normalised
kernel."""

from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from .._tuning import check_folds
from .._validation import check_bandwidth, check_training_data
from ..eigen import KernelOperator
from ..kernel_mean.base import KernelMeanClassifier, reference_bandwidth
from ..kernel_mean.engine import ClassMeans, class_rows
from ..kernel_mean.points import TrainingPoints
from ..kernel_mean.rule import Rule
from ..kernels import kernel_sums, log_normalizer
from .centers import class_average
from .kernel_map import KernelMap
from .low_rank import classwise_spectrum
from .search import PATIENCE, nested_cosines, search, tuning_set
from .spectrum import density_weights, leading_spectrum

_OPTIONAL = (
    "bandwidth_grid_", "n_components_grid_", "cv_scores_", "n_tuning_samples_", "eigenvalues_", "centers_",
    "map_",
    "trace_residual_",
)


class _Widths(NamedTuple):
    """sigma of all training points, and sigma_c of each class (C,)."""

    overall: float
    by_class: np.ndarray

    def scaled(self, overall):
        """The same proportions at another overall width."""
        return _Widths(overall, self.by_class * (overall / self.overall))


class _ClasswiseExpansion(NamedTuple):
    """k(y) A with a bandwidth for the points of each class."""

    X: np.ndarray  # (n, d)
    codes: np.ndarray  # (n,)
    A: np.ndarray  # (n, c)
    bandwidths: np.ndarray  # (C,)
    n_jobs: int | None = None

    def log_scaled(self, Q):
        """(m,) and (m, c): k(y) A is the second times the exponential of the first; k holds its constants."""
        constants = -log_normalizer("gaussian", self.X.shape[1], self.bandwidths)
        log_scales, sums = [], []
        for own, h, constant in zip(
            class_rows(self.codes, len(self.bandwidths)), self.bandwidths, constants, strict=True
        ):
            if len(own) == 0:
                continue
            log_scale, part = kernel_sums(
                Q, self.X[own], weights=self.A[own], bandwidth=h, log="pair", n_jobs=self.n_jobs
            )
            log_scales.append(log_scale.astype(np.float64) + constant)
            sums.append(part.astype(np.float64))
        largest = np.max(log_scales, axis=0)
        return largest, np.einsum("tm,tmc->mc", np.exp(log_scales - largest), sums)

    def scores(self, Q):
        """k(y) A up to a positive factor for each y, which is all that angles need."""
        return self.log_scaled(Q)[1]


class _ClasswiseMap(NamedTuple):
    """The embedding of a fitted classifier: E L^1/2 for the training points, phi(y) for queries."""

    training_map_: np.ndarray  # (n, r)
    expansion: _ClasswiseExpansion  # of the columns of the identity
    log_unit: float  # logarithm of the constant that the operator's entries leave out
    overall: float  # bandwidth of f
    density_weights: np.ndarray | None  # (n,) with f(y) = k(y) v; None where phi(y) is not divided by f(y)^1/2

    def transform(self, Q):
        """phi(y), (m, r). The class of a query is not known, so its bandwidth is that of all points."""
        log_scale, sums = self.expansion.log_scaled(Q)
        log_scale = log_scale - self.log_unit
        if self.density_weights is not None:
            log_scale -= kernel_sums(
                Q, self.expansion.X, weights=self.density_weights, bandwidth=self.overall, log=True,
                n_jobs=self.expansion.n_jobs,
            ) / 2
        return np.exp(log_scale)[:, None] * sums


class LaplacianSpectralClassifier(KernelMeanClassifier):
    """Smallest angle to a class mean in the eigenspace of the Laplacian data matrix ``D^-1/2 K D^-1/2``.

    K joins points of classes t and s by the normalised Gaussian of variance ``sigma_t^2 + sigma_s^2``, D is
    the Parzen density of all training points with width sigma. The rule minimises a risk rather than the
    number of errors: a rare class is recognised at the expense of the frequent one.

    Parameters
    ----------
    bandwidth : {"silverman", "cv"}, float or array-like of shape (n_classes,), default="silverman"
        ``"silverman"`` takes every sigma_c and sigma from Silverman's rule, as the paper does; ``"cv"``
        multiplies them by the common factor of the best cross-validated accuracy. A number is used for all of
        them, an array for the classes beside Silverman's overall sigma.
    n_components : int, "cv" or "all", default="all"
        Number of leading eigenvectors. With ``"all"`` no decomposition happens (unless `solver` is given):
        the angles are kernel sums, in O(n) memory.
    test_kernel : {"convolved", "plain", "weighted"}, default="convolved"
        Kernel between a query y and a point x_i of class c: ``W(sigma^2 + sigma_c^2) / sqrt(f(y) f_i)``, the
        inner product of the density estimates; ``W(sigma^2)``, the paper's words; ``W(sigma^2) / sqrt(f(y)
        f_i)``.
    max_components : int, default=32
        Largest number of components that ``n_components="cv"`` tries.
    cv : int, splitter or iterable of splits, default=5
        Folds of the cross-validation. An int makes random stratified folds that keep copies of a row
        together.
    bandwidth_grid : array-like, default=None
        Overall widths sigma to try; by default :func:`~spectralcls.bandwidth.bandwidth_grid` of the data.
    max_tuning_samples : int or None, default=2000
        With more points than this, parameters are tuned on a stratified random subsample of this size, and
        widths are then scaled by ``(m / n) ** (1 / (d + 4))``.
    tolerance : float or None, default=None
        Allowed error of the kernel sums with ``n_components="all"``, in (0, 1); None: exact to rounding. With it
        the cosines of a query are off by at most ``((1 + t) / (1 - t))^1.5 - 1``, t the tolerance, of each.
        Sub-quadratic sums are used where they are predicted to be faster; tuning stays exact.
    method : {"exact", "rpcholesky"}, default="exact"
        ``"rpcholesky"`` takes the eigenvectors of a randomly pivoted Cholesky factor F F^T of K, O(n rank) memory,
        where `n_components` is a number; densities and queries still meet all points. Tuning stays exact.
    rank : int, default=500
        Columns of F, at least the number of components.
    solver : {"auto", "lanczos", "arpack", "dense"}, default="auto"
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
    bandwidth_ : ndarray of shape (n_classes,)
        The widths sigma_c.
    overall_bandwidth_ : float
        The width sigma.
    n_components_ : int
    eigenvalues_ : ndarray of shape (n_components_,)
        Where a decomposition happened, as `centers_`. Relative to the constant of the narrowest kernel.
    centers_ : ndarray of shape (n_classes, n_components_)
        Class means in the eigenspace.
    map_ : object
        The embedding, where a decomposition happened: `training_map_` (n_samples, n_components_), and
        ``transform(Q)`` for queries, whose bandwidth is sigma because their class is not known.
    trace_residual_ : float
        trace(K - F F^T) / trace(K), in [0, 1]. Only where ``method="rpcholesky"`` was at work.
    inverse_density_ : ndarray of shape (n_samples,)
        The sample weights 1/f(x_i), in units of the kernel's normalising constant.
    bandwidth_grid_, n_components_grid_ : ndarray
        What was tried. Only after cross-validation, as the next two.
    cv_scores_ : ndarray of shape (n_bandwidths,), or (n_bandwidths, n_candidates) with ``n_components="cv"``
    n_tuning_samples_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    See Also
    --------
    CauchySchwarzClassifier : The angle rule with one bandwidth.
    SpectralLaplacianISEClassifier : Distances to means or medians.

    Notes
    -----
    With all components fitting takes a pass over the n^2 pairs and one over the pairs within classes,
    predicting one over the m n pairs.

    References
    ----------
    R. Jenssen, D. Erdogmus, J. C. Principe, T. Eltoft, "The Laplacian spectral classifier" (paper 000).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls.spectral.laplacian_spectral import LaplacianSpectralClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> LaplacianSpectralClassifier().fit(X, y).predict(X[:2])
    array([0, 0])
    """

    _parameter_constraints = {
        "bandwidth": [
            Interval(Real, 0, None, closed="neither"),
            StrOptions({"cv", "silverman"}),
            "array-like",
        ],
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"cv", "all"})],
        "test_kernel": [StrOptions({"convolved", "plain", "weighted"})],
        "max_components": [Interval(Integral, 1, None, closed="left")],
    } | {
        name: KernelMap._parameter_constraints[name] for name in ("method", "rank", "solver", "tol")
    } | {
        name: KernelMeanClassifier._parameter_constraints[name]
        for name in ("cv", "bandwidth_grid", "max_tuning_samples", "tolerance", "random_state", "n_jobs")
    }

    def __init__(
        self,
        bandwidth="silverman",
        *,
        n_components="all",
        test_kernel="convolved",
        max_components=32,
        cv=5,
        bandwidth_grid=None,
        max_tuning_samples=2000,
        tolerance=None,
        method="exact",
        rank=500,
        solver="auto",
        tol=None,
        random_state=0,
        n_jobs=None,
    ):
        self.bandwidth = bandwidth
        self.n_components = n_components
        self.test_kernel = test_kernel
        self.max_components = max_components
        self.cv = cv
        self.bandwidth_grid = bandwidth_grid
        self.max_tuning_samples = max_tuning_samples
        self.tolerance = tolerance
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
        widths, tuned = self._widths(data), {}
        n_components = self.n_components
        if n_components == "cv" or (isinstance(self.bandwidth, str) and self.bandwidth == "cv"):
            widths, n_components, tuned = self._tune(data, y, widths)
        if n_components == "all" and self.solver == "auto":
            model = self._means(self._points(data.X, data.codes, len(data.classes), data.weights), widths)
            learned = {"n_components_": len(data.X), "inverse_density_": model.inverse_density}
        else:
            rank = len(data.X) if n_components == "all" else n_components
            if self.method == "rpcholesky" and n_components != "all":
                spectrum, centers, residual = self._low_rank(data.X, data.codes, data.weights, widths, rank)
                tuned["trace_residual_"] = residual
            else:
                spectrum, centers = self._spectrum(data.X, data.codes, data.weights, widths, rank)
            unit = centers / np.linalg.norm(centers, axis=1, keepdims=True)
            model = self._expansion(spectrum, data.codes, unit.T, widths)
            learned = {
                "n_components_": len(spectrum.values), "eigenvalues_": spectrum.values, "centers_": centers,
                "map_": self._map(spectrum, data.codes, widths),
                "inverse_density_": 1 / spectrum.operator.degrees.astype(np.float64),
            }
        for name in _OPTIONAL:
            self.__dict__.pop(name, None)
        self.classes_, self._model = data.classes, model
        self.bandwidth_, self.overall_bandwidth_ = widths.by_class, widths.overall
        for name, value in (tuned | learned).items():
            setattr(self, name, value)
        return self

    def _reference(self, rule, data):
        return reference_bandwidth(rule, data, "gaussian")

    def _widths(self, data):
        n_classes = len(data.classes)
        overall = self._reference("silverman", data)
        if isinstance(self.bandwidth, str):
            by_class = self._reference("silverman_per_class", data)
            return _Widths(overall, _full(by_class, n_classes))
        given = check_bandwidth(self.bandwidth, n_classes)
        return _Widths(given if np.ndim(given) == 0 else overall, _full(given, n_classes))

    def _test_widths(self, widths):
        """Bandwidth between a query and the points of each class."""
        if self.test_kernel == "convolved":
            return np.hypot(widths.overall, widths.by_class)
        return np.full_like(widths.by_class, widths.overall)

    def _density(self, X, weights, bandwidth):
        """f at the training points, in units of the kernel's constant."""
        w = np.ones(len(X)) if weights is None else weights
        sums = kernel_sums(X, X, weights=w / w.sum(), bandwidth=bandwidth, n_jobs=self.n_jobs)
        return sums.astype(np.float64)

    def _points(self, X, codes, n_classes, weights):
        return TrainingPoints.of(X, codes, n_classes, weights, self.tolerance, self.n_jobs)

    def _means(self, points, widths, model=ClassMeans):
        """All components: <phi(y), m_c> / |m_c| as one kernel sum for each class, in the log domain."""
        d, total = points.X.shape[1], points.class_weight
        log_share = np.full(len(total), -np.log(total.sum()))
        log_density = points.log_density("gaussian", widths.overall, log_share)
        w = 1.0 if points.weights is None else points.weights
        in_norm, inverse_density = points.hold(w * np.exp(-log_density / 2), np.exp(-log_density))
        norm_widths, test_widths = np.sqrt(2) * widths.by_class, self._test_widths(widths)
        inside = points.potentials(in_norm, "gaussian", norm_widths)
        exists = total > 0  # a fold may leave out a class
        weight, inside = np.where(exists, total, 1.0), np.where(exists, inside, 1.0)
        # |m_c| times the weight of the class, with the kernel's constant
        log_norm = (np.log(inside) - log_normalizer("gaussian", d, norm_widths)) / 2 - np.log(weight)
        log_scale = -log_normalizer("gaussian", d, test_widths) - log_norm - np.log(weight)
        columns = points.weights if self.test_kernel == "plain" else in_norm
        return model(
            Rule("angle"), points, "gaussian", test_widths, columns, log_scale, log_share,
            np.zeros(len(total)), inverse_density,
        )

    def _spectrum(self, X, codes, weights, widths, n_components, max_applications=None):
        """Leading eigenpairs of D^-1/2 K D^-1/2, and the class means in their space."""
        operator = KernelOperator(
            X, bandwidth=widths.by_class, labels=codes, sample_weight=weights,
            degrees=self._density(X, weights, widths.overall), n_jobs=self.n_jobs,
        )
        spectrum = leading_spectrum(
            operator, n_components, solver=self.solver, tol=self.tol, random_state=self.random_state,
            max_applications=max_applications,
        )
        M = class_average(codes, len(widths.by_class), weights)
        return spectrum, M.T @ spectrum.training_map.astype(np.float64)

    def _low_rank(self, X, codes, weights, widths, n_components):
        """The same from a low-rank factor, and its trace residual."""
        spectrum, residual = classwise_spectrum(
            X, codes, widths.by_class, self._density(X, weights, widths.overall), n_components, rank=self.rank,
            sample_weight=weights, random_state=self.random_state, n_jobs=self.n_jobs,
        )
        M = class_average(codes, len(widths.by_class), weights)
        return spectrum, M.T @ spectrum.training_map.astype(np.float64), residual

    def _expansion(self, spectrum, codes, columns, widths):
        """phi(y) @ columns, up to a positive factor for each y."""
        operator = spectrum.operator
        A = spectrum.coefficients(columns)
        if self.test_kernel == "plain":
            A *= np.sqrt(operator.degrees.astype(np.float64))[:, None]
        return _ClasswiseExpansion(operator.X, codes, A, self._test_widths(widths), self.n_jobs)

    def _map(self, spectrum, codes, widths):
        operator = spectrum.operator
        narrowest = np.sqrt(2) * operator.bandwidth.min()
        return _ClasswiseMap(
            spectrum.training_map,
            self._expansion(spectrum, codes, np.eye(len(spectrum.values)), widths),
            -log_normalizer("gaussian", operator.X.shape[1], [narrowest])[0],
            widths.overall,
            None if self.test_kernel == "plain" else density_weights(operator),
        )

    def _tune(self, data, y, widths):
        fixed = not (isinstance(self.bandwidth, str) and self.bandwidth == "cv")
        tuning = tuning_set(
            data, check_folds(self.cv, y, data.kept), kernel="gaussian", cv=self.cv,
            grid=[widths.overall] if fixed else self.bandwidth_grid,
            max_samples=self.max_tuning_samples, random_state=self.random_state,
        )
        every = self.n_components == "all"
        if self.n_components == "cv":
            candidates = np.arange(1, min(self.max_components, len(tuning.X) // 2) + 1)
        else:
            candidates = np.array([len(tuning.X) if every else self.n_components])

        def fold_scores(train, test, h, candidates):
            weights = tuning.weights[train]
            weights = None if np.all(weights == 1) else weights
            X, codes, used = tuning.X[train], tuning.codes[train], widths.scaled(h)
            if every and self.solver == "auto":
                points = TrainingPoints.of(X, codes, len(used.by_class), weights, n_jobs=self.n_jobs)
                return self._means(points, used).scores(tuning.X[test])[:, None], True
            spectrum, centers = self._spectrum(X, codes, weights, used, candidates.max() + 1, PATIENCE)
            sound = every or spectrum.determined(candidates, self.tol)
            expansion = self._expansion(spectrum, codes, np.eye(len(spectrum.values)), used)
            return nested_cosines(expansion.scores(tuning.X[test]), centers, candidates), sound

        found = search(tuning, candidates, fold_scores)
        tuned = {
            "bandwidth_grid_": tuning.grid,
            "n_components_grid_": candidates,
            "cv_scores_": found.scores if self.n_components == "cv" else found.scores[:, 0],
            "n_tuning_samples_": found.n_samples,
        }
        best = "all" if every else int(candidates[found.candidate])
        return widths.scaled(float(tuning.grid[found.bandwidth])), best, tuned


def _full(values, n_classes):
    """A float64 array of one value per class."""
    return np.array(np.broadcast_to(values, n_classes), dtype=np.float64)
