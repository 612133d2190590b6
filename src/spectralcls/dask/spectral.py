"""Spectral methods on Dask collections: the points stay on the workers, blocks of vectors travel."""

import dask
import numpy as np

from .. import spectral
from .._expansion import Expansion
from .._expansion.centers import class_centers
from .._expansion.spectrum import kernel_spectrum
from .._tuning import candidate_grid, gathered_sample
from ..linalg import ScaledKernel
from ._estimator import DaskClassifier
from ._rows import as_column, as_points
from ._sums import kernel_sums
from ._workers import keep


class KernelOperator(ScaledKernel):
    """The kernel matrix K, or ``D^-1/2 K D^-1/2``, of points on the workers; never formed.

    For :func:`spectralcls.top_eigenpairs`, which multiplies it by blocks of b vectors: X stays on the
    workers, and the client sends n b numbers for a block and receives as many.

    Parameters
    ----------
    X : Dask array of shape (n, d)
        Points, chunked by rows.
    kernel : str, default="gaussian"
        One of ``spectralcls.kernels.KERNELS``.
    bandwidth : float
        Bandwidth, positive.
    weighting : {None, "mean", "sum"}, default=None
        As in :class:`spectralcls.linalg.KernelOperator`.
    sample_weight : ndarray of shape (n,), default=None
        Positive weights w: the operator becomes ``W^1/2 D^-1/2 K D^-1/2 W^1/2``.
    n_jobs : int, default=None
        Threads of a task; None: one.

    Attributes
    ----------
    degrees : ndarray of shape (n,) or None
        The diagonal of D.
    n_isolated : int
        As in :class:`spectralcls.linalg.KernelOperator`.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from spectralcls import top_eigenpairs
    >>> from spectralcls.dask import KernelOperator
    >>> X = da.random.default_rng(0).normal(size=(200, 2), chunks=(100, 2))
    >>> top_eigenpairs(KernelOperator(X, bandwidth=1.0), 2).values.shape
    (2,)
    """

    def __init__(self, X, *, kernel="gaussian", bandwidth, weighting=None, sample_weight=None, n_jobs=None):
        (self.X,) = keep(as_points(X))
        self.kernel, self.bandwidth, self.n_jobs = kernel, float(bandwidth), n_jobs
        super().__init__(self.X.dtype, (self.X.shape[0],) * 2)
        self._weigh(weighting, sample_weight)

    def _sums(self, weights):
        options = {"kernel": self.kernel, "bandwidth": self.bandwidth, "n_jobs": self.n_jobs}
        return kernel_sums(self.X, self.X, weights=weights, **options).compute().astype(self.dtype, copy=False)


class DaskSpectral(DaskClassifier):
    """What the spectral classifiers share.

    The eigenvectors, (n, n_components), come to this process, and so do the codes of the classes. With all components
    there are none, and the class means are kernel sums on the workers.
    """

    def _make_inputs(self, **options):
        if self.rank is not None:
            raise ValueError("On Dask collections rank is None: landmarks are drawn one block after another.")
        return super()._make_inputs(**options)

    def _tune(self, data, bandwidth):
        """The tuning of the estimator in memory, on the sample."""
        points, sample = gathered_sample(self, data)
        grid = [bandwidth] if bandwidth is not None else candidate_grid(self, data, points, self.kernel)
        return self._choose_components(sample, grid)


class _DaskSpectralISE(DaskSpectral):
    def _given_bandwidth(self, data):
        if self.bandwidth == "silverman":
            return self._reference("silverman", data)
        return None if self.bandwidth == "cv" else float(self.bandwidth)

    def _learn_vectors(self, data, n_components):
        if n_components == "all" or n_components >= data.X.shape[0]:
            raise ValueError(
                'On Dask collections n_components="all" needs kernel sums alone: center="mean", kernel="gaussian" and '
                'solver="auto". Otherwise n_components must be a number below n_samples.'
            )
        codes, weights = dask.compute(data.codes, data.weights)
        if weights is not None:
            weights = weights * (data.class_weight.sum() / weights.sum())
        spectrum = kernel_spectrum(
            self, data.X, weights, self.bandwidth_, self._weighting, n_components, kind=KernelOperator
        )
        self.centers_ = class_centers(spectrum.training_map, codes, len(data.classes), weights, self.center)
        self.n_components_ = len(spectrum.values)
        columns = 2 * spectrum.coefficients(self.centers_.T)
        if spectrum.operator.degrees is not None:
            self.inverse_density_ = 1 / spectrum.operator.degrees.astype(np.float64)
            columns = np.column_stack([columns, spectrum.density_weights])
        (columns,) = keep(as_column(columns, data.X, "A"))
        offsets = np.einsum("cr,cr->c", self.centers_, self.centers_)
        self._model = Expansion(self._rule(), self._points(data), self.kernel, self.bandwidth_, columns, offsets)


