"""The integrated-squared-error classifier: nearest class mean in feature space."""

from dataclasses import KW_ONLY

from .._estimator import with_parameters
from .._expansion import Rule
from ._kernel_mean_classifier import KernelMeanClassifier


@with_parameters
class ISEClassifier(KernelMeanClassifier):
    """Nearest class mean in the kernel's feature space: the integrated-squared-error classifier.

    A query goes to the class with the largest ``2 p_c(y) - V_c``, p_c the Parzen density estimate of the class and V_c
    its information potential, the integral of p_c^2, which is the squared norm of the kernel mean. That is the class
    whose mean in feature space is nearest. Far from all data the densities vanish and the squared norms decide: the
    most spread-out class wins.

    Parameters
    ----------
    bandwidth : {"cv", "cv_per_class", "silverman", "silverman_per_class"}, float or dict, default="cv"
        Radius h of the kernel. ``"cv"`` takes the best bandwidth by cross-validation, ``"silverman"`` is
        the normal-reference rule for all samples, ``"silverman_per_class"`` for each class. ``"cv_per_class"``
        multiplies the latter by the best factor; `cv_results_` then has bandwidths for all samples. A dict
        ``{label: h}`` has one value for each class. Data without spread get 1.
        With "cv_per_class" each factor takes a fit to each fold.
    potential : {"convolved", "same"}, default="convolved"
        Kernel of the pairs in the squared norm of a class mean. ``"convolved"`` is the Gaussian of variance 2 h^2,
        with which the norm is the integral of the squared density estimate; ``"same"`` is the kernel of the class
        means, as always for the other kernels.
    kernel : str, default="gaussian"
        Shape of the kernel: "gaussian", "laplace", or one of "epanechnikov", "uniform", "quartic", "triweight",
        "cosine" and "linear", which are compact: they vanish beyond the bandwidth.
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
        outliers or rare values; columns of spread 1 stay as they are. With labels, and a bandwidth to
        tune, all columns are divided by one number instead if held-out labels are clearly more likely so: `scale_` is
        then "shared", not "each". Scales are learned once, in `fit` or the first `partial_fit`, and bandwidths are in
        these units. None: the numbers as they are.
    cv : int, "loo", splitter or list of splits, default=5
        Folds of the cross-validation. An int makes random stratified folds, ``"loo"`` leaves out one point at a time;
        both keep equal rows of one class together, unless another class has such a row, too: no point is validated
        against its copy. The test sets of a splitter have to partition the samples.
    scoring : {"auto", "accuracy", "balanced_accuracy", "neg_log_loss"}, default="auto"
        What tuning maximizes on held-out points. ``"auto"`` is the accuracy; of candidates within half a
        standard error of the best it takes the one of the least log loss.
    bandwidth_grid : array-like, default=None
        Bandwidths to try; by default :func:`~spectralcls.kernels.bandwidth_grid` of the training data.
    max_tuning_samples : int or None, default=20000
        With more points than this in total, parameters are tuned on a random subsample of this size, stratified by
        class; `n_tuning_samples_` says how many points were used. A bandwidth that was tuned within m of n points is
        scaled to all of them by ``(m / n) ** (1 / (d + 4))``.
        Here m counts what it is validated against: all points of the other folds, in memory at most 200 000 points.
    tolerance : float or None, default=None
        Relative error allowed in kernel sums, in (0, 1); None: exact to rounding. Approximate sums are used if they
        are predicted to be faster; tuning stays exact.
        The terms ``2 p_c(y)`` of a query are off by at most ``tolerance`` times their sum over the classes all
        together, and the squared norms by that share of each.
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
    bandwidth_ : float or ndarray of shape (n_classes,)
        Bandwidth in use.
    cv_results_ : dict of str to ndarray
        What was tried, in the layout of :class:`sklearn.model_selection.GridSearchCV`: `params`, a column
        ``param_<name>`` for each of them, `mean_test_score` (accuracy weighted by `sample_weight`), `std_test_score`,
        `rank_test_score`, and ``split<k>_test_score`` for each fold. Only present if something was tuned. Of tied
        candidates the lower middle one is chosen.
    best_score_ : float
        Mean test score of what was chosen. Only present if something was tuned.
    temperature_ : float
        `predict_proba` is the softmax of the scores over it, which has the least log loss on the points that tuning
        held out. Only present if something was tuned.
    n_tuning_samples_ : int
        Number of (distinct) points validated. Only present if something was tuned.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features. Only present if X has string names.

    See Also
    --------
    LaplacianISEClassifier : The same with training points weighted by 1/f.
    ParzenClassifier : The Bayes rule with the same density estimates.

    Notes
    -----
    Fitting with a given bandwidth takes one pass over the pairs within classes; tuning one pass over the pairs
    of at most `max_tuning_samples` points with all; predicting one over the m n pairs. Memory beyond the data is
    O(n + m).

    There is no `class_weight`: one weight for all samples of a class cancels in its mean.

    References
    ----------
    .. [1] O. K. Storås, "Information Theoretic Learning for Pattern Classification", Master's thesis, University of
       Tromsø, 2007, chapter 5.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls import ISEClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> ISEClassifier(bandwidth=0.5).fit(X, y).predict(X[:2])
    array([0, 0])
    """

    _: KW_ONLY
    potential: str = "convolved"

    def _rule(self):
        return Rule("distance", None, self.potential)
