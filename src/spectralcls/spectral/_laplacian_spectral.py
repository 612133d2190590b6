"""The Laplacian spectral classifier: the smallest angle to a class mean in the eigenspace of a normalized kernel."""

from collections.abc import Mapping
from dataclasses import KW_ONLY
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np

from .._estimator import with_parameters
from .._expansion import Expansion, Rule, TrainingPoints, class_means
from .._expansion.centers import class_average
from .._expansion.low_rank_spectrum import classwise_spectrum
from .._expansion.spectrum import density_weights, leading_spectrum
from .._inputs.training_data import TrainingData
from .._tuning import Judge, reference_of
from .._utils.from_sklearn import Interval, StrOptions
from .._utils.typing import Array, Scoring
from .._utils.validation import check_bandwidth
from ..kernels import kernel_sums, log_normalizer
from ..linalg import KernelOperator
from ._nested import PATIENCE, clearly_right, nested_cosines
from ._spectral_classifier import SpectralClassifier, training_part


class Widths(NamedTuple):
    """Bandwidth sigma of all training points, and sigma_c of each class, (C,)."""

    overall: float
    by_class: np.ndarray

    def scaled(self, overall):
        """Bandwidths in the same proportions for another overall bandwidth."""
        return Widths(overall, self.by_class * (overall / self.overall))


class ClasswiseMap(NamedTuple):
    """The embedding of a fitted classifier: E L^1/2 for the training points, phi(y) for queries."""

    training_map_: np.ndarray  # (n, r)
    expansion: Expansion  # with the identity as columns
    log_scale_shift: float  # logarithm of the constant omitted from the operator's entries
    overall: float  # bandwidth of f
    density_weights: np.ndarray | None  # (n,) weights v with f(y) = k(y) v; None if phi(y) is not divided by f(y)^1/2

    def transform(self, Q):
        """phi(y), (m, r). The class of a query is unknown, so its bandwidth is that of all points."""
        points = self.expansion.points
        log_scale, sums = points.pairs(
            Q, self.expansion.columns, "gaussian", self.expansion.bandwidth, self.expansion.log_scale
        )
        log_scale = log_scale[:, 0] - self.log_scale_shift
        if self.density_weights is not None:
            log_scale -= (
                kernel_sums(
                    Q,
                    points.X,
                    weights=self.density_weights,
                    bandwidth=self.overall,
                    log=True,
                    n_jobs=points.n_jobs,
                )
                / 2
            )
        return np.exp(log_scale)[:, None] * sums


