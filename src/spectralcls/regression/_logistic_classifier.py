"""Classification by kernel logistic regression."""

import numpy as np

from .._utils.from_sklearn import StrOptions
from .._utils.typing import ArrayLike, RandomState
from . import _logistic
from ._leave_one_out import Fitted
from ._operators import DenseKernel
from ._penalized import CONSTRAINTS, PenalizedClassifier


class KernelLogisticClassifier(PenalizedClassifier):
    """Doc."""

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
