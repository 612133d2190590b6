"""The base classes of penalized kernel expansions for classes or numbers: tuning, fitting and evaluation."""

from collections.abc import Callable
from dataclasses import KW_ONLY
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .._estimator import Classifier, Estimator, log_posterior, with_parameters
from .._expansion import Expansion, Rule, TrainingPoints
from .._expansion.left_out import LeftOut
from .._expansion.ridge_targets import ClassTargets, targets_of
from .._inputs.given import GivenKernel, numbers_of
from .._inputs.training_data import TrainingData
from .._tuning import check_grid, median_distance, thinned_rows
from .._utils.advice import advise
from .._utils.from_sklearn import Interval, StrOptions
from .._utils.progress import progress
from .._utils.typing import ArrayLike, CategoricalFeatures, ClassWeight, Metric, RandomState, Scale
from .._utils.validation import units_of
from ..kernels import kernel_matrix
from ..metric import LearnedMap, fitted_map
from ._given_kernel import GivenForm
from ._penalized_operators import SummedKernel
from ._penalty_search import Candidates, leave_one_out

_POSITIVE = Interval(Real, 0, None, closed="neither")


@with_parameters
class PenalizedExpansion(Estimator):
    """Predictions ``f(y) = k(y) A`` plus offsets; A minimizes the sum of the losses and of ``alpha |f|^2``.

    The targets, class indicators or numbers, form a matrix; see `ridge_targets`.

    A subclass defines `_BANDWIDTH_FACTORS`, candidates for each kernel in multiples of the median distance, and these
    methods:

    - ``_path(targets, K, alphas, memory)`` fits all alphas with a matrix; see `leave_one_out`.
    - ``_exact(K, targets, alpha, start)`` and ``_iterative(operator, targets, alpha, start, step_done)`` fit one alpha.
      Both return coefficients and the number of iterations, and `_iterative` also returns residuals. `start`, unless
      None, has the coefficients of the points used for tuning, and zeros; an iteration may start from it.
    - ``_held_out(K, targets)`` predicts each point from the others with the parameters in use.
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
    # Further factors, tried if the smallest or the largest of `_BANDWIDTH_FACTORS` is best.
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
        data, order = data.distinct(relative=True), data.copies.group  # alpha refers to points of mean weight one
        choice, targets, n_validated = self._fitted(data, rng)
        self._weights, self._order = data.weights, order
        self.kernel_, self.bandwidth_, self.alpha_ = choice.kernel, choice.bandwidth, choice.alpha
        self.loss_ = choice.loss
        self._keep(choice, targets)
        if choice.found is not None:
            self._note(choice.found, n_validated)
        self._kept_form = self._expansion()

    def _fitted(self, data, rng):
        """The `PenaltyChoice` for distinct points, the targets of all points, and the number of validated points.

        Also sets the attributes of the solution.
        """
        X, rows = data.X, thinned_rows(data, self.max_tuning_samples, rng)
        sample = data if rows is None else data.take(rows)
        targets = targets_of(sample)
        path = self._sample_path(sample, targets, is_all=sample is data)
        choice = leave_one_out(sample.weights, self._candidates(sample.X, rng, len(X)), path)
        targets, start = targets if sample is data else targets_of(data), None
        if sample is not data and choice.fitted.coefficients is not None:
            start = _spread(choice.fitted.coefficients, rows, len(X))
        form = {"kernel": choice.kernel, "bandwidth": choice.bandwidth, "n_jobs": self.n_jobs}
        if len(X) > self.max_exact_samples:
            solution = self._iterate(X, targets, choice.alpha, rng, form, start)
            self.residuals_ = solution.residuals
        elif sample is data:
            solution = choice.fitted
        else:
            solution = self._exact(self._matrix(X, **form), targets, choice.alpha, start)
        if (residual := np.max(solution.residuals)) > self.tol:
            advise(
                f"{self._METHOD} stopped after {solution.n_iter} iterations at a residual of {residual:.1e}, above "
                f"tol={self.tol:g}: raise max_iter, rank or alpha.",
                ConvergenceWarning,
            )
        self.points_, self.dual_coef_ = X, solution.coefficients.astype(X.dtype, copy=False)
        self.n_iter_ = solution.n_iter
        self._by_others = choice.fitted.held_out if sample is data else None
        return choice, targets, len(sample.X)

    def _sample_path(self, sample, targets, is_all):
        """The `path` for `leave_one_out` on a sample; in float64 if the sample `is_all` points, because its best fit is
        kept.
        """
        return self._dense_path(sample.X.astype(np.float64), targets)

    def _dense_path(self, X, targets):
        """The `path` for `leave_one_out`, computed with one matrix of all points."""
        K, memory = np.empty((2, len(X), len(X)))

        def path(kernel, bandwidth, alphas):
            self._matrix(X, kernel=kernel, bandwidth=bandwidth, out=K, n_jobs=self.n_jobs)
            return self._path(targets, K, alphas, memory)

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

    def _alphas(self):
        """The alphas to try if there is no `alpha_grid`."""
        raise NotImplementedError

    def _more_alphas(self, dtype, n):
        """Further alphas for n points of this dtype, tried if the first or the last of the grid is best."""
        return ()

    def _iterate(self, X, targets, alpha, rng, form, start=None):
        operator = SummedKernel.of(X, rank=self._rank_for(targets), rng=rng, **form)
        with progress(self._TITLE, self.max_iter, silent=not self.verbose) as step_done:
            return self._iterative(operator, targets, alpha, start, step_done)

    def _rank_for(self, targets):
        """Rank of the preconditioner."""
        return self.rank

    def _expansion(self):
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
        known = vars(self).get("_by_others")
        if known is not None:
            return known
        form = {"kernel": self.kernel_, "bandwidth": self.bandwidth_, "n_jobs": self.n_jobs}
        return self._held_out(self._matrix(self.points_, **form), targets)

    @property
    def _model(self):
        if "_kept_form" not in vars(self):  # loaded from a file
            self._kept_form = self._expansion()
        return self._kept_form


def _spread(coefficients, rows, n):
    """The coefficients of some rows among n rows, and zeros."""
    out = np.zeros((n, coefficients.shape[1]))
    out[rows] = coefficients
    return out


@with_parameters
class PenalizedClassifier(PenalizedExpansion, Classifier):
    """A classifier whose scores are a penalized expansion."""

    _: KW_ONLY
    class_weight: ClassWeight = None

    _without_probabilities = None

    @property
    def _without_leave_one_out(self):
        if "residuals_" in vars(self):
            return "with more than max_exact_samples points there is no factor of the system to compute them from."
        return None

    def _keep(self, choice, targets):
        self._codes, self.class_prior_ = targets.codes, targets.center
        if choice.found is not None:
            self._warn_if_one_class(choice.fitted.held_out)

    def _leave_one_out(self):
        n_classes, temperature = len(self.classes_), vars(self).get("temperature_", 1.0)
        units = units_of(self._codes, self._weights, n_classes, self.class_weight is not None)
        held_out = self._predictions_by_others(ClassTargets.of(self._codes, n_classes, self._weights))
        return LeftOut(
            self._codes,
            self._weights / units[self._codes],
            log_posterior(held_out / temperature),
            lambda Q: log_posterior(self._model.scores(Q) / temperature),
            self._order,
        )

    def _scores(self, X):
        return self._model.scores(X).astype(X.dtype, copy=False)
