"""Nearest class center in the leading eigenvectors of a kernel matrix: the spectral ISE classifiers."""

from dataclasses import KW_ONLY
from numbers import Real
from typing import ClassVar, Literal

import numpy as np

from .._estimator import with_parameters
from .._expansion import Rule, TrainingPoints, class_means
from .._expansion.centers import class_centers
from .._expansion.held_out import Problem, held_out_scores
from .._expansion.spectrum import kernel_spectrum
from .._tuning import reference_of
from .._utils.blocks import in_memory
from .._utils.from_sklearn import Interval, StrOptions
from .._utils.typing import Kernel
from .._utils.validation import check_bandwidth
from ._kernel_map import KernelMap
from ._nested import PATIENCE, nested_distances
from ._spectral_classifier import SpectralClassifier


@with_parameters
class _SpectralISE(SpectralClassifier):
    """Nearest class center in the embedding; `_weighting` distinguishes the two public classifiers."""

    bandwidth: Literal["cv", "silverman"] | float = "cv"
    _: KW_ONLY
    center: Literal["mean", "median"] = "mean"
    kernel: Kernel = "gaussian"

    tolerance = None
    _weighting: ClassVar[str | None] = None
    _parameter_constraints = {
        "bandwidth": [Interval(Real, 0, None, closed="neither"), StrOptions({"cv", "silverman"})],
        "center": [StrOptions({"mean", "median"})],
    }

    def _learn(self, data):
        bandwidth, n_components = self._given_bandwidth(data), self.n_components
        if bandwidth is None or n_components == "cv":
            bandwidth, n_components = self._tune(data, bandwidth)
        self.bandwidth_: float = float(bandwidth)
        if self.rank is None and self._implicit(n_components):
            self._learn_means(data)
        else:
            self._learn_vectors(data, n_components)

    def _implicit(self, n_components):
        """Whether the whole space can be used without a decomposition: centers are means, and k is positive
        definite."""
        return n_components == "all" and self.center == "mean" and self.kernel == "gaussian" and self.solver == "auto"

    def _given_bandwidth(self, data):
        """The bandwidth, or None if it is to be tuned."""
        if isinstance(self.bandwidth, Real):
            return check_bandwidth(self.bandwidth, ())
        if self.bandwidth == "cv":
            return None
        return reference_of(data, "silverman", self.kernel, self.random_state)

    def _rule(self):
        """The rule of class means for all components, for which <phi(y), m_c> and |m_c|^2 are kernel sums."""
        return Rule("distance", self._weighting, "same")

    def _learn_means(self, data):
        points = TrainingPoints.of(data, n_jobs=self.n_jobs)
        self._model, inverse_density = class_means(self._rule(), points, self.kernel, self.bandwidth_)
        self.n_components_ = data.X.shape[0]
        if inverse_density is not None:
            self.inverse_density_ = inverse_density

    def _learn_vectors(self, data, n_components):
        self.map_ = KernelMap(
            n_components,
            scale=None,
            weighting=self._weighting,
            kernel=self.kernel,
            bandwidth=self.bandwidth_,
            rank=self.rank,
            solver=self.solver,
            tol=self.tol,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        ).fit(data.X, sample_weight=data.weights)
        spectrum = self.map_._spectrum
        codes, weights = in_memory(data.codes), in_memory(data.weights)
        self.centers_ = class_centers(spectrum.training_map, codes, len(data.classes), weights, self.center)
        self.n_components_ = self.map_.n_components_
        self.trace_residual_ = self.map_.trace_residual_
        if hasattr(self.map_, "inverse_density_"):
            self.inverse_density_ = self.map_.inverse_density_
        offsets = np.einsum("cr,cr->c", self.centers_, self.centers_)
        self._model = self._query_map(spectrum, 2 * self.centers_.T, offsets)

    def _query_map(self, spectrum, columns=None, offsets=None):
        """phi(y) @ columns for queries, as an `Expansion`."""
        return spectrum.expansion(columns, offsets=offsets)

    def _implicit_scores(self, sample, bandwidths):
        return held_out_scores(Problem(self._rule(), sample, self.kernel, bandwidths, None, self.n_jobs, self.scoring))

    def _nested_scores(self, train, Q, bandwidth, candidates):
        X, codes, weights = train.X, train.codes, train.weights
        spectrum = kernel_spectrum(
            self, X, weights, bandwidth, self._weighting, candidates.max() + 1, max_block_products=PATIENCE
        )
        centers = class_centers(spectrum.training_map, codes, len(self.classes_), weights, self.center)
        scores = nested_distances(self._query_map(spectrum).values(Q), centers, candidates)
        return scores, spectrum.determined(candidates, self.tol)


