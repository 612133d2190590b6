"""Classification by kernel logistic regression."""

import numpy as np

from .._utils.from_sklearn import StrOptions
from .._utils.typing import ArrayLike, RandomState
from . import _logistic
from ._leave_one_out import Fitted
from ._operators import DenseKernel
from ._penalized import CONSTRAINTS, PenalizedClassifier


class KernelLogisticClassifier(PenalizedClassifier):
    """Kernel logistic regression: smooth class boundaries, and probabilities as the loss itself asks for them.

    The functions f_c minimize ``sum_i w_i log(1 / p(y_i | x_i)) + alpha / 2 sum_c |f_c|^2``, where p is the softmax of
    ``f_c(x) + log(share of class c)`` and |.| the norm of the kernel's space. Kernel, bandwidth and alpha are those of
    the best leave-one-out log loss, which the Hessian gives without a refit.

    Parameters
    ----------
    bandwidth : "cv" or float, default="cv"
        Radius h of the kernel. "cv": the best of `bandwidth_grid`.
    alpha : "cv" or float, default="cv"
        Ridge. "cv": the best of `alpha_grid`.
    kernel : {"cv", "laplace", "gaussian"}, default="cv"
        ``exp(-r / h)`` or ``exp(-r^2 / (2 h^2))``. "cv": the better one.
    categorical_features : "from_dtype", array-like of bool, int or str, or None, default="from_dtype"
        Columns that hold categories: a mask, positions, or names. ``"from_dtype"`` takes the columns of a data frame
        that hold no numbers. Any two levels are equally far apart, those of an ordered category by their ranks. How
        far is chosen for each column together with the bandwidth; a category that says nothing gets distance 0.
    scale : "auto" or None, default="auto"
        ``"auto"`` brings each column of numbers to mean 0 and standard deviation 1, estimated robustly if there are
        outliers or rare values; columns of standard deviation 1 stay as they are. Scales are learned once, in `fit` or
        the first `partial_fit`, and bandwidths are in these units. None: the numbers as they are.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply the sample weights: ``{label: weight}``, or ``"balanced"`` for weights
        inversely proportional to the classes' frequencies. None: all are one.
    bandwidth_grid : array-like, default=None
        Bandwidths to try. None: 0.7, 2 and 6 times the median distance between points; for the Gaussian 0.35, 0.7, 1.4
        and 2.8 times.
    alpha_grid : array-like, default=(0.01, 0.1, 1.0)
        Ridges to try.
    max_tuning_samples : int or None, default=3000
        With more distinct points than this, kernel, bandwidth and alpha come from a stratified random subsample.
    max_exact_samples : int, default=6000
        Up to so many distinct points the kernel matrix is held, n^2 float64 numbers; above it kernel sums serve.
    tol : float, default=1e-4
        Norm of the gradient at which to stop, relative to that of constant scores.
    max_iter : int, default=100
        Newton steps at most.
    rank : int, default=1000
        Rank of the preconditioner of kernel sums.
    random_state : int, RandomState instance or None, default=0
        Draws whatever is random: folds, subsamples, landmarks, starts. With an int a refit gives the same bits.
    verbose : bool, default=False
        Report progress on stderr.
    n_jobs : int or None, default=None
        Threads; None means all cores unless joblib or threadpoolctl says otherwise.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    kernel_ : str
        The kernel in use.
    bandwidth_, alpha_ : float
        What is in use.
    loss_ : float
        Leave-one-out log loss, approximate.
    cv_results_ : dict of str to ndarray
        What was tried, in the layout of :class:`sklearn.model_selection.GridSearchCV`; a score is the negative log
        loss of the points left out one at a time. Only present if tuned.
    best_score_ : float
        Mean test score of what was chosen. Only present if something was tuned.
    n_tuning_samples_ : int
        Number of (distinct) points validated. Only present if something was tuned.
    dual_coef_ : ndarray of shape (n_points, n_classes)
        Coefficients of the kernels at `points_`.
    points_ : ndarray of shape (n_points, n_features)
        Distinct training points.
    class_prior_ : ndarray of shape (n_classes,)
        Shares of the classes, the probabilities far from all points.
    residuals_ : ndarray of shape (n_classes,)
        Of the gradient; only with more than `max_exact_samples` points.
    n_iter_ : int
        Newton steps.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features. Only present if X has string names.

    See Also
    --------
    KernelRidgeClassifier : The same expansion with squared losses; solved at once.
    sklearn.linear_model.LogisticRegression : Linear in the features.

    Notes
    -----
    Each Newton step is solved by conjugate gradients, n^2 n_classes multiply-adds an iteration; the leave-one-out
    scores of a candidate take n^3. With more than `max_exact_samples` points an iteration is a pass over the n^2 pairs,
    in n (rank + 8 n_classes) numbers. A query costs n kernel values.

    The scores of a point by all others are approximate: one Newton step from the solution by all points.

    References
    ----------
    J. Zhu, T. Hastie, "Kernel logistic regression and the import vector machine", Journal of Computational and
    Graphical Statistics 14 (2005) 185-205.
    P. Karsmakers, K. Pelckmans, J. Suykens, "Multi-class kernel logistic regression: a fixed-size implementation",
    IJCNN 2007.
    K. R. Rad, A. Maleki, "A scalable estimate of the out-of-sample prediction error via approximate leave-one-out
    cross-validation", Journal of the Royal Statistical Society B 82 (2020) 965-996.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spectralcls.regression import KernelLogisticClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> KernelLogisticClassifier().fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    """

    _parameter_constraints = CONSTRAINTS | {"kernel": [StrOptions({"cv", "laplace", "gaussian"})]}
    _BANDWIDTH_FACTORS = {"laplace": (0.7, 2.0, 6.0), "gaussian": (0.35, 0.7, 1.4, 2.8)}
    _TITLE, _METHOD = "logistic", "Newton's method"

    def __init__(
        self,
        bandwidth: str | float = "cv",
        *,
        alpha: str | float = "cv",
        kernel: str = "cv",
        categorical_features: str | ArrayLike | None = "from_dtype",
        scale: str | None = "auto",
        class_weight: str | dict | None = None,
        bandwidth_grid: ArrayLike | None = None,
        alpha_grid: ArrayLike = (0.01, 0.1, 1.0),
        max_tuning_samples: int | None = 3000,
        max_exact_samples: int = 6000,
        tol: float = 1e-4,
        max_iter: int = 100,
        rank: int = 1000,
        random_state: RandomState = 0,
        verbose: bool = False,
        n_jobs: int | None = None,
    ):
        self.bandwidth = bandwidth
        self.alpha = alpha
        self.kernel = kernel
        self.categorical_features = categorical_features
        self.scale = scale
        self.class_weight = class_weight
        self.bandwidth_grid = bandwidth_grid
        self.alpha_grid = alpha_grid
        self.max_tuning_samples = max_tuning_samples
        self.max_exact_samples = max_exact_samples
        self.tol = tol
        self.max_iter = max_iter
        self.rank = rank
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    @property
    def _kernel(self):
        return self.kernel_

    def _path(self, K, Y, shares, codes, weights, alphas, memory):
        operator, found, A = DenseKernel(K, memory), [], None
        for alpha in alphas[::-1]:
            try:
                solution = self._solve(operator, Y, shares, alpha, weights, start=A)
                held_out = _logistic.held_out(operator, solution, Y, alpha, weights)
            except np.linalg.LinAlgError:
                found.append(None)
                continue
            A = solution.coefficients
            found.append(Fitted(A, held_out, n_iter=solution.n_iter))
        return found[::-1]

    def _exact(self, K, Y, shares, alpha, weights):
        return self._solve(DenseKernel(K, np.empty_like(K)), Y, shares, alpha, weights)

    def _iterative(self, operator, Y, shares, alpha, weights, step_done):
        start = self._solve(operator.low_rank, Y, shares, alpha, weights).coefficients
        return self._solve(operator, Y, shares, alpha, weights, start=start, step_done=step_done)

    def _solve(self, operator, Y, shares, alpha, weights, **options):
        return _logistic.solve(
            operator, Y, np.log(shares), alpha, weights, tol=self.tol, max_iter=self.max_iter, **options
        )

    def _keep(self, choice):
        self.kernel_ = choice.kernel

    def _offsets(self):
        return np.log(self.class_prior_)
