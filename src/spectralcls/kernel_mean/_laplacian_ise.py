"""The Laplacian ISE classifier: the nearest class mean with training points weighted by 1/f."""

from dataclasses import KW_ONLY
from typing import Literal

from .._estimator import with_parameters
from .._expansion import Rule
from .._utils.from_sklearn import StrOptions
from .._utils.typing import Potential
from ._kernel_mean_classifier import KernelMeanClassifier


@with_parameters
class LaplacianISEClassifier(KernelMeanClassifier):
    """Nearest class mean in feature space, with training points weighted by their inverse density.

    A query is assigned to the class with the largest ``2 <m_c, y>_f - |m_c|_f^2``. Dividing by the Parzen density f of
    all training points gives sparse regions, where classes meet, the same weight as dense regions.

    Parameters
    ----------
    bandwidth : {"cv", "cv_per_class", "silverman", "silverman_per_class"}, float or dict, default="cv"
        Radius h of the kernel. ``"cv"`` chooses the bandwidth by cross-validation, ``"silverman"`` uses the
        normal-reference rule for all samples, and ``"silverman_per_class"`` uses it for each class. ``"cv_per_class"``
        multiplies these class bandwidths by the best common factor; `cv_results_` then contains the corresponding
        bandwidths for all samples. A dict ``{label: h}`` gives one bandwidth for each class. The bandwidth is 1 if the
        data have no spread. ``"cv_per_class"`` refits for each fold and factor.
    weighting : {"symmetric", "inverse"}, default="symmetric"
        ``"symmetric"``: ``<m_c, y>_f`` is ``f(y)^-1/2`` times the mean of ``f(x_i)^-1/2 k(y, x_i)`` over the class,
        the inner product that also defines the squared norm. ``"inverse"``: the mean of ``f(x_i)^-1 k(y, x_i)``.
    potential : {"convolved", "same"}, default="convolved"
        Kernel of the pairs in the squared norm of a class mean. ``"convolved"`` is the Gaussian of variance 2 h^2, with
        which the squared norm is the integral of the squared density estimate; ``"same"`` is the kernel of the class
        means, which is always used unless the kernel is Gaussian.
    kernel : str, default="gaussian"
        Shape of the kernel: "gaussian", "laplace", or one of "epanechnikov", "uniform", "quartic", "triweight",
        "cosine" and "linear", which are compact: they vanish beyond the bandwidth.
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
        instead of "each". Scales are learned once, in `fit` or the first `partial_fit`, and bandwidths are in these
        units. None uses the numbers unchanged.
    cv : int, "loo", splitter or list of splits, default=5
        Folds of the cross-validation. An int means random stratified folds, and ``"loo"`` means leave-one-out. Both
        keep equal rows of a class together, unless another class contains such a row too, so that no point is validated
        against its copy. The test sets of a splitter must partition the samples.
    scoring : {"auto", "accuracy", "balanced_accuracy", "neg_log_loss"}, default="auto"
        Score to maximize on held-out points. ``"auto"`` chooses the least log loss among the candidates within half a
        standard error of the best accuracy.
    bandwidth_grid : array-like, default=None
        Bandwidths to try; by default :func:`~spectralcls.kernels.bandwidth_grid` of the training data.
    max_tuning_samples : int or None, default=20000
        If there are more points, parameters are tuned on a random subsample of this size, stratified by class;
        `n_tuning_samples_` is the number used. A bandwidth tuned with m of n points is scaled to n points by the factor
        ``(m / n) ** (1 / (d + 4))``.
    tolerance : float or None, default=None
        Relative error allowed in kernel sums, in (0, 1). None means exact up to rounding. Approximate sums are used if
        they are predicted to be faster; tuning always uses exact sums.
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
    bandwidth_ : float or ndarray of shape (n_classes,)
        Bandwidth in use.
    cv_results_ : dict of str to ndarray
        Scores of all candidates, in the layout of :class:`sklearn.model_selection.GridSearchCV`: `params`, a column
        ``param_<name>`` for each parameter, `mean_test_score` (accuracy weighted by `sample_weight`, or the score that
        `scoring` names), `std_test_score`, `rank_test_score`, and ``split<k>_test_score`` for each fold. Only present
        if something was tuned. Of tied candidates, the middle one is chosen (the lower of two).
    best_score_ : float
        Mean test score of the chosen candidate. Only present if something was tuned.
    temperature_ : float
        Divisor of the scores in the softmax of `predict_proba`. It minimizes the log loss of the points held out in
        tuning. Only present if something was tuned.
    n_tuning_samples_ : int
        Number of (distinct) validated points. Only present if something was tuned.
    inverse_density_ : ndarray of shape (n_samples,)
        Weights 1/f(x_i) of the training samples of positive weight, where f is the Parzen density of all training
        points in units of the kernel's normalizing constant.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features. Only present if X has string names.

    See Also
    --------
    ISEClassifier : The same rule without weighting.
    CauchySchwarzClassifier : Compares angles instead of distances.

    Notes
    -----
    With a given bandwidth, `fit` takes a pass over the n^2 pairs (for f) and one over the pairs within classes. Tuning
    takes further passes, because f depends on the fold. `predict` takes one pass over the m n pairs of queries and
    points. Memory beyond the data is O(n + m).

    There is no `class_weight`: a weight shared by all samples of a class cancels in its mean.

    References
    ----------
    .. [1] O. K. Storås, "Information Theoretic Learning for Pattern Classification", Master's thesis, University of
       Tromsø, 2007, chapter 6.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls import LaplacianISEClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> LaplacianISEClassifier(bandwidth=0.5).fit(X, y).predict(X[:2])
    array([0, 0])
    """

    _: KW_ONLY
    weighting: Literal["symmetric", "inverse"] = "symmetric"
    potential: Potential = "convolved"

    _parameter_constraints = {"weighting": [StrOptions({"symmetric", "inverse"})]}

    def _rule(self):
        return Rule("distance", self.weighting, self.potential)