class LaplacianSpectralClassifier(DaskSpectral, spectral.LaplacianSpectralClassifier):
    """:class:`spectralcls.spectral.LaplacianSpectralClassifier` on Dask collections, with all components: kernel sums.

    `n_components` has to be "all", `solver` "auto" and `rank` None. Scales and levels of columns are learned from
    all rows. Up to 2^22 numbers are gathered in this process, and all else that is not a sum is learned there as in
    memory; of more data from samples: distances of levels from 5000 rows, missing values from 1000, bandwidth and
    number of components from `max_tuning_samples`.

    Parameters
    ----------
    bandwidth : {"cv", "silverman_per_class"}, float or array-like of shape (n_classes,), default="cv"
        ``"silverman_per_class"`` takes every sigma_c and sigma from Silverman's rule, as [1]_ does; ``"cv"`` multiplies
        them by the common factor of the best cross-validated score. A number is used for all of them, an array for the
        classes, with Silverman's overall sigma.
    tolerance : float or None, default=None
        Relative error allowed in kernel sums, in (0, 1); None: exact to rounding. Approximate sums are used if they
        are predicted to be faster; tuning stays exact.
        For ``n_components="all"``: the cosines of a query are off by at most ``((1 + t) / (1 - t))^1.5 - 1``, t the
        tolerance, of each.
    n_components : int, "cv" or "all", default="all"
        Number of leading eigenvectors. ``"cv"`` tries 1 to `max_components` with every bandwidth, ``"all"`` keeps the
        whole space.
        With ``"all"`` no decomposition happens (unless `solver` is given): the angles are kernel sums, in O(n) memory.
    max_components : int, default=32
        Largest number of components that ``n_components="cv"`` tries; at most half of the tuning samples, and `rank`.
    metric : {"whiten", "diagonal", "full"}, transformer or None, default=None
        Map that is learned in `fit` and applied to the coordinates first: a
        :class:`~spectralcls.metric.KernelMetric` of that kind, or any transformer. A transformer that is fitted already
        is used as it is (cloning undoes the fit, unless it is in a :class:`sklearn.frozen.FrozenEstimator`).
        Bandwidths are in units of the mapped points. None: no map.
    categorical_features : "from_dtype", array-like of bool, int or str, or None, default="from_dtype"
        Columns that hold categories: a mask, positions, or names. ``"from_dtype"`` takes the columns of a data frame
        that hold no numbers. Any two levels are equally far apart, those of an ordered category by their ranks. How
        far is chosen for each column together with the bandwidth; a category that says nothing gets distance 0.
    scale : "auto" or None, default="auto"
        ``"auto"`` brings each column of numbers to mean 0 and standard deviation 1, estimated robustly if there are
        outliers or rare values; columns of standard deviation 1 stay as they are. With labels, and a bandwidth to
        tune, all columns are divided by one number instead if held-out labels are clearly more likely so: `scale_` is
        then "shared", not "each". Scales are learned once, in `fit` or the first `partial_fit`, and bandwidths are in
        these units. None: the numbers as they are.
    cv : int, "loo", splitter or list of splits, default=5
        Folds of the cross-validation. An int makes random stratified folds, ``"loo"`` leaves out one point at a time;
        both treat copies of a row (of one class) as one point of greater weight, which is never validated against
        itself, but in tables with categories, where different samples are often equal. The test sets of a splitter have
        to partition the samples.
    scoring : {"auto", "accuracy", "balanced_accuracy", "neg_log_loss"}, default="balanced_accuracy"
        What tuning maximizes on held-out points. ``"auto"`` is the accuracy; of candidates within half a
        standard error of the best it takes the one of the least log loss. The accuracy would undo what the rule is for:
        tuned by it the classifier misses a rare class as often as one that counts errors.
    bandwidth_grid : array-like, default=None
        Overall widths sigma to try; by default :func:`~spectralcls.kernels.bandwidth_grid` of the data.
    max_tuning_samples : int or None, default=2000
        With more points than this in total, parameters are tuned on a random subsample of this size, stratified by
        class; `n_tuning_samples_` says how many points were used. A bandwidth that was tuned within m of n points is
        scaled to all of them by ``(m / n) ** (1 / (d + 4))``.
    rank : int or None, default=None
        Columns of a low-rank factor F F^T of the kernel matrix by randomly pivoted Cholesky (Gaussian kernel only):
        n `rank` kernel values and O(n rank) memory instead of passes over the n^2 pairs. None: exact. Tuning, if
        any, stays exact.
        For a number of components, at most `rank`. Densities and queries are still evaluated against all points.
    solver : {"auto", "lanczos", "arpack", "dense"}, default="auto"
        See :func:`~spectralcls.linalg.top_eigenpairs`.
    tol : float or None, default=None
        Convergence of the eigensolver: bound on the residuals, relative to the eigenvalues. None: ``eps ** (2 / 3)``
        of the data's precision.
    random_state : int, RandomState instance or None, default=0
        Draws whatever is random: folds, subsamples, landmarks, starts. With an int a refit gives the same bits.
    n_jobs : int or None, default=None
        Threads; None means all cores unless joblib or threadpoolctl says otherwise.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    metric_ : transformer or None
        The fitted map in use.
    bandwidth_ : ndarray of shape (n_classes,)
        The widths sigma_c.
    overall_bandwidth_ : float
        The width sigma.
    n_components_ : int
        Number of components in use; n if the whole space is kept.
    eigenvalues_ : ndarray of shape (n_components_,)
        Relative to the constant of the narrowest kernel. Only present if an eigendecomposition was computed, as the
        next two.
    centers_ : ndarray of shape (n_classes, n_components_)
        Class means in the eigenspace.
    map_ : object
        The embedding: `training_map_` (n_samples, n_components_), and ``transform(Q)`` for (mapped) queries, whose
        bandwidth is sigma because their class is not known.
    trace_residual_ : float
        trace(K - F F^T) / trace(K), in [0, 1]. Only present if a factor of given `rank` was decomposed.
    inverse_density_ : ndarray of shape (n_samples,)
        The sample weights 1/f(x_i), in units of the kernel's normalizing constant.
    cv_results_ : dict of str to ndarray
        What was tried, in the layout of :class:`sklearn.model_selection.GridSearchCV`: `params`, a column
        ``param_<name>`` for each of them, `mean_test_score` (accuracy weighted by `sample_weight`), `std_test_score`,
        `rank_test_score`, and ``split<k>_test_score`` for each fold. Only present if something was tuned. Of tied
        candidates the lower middle one is chosen.
        Bandwidths are overall widths.
    best_score_ : float
        Mean test score of what was chosen. Only present if something was tuned.
    temperature_ : float
        `predict_proba` is the softmax of the scores over it, which has the least log loss on the points that tuning
        held out. Only present if something was tuned and `n_components` is "all".
    n_tuning_samples_ : int
        Number of (distinct) points validated. Only present if something was tuned.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features. Only present if X has string names.

    References
    ----------
    .. [1] R. Jenssen, D. Erdogmus, J. C. Principe and T. Eltoft, "The Laplacian spectral classifier", IEEE
       International Conference on Acoustics, Speech, and Signal Processing, 2005.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls.dask import LaplacianSpectralClassifier
    >>> X, y = (da.from_array(array, chunks=50) for array in load_iris(return_X_y=True))
    >>> X = X.rechunk((50, -1))
    >>> LaplacianSpectralClassifier(bandwidth="silverman_per_class").fit(X, y).predict(X).compute().shape
    (150,)
    """

    _local_class = spectral.LaplacianSpectralClassifier

    def _make_inputs(self, **options):
        if self.n_components != "all" or self.solver != "auto":
            raise ValueError(
                'On Dask collections LaplacianSpectralClassifier takes n_components="all" and solver="auto": its '
                "class-wise kernel has no operator on the workers."
            )
        return super()._make_inputs(**options)


