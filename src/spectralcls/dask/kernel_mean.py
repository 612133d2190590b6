"""The classifiers of `spectralcls.kernel_mean` on Dask arrays and data frames."""

from .. import kernel_mean
from ._estimator import DaskClassifier


class ParzenClassifier(DaskClassifier, kernel_mean.ParzenClassifier):
    """:class:`spectralcls.ParzenClassifier` on Dask collections.

    `cv` is an int or "loo". Scales and levels of columns are learned from all rows. Up to 2^22 numbers are gathered
    in this process, and all else that is not a sum is learned there as in memory; of more data from samples:
    distances of levels from 5000 rows, missing values from 1000, and the bandwidth by `max_tuning_samples` points
    against all, or within themselves with ``cv="loo"``.

    Parameters
    ----------
    bandwidth : {"cv", "silverman", "silverman_per_class"}, float or array-like of shape (n_classes,), default="cv"
        Radius h of the kernel. ``"cv"`` takes the best bandwidth by cross-validation, ``"silverman"`` is
        the normal-reference rule for all samples, ``"silverman_per_class"`` for each class; an array has one value
        per class. Data without spread get 1.
    priors : array-like of shape (n_classes,), default=None
        Prior probabilities of the classes; by default their shares in the training data.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply the sample weights: ``{label: weight}``, or ``"balanced"`` for weights
        inversely proportional to the classes' frequencies. None: all are one.
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
    max_tuning_samples : int or None, default=20000
        With more points than this in total, parameters are tuned on a random subsample of this size, stratified by
        class; `n_tuning_samples_` says how many points were used. A bandwidth that was tuned within m of n points is
        scaled to all of them by ``(m / n) ** (1 / (d + 4))``.
        Here m counts what it is validated against: all points of the other folds, in memory at most 200 000 points.
    tolerance : float or None, default=None
        Relative error allowed in kernel sums, in (0, 1); None: exact to rounding. Approximate sums are used if they
        are predicted to be faster; tuning stays exact.
        The joint densities ``P_c p_c(y)`` of a query are off by at most ``tolerance`` times their sum all together,
        and its posterior probabilities by ``tolerance / (1 - tolerance)``.
    random_state : int, RandomState instance or None, default=0
        Draws whatever is random: folds, subsamples, landmarks, starts. With an int a refit gives the same bits.
    n_jobs : int or None, default=None
        Threads; None means all cores unless joblib or threadpoolctl says otherwise.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    class_prior_ : ndarray of shape (n_classes,)
        Prior probabilities.
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
    n_tuning_samples_ : int
        Number of (distinct) points validated. Only present if something was tuned.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features. Only present if X has string names.

    References
    ----------
    .. [1] E. Parzen, "On estimation of a probability density function and mode", The Annals of Mathematical
       Statistics 33 (3), 1962, pp. 1065-1076.
    .. [2] B. W. Silverman, "Density Estimation for Statistics and Data Analysis", Chapman and Hall, 1986.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls.dask import ParzenClassifier
    >>> X, y = (da.from_array(array, chunks=50) for array in load_iris(return_X_y=True))
    >>> X = X.rechunk((50, -1))
    >>> ParzenClassifier(bandwidth=1.0).fit(X, y).predict(X).compute().shape
    (150,)
    """

    _local_class = kernel_mean.ParzenClassifier


class ISEClassifier(DaskClassifier, kernel_mean.ISEClassifier):
    """:class:`spectralcls.ISEClassifier` on Dask collections.

    `cv` is an int or "loo". Scales and levels of columns are learned from all rows. Up to 2^22 numbers are gathered
    in this process, and all else that is not a sum is learned there as in memory; of more data from samples:
    distances of levels from 5000 rows, missing values from 1000, and the bandwidth by `max_tuning_samples` points
    within themselves, scaled by ``(m / n) ** (1 / (d + 4))``.

    Parameters
    ----------
    bandwidth : {"cv", "silverman", "silverman_per_class"}, float or array-like of shape (n_classes,), default="cv"
        Radius h of the kernel. ``"cv"`` takes the best bandwidth by cross-validation, ``"silverman"`` is
        the normal-reference rule for all samples, ``"silverman_per_class"`` for each class; an array has one value
        per class. Data without spread get 1.
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

    References
    ----------
    .. [1] O. K. Storås, "Information Theoretic Learning for Pattern Classification", Master's thesis, University of
       Tromsø, 2007, chapter 5.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls.dask import ISEClassifier
    >>> X, y = (da.from_array(array, chunks=50) for array in load_iris(return_X_y=True))
    >>> X = X.rechunk((50, -1))
    >>> ISEClassifier(bandwidth=1.0).fit(X, y).predict(X).compute().shape
    (150,)
    """

    _local_class = kernel_mean.ISEClassifier