class SpectralISEClassifier(_SpectralISE):
    """Nearest class center in the leading eigenvectors of the kernel matrix K.

    Training points are mapped by the leading eigenvectors of their kernel matrix, and queries by the Nystrom extension.
    A query is assigned to the class with the nearest center. With all components and class means, this is the ISE
    classifier with ``potential="same"``.

    Parameters
    ----------
    bandwidth : {"cv", "silverman"} or float, default="cv"
        Radius h of the kernel. ``"cv"`` chooses the bandwidth by cross-validation; ``"silverman"`` uses the
        normal-reference rule.
    center : {"mean", "median"}, default="mean"
        Center of a class in the embedding; the median is taken component by component.
    kernel : str, default="gaussian"
        Shape of the kernel: "gaussian", "laplace", or one of "epanechnikov", "uniform", "quartic", "triweight",
        "cosine" and "linear", which are compact: they vanish beyond the bandwidth. Compact kernels are not positive
        semi-definite; negative eigenvalues of their matrices are dropped.
    n_components : int, "cv" or "all", default="all"
        Number of leading eigenvectors. ``"cv"`` tries 1 to `max_components` with every bandwidth; ``"all"`` keeps the
        whole space. With means and the Gaussian kernel, ``"all"`` needs only kernel sums and no decomposition (unless
        `solver` or `rank` is given); otherwise it takes O(n^3) time and O(n^2) memory.
    max_components : int, default=32
        Largest number of components that ``n_components="cv"`` tries; at most half of the tuning samples, and at most
        `rank`.
    metric : {"whiten", "diagonal", "full"}, transformer or None, default=None
        Map of the coordinates, learned in `fit`: a :class:`~spectralcls.metric.KernelMetric` of this kind, or any
        transformer. A fitted transformer is used unchanged, but cloning undoes its fit unless it is in a
        :class:`sklearn.frozen.FrozenEstimator`. Bandwidths are in the units of the mapped points. None: no map.
    categorical_features : "from_dtype", array-like of bool, int or str, or None, default="from_dtype"
        Categorical columns, as a mask, positions or names. ``"from_dtype"`` means the columns of a data frame that do
        not hold numbers. All levels of a category have the same distance from each other; the levels of an ordered
        category are represented by their ranks. The distance is tuned for each column together with the bandwidth; it
        is 0 for an uninformative category.
    scale : "auto" or None, default="auto"
        ``"auto"`` scales each column of numbers to mean 0 and standard deviation 1, estimated robustly if there are
        outliers or rare values; columns of spread 1 stay unchanged. With labels and a bandwidth to tune, all columns
        are divided by one number instead if this makes held-out labels clearly more likely; `scale_` is then "shared"
        instead of "each". Scales are learned in `fit`, and bandwidths are in these units. None uses the numbers
        unchanged.
    cv : int, "loo", splitter or list of splits, default=5
        Folds of the cross-validation. An int means random stratified folds, and ``"loo"`` means leave-one-out. Both
        keep equal rows of a class together, unless another class contains such a row too, so that no point is validated
        against its copy. The test sets of a splitter must partition the samples.
    scoring : {"auto", "accuracy", "balanced_accuracy", "neg_log_loss"}, default="auto"
        Score to maximize on held-out points. ``"auto"`` chooses the least log loss among the candidates within half a
        standard error of the best accuracy.
    bandwidth_grid : array-like, default=None
        Bandwidths to try; by default :func:`~spectralcls.kernels.bandwidth_grid` of the training data.
    max_tuning_samples : int or None, default=2000
        If there are more points, parameters are tuned on a random subsample of this size, stratified by class;
        `n_tuning_samples_` is the number used. A bandwidth tuned with m of n points is scaled to n points by the factor
        ``(m / n) ** (1 / (d + 4))``.
    rank : int or None, default=None
        Number of landmarks of the embedding, as in :class:`KernelMap`: if eigenvectors are needed, more than 20 000
        samples are replaced by landmarks. Each query is then evaluated against these instead of n points. Tuning is
        always exact.
    solver : {"auto", "lanczos", "arpack", "dense"}, default="auto"
        Eigensolver, as in :func:`~spectralcls.linalg.top_eigenpairs`. "dense" always converges, in O(n^3) time: use it
        if a warning says that pairs have not converged or that copies of equal eigenvalues may be missing. With
        ``n_components="all"``, any value but "auto" computes the eigenvectors, for example to draw them.
    tol : float or None, default=None
        Convergence tolerance of the eigensolver: bound on the residuals, relative to the eigenvalues. None means ``eps
        ** (2 / 3)`` of the data's dtype.
    random_state : int, RandomState instance or None, default=0
        Seed of folds, subsamples, landmarks and starting vectors. With an int, a refit gives identical results.
    n_jobs : int or None, default=None
        Number of threads. None means all cores, unless joblib or threadpoolctl sets a lower limit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    metric_ : transformer or None
        Fitted map in use.
    bandwidth_ : float
        Bandwidth in use.
    n_components_ : int
        Number of components in use; n if the whole space is kept.
    map_ : KernelMap
        Embedding of (mapped) points. Only present, like the next two attributes, if an eigendecomposition was computed.
    centers_ : ndarray of shape (n_classes, n_components_)
        Class centers in the embedding.
    trace_residual_ : float
        trace(K - F F^T) / trace(K), in [0, 1]; 0 if K is exact, not a product of a low-rank factor F.
    cv_results_ : dict of str to ndarray
        Scores of all candidates, in the layout of :class:`sklearn.model_selection.GridSearchCV`: `params`, a column
        ``param_<name>`` for each parameter, `mean_test_score` (accuracy weighted by `sample_weight`, or the score that
        `scoring` names), `std_test_score`, `rank_test_score`, and ``split<k>_test_score`` for each fold. Only present
        if something was tuned. Of tied candidates, the middle one is chosen (the lower of two). The score is NaN if the
        data do not determine the leading eigenvectors, as at a bandwidth that isolates points.
    best_score_ : float
        Mean test score of the chosen candidate. Only present if something was tuned.
    temperature_ : float
        Divisor of the scores in the softmax of `predict_proba`. It minimizes the log loss of the points held out in
        tuning. Only present if something was tuned and `n_components` is "all".
    n_tuning_samples_ : int
        Number of (distinct) validated points. Only present if something was tuned.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features. Only present if X has string names.

    See Also
    --------
    SpectralLaplacianISEClassifier : The same rule with the kernel matrix normalized by the density.
    KernelMap : The embedding alone.
    spectralcls.papers.as_printed : Uses eq. 7.2 of [1]_ for queries, which has a factor sqrt(n).

    Notes
    -----
    With all components, `fit` takes one pass over the pairs within classes. With fewer components, it usually takes 7
    to 20 passes over the n^2 pairs, and O(n n_components) memory. `predict` takes one pass over the m n pairs of
    queries and points.

    There is no `class_weight`: a weight shared by all samples of a class cancels in its mean.

    References
    ----------
    .. [1] O. K. Storås, "Information Theoretic Learning for Pattern Classification", Master's thesis, University of
       Tromsø, 2007, section 7.2.1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls.spectral import SpectralISEClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> SpectralISEClassifier(bandwidth=0.5, n_components=5).fit(X, y).predict(X[:2])
    array([0, 0])
    """