class SpectralISEClassifier(_DaskSpectralISE, spectral.SpectralISEClassifier):
    """:class:`spectralcls.spectral.SpectralISEClassifier` on Dask collections.

    `rank` has to be None. Scales and levels of columns are learned from all rows. Up to 2^22 numbers are gathered
    in this process, and all else that is not a sum is learned there as in memory; of more data from samples:
    distances of levels from 5000 rows, missing values from 1000, bandwidth and number of components from
    `max_tuning_samples`.

    Parameters
    ----------
    bandwidth : {"cv", "silverman"} or float, default="cv"
        Radius h of the kernel. ``"cv"`` takes the best bandwidth by cross-validation.
    center : {"mean", "median"}, default="mean"
        Center of a class in the embedding, the median taken by component.
    kernel : str, default="gaussian"
        Shape of the kernel: "gaussian", "laplace", or one of "epanechnikov", "uniform", "quartic", "triweight",
        "cosine" and "linear", which are compact: they vanish beyond the bandwidth.
        Of the compact kernels, which are not positive semi-definite, the positive part is kept.
    n_components : int, "cv" or "all", default="all"
        Number of leading eigenvectors. ``"cv"`` tries 1 to `max_components` with every bandwidth, ``"all"`` keeps the
        whole space.
        With means and the Gaussian kernel ``"all"`` takes kernel sums and no decomposition (unless `solver` or `rank`
        is given), otherwise O(n^3) time and O(n^2) memory.
    max_components : int, default=32
        Largest number of components that ``n_components="cv"`` tries; at most half of the tuning samples, and `rank`.
    metric : {"whiten", "diagonal", "full"}, transformer or None, default=None
        Map that is learned in `fit` and applied to the coordinates first: a
        :class:`~spectralcls.metric.KernelMetric` of that kind, or any transformer. A transformer that is fitted already
        is used as it is (cloning undoes the fit, unless it is in a :class:`sklearn.frozen.FrozenEstimator`).
        Bandwidths are in units of the mapped points. None: no map.
    categorical_features : "from_dtype", array-like of bool, int or str, or None, default="from_dtype"
        Columns that hold categories: a mask, positions, or names. ``"from_dtype"`` takes the columns of a data frame
        that hold no numbers. Any two levels are equally far apart, those of an ordered category by their ranks. How
        far is chosen for each column together with the bandwidth; a category that says nothing gets distance 0.
    scale : "auto" or None, default="auto"
        ``"auto"`` brings each column of numbers to mean 0 and standard deviation 1, estimated robustly if there are
        outliers or rare values; columns of standard deviation 1 stay as they are. With labels, and a bandwidth to
        tune, all columns are divided by one number instead if held-out labels are clearly more likely so: `scale_` is
        then "shared", not "each". Scales are learned once, in `fit` or the first `partial_fit`, and bandwidths are in
        these units. None: the numbers as they are.
    cv : int, "loo", splitter or list of splits, default=5
        Folds of the cross-validation. An int makes random stratified folds, ``"loo"`` leaves out one point at a time;
        both treat copies of a row (of one class) as one point of greater weight, which is never validated against
        itself, but in tables with categories, where different samples are often equal. The test sets of a splitter have
        to partition the samples.
    scoring : {"auto", "accuracy", "balanced_accuracy", "neg_log_loss"}, default="auto"
        What tuning maximizes on held-out points. ``"auto"`` is the accuracy; of candidates within half a
        standard error of the best it takes the one of the least log loss.
    bandwidth_grid : array-like, default=None
        Bandwidths to try; by default :func:`~spectralcls.kernels.bandwidth_grid` of the training data.
    max_tuning_samples : int or None, default=2000
        With more points than this in total, parameters are tuned on a random subsample of this size, stratified by
        class; `n_tuning_samples_` says how many points were used. A bandwidth that was tuned within m of n points is
        scaled to all of them by ``(m / n) ** (1 / (d + 4))``.
    rank : int or None, default=None
        Columns of a low-rank factor F F^T of the kernel matrix by randomly pivoted Cholesky (Gaussian kernel only):
        n `rank` kernel values and O(n rank) memory instead of passes over the n^2 pairs. None: exact. Tuning, if
        any, stays exact.
        Each query is then evaluated against `rank` landmarks instead of n points; at least the number of components.
    solver : {"auto", "lanczos", "arpack", "dense"}, default="auto"
        See :func:`~spectralcls.linalg.top_eigenpairs`.
    tol : float or None, default=None
        Convergence of the eigensolver: bound on the residuals, relative to the eigenvalues. None: ``eps ** (2 / 3)``
        of the data's precision.
    random_state : int, RandomState instance or None, default=0
        Draws whatever is random: folds, subsamples, landmarks, starts. With an int a refit gives the same bits.
    n_jobs : int or None, default=None
        Threads; None means all cores unless joblib or threadpoolctl says otherwise.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    metric_ : transformer or None
        The fitted map in use.
    bandwidth_ : float
        Bandwidth in use.
    n_components_ : int
        Number of components in use; n if the whole space is kept.
    trace_residual_ : float
        trace(K - F F^T) / trace(K), in [0, 1]. Only present with a `rank`.
    map_ : KernelMap
        The embedding of (mapped) points. Only present if an eigendecomposition was computed, as the next.
    centers_ : ndarray of shape (n_classes, n_components_)
        Class centers in the embedding.
    cv_results_ : dict of str to ndarray
        What was tried, in the layout of :class:`sklearn.model_selection.GridSearchCV`: `params`, a column
        ``param_<name>`` for each of them, `mean_test_score` (accuracy weighted by `sample_weight`), `std_test_score`,
        `rank_test_score`, and ``split<k>_test_score`` for each fold. Only present if something was tuned. Of tied
        candidates the lower middle one is chosen.
        A pair whose leading eigenvectors the data do not determine, as at a bandwidth that isolates points, has the
        score NaN.
    best_score_ : float
        Mean test score of what was chosen. Only present if something was tuned.
    temperature_ : float
        `predict_proba` is the softmax of the scores over it, which has the least log loss on the points that tuning
        held out. Only present if something was tuned and `n_components` is "all".
    n_tuning_samples_ : int
        Number of (distinct) points validated. Only present if something was tuned.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features. Only present if X has string names.

    References
    ----------
    .. [1] O. K. Storås, "Information Theoretic Learning for Pattern Classification", Master's thesis, University of
       Tromsø, 2007, section 7.2.1.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls.dask import SpectralISEClassifier
    >>> X, y = (da.from_array(array, chunks=50) for array in load_iris(return_X_y=True))
    >>> X = X.rechunk((50, -1))
    >>> SpectralISEClassifier(bandwidth=1.0).fit(X, y).predict(X).compute().shape
    (150,)
    """

    _local_class = spectral.SpectralISEClassifier


