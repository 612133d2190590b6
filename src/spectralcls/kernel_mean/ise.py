"""The integrated-squared-error classifier: nearest class mean in feature space."""

from sklearn.utils._param_validation import StrOptions

from .base import KernelMeanClassifier
from .rule import Rule


class ISEClassifier(KernelMeanClassifier):
    """Nearest class mean in the kernel's feature space: the integrated-squared-error classifier.

    A query goes to the class with the largest ``2 p_c(y) - V_c``, p_c the Parzen density estimate of the
    class and V_c its information potential (the integral of p_c^2). That is the class whose mean in feature
    space is nearest. Far from all data the densities vanish and the potentials decide: the most spread-out
    class wins.

    Parameters
    ----------
    bandwidth : {"cv", "silverman", "silverman_per_class"}, float or array-like, default="cv"
        Radius h of the kernel. ``"cv"`` takes the bandwidth of the best cross-validated accuracy, at the cost
        of one pass over all pairs for the whole grid; ``"silverman"`` is the normal-reference rule for all
        samples, ``"silverman_per_class"`` for each class; an array has one value per class.
    kernel : {"gaussian", "epanechnikov", "uniform", "quartic", "triweight", "cosine"}, default="gaussian"
        All but the Gaussian vanish beyond the bandwidth.
    potential : {"convolved", "same"}, default="convolved"
        Kernel of the pairs in the potential. ``"convolved"`` is the Gaussian of variance 2 h^2, with which
        the potential is the exact integral of the squared density estimate; ``"same"`` is the kernel of the
        class means, as always for the other kernels.
    cv : int, "loo", splitter or iterable of splits, default=5
        Folds of the cross-validation. An int makes random stratified folds, ``"loo"`` leaves out one point at
        a time; both treat copies of a row (of one class) as one point of greater weight, which is never
        validated against itself. The test sets of a splitter have to partition the samples.
    bandwidth_grid : array-like, default=None
        Bandwidths to try; by default :func:`~spectralcls.bandwidth.bandwidth_grid` of the training data.
    tie_break : {"middle", "smallest"}, default="middle"
        Which of several bandwidths with the best accuracy wins. Where classes are well separated a whole
        range ties; its middle is the safest choice. ``"smallest"`` is the usual reading of the thesis.
    max_tuning_samples : int or None, default=20000
        With more points than this, only a stratified random subsample of this size is validated, each point
        of it against all points of the other folds; `n_tuning_samples_` says how many points were validated.
    tolerance : float or None, default=None
        Allowed error of the kernel sums, in (0, 1); None: exact to rounding. With it the terms ``2 p_c(y)``
        of a query are off by at most ``tolerance`` times their sum over the classes all together, and the
        potentials by that share of each. This holds for any data. Sub-quadratic sums are used where they are
        predicted to be faster, in low dimension and with compact kernels; tuning the bandwidth stays exact.
    random_state : int, RandomState instance or None, default=0
        Draws the folds and the subsample.
    n_jobs : int, default=None
        Threads; None means all cores unless joblib or threadpoolctl says otherwise.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    bandwidth_ : float or ndarray of shape (n_classes,)
        Bandwidth in use.
    bandwidth_grid_ : ndarray of shape (n_bandwidths,)
        Bandwidths tried, ascending. Only with ``bandwidth="cv"``, as the next two.
    cv_scores_ : ndarray of shape (n_bandwidths,)
        Cross-validated accuracy (weighted by `sample_weight`) of each.
    n_tuning_samples_ : int
        Number of (distinct) points validated.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, where X has string names.

    See Also
    --------
    LaplacianISEClassifier : The same with training points weighted by 1/f.
    ParzenClassifier : The Bayes rule with the same density estimates.

    Notes
    -----
    Fitting with a given bandwidth takes one pass over the pairs within classes; tuning one pass over the pairs
    of at most `max_tuning_samples` points with all; predicting one over the m n pairs. Memory beyond the data is
    O(n + m).

    References
    ----------
    Thesis, chapter 5.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls.kernel_mean import ISEClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> ISEClassifier(bandwidth=0.5).fit(X, y).predict(X[:2])
    array([0, 0])
    """

    _parameter_constraints = KernelMeanClassifier._parameter_constraints | {
        "potential": [StrOptions({"convolved", "same"})],
    }

    def __init__(
        self,
        bandwidth="cv",
        *,
        kernel="gaussian",
        potential="convolved",
        cv=5,
        bandwidth_grid=None,
        tie_break="middle",
        max_tuning_samples=20_000,
        tolerance=None,
        random_state=0,
        n_jobs=None,
    ):
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.potential = potential
        self.cv = cv
        self.bandwidth_grid = bandwidth_grid
        self.tie_break = tie_break
        self.max_tuning_samples = max_tuning_samples
        self.tolerance = tolerance
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _rule(self):
        return Rule("distance", None, self.potential)
