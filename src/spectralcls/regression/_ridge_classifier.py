"""Classification by kernel ridge regression of the classes' indicators."""

from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Any, Literal

from .._estimator import with_parameters
from .._utils.typing import PositiveKernel
from ._kernel_ridge import KernelRidge
from ._penalized import PenalizedClassifier


@with_parameters
class KernelRidgeClassifier(KernelRidge, PenalizedClassifier):
    """Kernel ridge regression of the classes' indicators, with probabilities.

    For each class c, f_c minimizes ``sum_i (y_ic - f_c(x_i))^2 + alpha |f_c|^2``, where y_ic is 1 for the points of the
    class and 0 for others, minus the share of the class, and |f_c| is the norm of the kernel's space. A query goes to
    the largest f_c. The closed leave-one-out log loss chooses bandwidth and alpha.

    Parameters
    ----------
    bandwidth : "cv" or float, default="cv"
        Radius h of the kernel. "cv": the best of `bandwidth_grid`.
    alpha : "cv" or float, default="cv"
        Ridge. "cv": the best of `alpha_grid`.
    kernel : {"laplace", "gaussian", "precomputed"} or callable, default="laplace"
        ``exp(-r / h)`` or ``exp(-r^2 / (2 h^2))``.
        "precomputed": X is the kernel matrix with the samples of `fit`; a function ``kernel(Q, X)`` returns it. Then
        `bandwidth`, `metric` and `scale` have no effect, and `points_` are the numbers of the samples.
    metric : {"whiten", "diagonal", "full"}, transformer or None, default=None
        Map of the coordinates, learned in `fit`: a :class:`~spectralcls.metric.KernelMetric` of that kind, or any
        transformer. A fitted transformer is used unchanged (cloning undoes the fit, unless it is in a
        :class:`sklearn.frozen.FrozenEstimator`). Bandwidths are in units of the mapped points. None: no map.
    categorical_features : "from_dtype", array-like of bool, int or str, or None, default="from_dtype"
        Columns of categories: a mask, positions, or names. ``"from_dtype"`` takes the columns of a data frame that hold
        no numbers. All levels have the same distance from each other; those of an ordered category lie at their ranks.
        The distance is tuned for each column together with the bandwidth; it is 0 for an uninformative category.
    scale : "auto" or None, default="auto"
        ``"auto"`` brings each column of numbers to mean 0 and standard deviation 1, estimated robustly if there are
        outliers or rare values; columns of spread 1 stay as they are. With labels, and a bandwidth to tune, all columns
        are instead divided by one number if this makes held-out labels clearly more likely: `scale_` is then "shared",
        not "each". Scales are learned once, in `fit` or the first `partial_fit`, and bandwidths are in these units.
        None: the numbers as they are.
    bandwidth_grid : array-like, default=None
        Bandwidths to try. None: 0.7, 2 and 6 times the median distance between points; for the Gaussian 0.35, 0.7, 1.4
        and 2.8 times.
    alpha_grid : array-like, default=None
        Ridges to try, for points of mean weight one. None: 0.01 and 0.1, then 1 and 10 with the best bandwidth while
        the largest is the best; with class weights all four, since a large weight acts like a smaller ridge.
    max_tuning_samples : int or None, default=3000
        With more distinct points than this, bandwidth, alpha and temperature come from a stratified random subsample.
    max_exact_samples : int, default=6000
        Up to this many distinct points a Cholesky factor of n^2 float64 numbers solves the system. Above, conjugate
        gradients do, and from 20 000 points on the system is split into cells: see Notes.
    tol : float, default=1e-4
        Residual of conjugate gradients, relative to the right-hand side.
    max_iter : int, default=200
        Iterations of conjugate gradients at most.
    rank : int, default=1000
        Rank of their preconditioner.
    random_state : int, RandomState instance or None, default=0
        Seed of folds, subsamples, landmarks and starts. With an int a refit gives the same bits.
    verbose : bool, default=False
        Report progress on stderr.
    n_jobs : int or None, default=None
        Threads; None means all cores unless joblib or threadpoolctl says otherwise.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply the sample weights: ``{label: weight}``, or ``"balanced"`` for weights
        inversely proportional to the classes' frequencies. None: all are one.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    metric_ : transformer or None
        The fitted map in use.
    kernel_ : str
        The kernel in use.
    bandwidth_, alpha_ : float
        The values in use.
    temperature_ : float
        Probabilities are ``softmax(scores / temperature_)``, with the best leave-one-out log loss.
    loss_ : float
        That log loss.
    cv_results_ : dict of str to ndarray
        What was tried, in the layout of :class:`sklearn.model_selection.GridSearchCV`; a score is the negative log
        loss of the points left out one at a time. Only present if tuned.
    best_score_ : float
        Mean test score of the chosen candidate. Only present if something was tuned.
    n_tuning_samples_ : int
        Number of (distinct) points validated. Only present if something was tuned.
    dual_coef_ : ndarray of shape (n_points, n_classes)
        Coefficients of the kernels at `points_`. Only
        present if one system holds all points.
    points_ : ndarray of shape (n_points, n_features)
        Distinct training points.
    class_prior_ : ndarray of shape (n_classes,)
        Shares of the classes, to which scores tend far from all points.
    residuals_ : ndarray of shape (n_classes,)
        Of conjugate gradients, if they solved the system.
    n_iter_ : int
        Iterations of conjugate gradients; 1 for a Cholesky factor.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features. Only present if X has string names.

    See Also
    --------
    sklearn.kernel_ridge.KernelRidge : Regression; holds an n x n matrix at any n.
    spectralcls.metric.GradientMetric : A metric learned with this regression.

    Notes
    -----
    Cost: an exact fit takes n^3 multiply-adds for each pair of candidates and n^2 numbers of memory; an iterative one
    a pass over the n^2 pairs an iteration and n (rank + 8 n_classes) numbers; a query n kernel values.

    From 20 000 distinct points on, if `max_exact_samples` is less, four random trees cut the points into cells of at
    most 1500; a prediction is the mean over the trees of the regressions in the query's cells. Bandwidth and
    ridge minimize the leave-one-out loss within some cells; `loss_` is that of their points over all trees. A fit takes
    time proportional to n and memory for four n_points x n_classes coefficients, a query 6000 kernel values at most.
    Cells are solved in float32 if this changes predictions by less than 0.002 of the targets' spread. `tol`, `max_iter`
    and `rank` have no effect then.

    Features should have comparable scales.

    A point is left out with all its weight, and equal rows of a class that no other class has are one point: a weight
    of two equals a row given twice. The unit of weights does not matter.

    References
    ----------
    R. Rifkin, R. Lippert, "Notes on regularized least squares", MIT-CSAIL-TR-2007-025.
    M. Diaz, E. N. Epperly, Z. Frangella, J. A. Tropp, R. J. Webber, "Robust, randomized preconditioning for kernel
    ridge regression", 2023, arXiv:2304.12465.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls.regression import KernelRidgeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> KernelRidgeClassifier().fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    """

    _: KW_ONLY
    kernel: PositiveKernel | Literal["precomputed"] | Callable[[Any, Any], Any] = "laplace"

    def _keep(self, choice, targets):
        super()._keep(choice, targets)
        self.temperature_ = choice.fitted.temperature

    def _offsets(self):
        return self.class_prior_