class LaplacianISEClassifier(DaskClassifier, kernel_mean.LaplacianISEClassifier):
    """:class:`spectralcls.LaplacianISEClassifier` on Dask collections.

    `cv` is an int or "loo". Scales and levels of columns are learned from all rows. Up to 2^22 numbers are gathered
    in this process, and all else that is not a sum is learned there as in memory; of more data from samples:
    distances of levels from 5000 rows, missing values from 1000, and the bandwidth by `max_tuning_samples` points
    within themselves, scaled by ``(m / n) ** (1 / (d + 4))``.

    Parameters
    ----------
    bandwidth : {"cv", "silverman", "silverman_per_class"}, float or array-like of shape (n_classes,), default="cv"
        Radius h of the kernel. ``"cv"`` takes the best bandwidth by cross-validation, ``"silverman"`` is
        the normal-reference rule for all samples, ``"silverman_per_class"`` for each class; an array has one value
        per class. Data without spread get 1.
    weighting : {"symmetric", "inverse"}, default="symmetric"
        ``"symmetric"``: ``<m_c, y>_f`` is ``f(y)^-1/2`` times the mean of ``f(x_i)^-1/2 k(y, x_i)`` over the class,
        the inner product in which the squared norm is taken; ``"inverse"``: the mean of ``f(x_i)^-1 k(y, x_i)``.
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
    max_tuning_samples : int or None, default=20000
        With more points than this in total, parameters are tuned on a random subsample of this size, stratified by
        class; `n_tuning_samples_` says how many points were used. A bandwidth that was tuned within m of n points is
        scaled to all of them by ``(m / n) ** (1 / (d + 4))``.
    tolerance : float or None, default=None
        Relative error allowed in kernel sums, in (0, 1); None: exact to rounding. Approximate sums are used if they
        are predicted to be faster; tuning stays exact.
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
    inverse_density_ : ndarray of shape (n_samples,)
        The learned sample weights 1/f(x_i), f the Parzen density of all training points in units of the
        kernel's normalizing constant, for the training samples of positive weight.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features. Only present if X has string names.

    References
    ----------
    .. [1] O. K. Storås, "Information Theoretic Learning for Pattern Classification", Master's thesis, University of
       Tromsø, 2007, chapter 6.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls.dask import LaplacianISEClassifier
    >>> X, y = (da.from_array(array, chunks=50) for array in load_iris(return_X_y=True))
    >>> X = X.rechunk((50, -1))
    >>> LaplacianISEClassifier(bandwidth=1.0).fit(X, y).predict(X).compute().shape
    (150,)
    """

    _local_class = kernel_mean.LaplacianISEClassifier


class CauchySchwarzClassifier(DaskClassifier, kernel_mean.CauchySchwarzClassifier):
    """:class:`spectralcls.CauchySchwarzClassifier` on Dask collections.

    `cv` is an int or "loo". Scales and levels of columns are learned from all rows. Up to 2^22 numbers are gathered
    in this process, and all else that is not a sum is learned there as in memory; of more data from samples:
    distances of levels from 5000 rows, missing values from 1000, and the bandwidth by `max_tuning_samples` points
    within themselves, scaled by ``(m / n) ** (1 / (d + 4))``.

    Parameters
    ----------
    bandwidth : {"cv", "silverman", "silverman_per_class"}, float or array-like of shape (n_classes,), default="cv"
        Radius h of the kernel. ``"cv"`` takes the best bandwidth by cross-validation, ``"silverman"`` is
        the normal-reference rule for all samples, ``"silverman_per_class"`` for each class; an array has one value
        per class. Data without spread get 1.
    weighting : {"inverse", "symmetric"} or None, default="inverse"
        A training point enters the class means with 1/f, with ``f^-1/2``, or with 1, f the Parzen density of all
        training points.
    priors : {"cv", "equal", "shares"}, default="cv"
        ``"shares"`` multiplies the cosine of a class by its share of the training weight; ``"equal"`` takes the cosines
        as they are, as [1]_ does. ``"cv"`` chooses together with the bandwidth; with a given one it is "equal".
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
    max_tuning_samples : int or None, default=20000
        With more points than this in total, parameters are tuned on a random subsample of this size, stratified by
        class; `n_tuning_samples_` says how many points were used. A bandwidth that was tuned within m of n points is
        scaled to all of them by ``(m / n) ** (1 / (d + 4))``.
    tolerance : float or None, default=None
        Relative error allowed in kernel sums, in (0, 1); None: exact to rounding. Approximate sums are used if they
        are predicted to be faster; tuning stays exact.
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
    priors_ : {"equal", "shares"}
        What was chosen. Only present if it was tuned.
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
    inverse_density_ : ndarray of shape (n_samples,)
        The learned sample weights 1/f(x_i), f the Parzen density of all training points in units of the
        kernel's normalizing constant, for the training samples of positive weight.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features. Only present if X has string names.

    References
    ----------
    .. [1] R. Jenssen, D. Erdogmus, J. C. Principe and T. Eltoft, "The Laplacian Classifier", IEEE Transactions on
       Signal Processing 55 (7), 2007, pp. 3262-3271.
    .. [2] R. Jenssen, J. C. Principe, D. Erdogmus and T. Eltoft, "The Cauchy-Schwarz divergence and Parzen windowing:
       Connections to graph theory and Mercer kernels", Journal of the Franklin Institute 343 (6), 2006, pp. 614-629.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls.dask import CauchySchwarzClassifier
    >>> X, y = (da.from_array(array, chunks=50) for array in load_iris(return_X_y=True))
    >>> X = X.rechunk((50, -1))
    >>> CauchySchwarzClassifier(bandwidth=1.0).fit(X, y).predict(X).compute().shape
    (150,)
    """

    _local_class = kernel_mean.CauchySchwarzClassifier
