"""Kernel ridge regression of any targets: tuning, and fits by a Cholesky factor, by iteration, or in cells."""

from collections.abc import Callable
from dataclasses import KW_ONLY, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .._estimator import Estimator, with_parameters
from .._expansion import Expansion, Rule, TrainingPoints
from .._expansion.ridge_targets import targets_of
from .._expansion.tree_cells import MANY, TreeCells
from .._inputs.given import GivenKernel, numbers_of
from .._inputs.training_data import TrainingData
from .._tuning import check_grid, median_distance, ridge_grid, thinned_rows
from .._utils.advice import advise
from .._utils.from_sklearn import Interval, StrOptions
from .._utils.progress import progress
from .._utils.typing import ArrayLike, CategoricalFeatures, Metric, RandomState, Scale
from ..kernels import kernel_matrix
from ..linalg.ridge import Smoother, solve
from ..metric import LearnedMap, fitted_map
from . import _ridge_iterative as iterative
from ._given_kernel import GivenForm, GivenSmoother
from ._local_ridge import LocalRidge, held_out_in_cells
from ._penalty_search import Candidates, Fitted, leave_one_out

# Largest number of points in a cell, and number of trees. On 100 000 rows of covertype, the leave-one-out accuracy is
# 94.0 % for 4 trees with cells of 1000 points (a fit takes 5 s), 94.0 % for 2 trees with cells of 2000 (7 s), 94.1 %
# for 8 trees with cells of 1000 (10 s), and 94.2 % for 4 trees with cells of 2000 (13 s). On 500 000 rows, it is
# 97.51 % for 2 trees with cells of 1000 (14 s), 97.57 % for 2 trees with cells of 1500 (23 s), and 97.64 % for 4 trees
# with cells of 1000 (27 s).
CELL, TREES = 1500, 4
TUNED = 8  # fewest cells used to choose bandwidth and ridge; two would cover only a part of the space
_POSITIVE = Interval(Real, 0, None, closed="neither")