@with_parameters
class LaplacianSpectralClassifier(SpectralClassifier):
    """Smallest angle to a class mean in the eigenspace of the Laplacian data matrix ``D^-1/2 K D^-1/2``.

    K holds the normalized Gaussian of variance ``sigma_t^2 + sigma_s^2`` between points of classes t and s. D holds the
    Parzen density f of all training points, with bandwidth sigma. The kernel between a query y and a point x_i of class
    c is the Gaussian of variance ``sigma^2 + sigma_c^2``, which is the inner product of Gaussians of bandwidths sigma
    and sigma_c, divided by ``sqrt(f(y) f_i)``. The rule minimizes a risk instead of the number of errors: it recognizes
    a rare class at the expense of a frequent one.

    Parameters
    ----------
    bandwidth : {"cv", "silverman_per_class"}, float or dict, default="cv"
        Bandwidths sigma and sigma_c. ``"silverman_per_class"`` computes all of them by Silverman's rule, as in [1]_;
        ``"cv"`` multiplies these by the common factor with the best cross-validated score. A number is used for all of
        them; a dict ``{label: sigma_c}`` gives those of the classes, with sigma by Silverman's rule.
    tolerance : float or None, default=None
        Relative error allowed in kernel sums, in (0, 1). None means exact up to rounding. Approximate sums are used if
        they are predicted to be faster; tuning always uses exact sums. Only for ``n_components="all"``: the relative
        error of each cosine of a query is at most ``((1 + t) / (1 - t))^1.5 - 1``, where t is the tolerance.
    n_components : int, "cv" or "all", default="all"
        Number of leading eigenvectors. ``"cv"`` tries 1 to `max_components` with every bandwidth; ``"all"`` keeps the
        whole space. With ``"all"`` nothing is decomposed (unless `solver` is given): the angles are computed from
        kernel sums, in O(n) memory.
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
    scoring : {"auto", "accuracy", "balanced_accuracy", "neg_log_loss"}, default="balanced_accuracy"
        Score to maximize on held-out points. ``"auto"`` chooses the least log loss among the candidates within half a
        standard error of the best accuracy. ``"balanced_accuracy"`` chooses the most accurate among the candidates
        within half a standard error of the best balanced accuracy. If one sample of the rarest class makes a greater
        difference than a standard error, it chooses the bandwidths nearest to Silverman's rule among the candidates
        within one such sample. Accuracy alone would defeat the purpose of the rule: the classifier would miss a rare
        class as often as one that minimizes the number of errors.
    bandwidth_grid : array-like, default=None
        Overall bandwidths sigma to try; by default :func:`~spectralcls.kernels.bandwidth_grid` of the data.
    max_tuning_samples : int or None, default=2000
        If there are more points, parameters are tuned on a random subsample of this size, stratified by class;
        `n_tuning_samples_` is the number used. A bandwidth tuned with m of n points is scaled to n points by the factor
        ``(m / n) ** (1 / (d + 4))``.
    rank : int or None, default=None
        Number of columns of a low-rank factor F, K ~= F F^T, by randomly pivoted Cholesky (Gaussian kernel only). It
        needs n * `rank` kernel evaluations and O(n rank) memory instead of passes over the n^2 pairs. None means exact.
        Tuning, if any, is always exact. Only for a given number of components, which is at most `rank`. Densities and
        queries are still evaluated against all points.
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
    bandwidth_ : ndarray of shape (n_classes,)
        Bandwidths sigma_c of the classes.
    overall_bandwidth_ : float
        Bandwidth sigma of all training points.
    n_components_ : int
        Number of components in use; n if the whole space is kept.
    eigenvalues_ : ndarray of shape (n_components_,)
        Eigenvalues, relative to the constant of the narrowest kernel. Only present, like the next two attributes, if an
        eigendecomposition was computed.
    centers_ : ndarray of shape (n_classes, n_components_)
        Class means in the eigenspace.
    map_ : object
        Embedding: `training_map_` (n_samples, n_components_), and ``transform(Q)`` for (mapped) queries, whose
        bandwidth is sigma because their class is unknown.
    trace_residual_ : float
        trace(K - F F^T) / trace(K), in [0, 1]. Only present if a factor of given `rank` was decomposed.
    inverse_density_ : ndarray of shape (n_samples,)
        Weights 1/f(x_i) of the samples, in units of the kernel's normalizing constant.
    cv_results_ : dict of str to ndarray
        Scores of all candidates, in the layout of :class:`sklearn.model_selection.GridSearchCV`: `params`, a column
        ``param_<name>`` for each parameter, `mean_test_score` (accuracy weighted by `sample_weight`, or the score that
        `scoring` names), `std_test_score`, `rank_test_score`, and ``split<k>_test_score`` for each fold. Only present
        if something was tuned. Of tied candidates, the middle one is chosen (the lower of two). Bandwidths are overall
        widths.
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
    CauchySchwarzClassifier : The angle rule with one bandwidth.
    SpectralLaplacianISEClassifier : Compares distances to means or medians.
    spectralcls.papers.as_printed : The steps of [1]_, with the plain kernel between a query and all points.

    Notes
    -----
    With all components, `fit` takes a pass over the n^2 pairs and one over the pairs within classes. `predict` takes
    one pass over the m n pairs of queries and points.

    There is no `class_weight`: a weight shared by all samples of a class cancels in its mean.

    References
    ----------
    .. [1] R. Jenssen, D. Erdogmus, J. C. Principe and T. Eltoft, "The Laplacian spectral classifier", IEEE
       International Conference on Acoustics, Speech, and Signal Processing, 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls.spectral import LaplacianSpectralClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> LaplacianSpectralClassifier().fit(X, y).predict(X[:2])
    array([0, 0])
    """

    bandwidth: Literal["cv", "silverman_per_class"] | float | Mapping[Any, float] = "cv"
    _: KW_ONLY
    tolerance: float | None = None
    scoring: Scoring = "balanced_accuracy"

    _parameter_constraints = {
        "bandwidth": [
            Interval(Real, 0, None, closed="neither"),
            StrOptions({"cv", "silverman_per_class"}),
            dict,
            "array-like",
        ],
    }

    def _learn(self, data):
        tuned, n_components = self._is_tuned("bandwidth"), self.n_components
        widths = self._reference_widths(data)
        if tuned or n_components == "cv":
            overall, n_components = self._choose(data, widths, tuned)
            widths = widths.scaled(overall)
        self.bandwidth_: Array = widths.by_class
        self.overall_bandwidth_: float = widths.overall
        if self._implicit(n_components):
            self._model, self.inverse_density_ = self._means(
                TrainingPoints.of(data, self.tolerance, self.n_jobs), widths
            )
            self.n_components_ = data.X.shape[0]
        else:
            self._learn_vectors(data, widths, n_components)

    def _choose(self, data, widths, tuned):
        self._proportions = widths  # all candidates have these proportions
        found = self._tune(data, None if tuned else widths.overall)
        del self._proportions
        return found

    def _learn_vectors(self, data, widths, n_components):
        rank = data.X.shape[0] if n_components == "all" else n_components
        if self.rank is not None and n_components != "all":
            spectrum, self.trace_residual_ = classwise_spectrum(
                data.X,
                data.codes,
                widths.by_class,
                self._density(data.X, data.weights, widths.overall),
                rank,
                rank=self.rank,
                sample_weight=data.weights,
                random_state=self.random_state,
                n_jobs=self.n_jobs,
            )
        else:
            spectrum = self._spectrum(data.X, data.codes, data.weights, widths, rank)
        self.n_components_, self.eigenvalues_ = len(spectrum.values), spectrum.values
        self.centers_ = self._centers(spectrum, data.codes, data.weights)
        self.inverse_density_ = 1 / spectrum.operator.degrees.astype(np.float64)
        self.map_ = self._map(spectrum, data.codes, widths)
        lengths = np.linalg.norm(self.centers_, axis=1, keepdims=True)
        # the center of a class without leading components is 0
        unit = self.centers_ / np.where(lengths > 0, lengths, 1.0)
        self._model = self._query_map(spectrum, data.codes, unit.T, widths)

    def _implicit(self, n_components):
        return n_components == "all" and self.solver == "auto"

    def _check_on_workers(self):
        super()._check_on_workers()
        if not self._implicit(self.n_components):
            raise ValueError(
                'On Dask collections LaplacianSpectralClassifier takes n_components="all" and solver="auto": its '
                "class-wise kernel has no operator on the workers."
            )

    def _reference_widths(self, data):
        n_classes = len(data.classes)
        options = {"random_state": self.random_state}
        overall = reference_of(data, "silverman", **options)
        if isinstance(self.bandwidth, str):
            return Widths(overall, _full(reference_of(data, "silverman_per_class", **options), n_classes))
        given = check_bandwidth(self.bandwidth, data.classes)
        return Widths(given if np.ndim(given) == 0 else overall, _full(given, n_classes))

    def _query_widths(self, widths):
        """Bandwidth between a query and the points of each class, (C,)."""
        return np.hypot(widths.overall, widths.by_class)

    def _means(self, points, widths):
        """<phi(y), m_c> / |m_c| with all components, as one logarithmic kernel sum per class; and 1/f."""
        return class_means(
            Rule("angle", "symmetric"),
            points,
            "gaussian",
            widths.by_class,
            density_bandwidth=widths.overall,
            query_bandwidth=self._query_widths(widths),
        )

    def _density(self, X, weights, bandwidth):
        """Density f at the training points, in units of the kernel's normalizing constant."""
        points = TrainingPoints.of(TrainingData.points(X, weights), n_jobs=self.n_jobs)
        return np.exp(points.log_density("gaussian", bandwidth, -np.log(points.class_weight)))

    def _spectrum(self, X, codes, weights, widths, n_components, max_block_products=None):
        """Leading eigenpairs of D^-1/2 K D^-1/2."""
        operator = KernelOperator(
            X,
            bandwidth=dict(enumerate(widths.by_class)),
            labels=codes,
            sample_weight=weights,
            degrees=self._density(X, weights, widths.overall),
            n_jobs=self.n_jobs,
        )
        return leading_spectrum(operator, n_components, self, max_block_products)

    def _centers(self, spectrum, codes, weights):
        """Class means in the eigenspace, (C, r)."""
        return class_average(codes, len(self.classes_), weights).T @ spectrum.training_map.astype(np.float64)

    def _query_map(self, spectrum, codes, columns, widths):
        """phi(y) @ columns for queries, up to a positive factor for each query, as an `Expansion`."""
        operator, query_widths = spectrum.operator, self._query_widths(widths)
        data = TrainingData(operator.X, codes, np.arange(len(query_widths)))
        points = TrainingPoints.of(data, n_jobs=self.n_jobs)
        return Expansion(
            Rule("angle"),
            points,
            "gaussian",
            query_widths,
            spectrum.coefficients(columns),
            np.zeros(columns.shape[1]),
            -log_normalizer("gaussian", operator.X.shape[1], query_widths),
        )

    def _map(self, spectrum, codes, widths):
        operator = spectrum.operator
        narrowest = np.sqrt(2) * operator.bandwidth.min()
        return ClasswiseMap(
            spectrum.training_map,
            self._query_map(spectrum, codes, np.eye(len(spectrum.values)), widths),
            -log_normalizer("gaussian", operator.X.shape[1], [narrowest])[0],
            widths.overall,
            density_weights(operator),
        )

    def _scored(self, sample, bandwidth, n_components=None):
        """Scores for `search`. If a class is so rare that one of its points changes the balanced accuracy by more than
        the standard error of an accuracy, candidates within one such point nearly tie, and Silverman's rule decides.

        In the paper's experiment with 5 rare training points, 3.1 of 10 are then missed, as with its own model; if the
        most accurate candidate wins, 4.0.
        """
        scored = super()._scored(sample, bandwidth, n_components)
        codes, weights = sample.codes[sample.rows], sample.weights[sample.rows]
        numbers = np.bincount(codes, weights)[np.unique(codes)] ** 2 / np.bincount(codes, weights**2)[np.unique(codes)]
        one = 1 / (len(numbers) * numbers.min())
        if self.scoring != "balanced_accuracy" or n_components is not None or one < 0.5 / np.sqrt(sample.n_effective):
            return scored
        nearness = -np.abs(np.log(bandwidth / (self._proportions.overall * sample.bandwidth_ratio)))
        return scored._replace(tie_score=lambda index: nearness[index[0]], error=one)

    def _implicit_scores(self, sample, bandwidths):
        self._check_leave_one_out(sample)
        judge = Judge(sample, (len(bandwidths),), self.scoring)
        for train, test in sample.splits():
            points = TrainingPoints.of(training_part(sample, train), n_jobs=self.n_jobs)
            for b, h in enumerate(bandwidths):
                model, _ = self._means(points, self._proportions.scaled(h))
                scores = model.scores(sample.X[test])
                right = clearly_right(scores[:, None], sample.codes[test])[:, 0]
                judge.add(np.flatnonzero(test), scores, right=right, at=(b,))
        return judge.scored()

    def _nested_scores(self, train, Q, bandwidth, candidates):
        X, codes, weights = train.X, train.codes, train.weights
        widths = self._proportions.scaled(bandwidth)
        spectrum = self._spectrum(X, codes, weights, widths, candidates.max() + 1, PATIENCE)
        Z = self._query_map(spectrum, codes, np.eye(len(spectrum.values)), widths).scores(Q)
        scores = nested_cosines(Z, self._centers(spectrum, codes, weights), candidates)
        return scores, spectrum.determined(candidates, self.tol)


def _full(values, n_classes):
    """A float64 array of one value per class."""
    return np.array(np.broadcast_to(values, n_classes), dtype=np.float64)
