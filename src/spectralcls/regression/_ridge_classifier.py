"""Classification by kernel ridge regression of the classes' indicators."""

import warnings
from numbers import Integral, Real

import numpy as np
from scipy.special import log_softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .._estimator import Classifier
from .._expansion import Expansion, Rule, TrainingPoints
from .._expansion.ridge import ALPHAS, indicators, solve
from .._tuning import check_grid, distinct, median_distance, thin
from .._utils.from_sklearn import Interval, StrOptions
from .._utils.progress import progress
from .._utils.training_data import TrainingData
from .._utils.typing import ArrayLike, RandomState
from ..kernels import kernel_matrix
from . import _ridge_iterative as _iterative
from ._ridge_tuning import BANDWIDTH_FACTORS, leave_one_out

_POSITIVE = Interval(Real, 0, None, closed="neither")


class KernelRidgeClassifier(Classifier):
    """Kernel ridge regression of the classes' indicators, with probabilities.

    For each class c, f_c minimizes ``sum_i (y_ic - f_c(x_i))^2 + alpha |f_c|^2``, y_ic being 1 for the points of the
    class and 0 for others, less the share of the class; |f_c| is the norm of the kernel's space. A query goes to the
    largest f_c. Bandwidth and alpha are those of the best leave-one-out log loss, which has a closed form.

    Parameters
    ----------
    bandwidth : "cv" or float, default="cv"
        Radius h of the kernel. "cv": the best of `bandwidth_grid`.
    alpha : "cv" or float, default="cv"
        Ridge. "cv": the best of `alpha_grid`.
    kernel : {"laplace", "gaussian"}, default="laplace"
        ``exp(-r / h)`` or ``exp(-r^2 / (2 h^2))``.
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
    alpha_grid : array-like, default=(0.01, 0.1)
        Ridges to try.
    max_tuning_samples : int or None, default=3000
        With more distinct points than this, bandwidth, alpha and temperature come from a stratified random subsample.
    max_exact_samples : int, default=6000
        Up to so many distinct points the system is solved by a Cholesky factor in n^2 float64 numbers, above by
        conjugate gradients.
    tol : float, default=1e-4
        Residual of conjugate gradients, relative to the right-hand side.
    max_iter : int, default=200
        Iterations of conjugate gradients at most.
    rank : int, default=1000
        Rank of their preconditioner.
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
    bandwidth_, alpha_ : float
        What is in use.
    temperature_ : float
        Probabilities are ``softmax(scores / temperature_)``, of the best leave-one-out log loss.
    loss_ : float
        That log loss.
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
        Shares of the classes, to which scores tend far from all points.
    residuals_ : ndarray of shape (n_classes,)
        Of conjugate gradients; only with more than `max_exact_samples` points.
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
    Features should have comparable scales. Exact: n^3 multiply-adds for each pair of candidates, n^2 numbers of memory.
    Iterative: a pass over the n^2 pairs an iteration, n (rank + 8 n_classes) numbers. A query costs n kernel values.

    Leaving out copy by copy, a weight of two equals a row given twice.

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

    _parameter_constraints = {
        "bandwidth": [StrOptions({"cv"}), _POSITIVE],
        "alpha": [StrOptions({"cv"}), _POSITIVE],
        "kernel": [StrOptions(set(BANDWIDTH_FACTORS))],
        "bandwidth_grid": ["array-like", None],
        "alpha_grid": ["array-like"],
        "max_tuning_samples": [Interval(Integral, 2, None, closed="left"), None],
        "max_exact_samples": [Interval(Integral, 0, None, closed="left")],
        "tol": [_POSITIVE],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "rank": [Interval(Integral, 1, None, closed="left")],
        "verbose": ["boolean"],
    }

    def __init__(
        self,
        bandwidth: str | float = "cv",
        *,
        alpha: str | float = "cv",
        kernel: str = "laplace",
        categorical_features: str | ArrayLike | None = "from_dtype",
        scale: str | None = "auto",
        class_weight: str | dict | None = None,
        bandwidth_grid: ArrayLike | None = None,
        alpha_grid: ArrayLike = ALPHAS,
        max_tuning_samples: int | None = 3000,
        max_exact_samples: int = 6000,
        tol: float = 1e-4,
        max_iter: int = 200,
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

    def _learn(self, data):
        rng = check_random_state(self.random_state)
        data, _ = distinct(data)
        X, weights = data.X, data.weights
        sample = thin(data, self.max_tuning_samples, rng)
        choice = leave_one_out(
            sample.X.astype(np.float64),
            sample.codes,
            sample.n_classes,
            sample.weights,
            self.kernel,
            *self._candidates(sample.X, rng),
            self.n_jobs,
        )
        Y, self.class_prior_ = indicators(data.codes, data.n_classes, weights)
        if len(X) <= self.max_exact_samples:
            K = kernel_matrix(X.astype(np.float64), kernel=self.kernel, bandwidth=choice.bandwidth, n_jobs=self.n_jobs)
            coefficients, self.n_iter_ = solve(K, Y, choice.alpha, weights, held_out=False).coefficients, 1
        else:
            coefficients, self.residuals_, self.n_iter_ = self._iterate(X, Y, choice, weights, rng)
        self.points_, self.dual_coef_ = X, coefficients.astype(X.dtype, copy=False)
        self.bandwidth_, self.alpha_ = choice.bandwidth, choice.alpha
        self.temperature_, self.loss_ = 1 / choice.inverse_temperature, choice.loss
        if choice.found is not None:
            self._note(choice.found, len(sample.X))

    def _candidates(self, X, rng):
        """Bandwidths and alphas to try; one where it is given."""
        if self.bandwidth != "cv":
            bandwidths = [self.bandwidth]
        elif self.bandwidth_grid is None:
            bandwidths = median_distance(X, rng) * np.array(BANDWIDTH_FACTORS[self.kernel])
        else:
            bandwidths = check_grid(self.bandwidth_grid, "bandwidth_grid")
        alphas = check_grid(self.alpha_grid, "alpha_grid") if self.alpha == "cv" else [self.alpha]
        return bandwidths, alphas

    def _iterate(self, X, Y, choice, weights, rng):
        with progress("ridge", self.max_iter, silent=not self.verbose) as step_done:
            solution = _iterative.solve(
                X,
                Y,
                self.kernel,
                choice.bandwidth,
                choice.alpha,
                weights,
                tol=self.tol,
                max_iter=self.max_iter,
                rank=self.rank,
                rng=rng,
                step_done=step_done,
                n_jobs=self.n_jobs,
            )
        if solution.residuals.max() > self.tol:
            warnings.warn(
                f"Conjugate gradients stopped after {solution.n_iter} iterations at a residual of "
                f"{solution.residuals.max():.1e}, above tol={self.tol:g}: raise max_iter, rank or alpha.",
                ConvergenceWarning,
                stacklevel=5,
            )
        return solution

    @property
    def _model(self):
        points = TrainingPoints.of(TrainingData.points(self.points_), n_jobs=self.n_jobs)
        rule = Rule("distance")  # k(y) A less an offset
        return Expansion(rule, points, self.kernel, self.bandwidth_, self.dual_coef_, offsets=-self.class_prior_)

    def _scores(self, X):
        return self._model.scores(X).astype(X.dtype, copy=False)

    def predict_log_proba(self, X):
        """Log probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        log_p : ndarray of shape (n_queries, n_classes)
            Finite, and accurate where the probability itself would underflow.

        Notes
        -----
        One pass over the pairs of queries and `points_`.
        """
        return log_softmax(self._scores(self._queries(X)) / self.temperature_, axis=1)

    def predict_proba(self, X):
        """Probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries.

        Returns
        -------
        p : ndarray of shape (n_queries, n_classes)
            Each row adds up to one: ``softmax(scores / temperature_)``.
        """
        return np.exp(self.predict_log_proba(X))