class SpectralLaplacianISEClassifier(_DaskSpectralISE, spectral.SpectralLaplacianISEClassifier):
    """:class:`spectralcls.spectral.SpectralLaplacianISEClassifier` on Dask collections.

    `rank` has to be None. Scales and levels of columns are learned from all rows. Up to 2^22 numbers are gathered
    in this process, and all else that is not a sum is learned there as in memory; of more data from samples:
    distances of levels from 5000 rows, missing values from 1000, bandwidth and number of components from
    `max_tuning_samples`.

    Parameters
    ----------
    bandwidth : {"cv", "silverman"} or float, default="cv"
        Radius h of the kernel. ``"cv"`` takes the best bandwidth by cross-validation.
    center : {"mean", "median"}, default="mean"
        Center of a class in the embedding, the median taken by component.
    kernel : str, default="gaussian"
        Shape of the kernel: "gaussian", "laplace", or one of "epanechnikov", "uniform", "quartic", "triweight",
        "cosine" and "linear", which are compact: they vanish beyond the bandwidth.
        Of the compact kernels, which are not positive semi-definite, the positive part is kept.
    n_components : int, "cv" or "all", default="all"
        Number of leading eigenvectors. ``"cv"`` tries 1 to `max_components` with every bandwidth, ``"all"`` keeps the
        whole space.
        With means and the Gaussian kernel ``"all"`` takes kernel sums and no decomposition (unless `solver` or `rank`
        is given), otherwise O(n^3) time and O(n^2) memory.
    max_components : int, default=32
        Largest number of components that ``n_components="cv"`` tries; at most half of the tuning samples, and `rank`.
    metric : {"whiten", "diagonal", "full"}, transformer or None, default=None
        Map that is learned in `fit` and applied to the coordinates first: a
        :class:`~spectralcls.metric.KernelMetric` of that kind, or any transformer. A transformer that is fitted already
        is used as it is (cloning undoes the fit, unless it is in a :class:`sklearn.frozen.FrozenEstimator`).
        Bandwidths are in units of the mapped points. None: no map.
    categorical_features : "from_dtype", array-like of bool, int or str, or None, default="from_dtype"
        Columns that hold categories: a mask, positions, or names. ``"from_dtype"`` takes the columns of a data frame
        that hold no numbers. Any two levels are equally far apart, those of an ordered category by their ranks. How
        far is chosen for each column together with the bandwidth; a category that says nothing gets distance 0.
    scale : "auto" or None, default="auto"
        ``"auto"`` brings each column of numbers to mean 0 and standard deviation 1, estimated robustly if there are
        outliers or rare values; columns of standard deviation 1 stay as they are. With labels, and a bandwidth to
        tune, all columns are divided by one number instead if held-out labels are clearly more likely so: `scale_` is
        then "shared", not "each". Scales are learned once, in `fit` or the first `partial_fit`, and bandwidths are in
        these units. None: the numbers as they are.
    cv : int, "loo", splitter or list of splits, default=5
        Folds of the cross-validation. An int makes random stratified folds, ``"loo"`` leaves out one point at a time;
        both treat copies of a row (of one class) as one point of greater weight, which is never validated against
        itself, but in tables with categories, where different samples are often equal. The test sets of a splitter have
        to partition the samples.
    scoring : {"auto", "accuracy", "balanced_accuracy", "neg_log_loss"}, default="auto"
        What tuning maximizes on held-out points. ``"auto"`` is the accuracy; of candidates within half a
        standard error of the best it takes the one of the least log loss.
    bandwidth_grid : array-like, default=None
        Bandwidths to try; by default :func:`~spectralcls.kernels.bandwidth_grid` of the training data.
    max_tuning_samples : int or None, default=2000
        With more points than this in total, parameters are tuned on a random subsample of this size, stratified by
        class; `n_tuning_samples_` says how many points were used. A bandwidth that was tuned within m of n points is
        scaled to all of them by ``(m / n) ** (1 / (d + 4))``.
    rank : int or None, default=None
        Columns of a low-rank factor F F^T of the kernel matrix by randomly pivoted Cholesky (Gaussian kernel only):
        n `rank` kernel values and O(n rank) memory instead of passes over the n^2 pairs. None: exact. Tuning, if
        any, stays exact.
        Each query is then evaluated against `rank` landmarks instead of n points; at least the number of components.
    solver : {"auto", "lanczos", "arpack", "dense"}, default="auto"
        See :func:`~spectralcls.linalg.top_eigenpairs`.
    tol : float or None, default=None
        Convergence of the eigensolver: bound on the residuals, relative to the eigenvalues. None: ``eps ** (2 / 3)``
        of the data's precision.
    random_state : int, RandomState instance or None, default=0
        Draws whatever is random: folds, subsamples, landmarks, starts. With an int a refit gives the same bits.
    n_jobs : int or None, default=None
        Threads; None means all cores unless joblib or threadpoolctl says otherwise.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    metric_ : transformer or None
        The fitted map in use.
    bandwidth_ : float
        Bandwidth in use.
    n_components_ : int
        Number of components in use; n if the whole space is kept.
    trace_residual_ : float
        trace(K - F F^T) / trace(K), in [0, 1]. Only present with a `rank`.
    map_ : KernelMap
        The embedding of (mapped) points. Only present if an eigendecomposition was computed, as the next.
    centers_ : ndarray of shape (n_classes, n_components_)
        Class centers in the embedding.
    cv_results_ : dict of str to ndarray
        What was tried, in the layout of :class:`sklearn.model_selection.GridSearchCV`: `params`, a column
        ``param_<name>`` for each of them, `mean_test_score` (accuracy weighted by `sample_weight`), `std_test_score`,
        `rank_test_score`, and ``split<k>_test_score`` for each fold. Only present if something was tuned. Of tied
        candidates the lower middle one is chosen.
        A pair whose leading eigenvectors the data do not determine, as at a bandwidth that isolates points, has the
        score NaN.
    best_score_ : float
        Mean test score of what was chosen. Only present if something was tuned.
    temperature_ : float
        `predict_proba` is the softmax of the scores over it, which has the least log loss on the points that tuning
        held out. Only present if something was tuned and `n_components` is "all".
    n_tuning_samples_ : int
        Number of (distinct) points validated. Only present if something was tuned.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features. Only present if X has string names.
    inverse_density_ : ndarray of shape (n_samples,)
        The sample weights 1/f(x_i), in units of the kernel's normalizing constant.

    References
    ----------
    .. [1] O. K. Storås, "Information Theoretic Learning for Pattern Classification", Master's thesis, University of
       Tromsø, 2007, section 7.2.2.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls.dask import SpectralLaplacianISEClassifier
    >>> X, y = (da.from_array(array, chunks=50) for array in load_iris(return_X_y=True))
    >>> X = X.rechunk((50, -1))
    >>> SpectralLaplacianISEClassifier(bandwidth=1.0).fit(X, y).predict(X).compute().shape
    (150,)
    """

    _local_class = spectral.SpectralLaplacianISEClassifier