@with_parameters
class KernelRidge(Estimator):
    """Predictions ``f(y) = k(y) A`` plus offsets; A minimizes the sum of squared errors and of ``alpha |f|^2``.

    The targets, class indicators or numbers, form a matrix; see `ridge_targets`. A subclass defines:

    - `_BANDWIDTH_FACTORS`, candidates for each kernel in multiples of the median distance, and, in `_FURTHER_FACTORS`,
      further ones, tried if the smallest or the largest is best.
    - ``_alphas()`` and ``_more_alphas(dtype, n)``: the ridges to try, and further ones for n points of a dtype, tried
      if the first or the last is best.
    - ``_keep(choice, targets)`` stores further results of tuning.
    - ``_offsets()`` returns the offsets of the fitted form.
    """

    bandwidth: Literal["cv"] | float = "cv"
    _: KW_ONLY
    alpha: Literal["cv"] | float = "cv"
    kernel: Literal["laplace", "gaussian", "cv", "precomputed"] | Callable[[Any, Any], Any] = "laplace"
    metric: Metric = None
    categorical_features: CategoricalFeatures = "from_dtype"
    scale: Scale = "auto"
    bandwidth_grid: ArrayLike | None = None
    alpha_grid: ArrayLike | None = None
    max_tuning_samples: int | None = 3000
    max_exact_samples: int = 6000
    tol: float = 1e-4
    max_iter: int = 200
    rank: int = 1000
    random_state: RandomState = 0
    verbose: bool = False
    n_jobs: int | None = None

    _parameter_constraints = {
        "bandwidth": [StrOptions({"cv"}), _POSITIVE],
        "alpha": [StrOptions({"cv"}), _POSITIVE],
        "kernel": [StrOptions({"laplace", "gaussian", "precomputed"}), callable],
        "alpha_grid": ["array-like", None],
        "max_exact_samples": [Interval(Integral, 0, None, closed="left")],
        "tol": [_POSITIVE],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "rank": [Interval(Integral, 1, None, closed="left")],
    }
    metric_ = fitted_map
    _groups = None
    _BANDWIDTH_FACTORS: ClassVar[dict] = {}
    _FURTHER_FACTORS: ClassVar[dict] = {}
    # Choosing the distances of categories changed the accuracy by -.04 +- .16 percentage points on 40 tables, and took
    # as long as the fit; on 31 tables of 56 rows it changed the accuracy by -.4 +- .7 points.
    _weighs_categories = False

    @property
    def _is_given(self):
        """Whether the user gives the kernel as a matrix or a callable."""
        return self.kernel == "precomputed" or callable(self.kernel)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.allow_nan = not self._is_given
        return tags

    def _make_inputs(self):
        if self._is_given:
            if self.metric is not None:
                raise ValueError("metric= maps points for the built-in kernels: with a given kernel it must be None.")
            return GivenKernel(type(self).__name__, self.kernel, class_weight=getattr(self, "class_weight", None))
        return super()._make_inputs(step=LearnedMap.of(self, self._metric_kinds()))

    def _metric_kinds(self):
        """The object that learns a metric of a given kind; None means the one for classes."""
        return None

    def _learn(self, data):
        if self._is_given and len(data.X) > self.max_exact_samples:
            raise ValueError(
                f"A given kernel needs one system of all points, but {len(data.X)} points are more than "
                f"max_exact_samples={self.max_exact_samples}. Raise it if n^2 numbers fit into memory."
            )
        rng = check_random_state(self.random_state)
        data, self._order = data.distinct(relative=True), data.copies.group  # alpha refers to points of mean weight one
        targets = targets_of(data)
        self.points_, self._weights, self.n_iter_ = data.X, data.weights, 1
        if data.groups is not None:
            self._groups = data.groups
        in_cells = len(data.X) > max(self.max_exact_samples, MANY - 1)
        choice, n_validated = (self._fit_cells if in_cells else self._fit_one_system)(data, targets, rng)
        self.kernel_ = choice.kernel
        self.bandwidth_: float = choice.bandwidth
        self.alpha_: float = choice.alpha
        self.loss_ = choice.loss
        self._keep(choice, targets)
        if choice.found is not None:
            self._note(choice.found, n_validated)
        self._kept_form = self._expansion()

    def _fit_one_system(self, data, targets, rng):
        """Tune on some or all of the distinct points, and solve one linear system of all of them.

        Returns the `PenaltyChoice` and the number of validated points.
        """
        X, rows = data.X, thinned_rows(data, self.max_tuning_samples, rng)
        sample = data if rows is None else data.take(rows)
        judged = targets if rows is None else targets_of(sample)
        if rows is None or self._is_given:  # in float64 if these are all points, because the best fit is kept
            path = self._path(sample.X.astype(np.float64), judged, sample.groups)
        else:
            path = self._path_in_cells(sample.X, judged, [np.arange(len(sample.X))], sample.groups)
        choice = leave_one_out(sample.weights, self._candidates(sample.X, rng, len(X)), path)
        form = {"kernel": choice.kernel, "bandwidth": choice.bandwidth, "n_jobs": self.n_jobs}
        if len(X) > self.max_exact_samples:
            coefficients, self.residuals_, self.n_iter_ = self._iterate(X, targets, choice.alpha, rng, form)
            if (residual := np.max(self.residuals_)) > self.tol:
                advise(
                    f"Conjugate gradients stopped after {self.n_iter_} iterations at a residual of {residual:.1e}, "
                    f"above tol={self.tol:g}: raise max_iter, rank or alpha.",
                    ConvergenceWarning,
                )
        elif rows is None:
            coefficients = choice.fitted.coefficients
        else:
            K = self._matrix(X, **form)
            coefficients = solve(K, targets.Y, choice.alpha, targets.weights, held_out=False).coefficients
        self.dual_coef_ = coefficients.astype(X.dtype, copy=False)
        if rows is None:
            self._by_others = choice.fitted.held_out
        return choice, len(sample.X)

    def _fit_cells(self, data, targets, rng):
        """The same with a system for each cell of random trees."""
        X = data.X
        forest = [TreeCells.of(X, CELL, rng) for _ in range(TREES)]
        wanted = len(X) if self.max_tuning_samples is None else self.max_tuning_samples
        parts = forest[0].spread(max(TUNED, -(-wanted * len(forest[0]) // len(X))))
        rows = np.concatenate(parts)
        some = targets.take(rows)
        path = self._path_in_cells(X, targets, parts, self._groups)
        choice = leave_one_out(some.weights, self._candidates(X, rng, len(X)), path)
        form = {"kernel": choice.kernel, "bandwidth": choice.bandwidth}
        self._local, held_out = self._in_cells(targets, forest, choice.alpha, rows, **form)
        fitted = Fitted(None, *some.judged(held_out))
        loss = float(np.average(fitted.losses, weights=some.weights))
        return choice._replace(fitted=fitted, loss=loss), len(rows)

    def _path(self, X, targets, groups):
        """The `path` for `leave_one_out`, computed with one matrix of all points."""
        K, memory = np.empty((2, len(X), len(X)))

        def fitted(alpha):
            try:
                solution = solve(K, targets.Y, alpha, targets.weights, memory=memory, units=groups)
            except np.linalg.LinAlgError:
                return None
            return Fitted(solution.coefficients, *targets.judged(solution.held_out))

        def path(kernel, bandwidth, alphas):
            self._matrix(X, kernel=kernel, bandwidth=bandwidth, out=K, n_jobs=self.n_jobs)
            return [fitted(alpha) for alpha in alphas]

        return path

    def _path_in_cells(self, X, targets, parts, groups):
        """The `path` for `leave_one_out` that predicts each point of `parts` by the others of its part."""
        some = targets.take(np.concatenate(parts))

        def path(kernel, bandwidth, alphas):
            form = {"kernel": kernel, "bandwidth": bandwidth, "n_jobs": self.n_jobs}
            found = held_out_in_cells(X, targets.Y, targets.weights, parts, alphas, groups, **form)
            return [None if held_out is None else Fitted(None, *some.judged(held_out)) for held_out in found]

        return path

    def _matrix(self, X, *, out=None, **form):
        """The kernel matrix of training points, float64."""
        if not self._is_given:
            return kernel_matrix(X.astype(np.float64, copy=False), out=out, **form)
        K = self._inputs.among(X)
        if out is None:
            return K
        out[:] = K
        return out

    def _candidates(self, X, rng, n):
        """The `Candidates` for n points, some of which are X; a value given by the user is the only candidate."""
        kernels, more = list(self._BANDWIDTH_FACTORS) if self.kernel == "cv" else [self.kernel], {}
        if self._is_given:
            bandwidths = {"precomputed" if self.kernel == "precomputed" else "callable": [1.0]}
        elif self.bandwidth != "cv":
            bandwidths = dict.fromkeys(kernels, [self.bandwidth])
        elif self.bandwidth_grid is None:
            median = median_distance(X, rng)
            bandwidths, more = (
                {kernel: median * np.array(factors[kernel]) for kernel in kernels if kernel in factors}
                for factors in (self._BANDWIDTH_FACTORS, self._FURTHER_FACTORS)
            )
        else:
            bandwidths = dict.fromkeys(kernels, check_grid(self.bandwidth_grid, "bandwidth_grid"))
        tuned = self.alpha == "cv"
        given = self._alphas() if self.alpha_grid is None else self.alpha_grid
        alphas = check_grid(given, "alpha_grid") if tuned else [self.alpha]
        more_alphas = self._more_alphas(X.dtype, n) if tuned and self.alpha_grid is None else ()
        return Candidates(bandwidths, alphas, more, more_alphas)

    def _more_alphas(self, dtype, n):
        return ridge_grid(0, 1)

    def _iterate(self, X, targets, alpha, rng, form):
        operator = iterative.SummedKernel.of(X, rank=self.rank, rng=rng, **form)
        with progress("ridge", self.max_iter, silent=not self.verbose) as step_done:
            options = {"tol": self.tol, "max_iter": self.max_iter, "step_done": step_done}
            return iterative.solve(operator, targets.Y, alpha, targets.weights, **options)

    def _in_cells(self, targets, forest, alpha, rows=None, **form):
        """The `LocalRidge` of all points, and its leave-one-out predictions of some points (None: all)."""
        with progress("ridge", len(forest), silent=not self.verbose) as step_done:
            arguments = self.points_, targets.Y, targets.weights, alpha, forest, rows, self._groups
            return LocalRidge.of(*arguments, **form, n_jobs=self.n_jobs, step_done=step_done)

    def _expansion(self):
        if "_local" in vars(self):
            return replace(self._local, offsets=self._offsets())
        if self._is_given:
            return GivenForm(numbers_of(self.points_), self.dual_coef_, -self._offsets())
        points = TrainingPoints.of(TrainingData.points(self.points_), n_jobs=self.n_jobs)
        rule = Rule("distance")  # k(y) A minus an offset
        return Expansion(rule, points, self.kernel_, self.bandwidth_, self.dual_coef_, offsets=-self._offsets())

    @property
    def _has_factor(self):
        """Whether all points formed one system solved by a factor, from which leave-one-out predictions follow."""
        return "dual_coef_" in vars(self) and "residuals_" not in vars(self)

    def _predictions_by_others(self, targets):
        """Predictions of each point from the others, (n, k), known from tuning or computed again."""
        if "_by_others" in vars(self):
            return self._by_others
        form, local = {"kernel": self.kernel_, "bandwidth": self.bandwidth_}, vars(self).get("_local")
        if local is not None:
            held_out = self._in_cells(targets, local.forest, self.alpha_, **form)[1]
        else:
            K = self._matrix(self.points_, **form, n_jobs=self.n_jobs)
            held_out = solve(K, targets.Y, self.alpha_, targets.weights, units=self._groups).held_out
        return targets.judged(held_out).scores

    @property
    def _model(self):
        if "_kept_form" not in vars(self):  # loaded from a file
            self._kept_form = self._expansion()
        return self._kept_form

    @property
    def _smoother(self):
        """The `Smoother`, which gives the weights of the targets in predictions; cached."""
        if "_kept_smoother" not in vars(self):
            if self._is_given:
                self._kept_smoother = GivenSmoother(
                    self._inputs.K, numbers_of(self.points_), self.alpha_, self._weights
                )
            else:
                self._kept_smoother = Smoother(self.points_, self.kernel_, self.bandwidth_, self.alpha_, self._weights)
        return self._kept_smoother


def smoother_of(estimator):
    """The `Smoother` of a fitted kernel ridge regression that was solved as one exact system; otherwise None."""
    if not isinstance(estimator, KernelRidge) or not estimator._has_factor:
        return None
    return estimator._smoother