class SpectralLaplacianISEClassifier(_SpectralISE):
    """Nearest class center in the leading eigenvectors of ``K_f = D^-1/2 K D^-1/2``.

    D holds the Parzen density f at the training points, with the same bandwidth as K. Dividing by f gives sparse
    regions the same weight as dense regions: well-separated classes lie on orthogonal lines.

    Parameters
    ----------
    bandwidth : {"cv", "silverman"} or float, default="cv"
        Radius h of the kernel. ``"cv"`` chooses the bandwidth by cross-validation; ``"silverman"`` uses the
        normal-reference rule.
    center : {"mean", "median"}, default="mean"
        Center of a class in the embedding; the median is taken component by component.
    kernel : str, default="gaussian"
        Shape of the kernel: "gaussian", "laplace", or one of "epanechnikov", "uniform", "quartic", "triweight",
        "cosine" and "linear", which are compact: they vanish beyond the bandwidth. Compact kernels are not positive
        semi-definite; negative eigenvalues of their matrices are dropped.
    n_components : int, "cv" or "all", default="all"
        Number of leading eigenvectors. ``"cv"`` tries 1 to `max_components` with every bandwidth; ``"all"`` keeps the
        whole space. With means and the Gaussian kernel, ``"all"`` needs only kernel sums and no decomposition (unless
        `solver` or `rank` is given); otherwise it takes O(n^3) time and O(n^2) memory.
    max_components : int, default=32
        Largest number of components that ``n_components="cv"`` tries; at most half of the tuning samples, and at most
        `rank`.
    metric : {"whiten", "diagonal", "full"}, transformer or None, default=None
        Map of the coordinates, learned in `fit`: a :class:`~spectralcls.metric.KernelMetric` of this kind, or any
        transformer. A fitted transformer is used unchanged, but cloning undoes its fit unless it is in a
        :class:`sklearn.frozen.FrozenEstimator`. Bandwidths are in the units of the mapped points. None: no map.
    categorical_features : "from_dtype", array-like of bool, int or str, or None, default="from_dtype"
        Categorical columns, as a mask, positions or names. ``"from_dtype"`` means the columns of a data frame that do
        not hold numbers. All levels of a category have the same distance from each other; the levels of an ordered
        category are represented by their ranks. The distance is tuned for each column together with the bandwidth; it
        is 0 for an uninformative category.
    scale : "auto" or None, default="auto"
        ``"auto"`` scales each column of numbers to mean 0 and standard deviation 1, estimated robustly if there are
        outliers or rare values; columns of spread 1 stay unchanged. With labels and a bandwidth to tune, all columns
        are divided by one number instead if this makes held-out labels clearly more likely; `scale_` is then "shared"
        instead of "each". Scales are learned in `fit`, and bandwidths are in these units. None uses the numbers
        unchanged.
    cv : int, "loo", splitter or list of splits, default=5
        Folds of the cross-validation. An int means random stratified folds, and ``"loo"`` means leave-one-out. Both
        keep equal rows of a class together, unless another class contains such a row too, so that no point is validated
        against its copy. The test sets of a splitter must partition the samples.
    scoring : {"auto", "accuracy", "balanced_accuracy", "neg_log_loss"}, default="auto"
        Score to maximize on held-out points. ``"auto"`` chooses the least log loss among the candidates within half a
        standard error of the best accuracy.
    bandwidth_grid : array-like, default=None
        Bandwidths to try; by default :func:`~spectralcls.kernels.bandwidth_grid` of the training data.
    max_tuning_samples : int or None, default=2000
        If there are more points, parameters are tuned on a random subsample of this size, stratified by class;
        `n_tuning_samples_` is the number used. A bandwidth tuned with m of n points is scaled to n points by the factor
        ``(m / n) ** (1 / (d + 4))``.
    rank : int or None, default=None
        Number of landmarks of the embedding, as in :class:`KernelMap`: if eigenvectors are needed, more than 20 000
        samples are replaced by landmarks. Each query is then evaluated against these instead of n points. Tuning is
        always exact.
    solver : {"auto", "lanczos", "arpack", "dense"}, default="auto"
        Eigensolver, as in :func:`~spectralcls.linalg.top_eigenpairs`. "dense" always converges, in O(n^3) time: use it
        if a warning says that pairs have not converged or that copies of equal eigenvalues may be missing. With
        ``n_components="all"``, any value but "auto" computes the eigenvectors, for example to draw them.
    tol : float or None, default=None
        Convergence tolerance of the eigensolver: bound on the residuals, relative to the eigenvalues. None means ``eps
        ** (2 / 3)`` of the data's dtype.
    random_state : int, RandomState instance or None, default=0
        Seed of folds, subsamples, landmarks and starting vectors. With an int, a refit gives identical results.
    n_jobs : int or None, default=None
        Number of threads. None means all cores, unless joblib or threadpoolctl sets a lower limit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    metric_ : transformer or None
        Fitted map in use.
    bandwidth_ : float
        Bandwidth in use.
    n_components_ : int
        Number of components in use; n if the whole space is kept.
    map_ : KernelMap
        Embedding of (mapped) points. Only present, like the next two attributes, if an eigendecomposition was computed.
    centers_ : ndarray of shape (n_classes, n_components_)
        Class centers in the embedding.
    trace_residual_ : float
        trace(K - F F^T) / trace(K), in [0, 1]; 0 if K is exact, not a product of a low-rank factor F.
    cv_results_ : dict of str to ndarray
        Scores of all candidates, in the layout of :class:`sklearn.model_selection.GridSearchCV`: `params`, a column
        ``param_<name>`` for each parameter, `mean_test_score` (accuracy weighted by `sample_weight`, or the score that
        `scoring` names), `std_test_score`, `rank_test_score`, and ``split<k>_test_score`` for each fold. Only present
        if something was tuned. Of tied candidates, the middle one is chosen (the lower of two). The score is NaN if the
        data do not determine the leading eigenvectors, as at a bandwidth that isolates points.
    best_score_ : float
        Mean test score of the chosen candidate. Only present if something was tuned.
    temperature_ : float
        Divisor of the scores in the softmax of `predict_proba`. It minimizes the log loss of the points held out in
        tuning. Only present if something was tuned and `n_components` is "all".
    n_tuning_samples_ : int
        Number of (distinct) validated points. Only present if something was tuned.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features. Only present if X has string names.
    inverse_density_ : ndarray of shape (n_samples,)
        Weights 1/f(x_i) of the samples, in units of the kernel's normalizing constant.

    See Also
    --------
    SpectralISEClassifier : The same rule without weighting.
    LaplacianSpectralClassifier : Compares angles, with class-wise bandwidths.
    spectralcls.papers.as_printed : Uses eq. 7.2 of [1]_ for queries: a factor sqrt(n), and the plain kernel.

    Notes
    -----
    With all components, `fit` takes a pass over the n^2 pairs (for f) and one over the pairs within classes. With fewer
    components, it usually takes 7 to 20 passes over the n^2 pairs, and O(n n_components) memory. `predict` takes one
    pass over the m n pairs of queries and points.

    There is no `class_weight`: a weight shared by all samples of a class cancels in its mean.

    References
    ----------
    .. [1] O. K. Storås, "Information Theoretic Learning for Pattern Classification", Master's thesis, University of
       Tromsø, 2007, section 7.2.2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls.spectral import SpectralLaplacianISEClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> SpectralLaplacianISEClassifier(bandwidth=0.5).fit(X, y).predict(X[:2])
    array([0, 0])
    """

    _weighting = "symmetric"
