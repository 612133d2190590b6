"""Classification by kernel logistic regression."""

from dataclasses import KW_ONLY

import numpy as np

from .._estimator import with_parameters
from .._tuning import ridge_grid
from .._tuning.temperature import log_losses, softmax
from .._utils.from_sklearn import StrOptions
from . import _logistic
from ._penalized import PenalizedClassifier
from ._penalized_operators import DenseKernel
from ._penalty_search import Fitted

# Number of products with the kernel matrix or its preconditioner in a fit, counted for 200 classes; and the limit on
# the multiply-adds of a fit, which take about a minute on one core at 2e10 per second. 2000 samples of 200 classes take
# a seventh of this limit.
_PRODUCTS, _MOST_MULTIPLICATIONS = 30, 1e12
# Points per column of the factor in the preconditioner, unless `rank` is smaller. With 6 points per column, fits take
# 1.4 times as long, and with 3, 3 times as long (mixtures of five classes, covertype and letter, 3000 points).
_POINTS = 10
_LEAST_RANK = 100  # a factor with fewer columns takes less time to compute than the products with it
_MEMORY = 4  # largest memory of the Cholesky factors of all classes, relative to that of the factor


@with_parameters
class KernelLogisticClassifier(PenalizedClassifier):
    """Multinomial kernel logistic regression with a ridge penalty.

    The probabilities are the softmax of ``log(prior_c) + f_c``, where prior_c is the proportion of class c. The
    functions f_c minimize ``sum_i w_i log(1 / p(y_i | x_i)) + alpha / 2 sum_c |f_c|^2``, where |f_c| is the norm in the
    kernel's space. No temperature is needed. Bandwidth, alpha and, with ``kernel="cv"``, the kernel minimize an
    approximate leave-one-out log loss.

    Parameters
    ----------
    bandwidth : "cv" or float, default="cv"
        Radius h of the kernel. "cv" chooses the best of `bandwidth_grid`.
    alpha : "cv" or float, default="cv"
        Ridge penalty. "cv" chooses the best of `alpha_grid`.
    kernel : {"laplace", "gaussian", "cv", "precomputed"} or callable, default="laplace"
        Kernel: ``exp(-r / h)`` or ``exp(-r^2 / (2 h^2))``. "cv" chooses the better one. "precomputed" means that X is
        the kernel matrix with the samples of `fit`; a callable ``kernel(Q, X)`` returns this matrix. In both cases,
        `bandwidth` and `scale` have no effect, `metric` must be None, and `points_` holds the indices of the samples.
    metric : {"whiten", "diagonal", "full"}, transformer or None, default=None
        Map of the coordinates, learned in `fit`: a :class:`~spectralcls.metric.KernelMetric` of this kind, or any
        transformer. A fitted transformer is used unchanged, but cloning undoes its fit unless it is in a
        :class:`sklearn.frozen.FrozenEstimator`. Bandwidths are in the units of the mapped points. None: no map.
    categorical_features : "from_dtype", array-like of bool, int or str, or None, default="from_dtype"
        Categorical columns, as a mask, positions or names. ``"from_dtype"`` means the columns of a data frame that do
        not hold numbers. Any two levels are equally far apart; levels of an ordered category are represented by their
        ranks.
    scale : "auto" or None, default="auto"
        ``"auto"`` scales each column of numbers to mean 0 and standard deviation 1, estimated robustly if there are
        outliers or rare values; columns of spread 1 stay unchanged. With labels and a bandwidth to tune, all columns
        are divided by one number instead if this makes held-out labels clearly more likely; `scale_` is then "shared"
        instead of "each". Scales are learned in `fit`, and bandwidths are in these units. None uses the numbers
        unchanged.
    bandwidth_grid : array-like, default=None
        Bandwidths to try. By default, 1.4 and 6 times the median distance between points; for the Gaussian, 0.7 and 1.4
        times this distance.
    alpha_grid : array-like, default=None
        Ridge penalties to try; by default, 0.001, 0.03 and 1.
    max_tuning_samples : int or None, default=3000
        With more distinct points than this, parameters are tuned on a stratified random subsample.
    max_exact_samples : int, default=6000
        Up to this many distinct points, the fit holds the kernel matrix, n^2 float64 numbers, and each point can be
        predicted from the others. With more points it uses kernel sums.
    tol : float, default=1e-5
        Norm of the gradient of each class, relative to the norm at f = 0, at which the iteration stops.
    max_iter : int, default=500
        Maximum number of iterations.
    rank : int, default=1000
        Largest rank of the preconditioner; above 100, it is at most a tenth of the number of points.
    random_state : int, RandomState instance or None, default=0
        Seed of folds, subsamples, landmarks and starting vectors. With an int, a refit gives identical results.
    verbose : bool, default=False
        Report progress on stderr.
    n_jobs : int or None, default=None
        Number of threads. None means all cores, unless joblib or threadpoolctl sets a lower limit.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply the sample weights: ``{label: weight}``, or ``"balanced"`` for weights
        inversely proportional to the class frequencies. None means that all are one.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    metric_ : transformer or None
        Fitted map in use.
    kernel_ : str
        Kernel in use.
    bandwidth_, alpha_ : float
        Values in use.
    loss_ : float
        Approximate leave-one-out log loss.
    cv_results_ : dict of str to ndarray
        Scores of all candidates, in the layout of :class:`sklearn.model_selection.GridSearchCV`. A score is the
        negative leave-one-out log loss. It is NaN for bandwidths tried only with the other kernel. Only present if
        tuned.
    best_score_ : float
        Mean test score of the chosen candidate. Only present if something was tuned.
    n_tuning_samples_ : int
        Number of (distinct) validated points. Only present if something was tuned.
    dual_coef_ : ndarray of shape (n_points, n_classes)
        Coefficients of the kernels at `points_`; each row adds up to zero.
    points_ : ndarray of shape (n_points, n_features)
        Distinct training points.
    class_prior_ : ndarray of shape (n_classes,)
        Class proportions, to which probabilities tend far from all points.
    residuals_ : ndarray of shape (n_classes,)
        Relative norms of the gradient. Only present with more than `max_exact_samples` points.
    n_iter_ : int
        Number of iterations.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features. Only present if X has string names.

    See Also
    --------
    KernelRidgeClassifier : The squared loss; one linear system instead of several.

    Notes
    -----
    The method is L-BFGS in the kernel's space. Each of some 20 iterations takes a pass over the n^2 pairs. The
    preconditioner, a low-rank factor and a diagonal with a linear system for each class, takes n_classes n rank^2
    multiply-adds; memory is n (5 rank + 40 n_classes) numbers. With more than `max_tuning_samples` points, the
    iteration starts from the solution for the subsample. Tuning takes n^3 / 2 multiply-adds for each combination of
    bandwidth and alpha, and 2 n^2 numbers of memory. A query needs n kernel evaluations.

    The fit without a point is approximated by one Newton step from the fit to all points. For two classes the step uses
    the whole Hessian. For more classes, a multiple of the identity replaces the Hessian of every remaining point, which
    is less accurate for many classes. A point is left out with all its weight. Equal rows of a class are one point
    unless another class contains such a row, so that a weight of two equals a row given twice. The unit of weights does
    not matter.

    References
    ----------
    J. Zhu, T. Hastie, "Kernel logistic regression and the import vector machine", Journal of Computational and
    Graphical Statistics 14, 2005.
    P. Karsmakers, K. Pelckmans, J. A. K. Suykens, "Multi-class kernel logistic regression: a fixed-size
    implementation", IJCNN 2007.
    K. Rahnama Rad, A. Maleki, "A scalable estimate of the out-of-sample prediction error via approximate leave-one-out
    cross-validation", Journal of the Royal Statistical Society B 82, 2020.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls.regression import KernelLogisticClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> KernelLogisticClassifier().fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    """

    _: KW_ONLY
    tol: float = 1e-5
    max_iter: int = 500

    _parameter_constraints = {
        "kernel": [StrOptions({"cv", "laplace", "gaussian", "precomputed"}), callable],
    }
    _BANDWIDTH_FACTORS = {"laplace": (1.4, 6.0), "gaussian": (0.7, 1.4)}
    _TITLE, _METHOD = "logistic", "L-BFGS"

    def _learn(self, data):
        self._check_size(data)
        super()._learn(data)

    def _check_size(self, data):
        """Raise before the fit if products with one column per class would take too long."""
        n, n_classes = len(data.X), data.n_classes
        n_tuned = min(n, n if self.max_tuning_samples is None else self.max_tuning_samples)
        candidates = self._candidates(data.X[:100], np.random.RandomState(0), n)
        n_candidates = sum(map(len, candidates.bandwidths.values())) * len(candidates.alphas)
        pairs = n_candidates * n_tuned**2 + (n**2 if n_tuned < n <= self.max_exact_samples else 0)
        work = _PRODUCTS * n_classes * pairs
        if work > _MOST_MULTIPLICATIONS:
            raise ValueError(
                f"{type(self).__name__}: {n_classes} classes, {n} samples and {n_candidates} candidates take "
                f"{work:.1g} multiplications, more than {_MOST_MULTIPLICATIONS:.0e}. Use KernelRidgeClassifier, which "
                "needs one factor for all classes, or give bandwidth and alpha, or lower max_tuning_samples."
            )

    def _alphas(self):
        return ridge_grid(-3, 0, step=1.5)

    def _path(self, targets, K, alphas, memory):
        operator, found, A = DenseKernel(K, memory, self._rank_for(targets)), [], None
        for alpha in alphas[::-1]:
            try:
                solution = self._solve(operator, targets, alpha, start=A)
                held_out = _logistic.held_out(operator, solution, targets.indicators, alpha, targets.weights)
            except np.linalg.LinAlgError:
                found.append(None)
                continue
            A = solution.coefficients
            losses = log_losses(softmax(held_out), targets.codes)
            found.append(Fitted(A, held_out, losses, n_iter=solution.n_iter, residuals=solution.residuals))
        return found[::-1]

    def _rank_for(self, targets):
        n, n_classes = targets.Y.shape
        return max(1, min(self.rank, max(n // _POINTS, _LEAST_RANK), _MEMORY * n // n_classes))

    def _exact(self, K, targets, alpha, start):
        return self._solve(DenseKernel(K, K, self._rank_for(targets)), targets, alpha, start=start)

    def _iterative(self, operator, targets, alpha, start, step_done):
        return self._solve(operator, targets, alpha, start=start, step_done=step_done)

    def _solve(self, operator, targets, alpha, **options):
        options = {"tol": self.tol, "max_iter": self.max_iter} | options
        offsets = np.log(targets.center)
        return _logistic.solve(operator, targets.indicators, offsets, alpha, targets.weights, **options)

    def _held_out(self, K, targets):
        scores = K @ self.dual_coef_ + np.log(targets.center)
        solution = _logistic.LogisticSolution(self.dual_coef_, scores, None, self.n_iter_)
        kernel = DenseKernel(K, K, self._rank_for(targets))
        return _logistic.held_out(kernel, solution, targets.indicators, self.alpha_, targets.weights)

    def _offsets(self):
        return np.log(self.class_prior_)
