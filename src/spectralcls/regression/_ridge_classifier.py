"""Classification by kernel ridge regression of class indicators."""

from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Any, Literal

from .._conformal.left_out import LeftOut
from .._estimator import Classifier, log_posterior, with_parameters
from .._expansion.ridge_targets import ClassTargets
from .._tuning import ridge_grid
from .._utils.typing import ClassWeight, PositiveKernel
from .._utils.validation import units_of, within_groups
from ._kernel_ridge import KernelRidge


@with_parameters
class KernelRidgeClassifier(KernelRidge, Classifier):
    """Kernel ridge regression of class indicators, with probabilities.

    For each class c, f_c minimizes ``sum_i (y_ic - f_c(x_i))^2 + alpha |f_c|^2``, where y_ic is 1 for the points of the
    class and 0 for others, minus the class proportion, and |f_c| is the norm in the kernel's space. The score of class
    c is f_c plus the class proportion; the largest score wins. Bandwidth and alpha minimize the leave-one-out log loss,
    computed in closed form.

    Parameters
    ----------
    bandwidth : "cv" or float, default="cv"
        Radius h of the kernel. "cv" chooses the best of `bandwidth_grid`.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply the sample weights: ``{label: weight}``, or ``"balanced"`` for weights
        inversely proportional to the class frequencies. None means that all are one.
    alpha : "cv" or float, default="cv"
        Ridge penalty. "cv" chooses the best of `alpha_grid`.
    kernel : {"laplace", "gaussian", "precomputed"} or callable, default="laplace"
        Kernel: ``exp(-r / h)`` or ``exp(-r^2 / (2 h^2))``. "precomputed" means that X is the kernel matrix with the
        samples of `fit`; a callable ``kernel(Q, X)`` returns this matrix. In both cases, `bandwidth` and `scale` have
        no effect, `metric` must be None, and `points_` holds the indices of the samples.
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
        Bandwidths to try. By default, 0.7, 2 and 6 times the median distance between points; for the Gaussian, 0.35,
        0.7, 1.4 and 2.8 times this distance.
    alpha_grid : array-like, default=None
        Ridge penalties to try, for points of mean weight one. By default, 0.01 and 0.1. With the best bandwidth, 1 and
        10 are also tried as long as the largest is the best. With class weights, all four are tried, because a large
        weight acts like a smaller ridge.
    max_tuning_samples : int or None, default=3000
        With more distinct points than this, parameters are tuned on a stratified random subsample.
    max_exact_samples : int, default=6000
        Up to this many distinct points, the system is solved by a Cholesky factor of n^2 float64 numbers. Larger
        systems are solved by conjugate gradients or, from 20 000 points on, in cells (see Notes).
    tol : float, default=1e-3
        Residual of conjugate gradients, relative to the right-hand side. It bounds the root mean square error of the
        scores of the training points, relative to that of the targets.
    max_iter : int, default=200
        Maximum number of conjugate gradient iterations.
    rank : int, default=1000
        Rank of the part of the preconditioner that reaches beyond cells of 1000 points.
    random_state : int, RandomState instance or None, default=0
        Seed of folds, subsamples, landmarks and starting vectors. With an int, a refit gives identical results.
    verbose : bool, default=False
        Report progress on stderr.
    n_jobs : int or None, default=None
        Number of threads. None means all cores, unless joblib or threadpoolctl sets a lower limit.

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
    temperature_ : float
        Probabilities are ``softmax(scores / temperature_)``; the temperature minimizes the leave-one-out log loss.
    loss_ : float
        Leave-one-out log loss.
    cv_results_ : dict of str to ndarray
        Scores of all candidates, in the layout of :class:`sklearn.model_selection.GridSearchCV`. A score is the
        negative leave-one-out log loss. Only present if tuned.
    best_score_ : float
        Mean test score of the chosen candidate. Only present if something was tuned.
    n_tuning_samples_ : int
        Number of (distinct) validated points. Only present if something was tuned.
    dual_coef_ : ndarray of shape (n_points, n_classes)
        Coefficients of the kernels at `points_`. Only present if a single system holds all points.
    points_ : ndarray of shape (n_points, n_features)
        Distinct training points.
    class_prior_ : ndarray of shape (n_classes,)
        Class proportions, to which scores tend far from all points.
    residuals_ : ndarray of shape (n_classes,)
        Relative residuals of conjugate gradients. Only present if they solved the system.
    n_iter_ : int
        Iterations of conjugate gradients; 1 for a Cholesky factor.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features. Only present if X has string names.

    See Also
    --------
    sklearn.kernel_ridge.KernelRidge : Regression, with an n x n matrix for any n.
    spectralcls.metric.GradientMetric : A metric learned with this regression.

    Notes
    -----
    Cost: an exact fit takes n^3 / 3 multiply-adds for each combination of bandwidth and alpha, and n^2 numbers of
    memory. An iterative fit takes a pass over the n^2 pairs for each iteration, and n (2 rank + 8 n_classes + 1000)
    numbers of memory. A query needs n kernel evaluations.

    From 20 000 distinct points on, if there are more than `max_exact_samples`, four random trees partition the points
    into cells of at most 1500. A prediction is the mean, over the trees, of the regressions in the query's cells.
    Bandwidth and ridge minimize the leave-one-out loss within some cells; `loss_` is the loss at the points of these
    cells if all trees predict. A fit takes time proportional to n and memory for 4 n_points n_classes coefficients; a
    query needs at most 6000 kernel evaluations. In cells, `tol`, `max_iter` and `rank` have no effect.

    Cells, and subsamples on which parameters are tuned, are solved in float32 if this changes predictions by less than
    0.003 of the targets' spread.

    Features should have comparable scales.

    A point is left out with all its weight. Equal rows of a class are one point unless another class contains such a
    row; then a count is as many points. So a weight of two equals a row given twice. The unit of weights does not
    matter.

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
    tol: float = 1e-3
    class_weight: ClassWeight = None

    _BANDWIDTH_FACTORS = {"laplace": (0.7, 2.0, 6.0), "gaussian": (0.35, 0.7, 1.4, 2.8)}
    _without_probabilities = None

    def _alphas(self):
        return ridge_grid(-2, -1 if self.class_weight is None else 1)

    def _more_alphas(self, dtype, n):
        return super()._more_alphas(dtype, n) if self.class_weight is None else ()

    def _keep(self, choice, targets):
        self._codes, self.class_prior_, self.temperature_ = targets.codes, targets.center, choice.fitted.temperature
        if choice.found is not None:
            self._warn_if_one_class(choice.fitted.held_out)

    def _offsets(self):
        return self.class_prior_

    def _scores(self, X):
        return self._model.scores(X).astype(X.dtype, copy=False)

    @property
    def _without_leave_one_out(self):
        if "residuals_" in vars(self):
            return "with more than max_exact_samples points there is no factor of the system to compute them from."
        return None

    def _leave_one_out(self):
        n_classes = len(self.classes_)
        units = units_of(self._codes, self._weights, n_classes, self.class_weight is not None)
        held_out = self._predictions_by_others(ClassTargets.of(self._codes, n_classes, self._weights))
        return LeftOut(
            self._codes,
            within_groups(self._weights / units[self._codes], self._groups),
            log_posterior(held_out / self.temperature_),
            lambda Q: log_posterior(self._model.scores(Q) / self.temperature_),
            self._order,
        )
